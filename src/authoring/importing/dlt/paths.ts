import { Untaken } from './findings.ts';
import { Code, type Value } from './value.ts';

const SIMPLE = /^[\p{L}_@][\p{L}\p{N}_@]*(?:\.[\p{L}_@][\p{L}\p{N}_@]*)*$/u;

/** Converts a JSONPath of the source to a path: simple ones as they are, `$` is the whole. @throws {Untaken} */
export function pathOf(value: Value, what: string): string {
  if (value instanceof Code) throw new Untaken('Python code', value);
  if (typeof value !== 'string') throw new Untaken(`“${what}” that is no path`, value);
  const text = value.trim().replace(/^\$\.(?=[^.])/, '');
  if (text === '$' || text === '') return '.';
  if (SIMPLE.test(text)) return text;
  // the same, with keys in quotes
  const quoted = /^(?:'([^'.]+)'|"([^".]+)")$/.exec(text);
  const key = quoted?.[1] ?? quoted?.[2];
  if (key !== undefined && !key.startsWith('$')) return key;
  if (/[?`|&,]|\bwhere\b|\.\.?parent/.test(text))
    throw new Untaken('a JSONPath with filters, functions or unions', value);
  const whole = text.startsWith('$') ? text : text.startsWith('[') ? `$${text}` : `$.${text}`;
  // quoted keys, and an index behind a dot, as the standard has them
  return whole
    .replaceAll(
      /\.(?:'([^']*)'|"([^"]*)")/g,
      (_found, one?: string, two?: string) => `['${one ?? two ?? ''}']`,
    )
    .replaceAll('.[', '[');
}

/** Signs of a path that leads to several values: `a[*]`, `a.*`, `..a`, `a[1:3]`. */
const SEVERAL = /\*|\.\.|\[[^\]'"]*:/;

/** Converts a JSONPath to one value. @throws {Untaken} also for one that leads to several, of which the first counts there */
export function onePathOf(value: Value, what: string): string {
  const path = pathOf(value, what);
  if (SEVERAL.test(path))
    throw new Untaken(`“${what}” that leads to several values, of which the library takes the first`, value);
  return path;
}

/** Tells whether a path leads to several values, each of which may be a list. */
export function mayHaveLists(path: string): boolean {
  return SEVERAL.test(path) && !/(?:\[[^\]'"]*[*:][^\]'"]*\]|\.\*)$/.test(path);
}
