import { isList, isObject, JsonNumber, valueBetween, type Json } from '../../../lib/json/index.ts';
import { VALUE } from './column-type.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const COLON = 0x3a;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
const BIG_T = 0x54;
const BIG_Z = 0x5a;

/** Digits of a decimal in front of the point, and behind it. */
const DECIMAL_WHOLE = 29;
const DECIMAL_SCALE = 9;
/** Digits that a double surely gives back. */
const DOUBLE_DIGITS = 15;
/** Powers of ten between which every number of 15 digits is a normal double. */
const MOST_POWER = 307;

/** Digits behind the point of a second that databases keep. */
const SECOND_DIGITS = 6;

/** Characters of a date or a moment, at least and at most. */
const MOMENT_LENGTHS = [10, 32] as const;
/** Bytes of a character that is written as an escape. */
const LONGEST_ESCAPE = 6;

const LARGEST_INTEGER = '9007199254740992';
const LARGEST_BIGINT = '9223372036854775807';

/** Returns the kind of a value that becomes a cell; 0 for null and for what is missing. */
export function kindOfValue(value: Json | undefined): number {
  if (value === null || value === undefined) return 0;
  if (typeof value === 'string') {
    const first = value.charCodeAt(0);
    // nearly all texts end here: a date begins with a digit
    if (
      !(first >= ZERO && first <= NINE) ||
      value.length < MOMENT_LENGTHS[0] ||
      value.length > MOMENT_LENGTHS[1]
    )
      return VALUE.text;
    const bytes = Buffer.from(value, 'utf8');
    return kindOfText(bytes, 0, bytes.length);
  }
  if (typeof value === 'boolean') return VALUE.boolean;
  if (typeof value === 'number') return kindOfNumber(String(value));
  if (value instanceof JsonNumber) return kindOfNumber(value.literal);
  if (isList(value) || isObject(value)) return VALUE.json;
  return VALUE.text;
}

/** Returns the kind of the text of a cell, where a number may be one inside a text. */
export function kindOfCell(text: string): number {
  if (text === 'true' || text === 'false') return VALUE.boolean;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? kindOfNumber(text) : kindOfValue(text);
}

/** Returns the kind of a number by its literal, which no double has seen. */
export function kindOfNumber(literal: string): number {
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (match === null) return VALUE.text;
  const [, whole = '', behind, power] = match;
  if (behind === undefined && power === undefined) return kindOfInteger(whole, literal.startsWith('-'));
  const exponent = Number(power ?? 0);
  // an exponent that is out of any range: its digits are not to be counted
  if (!(Math.abs(exponent) <= 1000)) return VALUE.text;
  const digits = `${whole}${behind ?? ''}`;
  const leading = /^0*/.exec(digits)?.[0].length ?? 0;
  const significant = digits.slice(leading).replace(/0+$/, '');
  if (significant === '') return VALUE.fraction;
  // the number is 0.significant × 10^top
  const top = whole.length - leading + exponent;
  const isDecimal = top <= DECIMAL_WHOLE && significant.length - top <= DECIMAL_SCALE;
  const isDouble = significant.length <= DOUBLE_DIGITS && Math.abs(top) < MOST_POWER;
  if (isDecimal) return isDouble ? VALUE.fraction : VALUE.precise;
  return isDouble ? VALUE.float : VALUE.text;
}

function kindOfInteger(written: string, isNegative: boolean): number {
  const digits = written.replace(/^0+(?=\d)/, '');
  const { length } = digits;
  if (isUpTo(digits, LARGEST_INTEGER)) return VALUE.integer;
  if (isUpTo(digits, LARGEST_BIGINT) || (isNegative && digits === '9223372036854775808')) return VALUE.large;
  return length <= DECIMAL_WHOLE ? VALUE.huge : VALUE.text;
}

function isUpTo(digits: string, limit: string): boolean {
  return digits.length < limit.length || (digits.length === limit.length && digits <= limit);
}

/**
 * Returns the kind of a text: a date, a moment, or any other text. Only what every database reads alike is a moment:
 * `2024-02-29`, `2024-02-29T10:00:00` or with a space, up to six digits behind the second, `Z`, `+01:00` or `+0100`.
 */
function kindOfText(bytes: Uint8Array, at: number, end: number): number {
  const length = end - at;
  if (length < 10 || bytes[at + 4] !== MINUS || bytes[at + 7] !== MINUS) return VALUE.text;
  const year = digitsAt(bytes, at, 4);
  const month = digitsAt(bytes, at + 5, 2);
  const day = digitsAt(bytes, at + 8, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return VALUE.text;
  if (length === 10) return VALUE.date;
  return length < 19 ? VALUE.text : kindOfMoment(bytes, at + 10, end);
}

function kindOfMoment(bytes: Uint8Array, at: number, end: number): number {
  const between = bytes[at];
  if ((between !== BIG_T && between !== SPACE) || bytes[at + 3] !== COLON || bytes[at + 6] !== COLON)
    return VALUE.text;
  const hour = digitsAt(bytes, at + 1, 2);
  const minute = digitsAt(bytes, at + 4, 2);
  const second = digitsAt(bytes, at + 7, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return VALUE.text;
  let behind = at + 9;
  if (behind < end && bytes[behind] === POINT) {
    const first = ++behind;
    while (behind < end && isDigit(bytes[behind])) behind++;
    if (behind === first || behind - first > SECOND_DIGITS) return VALUE.text;
  }
  if (behind === end) return VALUE.timestamp;
  return isOffset(bytes, behind, end) ? VALUE.timestamptz : VALUE.text;
}

function isOffset(bytes: Uint8Array, at: number, end: number): boolean {
  const sign = bytes[at];
  if (sign === BIG_Z) return end === at + 1;
  if (sign !== PLUS && sign !== MINUS) return false;
  const hour = digitsAt(bytes, at + 1, 2);
  const hasColon = bytes[at + 3] === COLON;
  const minute = digitsAt(bytes, hasColon ? at + 4 : at + 3, 2);
  // the widest offset that all databases take
  return end - at === (hasColon ? 6 : 5) && hour >= 0 && hour <= 15 && minute >= 0 && minute <= 59;
}

/** Returns the number of so many digits; −1 where there is anything else. */
function digitsAt(bytes: Uint8Array, at: number, count: number): number {
  let number = 0;
  for (let i = at; i < at + count; i++) {
    const byte = bytes[i];
    if (!isDigit(byte)) return -1;
    number = 10 * number + byte - ZERO;
  }
  return number;
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Returns the kind of a JSON value at an offset that was written to a cell, out of its bytes; 0 for null.
 *
 * @param end offset behind it
 */
export function kindOfRaw(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at] ?? 0;
  if (first === QUOTE) {
    const start = bytes[at + 1] ?? 0;
    const length = end - at - 2;
    const mayBe = (start >= ZERO && start <= NINE) || start === BACKSLASH;
    if (!mayBe || length < MOMENT_LENGTHS[0] || length > LONGEST_ESCAPE * MOMENT_LENGTHS[1])
      return VALUE.text;
    // some write the plus of an offset as an escape
    if (bytes.subarray(at, end).includes(BACKSLASH)) return kindOfValue(valueBetween(bytes, at, end));
    return length > MOMENT_LENGTHS[1] ? VALUE.text : kindOfText(bytes, at + 1, end - 1);
  }
  if (first === MINUS || (first >= ZERO && first <= NINE)) {
    const short = kindOfShort(bytes, first === MINUS ? at + 1 : at, end);
    if (short !== 0) return short;
    return kindOfNumber(Buffer.from(bytes.subarray(at, end)).toString('latin1'));
  }
  return first === 0x6e ? 0 : VALUE.boolean;
}

/** Returns the kind of a short number without an exponent, without a text of it; 0 for any other. */
function kindOfShort(bytes: Uint8Array, at: number, end: number): number {
  if (end - at > DOUBLE_DIGITS + 1) return 0;
  let point = 0;
  for (let i = at; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === POINT && point === 0) point = i;
    else if (byte < ZERO || byte > NINE) return 0;
  }
  if (point === 0) return end - at <= DOUBLE_DIGITS ? VALUE.integer : 0;
  return end - point - 1 <= DECIMAL_SCALE ? VALUE.fraction : 0;
}
