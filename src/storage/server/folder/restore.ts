import { createHash, type Hash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Env } from '../../../env.ts';
import { RunError, StorageError } from '../../../errors.ts';
import { readTar, type ReadEntry } from '../files/untar.ts';
import { lockFolder } from './lock.ts';
import { SEAL, type Seal, type Written } from './tarball.ts';

/** Where it is unpacked until it is known to be whole. */
const STAGING = '.restoring';

/** A folder is a storage when it has it. */
const META = 'meta.sqlite';

/** What processes leave in a folder that they hold. */
const OF_PROCESSES = /^(?:service\.|lost\+found$|\.)/;

/**
 * Unpacks a backup into a folder that is new, empty, or was left by a call that was cut short. The folder is no storage
 * before all of the backup was read and found whole.
 *
 * @throws {StorageError} `storage.differs` for a file that is cut, damaged or no backup
 * @throws {RunError} `command.invalid` for a folder that has something in it
 */
export async function restoreFolder(file: string, dir: string, env: Env): Promise<Written> {
  await mkdir(dir, { recursive: true });
  const lock = await lockFolder(dir, env.now());
  try {
    await clear(dir);
    const staging = join(dir, STAGING);
    await mkdir(staging, { mode: 0o700 });
    const written = await unpack(file, staging);
    const names = (await readdir(staging)).filter((name) => name !== META);
    for (const name of [...names, META]) await rename(join(staging, name), join(dir, name));
    await rm(staging, { recursive: true });
    return written;
  } finally {
    await lock.release();
  }
}

async function clear(dir: string): Promise<void> {
  const names = await readdir(dir);
  // The folder was empty when the call began that was cut short.
  const isOurs = names.includes(STAGING) && !names.includes(META);
  const stray = names.filter((name) => !OF_PROCESSES.test(name));
  if (stray.length > 0 && !isOurs)
    throw new RunError('command.invalid', `The folder is not empty: it has ${stray[0]}.`, {
      where: { file: dir },
      hint: 'Name a folder that is new or empty.',
    });
  for (const name of [...stray, STAGING]) await rm(join(dir, name), { recursive: true, force: true });
}

async function unpack(file: string, dir: string): Promise<Written> {
  const source = await open(file, 'r');
  const hash = createHash('sha256');
  const written = { files: 0, bytes: 0 };
  let isSealed = false;
  let hasMeta = false;
  try {
    for await (const entry of readTar(source)) {
      if (isSealed) throw notWhole(file, 'it goes on behind its end');
      if (entry.name === SEAL) {
        isSealed = true;
        const seal = JSON.parse(await textOf(entry)) as Partial<Seal>; // compared below
        if (seal.sha256 !== hash.digest('hex')) throw notWhole(file, 'its check sum is another one');
        continue;
      }
      hasMeta ||= entry.name === META;
      hash.update(entry.head);
      written.bytes += await writeEntry(entry, join(dir, ...partsOf(file, entry.name)), hash);
      hash.update(entry.padding());
      written.files++;
    }
  } catch (error) {
    throw error instanceof SyntaxError || error instanceof RangeError ? notWhole(file, error.message) : error;
  } finally {
    await source.close();
  }
  if (!isSealed || !hasMeta) throw notWhole(file, 'its end is missing');
  return written;
}

/** A name must not lead out of the folder. */
function partsOf(file: string, name: string): string[] {
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0')))
    throw notWhole(file, `it has the name “${name}”`);
  return parts;
}

async function writeEntry(entry: ReadEntry, path: string, hash: Hash): Promise<number> {
  await mkdir(dirname(path), { recursive: true });
  const target: FileHandle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of entry.content) {
      hash.update(chunk);
      await target.writeFile(chunk);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  return entry.bytes;
}

async function textOf(entry: ReadEntry): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of entry.content) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks).toString();
}

function notWhole(file: string, why: string): StorageError {
  return new StorageError('storage.differs', `The backup is cut, damaged, or none: ${why}.`, {
    where: { file },
    hint: 'Take another backup. Nothing was restored.',
  });
}
