import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../lib/errors.ts';

/** One recorded request and its response. */
export interface ExampleExchange {
  /** The file without `.request`, as it is named in messages. */
  readonly name: string;
  /** The fixture it belongs to. */
  readonly folder: string;
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly target: string;
  /** `host` or `host:port` when the request line has a whole address; any host otherwise. */
  readonly host: string | undefined;
  readonly body: string;
  readonly expects: readonly HeaderRule[];
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly response: Uint8Array;
}

/** A header of the request: its value, any value (`*`), or that it must not be there (`!Name`). */
export interface HeaderRule {
  readonly name: string;
  readonly value: string | undefined;
  readonly isForbidden: boolean;
}

/**
 * Reads every `NAME.request` in and below a folder with the files that belong to it: `.response`,
 * `.requestHeaders`, `.responseHeaders`, `.responseCode`. In the order of their paths.
 *
 * @throws {ConfigError} when a request has no response, or a request line cannot be read
 */
export function readExchanges(folder: string): readonly ExampleExchange[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.request') && !file.startsWith(`_sample_out${path.sep}`))
    .toSorted()
    .map((file) => readExchange(folder, file.slice(0, -'.request'.length)));
}

function readExchange(folder: string, name: string): ExampleExchange {
  const base = path.join(folder, name);
  if (!existsSync(`${base}.response`))
    throw wrong(`${base}.response`, 'There is a .request and no .response beside it.');
  const { line, body } = splitRequest(readFileSync(`${base}.request`, 'latin1'));
  const parsed = /^([A-Z]+) +(?:https?:\/\/([^/?#\s]+)(?![^/?#\s]))?(\S*)$/.exec(line);
  if (parsed === null)
    throw wrong(`${base}.request`, `“${line}” is no request line such as “GET /books?page=2”.`);
  const [, method = '', host, target = ''] = parsed;
  const given = readHeaders(`${base}.responseHeaders`);
  return {
    name,
    folder,
    method,
    host: host?.replace(/:(?:80|443)$/, ''),
    target: target === '' ? '/' : target,
    body,
    expects: (readHeaders(`${base}.requestHeaders`) ?? []).map(headerRule),
    status: readStatus(`${base}.responseCode`),
    headers: given ?? [['Content-Type', 'application/json']],
    response: readFileSync(`${base}.response`),
  };
}

/**
 * Splits a request into the request line and the body, with an empty line between; white space around all of it does
 * not count.
 */
function splitRequest(text: string): { line: string; body: string } {
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null) return { line: text.trim(), body: '' };
  return { line: text.slice(0, end.index).trim(), body: text.slice(end.index + end[0].length).trim() };
}

function readHeaders(file: string): [string, string][] | undefined {
  if (!existsSync(file)) return undefined;
  return readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const colon = line.indexOf(':');
      if (colon < 0) return [line.trim(), ''];
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    });
}

function headerRule([name, value]: [string, string]): HeaderRule {
  if (name.startsWith('!')) return { name: name.slice(1), value: undefined, isForbidden: true };
  return { name, value: value === '*' ? undefined : value, isForbidden: false };
}

function readStatus(file: string): number {
  if (!existsSync(file)) return 200;
  const status = Number(readFileSync(file, 'utf8').trim());
  if (Number.isInteger(status) && status >= 200 && status < 600) return status;
  throw wrong(file, 'A status is a number from 200 to 599.');
}

function wrong(file: string, message: string): ConfigError {
  return new ConfigError('config.invalid', message, {
    where: { file },
    hint: 'Correct the file of the fixture.',
  });
}
