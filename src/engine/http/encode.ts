import {
  childrenOf,
  entriesOf,
  isList,
  isObject,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { percent } from '../../lib/percent.ts';

/** How lists of parameters are written: `a[0]=x&a[1]=y`, or `a=x&a=y`. */
export type ListStyle = 'indexed' | 'repeated';

/**
 * Encodes parameters as a form, for the query of GET and the bodies of FORM: depth first,
 * `parent[child]`, space as `+`, `false` as `0`; null, empty lists and empty objects vanish.
 */
export function encodeForm(params: Json, lists: ListStyle = 'indexed'): string {
  const parts: string[] = [];
  for (const [key, value] of childrenOf(params) ?? []) addFormParts(formText(key), value, parts, lists);
  return parts.join('&');
}

function addFormParts(name: string, value: Json, parts: string[], lists: ListStyle): void {
  if (value === null) return;
  if (isList(value) || isObject(value)) {
    const isRepeated = isList(value) && lists === 'repeated';
    for (const [key, item] of childrenOf(value) ?? [])
      addFormParts(isRepeated ? name : `${name}%5B${formText(key)}%5D`, item, parts, lists);
  } else parts.push(`${name}=${value === false ? '0' : formText(toText(value))}`);
}

/** As encoder B reads a value: null where no `=` stands, a list where the name came more than once. */
export type DecodedQueryValue = string | null | readonly (string | null)[];
export type QueryPair = readonly [name: string, value: DecodedQueryValue];

/** Reads a query for encoder B. `+` is a space; a name seen twice becomes a list. */
export function parseQuery(text: string): QueryPair[] {
  if (text === '') return [];
  const pairs = new Map<string, DecodedQueryValue>();
  for (const part of text.split('&')) {
    const [rawName, rawValue] = splitPair(part);
    const name = decodeForm(rawName);
    const value = rawValue === undefined ? null : decodeForm(rawValue);
    const before = pairs.get(name);
    if (before === undefined) pairs.set(name, value);
    else
      pairs.set(name, before === null || typeof before === 'string' ? [before, value] : [...before, value]);
  }
  return [...pairs];
}

/** Writes a query by encoder B: space as `%20`, null as a bare name, a list as the name repeated. */
export function buildQuery(pairs: Iterable<readonly [name: string, value: Json]>): string {
  const parts: string[] = [];
  for (const [name, value] of pairs) {
    const encoded = encodeComponent(name);
    for (const item of isList(value) ? value : [value]) {
      parts.push(item === null ? encoded : `${encoded}=${encodeComponent(toText(item))}`);
    }
  }
  return parts.join('&');
}

/** Returns the parameters in the query of an endpoint: names as written, values decoded. */
export function rawQueryEntries(query: string): [string, string][] {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name, value = ''] = splitPair(part);
      return [name, decodeForm(value)];
    });
}

/** Returns the parameters of a query, decoded, each as often as it occurs. */
export function queryEntries(query: string): [string, string][] {
  return rawQueryEntries(query).map(([name, value]) => [decodeForm(name), value]);
}

/** Tells whether parameters add anything to a query or a body. */
export function hasParams(params: AnyObject | undefined): params is AnyObject {
  return params !== undefined && entriesOf(params).length > 0;
}

function splitPair(part: string): [string, string | undefined] {
  const equals = part.indexOf('=');
  return equals === -1 ? [part, undefined] : [part.slice(0, equals), part.slice(equals + 1)];
}

const FORM_SAFE = /^[\w.-]*$/;

/** Percent-encodes all but letters, digits and `-_.`; a space becomes `+`. */
function formText(text: string): string {
  if (FORM_SAFE.test(text)) return text;
  return encodeComponent(text).replaceAll('~', '%7E').replaceAll('%20', '+');
}

/** Percent-encodes all but the unreserved characters of RFC 3986: letters, digits and `-_.~`. */
function encodeComponent(text: string): string {
  if (FORM_SAFE.test(text)) return text;
  const encoded = text.isWellFormed() ? encodeURIComponent(text) : encodeWithRawBytes(text);
  return encoded.replace(/[!'()*]/g, percent);
}

/**
 * Percent-decodes. Bytes that are no UTF-8 become unpaired surrogates U+DC80 to U+DCFF, which are encoded as those
 * bytes again: a query in another encoding is rebuilt as it was.
 */
function decodeForm(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
      decodeBytes(Buffer.from(run.replaceAll('%', ''), 'hex')),
    );
  }
}

function decodeBytes(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = utf8LengthAt(bytes, at);
    text +=
      length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length);
    at += Math.max(length, 1);
  }
  return text;
}

/** Returns the number of bytes of the character that starts here; 0 when none does. */
function utf8LengthAt(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  const length =
    first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const piece = bytes.subarray(at, at + length);
  return Buffer.from(piece.toString('utf8')).equals(piece) ? length : 0;
}

function encodeWithRawBytes(text: string): string {
  return Array.from(text, (char) => {
    const code = char.charCodeAt(0);
    if (char.isWellFormed()) return encodeURIComponent(char);
    return code >= 0xdc80 && code <= 0xdcff ? `%${(code - 0xdc00).toString(16).toUpperCase()}` : '%EF%BF%BD';
  }).join('');
}
