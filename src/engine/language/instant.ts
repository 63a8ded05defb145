import { isNumber, JsonNumber, type Json } from '../../lib/json/index.ts';
import { trimEnd } from '../../lib/trim.ts';

/** Timestamp, exact to the last digit that was written. */
export interface Instant {
  /** Whole seconds since 1970. */
  readonly seconds: number;
  /** Digits behind the second, without zeros at their end. */
  readonly fraction: string;
}

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?\s*(?:Z|UTC|GMT|([+-])(\d{2}):?(\d{2})?)?$/i;

/**
 * Reads a time as APIs write them: ISO 8601 (a day, to the second or finer, with or without a zone), or an HTTP date.
 * Without a zone it is UTC. Numbers are not times here: only the setting knows whether they are seconds.
 */
export function readInstant(value: Json | undefined): Instant | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const found = ISO.exec(text);
  if (found === null) return httpDate(text);
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = ''] = found;
  const [sign, zoneHours = '0', zoneMinutes = '0'] = found.slice(8);
  const parts = [year, month, day, hour, minute, second].map(Number);
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = parts;
  const days = Date.UTC(y, mo - 1, d);
  if (new Date(days).getUTCDate() !== d || mo < 1 || mo > 12 || h > 24 || mi > 59 || s > 60) return undefined;
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60 * (sign === '-' ? -1 : 1);
  return {
    seconds: days / 1000 + h * 3600 + mi * 60 + s - offset,
    fraction: trimEnd(fraction, '0'),
  };
}

const HTTP_DATE = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|[+-]\d{4})$/;

function httpDate(text: string): Instant | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : { seconds: Math.trunc(time / 1000), fraction: '' };
}

/** Reads a number of seconds as a timestamp, where the setting says so. */
export function instantOfSeconds(value: Json | undefined): Instant | undefined {
  const text = isNumber(value)
    ? value instanceof JsonNumber
      ? value.literal
      : String(value)
    : typeof value === 'string'
      ? value.trim()
      : '';
  const found = /^(-?\d+)(?:\.(\d+))?$/.exec(text);
  if (found === null) return undefined;
  return { seconds: Number(found[1]), fraction: trimEnd(found[2] ?? '', '0') };
}

export function compareInstants(a: Instant, b: Instant): number {
  if (a.seconds !== b.seconds) return a.seconds < b.seconds ? -1 : 1;
  const length = Math.max(a.fraction.length, b.fraction.length);
  const [x, y] = [a.fraction.padEnd(length, '0'), b.fraction.padEnd(length, '0')];
  return x === y ? 0 : x < y ? -1 : 1;
}
