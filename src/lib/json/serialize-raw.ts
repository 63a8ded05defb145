import { hash } from 'node:crypto';
import { ByteWriter } from '../bytes.ts';
import { FULL_DIGITS, restOfDouble } from './double-rest.ts';
import { behindText, behindWhite, behindWord, decimalBetween, valueBetween } from './raw.ts';
import { floatSerialized, toText } from './text.ts';

/** White space, and what is no JSON. */
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const OBJECT_HEAD = Buffer.from('O:8:"stdClass":');
const LIST_HEAD = Buffer.from('a:');
const INTEGER_HEAD = Buffer.from('i:');
const FLOAT_HEAD = Buffer.from('d:');
const TRUE = Buffer.from('b:1;');
const FALSE = Buffer.from('b:0;');
const NULL = Buffer.from('N;');
/** Room for a number of properties or items, of one digit and of two, with what stands behind it. */
const ONE_DIGIT = Buffer.from('0:{');
const TWO_DIGITS = Buffer.from('00:{');
const TAIL = '";';

/** Digits of a decimal that is exact as an integer without its point, and bytes of one that has no more. */
const MOST_DIGITS = 15;
const MOST_BYTES = 24;

/** Properties that are appended to an object before it is hashed, as they are written there. */
export interface AppendedText {
  readonly text: string;
  readonly count: number;
}

const out = new ByteWriter(1 << 12);
let source: Uint8Array = new Uint8Array(0);

/**
 * Returns the MD5 that `md5OfObject` gives for an object, from its JSON, which the plain parse would read exactly.
 *
 * @param at offset of the opening brace
 * @returns undefined for what is no valid JSON; an object that has a name twice is not noticed
 */
export function md5OfRawObject(
  bytes: Uint8Array,
  at: number,
  { text, count }: AppendedText,
  behind: string,
): string | undefined {
  source = bytes;
  out.length = 0;
  if (writeObject(at, text, count, false) < 0) return undefined;
  if (behind !== '') out.text(behind);
  return hash('md5', out.view());
}

/** Writes the value at an offset. Returns the offset behind it, or −1. */
function writeValue(at: number): number {
  const byte = source[at] ?? 0;
  if (byte === QUOTE) return writeText(at);
  if (byte === OPEN_OBJECT) return writeObject(at, '', 0, true);
  if (byte === OPEN_LIST) return writeList(at);
  const end = behindWord(source, at);
  if (byte !== MINUS && (byte < ZERO || byte > NINE)) return writeWord(byte, end);
  let behind = at + 1;
  while (behind < end && isDigit(source[behind] ?? 0)) behind++;
  if (behind === end) {
    out.bytes(INTEGER_HEAD);
    out.slice(source, at, end);
  } else {
    out.bytes(FLOAT_HEAD);
    if (!writeFraction(at, behind, end)) out.text(floatSerialized(decimalBetween(source, at, end)));
  }
  out.byte(0x3b);
  return end;
}

/**
 * Writes a decimal of few digits as it came, and behind that the digits that its double has more.
 *
 * @param point offset behind the digits in front
 * @returns false, and nothing is written, for any other number
 */
function writeFraction(at: number, point: number, end: number): boolean {
  const places = end - point - 1;
  const last = (source[end - 1] ?? 0) - ZERO;
  // with zeros at the end, or digits that 53 bits do not hold
  if (source[point] !== POINT || places === 0 || last === 0 || end - at > MOST_BYTES) return false;
  let units = 0;
  let count = 0;
  for (let i = source[at] === MINUS ? at + 1 : at; i < end; i++) {
    const byte = source[i] ?? 0;
    if (i === point) continue;
    if (!isDigit(byte)) return false;
    units = 10 * units + byte - ZERO;
    if (units > 0) count++;
  }
  // below 0.0001 it has an exponent
  if (count > MOST_DIGITS || places - count > 3) return false;
  const rest = restOfDouble(units, places, count);
  // below a power of ten the double has a digit less
  if (Number.isNaN(rest) || (units === 1 && rest < 0)) return false;
  const isLess = rest < 0;
  out.slice(source, at, end - 1);
  out.byte(ZERO + last - (isLess ? 1 : 0));
  if (rest === 0) return true;
  for (let i = FULL_DIGITS - count; i > 2; i--) out.byte(isLess ? NINE : ZERO);
  const digits = isLess ? 100 + rest : rest;
  out.byte(ZERO + Math.floor(digits / 10));
  if (digits % 10 > 0) out.byte(ZERO + (digits % 10));
  return true;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function writeWord(first: number, end: number): number {
  if (first === 0x74) out.bytes(TRUE);
  else if (first === 0x66) out.bytes(FALSE);
  else if (first === 0x6e) out.bytes(NULL);
  else return -1;
  return end;
}

/** Writes `s:<bytes>:"<text>";`, as values and names are. */
function writeText(at: number): number {
  const end = out.serializedText(source, at);
  return end === 0 ? writeEscaped(at) : end;
}

function writeEscaped(at: number): number {
  const end = behindText(source, at);
  const text = toText(valueBetween(source, at, end));
  out.text(`s:${Buffer.byteLength(text)}:"`);
  out.text(text);
  out.text(TAIL);
  return end;
}

function writeObject(from: number, appended: string, more: number, isInner: boolean): number {
  out.bytes(OBJECT_HEAD);
  const counted = out.length;
  // objects in others are mostly small
  const room = isInner ? ONE_DIGIT : TWO_DIGITS;
  out.bytes(room);
  const bytes = source;
  let count = more;
  let at = from + 1;
  let byte = bytes[at] ?? 0;
  if (byte <= SPACE) byte = bytes[(at = behindWhite(bytes, at))] ?? 0;
  if (byte !== CLOSE_OBJECT)
    for (;;) {
      if (byte !== QUOTE) return -1;
      at = writeText(at);
      if (at < 0) return -1;
      if (bytes[at] !== COLON) at = behindWhite(bytes, at);
      if (bytes[at++] !== COLON) return -1;
      byte = bytes[at] ?? 0;
      if (byte <= SPACE) byte = bytes[(at = behindWhite(bytes, at))] ?? 0;
      at = byte === QUOTE ? writeText(at) : writeValue(at);
      if (at < 0) return -1;
      count++;
      byte = bytes[at] ?? 0;
      if (byte <= SPACE) byte = bytes[(at = behindWhite(bytes, at))] ?? 0;
      if (byte === CLOSE_OBJECT) break;
      if (byte !== COMMA) return -1;
      byte = bytes[++at] ?? 0;
      if (byte <= SPACE) byte = bytes[(at = behindWhite(bytes, at))] ?? 0;
    }
  if (appended !== '') out.text(appended);
  out.byte(CLOSE_OBJECT);
  out.replace(counted, counted + room.length - 2, String(count));
  return at + 1;
}

function writeList(from: number): number {
  out.bytes(LIST_HEAD);
  const counted = out.length;
  out.bytes(ONE_DIGIT);
  let count = 0;
  let at = behindWhite(source, from + 1);
  if (source[at] !== CLOSE_LIST)
    for (;;) {
      out.bytes(INDEXES[count] ?? Buffer.from(`i:${count};`));
      at = writeValue(at);
      if (at < 0) return -1;
      count++;
      at = behindWhite(source, at);
      if (source[at] === CLOSE_LIST) break;
      if (source[at] !== COMMA) return -1;
      at = behindWhite(source, at + 1);
    }
  out.byte(CLOSE_OBJECT);
  out.replace(counted, counted + 1, String(count));
  return at + 1;
}

const INDEXES = Array.from({ length: 64 }, (_, i) => Buffer.from(`i:${i};`));
