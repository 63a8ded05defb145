import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathText } from '../engine/config/index.ts';
import { openText, replaceFile, sealText, type Sealed, type SealOptions } from '../lib/encryption/index.ts';
import { ConfigError, EncryptionError } from '../lib/errors.ts';
import { guard } from '../engine/sink/file-error.ts';
import type { Io } from './command.ts';
import { plural } from './format.ts';
import { parseGiven } from './parse-given.ts';

/**
 * Encrypts the `#` values of a JSON file in place; all else in it keeps its form. With `decrypt` the file stays as it
 * is and the text with plain values goes to stdout. All values or none: with one that cannot be read nothing changes.
 *
 * @throws {EncryptionError} naming every place that is wrong
 */
export async function encryptFile(
  file: string,
  what: 'encrypt' | 'decrypt' | 'rotate',
  io: Io,
  options: SealOptions,
): Promise<number> {
  const text = readText(file);
  const sealed =
    what === 'decrypt' ? openText(text, options) : sealText(text, { ...options, rotate: what === 'rotate' });
  if (sealed.problems.length > 0) throw allOf(sealed, text, file);
  if (what === 'decrypt') {
    io.print(sealed.text);
    return 0;
  }
  if (sealed.changed > 0) guard(file, () => replaceFile(file, sealed.text, statSync(file).mode & 0o777));
  io.note(`${file}: ${plural(sealed.changed, 'value')} encrypted, ${sealed.kept} left as they were`);
  return 0;
}

/** Reads the text of a JSON file. @throws {ConfigError} with line and column */
function readText(file: string): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : (code ?? 'unknown');
    throw new ConfigError('config.missing', `${file} cannot be read (${reason}).`, {
      where: { file },
      hint: `Give the path of a JSON file, such as ${path.join('my-api', 'config.json')}.`,
      cause,
    });
  }
  parseGiven(text, file);
  return text;
}

function allOf({ problems }: Sealed, text: string, file: string): EncryptionError {
  const lines = problems.map(({ keys, start, error }) => {
    const before = text.slice(0, start);
    const place = `${file}:${before.split('\n').length}:${start - before.lastIndexOf('\n')}`;
    return `${place} ${pathText(keys)}: ${error.message}`;
  });
  const [first] = problems;
  const message = `${plural(problems.length, 'value')} cannot be read; the file stays as it is:`;
  return new EncryptionError(first?.error.code ?? 'encryption.damaged', message, {
    lines,
    hint: first?.error.hint,
  });
}
