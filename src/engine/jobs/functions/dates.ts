import type { Instant } from '../../language/index.ts';
import { trimEnd } from '../../../lib/trim.ts';
import { CallError, textOf, type Argument } from './arguments.ts';
import { dayNumber, daysInMonth, SECONDS_OF_DAY } from './calendar.ts';
import type { ClockZone } from './date.ts';
import type { LibraryFunction } from './function.ts';
import { offsetIn, toUtc, zoneOf } from './strtotime/zones.ts';
import type { Zone } from './strtotime/reading.ts';

/** Dates by a format; `strtotime` reads those without one. */
export const DATES: Readonly<Record<string, LibraryFunction>> = {
  parse_date: {
    usage: 'parse_date(text, format[, zone[, fallback]])',
    description:
      'Seconds since 1970 of a date in a format of PHP’s letters, such as “d.m.Y H:i”; without a zone in it in the one given, else in UTC. The fallback for a text that does not fit.',
    arity: [2, 4],
    call: ([text, format, zone, fallback]) => {
      if (text === null || text === undefined || text === '') return null;
      const given = zone === undefined || zone === null ? undefined : knownZone(textOf(zone));
      const seconds = parseDate(textOf(text), textOf(format), given);
      return seconds ?? notDate(textOf(format), fallback);
    },
  },
};

/** @throws {CallError} for a zone that is not known */
export function zoneNamed(name: string): ClockZone {
  const zone = knownZone(name);
  return { name, offsetAt: (timestamp) => offsetIn(zone, timestamp) };
}

function knownZone(name: string): Zone {
  const zone = zoneOf(name);
  if (zone !== undefined) return zone;
  throw new CallError('the time zone is not known', 'Write it as “Europe/Prague” or “+02:00”.');
}

function notDate(format: string, fallback: Argument | undefined): Argument {
  if (fallback !== undefined) return fallback;
  throw new CallError(
    `a text is no date in the format “${format}”`,
    'Correct the format, or give a fallback as fourth argument, such as null.',
  );
}

/** Parts of a text that the letters of a format matched. */
type Found = Readonly<Record<string, string | undefined>>;

const ZONE = 'Z|[+-]\\d{1,2}:?\\d{0,2}|[A-Za-z]+(?:[/_-][A-Za-z]+)*';

/** By letter: the part of the expression, and the name of what it finds. */
const LETTERS: Readonly<Record<string, readonly [name: string, expression: string]>> = {
  d: ['day', '\\d{1,2}'],
  j: ['day', '\\d{1,2}'],
  m: ['month', '\\d{1,2}'],
  n: ['month', '\\d{1,2}'],
  M: ['monthName', '[A-Za-z]{3,9}\\.?'],
  F: ['monthName', '[A-Za-z]{3,9}\\.?'],
  Y: ['year', '-?\\d{4}'],
  y: ['shortYear', '\\d{2}'],
  z: ['dayOfYear', '\\d{1,3}'],
  D: ['dayName', '[A-Za-z]{2,9}\\.?'],
  l: ['dayName', '[A-Za-z]{2,9}\\.?'],
  H: ['hour', '\\d{1,2}'],
  G: ['hour', '\\d{1,2}'],
  h: ['hour', '\\d{1,2}'],
  g: ['hour', '\\d{1,2}'],
  i: ['minute', '\\d{2}'],
  s: ['second', '\\d{2}'],
  a: ['half', '[AaPp]\\.?[Mm]\\.?'],
  A: ['half', '[AaPp]\\.?[Mm]\\.?'],
  u: ['fraction', '\\d{1,9}'],
  v: ['fraction', '\\d{1,9}'],
  U: ['timestamp', '-?\\d{1,15}'],
  e: ['zone', ZONE],
  T: ['zone', ZONE],
  O: ['zone', ZONE],
  P: ['zone', ZONE],
};

const formats = new Map<string, RegExp>();
const MAX_FORMATS = 1000;
/** No text of a date is longer. */
const MOST_LETTERS = 1000;

/** Parses a date to the second; undefined for a text that does not fit the format. */
function parseDate(text: string, format: string, given: Zone | undefined): number | undefined {
  const found = partsOf(text, format);
  return found === undefined ? undefined : secondsOfParts(found, given);
}

/**
 * Reads a moment in a format, in UTC where it has no zone; undefined for a text that does not fit.
 *
 * @throws {CallError} for a letter that is not known
 */
export function instantIn(format: string, text: string): Instant | undefined {
  const found = partsOf(text, format);
  const seconds = found === undefined ? undefined : secondsOfParts(found, undefined);
  return seconds === undefined ? undefined : { seconds, fraction: trimEnd(found?.['fraction'] ?? '', '0') };
}

function partsOf(text: string, format: string): Found | undefined {
  return text.length > MOST_LETTERS ? undefined : expressionOf(format).exec(text.trim())?.groups;
}

function expressionOf(format: string): RegExp {
  let compiled = formats.get(format);
  if (compiled === undefined) {
    compiled = compile(format);
    if (formats.size < MAX_FORMATS) formats.set(format, compiled);
  }
  return compiled;
}

function compile(format: string): RegExp {
  const seen = new Set<string>();
  const parts = format.replace(
    /\\([^])|([A-Za-z])|(\s+|[^])/gu,
    (_all, kept?: string, letter?: string, other?: string) => {
      if (letter === undefined) return literal(kept ?? other ?? '');
      const known = Object.hasOwn(LETTERS, letter) ? LETTERS[letter] : undefined;
      if (known === undefined)
        throw new CallError(
          `“${letter}” in the format of a date is not known`,
          `Write \\${letter} where the letter itself stands.`,
        );
      const [name, expression] = known;
      if (seen.has(name)) return `(?:${expression})`;
      seen.add(name);
      return `(?<${name}>${expression})`;
    },
  );
  return new RegExp(`^${parts}$`, 'u');
}

function literal(text: string): string {
  return /\s/.test(text) ? `\\s{${text.length},}` : text.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');
}

function secondsOfParts(found: Found, given: Zone | undefined): number | undefined {
  if (found['timestamp'] !== undefined) return Number(found['timestamp']);
  const days = dayOf(found);
  const time = timeOf(found);
  const zone = found['zone'] === undefined ? given : zoneOf(found['zone']);
  if (days === undefined || time === undefined || (found['zone'] !== undefined && zone === undefined))
    return undefined;
  return toUtc(days * SECONDS_OF_DAY + time, zone);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Days since 1970; undefined for a day that there is not. */
function dayOf(found: Found): number | undefined {
  const { year, shortYear, month, monthName, day = '1', dayOfYear } = found;
  const y =
    year === undefined ? (shortYear === undefined ? 1970 : fullYear(Number(shortYear))) : Number(year);
  if (dayOfYear !== undefined) return dayNumber(y, 1, 1) + Number(dayOfYear);
  const m =
    monthName === undefined ? Number(month ?? 1) : MONTHS.indexOf(monthName.slice(0, 3).toLowerCase()) + 1;
  const d = Number(day);
  return m < 1 || m > 12 || d < 1 || d > daysInMonth(y, m) ? undefined : dayNumber(y, m, d);
}

function fullYear(short: number): number {
  return short < 70 ? 2000 + short : 1900 + short;
}

function timeOf({ hour = '0', minute = '0', second = '0', half }: Found): number | undefined {
  const twelve = Number(hour);
  const isAfternoon = half?.toLowerCase().startsWith('p') === true;
  const h = half === undefined ? twelve : (twelve % 12) + (isAfternoon ? 12 : 0);
  const [m, s] = [Number(minute), Number(second)];
  return h > 24 || m > 59 || s > 60 || (half !== undefined && twelve > 12)
    ? undefined
    : h * 3600 + m * 60 + s;
}
