import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EncryptionError } from '../errors.ts';
import { shellWord } from '../shell-word.ts';

/** Key for AES-256. */
export interface Key {
  /** Twelve hexadecimal digits that name the key and reveal nothing about it. */
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Uint8Array;
}

/** Keys of which the first encrypts, and all decrypt. */
export type Keys = readonly Key[];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the keys of the environment: those of `GEX_ENCRYPTION_KEY`, then those of the file that
 * `GEX_ENCRYPTION_KEY_FILE` names. Empty when neither is set.
 *
 * @throws {EncryptionError} `encryption.noKey` when one of them is no key
 */
export function keysFrom(environment: Environment): Keys {
  const text = environment['GEX_ENCRYPTION_KEY'] ?? '';
  const file = environment['GEX_ENCRYPTION_KEY_FILE'] ?? '';
  return joinKeys(
    text === '' ? [] : parseKeys(text, 'GEX_ENCRYPTION_KEY'),
    file === '' ? [] : readKeyFile(file),
  );
}

/**
 * Reads the keys of a file.
 *
 * @throws {EncryptionError} `encryption.noKey`
 */
export function readKeyFile(file: string): Keys {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    const isThere = code !== 'ENOENT' && code !== 'ENOTDIR';
    throw new EncryptionError('encryption.noKey', `The key file ${file} cannot be read (${code}).`, {
      where: { file },
      hint: isThere
        ? 'This user must be able to read it: check what it is, its owner and its permissions.'
        : `Correct the path, or make a key: gex encrypt --new-key ${shellWord(file)}`,
      cause,
    });
  }
  return parseKeys(text, file);
}

/** Parses keys in base64, one on each line; `#` starts a comment. Commas and blanks separate keys too. */
export function parseKeys(text: string, from: string): Keys {
  const words = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line) => line.replace(/#.*/, '').split(/[\s,]+/))
    .filter((word) => word !== '');
  if (words.length === 0) throw noKey(`${from} holds no key.`);
  return joinKeys(
    words.map((word, i) => {
      const bytes = Buffer.from(word, 'base64');
      if (bytes.length !== KEY_BYTES || !/^[A-Za-z0-9+/_-]+=*$/.test(word))
        throw noKey(`Key ${i + 1} of ${from} is not 32 bytes in base64.`);
      return keyOf(bytes);
    }),
  );
}

export const KEY_BYTES = 32;

export function keyOf(bytes: Uint8Array): Key {
  const id = createHmac('sha256', bytes).update('generic-extractor key id').digest('hex').slice(0, 12);
  return { id, bytes };
}

/** Joins lists of keys in this order, each key once. */
export function joinKeys(...lists: readonly Keys[]): Keys {
  return [...new Map(lists.flat().map((key) => [key.id, key])).values()];
}

/** Returns the content of a key file. */
export function keyFileText(keys: Keys): string {
  const lines = keys.map(({ id, bytes }) => `# key ${id}\n${Buffer.from(bytes).toString('base64')}\n`);
  return `# Keys of encrypted values: the first encrypts, all decrypt. Keep a copy in a safe place.\n${lines.join('')}`;
}

function noKey(message: string): EncryptionError {
  return new EncryptionError('encryption.noKey', message, {
    hint: 'gex encrypt --new-key FILE makes a key file; or take 32 random bytes: openssl rand -base64 32',
  });
}
