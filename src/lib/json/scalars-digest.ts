import { behindText, behindValue, behindWhite, behindWord, valueBetween } from './raw.ts';
import { toText } from './text.ts';
import { getKey, isList, isObject, isScalar, keysOf, type AnyObject, type Json } from './value.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const SMALL_F = 0x66;
const SMALL_N = 0x6e;
const SMALL_T = 0x74;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const ASCII = 0x7f;
/** First bytes of characters in UTF-8. */
const THREE_BYTES = 0xe0;
const FOUR_BYTES = 0xf0;

/** Characters at each end of a text that count. */
const COUNTED = 500;

/** Digits of a number that is surely written as it came. */
const MOST_DIGITS = 15;

/** Digest of a value that is no scalar. */
const NO_SCALAR = 1;

/** Powers of the factor of digests, by which the length of a text counts when it is known behind its last byte. */
const POWERS = new Int32Array(COUNTED + 1);
for (let i = 0, power = 1; i <= COUNTED; i++, power = Math.imul(power, 31)) POWERS[i] = power;

/** Computes a digest of a text; of a long one only the beginning and the end count. */
function textDigest(text: string): number {
  const { length } = text;
  let digest = length;
  for (let i = 0; i < Math.min(length, COUNTED); i++) digest = Math.imul(digest, 31) + text.charCodeAt(i);
  for (let i = Math.max(COUNTED, length - COUNTED); i < length; i++)
    digest = Math.imul(digest, 31) + text.charCodeAt(i);
  return digest | 0;
}

/** Digests of the truth values. */
const TRUE = valueDigest(true);
const FALSE = valueDigest(false);

/** Computes a digest of the scalar values of an object. */
export function scalarsDigest(object: AnyObject): number {
  let digest = 0;
  for (const key of keysOf(object)) digest = Math.imul(digest, 31) + valueDigest(getKey(object, key) ?? null);
  return digest | 0;
}

/**
 * Computes the same from the JSON of an object in UTF-8, which was scanned before, and has no name twice.
 *
 * @param from offset of the opening brace
 */
export function scalarsDigestAt(bytes: Uint8Array, from: number): number {
  let digest = 0;
  let at = behindWhite(bytes, from + 1);
  while (bytes[at] !== CLOSE_OBJECT && at < bytes.length) {
    const start = behindWhite(bytes, behindWhite(bytes, behindText(bytes, at)) + 1);
    const end = endOfValue(bytes, start);
    digest = Math.imul(digest, 31) + digestBetween(bytes, start, end);
    at = behindWhite(bytes, end);
    if (bytes[at] === COMMA) at = behindWhite(bytes, at + 1);
  }
  return digest | 0;
}

/**
 * Computes a digest of what tells two objects apart: the scalar values of the first one that are others in the second
 * one. Undefined where there are none.
 */
export function differenceDigest(first: AnyObject, second: AnyObject): number | undefined {
  let digest: number | undefined;
  for (const name of keysOf(first)) {
    const value = getKey(first, name) ?? null;
    const other = getKey(second, name);
    if (other === undefined || isObject(value) || isList(value)) continue;
    const [one, two] = [valueDigest(value), valueDigest(other)];
    if (one !== two) digest = withDifference(digest ?? 0, textDigest(name), one, two);
  }
  return digest;
}

/**
 * Computes the same from the JSON of two objects, which were scanned before, and have no name twice and none with
 * escapes.
 *
 * @returns null where their names are not the same in the same order, for which they have to be decoded
 */
export function differenceDigestOf(first: Uint8Array, second: Uint8Array): number | undefined | null {
  let digest: number | undefined;
  // each page has two rows that are compared: no lists are made to be taken apart
  let at = behindWhite(first, 1);
  let place = behindWhite(second, 1);
  while (first[at] !== CLOSE_OBJECT && at < first.length) {
    const behind = behindText(first, at);
    const behindOther = behindText(second, place);
    if (!isSame(first, at, behind, second, place, behindOther)) return null;
    const start = behindWhite(first, behindWhite(first, behind) + 1);
    const from = behindWhite(second, behindWhite(second, behindOther) + 1);
    const end = endOfValue(first, start);
    const to = endOfValue(second, from);
    const byte = first[start];
    if (byte !== OPEN_OBJECT && byte !== OPEN_LIST && !isSame(first, start, end, second, from, to)) {
      const one = digestBetween(first, start, end);
      const two = digestBetween(second, from, to);
      if (one !== two) {
        const name = textDigestBetween(first, at, behind);
        digest = withDifference(digest ?? 0, name, one, two);
      }
    }
    at = behindComma(first, end);
    place = behindComma(second, to);
  }
  return second[place] === CLOSE_OBJECT ? digest : null;
}

function withDifference(digest: number, name: number, one: number, two: number): number {
  return (Math.imul(Math.imul(Math.imul(digest, 31) + name, 31) + one, 31) + two) | 0;
}

function behindComma(bytes: Uint8Array, from: number): number {
  const at = behindWhite(bytes, from);
  return bytes[at] === COMMA ? behindWhite(bytes, at + 1) : at;
}

function isSame(
  first: Uint8Array,
  from: number,
  end: number,
  second: Uint8Array,
  start: number,
  to: number,
): boolean {
  if (end - from !== to - start) return false;
  for (let i = from, j = start; i < end; i++, j++) if (first[i] !== second[j]) return false;
  return true;
}

function valueDigest(value: Json): number {
  return isScalar(value) ? textDigest(toText(value)) : NO_SCALAR;
}

function endOfValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return behindText(bytes, start);
  return first === OPEN_OBJECT || first === OPEN_LIST ? behindValue(bytes, start) : behindWord(bytes, start);
}

/** Computes the digest of the value between two offsets. */
function digestBetween(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start];
  if (first === QUOTE) return textDigestBetween(bytes, start, end);
  if (first === OPEN_OBJECT || first === OPEN_LIST || first === SMALL_N) return NO_SCALAR;
  if (first === SMALL_T || first === SMALL_F) return first === SMALL_T ? TRUE : FALSE;
  return isPlainNumber(bytes, start, end)
    ? bytesDigest(bytes, start, end)
    : valueDigest(valueBetween(bytes, start, end));
}

/** Computes the digest of a text in quotes: in one pass where it has no escapes and no characters beyond the first plane. */
function textDigestBetween(bytes: Uint8Array, start: number, end: number): number {
  let digest = 0;
  let length = 0;
  const last = end - 1;
  if (last - start > COUNTED) return valueDigest(valueBetween(bytes, start, end));
  for (let at = start + 1; at < last; length++) {
    let code = bytes[at++] ?? 0;
    if (code === BACKSLASH || code >= FOUR_BYTES) return valueDigest(valueBetween(bytes, start, end));
    if (code >= THREE_BYTES) {
      code = ((code & 0xf) << 12) | (((bytes[at] ?? 0) & 0x3f) << 6) | ((bytes[at + 1] ?? 0) & 0x3f);
      at += 2;
    } else if (code > ASCII) code = ((code & 0x1f) << 6) | ((bytes[at++] ?? 0) & 0x3f);
    digest = (Math.imul(digest, 31) + code) | 0;
  }
  return (Math.imul(POWERS[length] ?? 0, length) + digest) | 0;
}

/**
 * Tells whether a number is sure to be written as it came: an integer, or a decimal of 0.1 and more (or -0.1 and less)
 * without zeros at its end.
 */
function isPlainNumber(bytes: Uint8Array, from: number, end: number): boolean {
  const start = bytes[from] === MINUS ? from + 1 : from;
  const isZero = bytes[start] === ZERO;
  if (end - start > MOST_DIGITS || (start > from && isZero && end === start + 1)) return false;
  let point = -1;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === POINT) point = at;
    else if (byte < ZERO || byte > NINE) return false;
  }
  return point < 0 || (bytes[end - 1] !== ZERO && (!isZero || bytes[point + 1] !== ZERO));
}

function bytesDigest(bytes: Uint8Array, from: number, end: number): number {
  let digest = end - from;
  for (let at = from; at < end; at++) digest = Math.imul(digest, 31) + (bytes[at] ?? 0);
  return digest | 0;
}
