import { isWhite } from './scan-bytes.ts';
import type { Json } from './value.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Reading of values in the bytes of a JSON document that was scanned before: its brackets and quotes pair up. */

/** Returns the offset of the first byte that is no white space. */
export function behindWhite(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isWhite(bytes[at])) at++;
  return at;
}

/** Returns the offset behind the text that begins at an offset. */
export function behindText(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Returns the offset behind the value that begins at an offset. Its grammar is not checked. */
export function behindValue(bytes: Uint8Array, from: number): number {
  let at = from;
  let level = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) at = behindText(bytes, at);
    else if (byte === 0x7b || byte === 0x5b) {
      level++;
      at++;
      continue;
    } else if (byte === 0x7d || byte === 0x5d) {
      if (level === 0) return at;
      level--;
      at++;
    } else if (level > 0 && (byte === 0x2c || byte === 0x3a || isWhite(byte))) {
      at++;
      continue;
    } else at = behindWord(bytes, at);
    if (level === 0) return at;
  }
  return at;
}

/** Returns the offset behind a number or a word, and behind one byte at least. */
export function behindWord(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x2c || byte === 0x7d || byte === 0x5d || byte === 0x3a || byte === QUOTE || isWhite(byte))
      break;
  }
  return at;
}

/**
 * Parses the value between two offsets.
 *
 * @throws {SyntaxError} when it is none
 */
export function valueBetween(bytes: Uint8Array, from: number, end: number): Json {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString('utf8');
  return JSON.parse(text) as Json; // it gives nothing but Json
}

const POWERS = Array.from({ length: 16 }, (_, i) => 10 ** i);

/**
 * Parses the number between two offsets. Up to 15 digits and the power of ten under them are exact, and so is what one
 * division rounds.
 *
 * @throws {SyntaxError} when it is none
 */
export function decimalBetween(bytes: Uint8Array, from: number, end: number): number {
  let units = 0;
  let places = -1;
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x2e && places < 0 && at > from) places = 0;
    else if (byte >= 0x30 && byte <= 0x39 && end - from <= 16) {
      units = 10 * units + byte - 0x30;
      if (places >= 0) places++;
    } else return Number(valueBetween(bytes, from, end));
  }
  return units / (POWERS[places] ?? 1);
}

/** Returns the text of a string that has no escapes, which is most of them; undefined for any other. */
export function plainTextBetween(bytes: Uint8Array, from: number, end: number): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString('utf8');
  return text.includes('\\') ? undefined : text.slice(1, -1);
}
