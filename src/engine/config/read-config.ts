import fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../../lib/errors.ts';
import { jsonFrom, JsonSyntaxError, parseExact, toJsonText, type Json } from '../../lib/json/index.ts';
import { positionsOf, type Positions } from './positions.ts';
import { readResource, type ConfigResource } from './resource.ts';
import { orderIn } from './value-order.ts';

/** Without `node:fs/promises`, which takes milliseconds to load and is needed for nothing else in a plain run. */
const readFile = promisify(fs.readFile);

/** A configuration with the text it came from, so that problems can be shown in their place. */
export interface ConfigDocument {
  /** Name for messages. */
  readonly file: string;
  readonly text: string;
  /** The whole document, exact. */
  readonly value: Json;
  /** Worked out when it is asked for first. */
  readonly positions: () => Positions;
  /** Keys that stand twice in one object. */
  readonly duplicates: () => Positions['duplicates'];
}

/**
 * Reads `config.json` of a data folder.
 *
 * @throws {ConfigError} `config.missing` when there is none, `config.syntax` with line and column when it is not
 *   JSON; both are application errors
 */
export async function readConfig(dataFolder: string): Promise<ConfigDocument> {
  const path = join(dataFolder, 'config.json');
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw missing(path, cause);
  }
  return parseConfig(decodeUtf8(bytes, path), path);
}

/**
 * Parses the text of a configuration; a byte order mark at its start is skipped.
 *
 * @throws {ConfigError} `config.syntax`
 */
export function parseConfig(source: string, file = 'config.json'): ConfigDocument {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  let known: Positions | undefined;
  const positions = (): Positions => (known ??= positionsOf(text));
  try {
    const value = parseExact(text);
    return { file, text, value, positions, duplicates: () => positions().duplicates };
  } catch (cause) {
    if (cause instanceof JsonSyntaxError) throw syntaxError(cause, text, file);
    throw cause;
  }
}

/**
 * Returns a configuration that was made, and read from no text: its problems are in the order of its values.
 *
 * @throws {ConfigError} `config.syntax` for one that is nested too deep
 */
export function documentOf(made: unknown, file = 'config.json'): ConfigDocument {
  const value = jsonFrom(made);
  if (value === undefined) return parseConfig(JSON.stringify(made), file);
  let known: Positions | undefined;
  return {
    file,
    get text() {
      return toJsonText(value);
    },
    value,
    positions: () => (known ??= orderIn(value)),
    // what was made of objects has no key twice
    duplicates: () => [],
  };
}

/**
 * Converts both forms of a document to one.
 *
 * @throws {ConfigError} with file, line and column of the place that is wrong
 */
export function resourceOf(document: ConfigDocument): ConfigResource {
  try {
    return readResource(document.value);
  } catch (error) {
    throw error instanceof ConfigError ? located(error, document) : error;
  }
}

/** Adds the file, line and column of its JSON path to an error. */
export function located(error: ConfigError, document: ConfigDocument): ConfigError {
  const { line, column } = document.positions().nearest(error.where.path ?? '').value;
  return error.at({ file: document.file, line, column });
}

function missing(path: string, cause: unknown): ConfigError {
  const code = (cause as NodeJS.ErrnoException).code;
  const absent = code === 'ENOENT' || code === 'ENOTDIR';
  const message = absent ? `There is no ${path}.` : `${path} cannot be read (${code ?? 'unknown error'}).`;
  return new ConfigError('config.missing', message, {
    where: { file: path },
    hint: absent
      ? 'Give the folder that holds config.json with --data, or create the file.'
      : 'It must be a file that this user can read: check its permissions.',
    audience: 'application',
    cause,
  });
}

function decodeUtf8(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ConfigError('config.syntax', `${file} is not UTF-8 text.`, {
      where: { file },
      hint: 'Save the file as UTF-8.',
      audience: 'application',
      cause,
    });
  }
}

function syntaxError(cause: JsonSyntaxError, text: string, file: string): ConfigError {
  const { line, column } = cause;
  const quoted = quoteLine(text, line, column);
  const message = text.trim() === '' ? `${file} is empty.` : cause.message + (quoted && `: ${quoted}`);
  return new ConfigError('config.syntax', message, {
    where: { file, line, column },
    hint: hintFor(text, cause.offset),
    audience: 'application',
    cause,
  });
}

const SHOWN = 60;

/** Quotes the broken line around the column, without the value of a key with `#`. */
function quoteLine(text: string, line: number, column: number): string {
  const lines = text.split('\n');
  const whole = (lines[line - 1] ?? '').replace(/\r$/, '');
  const opened = lines[line - 2]?.trimEnd() ?? '';
  if (whole.includes('"#') || (opened.includes('"#') && opened.endsWith(':')))
    return 'a line with a secret, not shown';
  const start = Math.max(0, Math.min(column - 1 - SHOWN / 2, whole.length - SHOWN));
  const part = whole.slice(start, start + SHOWN);
  return `${start > 0 ? '…' : ''}${part.trim()}${start + SHOWN < whole.length ? '…' : ''}`;
}

function hintFor(text: string, offset: number): string {
  const rest = text.slice(offset).trimStart();
  const before = text.slice(0, offset).trimEnd();
  if (before === '' && rest === '') return 'Write a configuration into it: { "parameters": { … } }';
  if (before.endsWith(',') && /^[}\]]/.test(rest)) return 'Remove the comma before the closing bracket.';
  if (/^(?:\/\/|\/\*)/.test(rest)) return 'JSON has no comments: remove it.';
  if (rest.startsWith("'")) return 'JSON strings are in double quotes.';
  if (rest === '') return 'A closing bracket is missing.';
  if (/["\]}\w]$/.test(before) && /^["{[\w-]/.test(rest)) return 'A comma may be missing before this place.';
  return 'Correct the text at this place.';
}
