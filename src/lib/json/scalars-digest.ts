import { behindText, behindValue, behindWhite, behindWord, valueBetween } from './raw.ts';
import { toText } from './text.ts';
import { getKey, isScalar, keysOf, type AnyObject, type Json } from './value.ts';

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

/** Characters at each end of a text that count. */
const COUNTED = 500;

/** Digits of a number that is surely written as it came. */
const MOST_DIGITS = 15;

/** Digest of a value that is no scalar. */
const NO_SCALAR = 1;

/** Computes a digest of a text; of a long one only the beginning and the end count. */
export function textDigest(text: string): number {
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
 * Computes the same from the JSON of an object, which was scanned before, and has no name twice.
 *
 * @param from offset of the opening brace
 */
export function scalarsDigestAt(bytes: Uint8Array, from: number): number {
  let digest = 0;
  let at = behindWhite(bytes, from + 1);
  while (bytes[at] !== CLOSE_OBJECT && at < bytes.length) {
    const start = behindWhite(bytes, behindWhite(bytes, behindText(bytes, at)) + 1);
    const first = bytes[start] ?? 0;
    const isText = first === QUOTE;
    const end = isText ? behindText(bytes, start) : endOfValue(bytes, start, first);
    const value = isText ? textAt(bytes, start, end) : otherAt(bytes, start, end, first);
    digest = Math.imul(digest, 31) + value;
    at = behindWhite(bytes, end);
    if (bytes[at] === COMMA) at = behindWhite(bytes, at + 1);
  }
  return digest | 0;
}

function valueDigest(value: Json): number {
  return isScalar(value) ? textDigest(toText(value)) : NO_SCALAR;
}

function endOfValue(bytes: Uint8Array, start: number, first: number): number {
  return first === OPEN_OBJECT || first === OPEN_LIST ? behindValue(bytes, start) : behindWord(bytes, start);
}

function textAt(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start - 2;
  return length > COUNTED || !isPlain(bytes, start + 1, end - 1)
    ? valueDigest(valueBetween(bytes, start, end))
    : bytesDigest(bytes, start + 1, end - 1);
}

function otherAt(bytes: Uint8Array, start: number, end: number, first: number): number {
  if (first === OPEN_OBJECT || first === OPEN_LIST || first === SMALL_N) return NO_SCALAR;
  if (first === SMALL_T || first === SMALL_F) return first === SMALL_T ? TRUE : FALSE;
  return isPlainNumber(bytes, start, end)
    ? bytesDigest(bytes, start, end)
    : valueDigest(valueBetween(bytes, start, end));
}

/** ASCII without escapes: its bytes are its characters. */
function isPlain(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte > 0x7f || byte === BACKSLASH) return false;
  }
  return true;
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
