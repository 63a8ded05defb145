import { isNumber, toText, type Json } from '../../lib/json/index.ts';
import { instantOfSeconds, readInstant, type Instant } from '../language/instant.ts';
import { strtotime } from './functions/strtotime.ts';

/**
 * Returns the time in a value, independent of the present: ISO 8601 with any fraction and zone, the other dates of PHP
 * 7.4, digits of a date (`20260117`, `20260117093000`), or seconds, milliseconds, microseconds or nanoseconds since
 * 1970, told apart by their size. Without a zone it is in UTC. Undefined for a time relative to the present (`10:30`,
 * `yesterday`), and for anything that is not a time.
 */
export function momentOf(value: Json): Instant | undefined {
  if (typeof value !== 'string' && !isNumber(value)) return undefined;
  const text = toText(value).trim();
  return NUMERIC.test(text) ? fromDigits(text) : (readInstant(text) ?? fromWords(text));
}

/**
 * Returns the time in a setting of a configuration or a command: as {@link momentOf}, a year or a month (`2026-01`), or
 * words such as `-30 days` and `first day of this month`, counted from `now`. Undefined for anything else.
 *
 * @param now milliseconds since 1970
 * @returns milliseconds since 1970
 */
export function momentFrom(value: Json, now: number): number | undefined {
  const text = isNumber(value) || typeof value === 'string' ? toText(value).trim() : '';
  if (text === '') return undefined;
  if (/^\d{4}$/.test(text)) return momentFrom(`${text}-01-01`, now); // strtotime takes it for a time of the day
  if (/^\d{4}-\d{2}$/.test(text)) return momentFrom(`${text}-01`, now);
  const instant = momentOf(value);
  if (instant !== undefined) return msOf(instant);
  const seconds = strtotime(text, Math.floor(now / 1000));
  return seconds === false ? undefined : seconds * 1000;
}

/** Returns whole milliseconds since 1970, truncated. */
export function msOf({ seconds, fraction }: Instant): number {
  return seconds * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** Returns milliseconds since 1970 to a thousandth of one, truncated. */
export function exactMsOf({ seconds, fraction }: Instant): number {
  return seconds * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0')) / 1000;
}

const NUMERIC = /^-?\d+(?:\.\d+)?$/;

/** Dates in digits are years 1000 to 9999; as numbers since 1970 they would be 1970, or centuries away. */
function fromDigits(text: string): Instant | undefined {
  const date = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?$/.exec(text);
  if (date !== null) {
    const [, year, month, day, hour = '00', minute = '00', second = '00'] = date;
    const found = readInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    if (found !== undefined) return found;
  }
  const [, sign = '', padded = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const whole = padded.replace(/^0+(?=\d)/, '');
  const decimals = decimalsOf(whole.length);
  if (decimals === undefined) return undefined;
  const head = whole.slice(0, whole.length - decimals);
  return instantOfSeconds(`${sign}${head}.${whole.slice(head.length)}${fraction}`.replace(/\.$/, ''));
}

/**
 * Returns the number of decimals by the number of digits: seconds have up to 11 (the year 5138), milliseconds up to 14,
 * and so on.
 */
function decimalsOf(digits: number): number | undefined {
  if (digits <= 11) return 0;
  if (digits <= 14) return 3;
  return digits <= 17 ? 6 : digits <= 20 ? 9 : undefined;
}

/** Parses texts such as `Sat, 17 Jan 2026 09:30:00 GMT`; undefined if the result depends on the base. */
function fromWords(text: string): Instant | undefined {
  const [a, b] = [strtotime(text, 0), strtotime(text, OTHER_BASE)];
  return a === false || a !== b ? undefined : { seconds: a, fraction: '' };
}

/** Differs from 1970-01-01 00:00:00 in every part. */
const OTHER_BASE = 999_999_999;
