import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import type { Env } from '../env.ts';
import {
  joinKeys,
  KEY_BYTES,
  keyFileText,
  keyOf,
  keysFrom,
  readKeyFile,
  type Key,
  type Keys,
} from './keys.ts';

/**
 * Puts a new key into a key file: as its only one when the file is new, else in front of the older ones, which continue
 * to decrypt. Only the owner may read the file.
 *
 * @throws {EncryptionError} `encryption.noKey` when the file exists and is no key file; it stays as it is
 */
export function makeKeyFile(file: string, env: Pick<Env, 'randomBytes'>): Key {
  const key = createKey(env);
  if (!existsSync(file) && create(file, keyFileText([key]))) return key;
  replaceFile(file, keyFileText([key, ...readKeyFile(file)]), 0o600);
  return key;
}

export function createKey(env: Pick<Env, 'randomBytes'>): Key {
  return keyOf(env.randomBytes(KEY_BYTES));
}

/**
 * Returns the keys of a service over a folder: those of the environment, then those of `encryption.key` in the folder.
 * When there are none, one is created there.
 */
export function openServiceKeys(
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
  env: Pick<Env, 'randomBytes'>,
): { readonly keys: Keys; readonly isNew: boolean } {
  const file = path.join(folder, 'encryption.key');
  const given = keysFrom(environment);
  if (existsSync(file)) return { keys: joinKeys(given, readKeyFile(file)), isNew: false };
  if (given.length > 0) return { keys: given, isNew: false };
  return { keys: [makeKeyFile(file, env)], isNew: true };
}

/** Replaces a file by one rename; a link stays one. The new file is on the disk on return. */
export function replaceFile(file: string, text: string, mode: number): void {
  const target = realpathSync(file);
  const temporary = writeBeside(target, text);
  try {
    chmodSync(temporary, mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Writes a new file, whole; returns false when there is one already. */
function create(file: string, text: string): boolean {
  mkdirSync(path.dirname(file), { recursive: true });
  const temporary = writeBeside(file, text);
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // a file system without hard links
    renameSync(temporary, file);
    return true;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeBeside(file: string, text: string): string {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  const fd = openSync(temporary, 'wx', 0o600);
  try {
    const bytes = Buffer.from(text, 'utf8');
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  return temporary;
}
