import { civilDate, dayNumber, daysInMonth, SECONDS_OF_DAY } from '../functions/calendar.ts';
import { counted } from '../../../lib/counted.ts';

/**
 * A length of time: months of the calendar, and a fixed rest in milliseconds, to a thousandth of one. Neither is
 * negative.
 */
export interface Span {
  readonly months: number;
  readonly ms: number;
}

/**
 * Reads a length of time: `30 days`, `1 month`, `6 hours`, `1 day 12 hours`, or one of ISO 8601 (`P1M`, `PT6H`).
 * Undefined for a text that is none; without its unit a number is none.
 */
export function readSpan(text: string): Span | undefined {
  const trimmed = text.trim().toLowerCase();
  const iso = /^p(?=[\dt])(?:[\d.]+[ymwd])*(?:t(?:[\d.]+[hms])+)?$/.exec(trimmed);
  const parts = iso === null ? readWords(trimmed) : readIso(trimmed);
  return parts === undefined ? undefined : total(parts);
}

/** Formats a span in words: `30 days`, `1 month`. */
export function spanText({ months, ms }: Span): string {
  const parts = [
    ...(months === 0 ? [] : [months % 12 === 0 ? counted(months / 12, 'year') : counted(months, 'month')]),
    ...(ms === 0 ? [] : [fixedText(ms)]),
  ];
  return parts.length === 0 ? '0 seconds' : parts.join(' ');
}

/**
 * Adds a span to a time a number of times; a negative number subtracts. Months are those of the calendar: a day that a
 * month does not have is its last one, so January 31 and one month is February 28 or 29, and two are March 31.
 *
 * @param ms milliseconds since 1970
 */
export function addSpan(ms: number, span: Span, times: number): number {
  return addMonths(ms, span.months * times) + span.ms * times;
}

/** Tells whether a span is empty: neither months nor milliseconds. */
export function isNoSpan({ months, ms }: Span): boolean {
  return months === 0 && ms === 0;
}

export const DAY_MS = SECONDS_OF_DAY * 1000;

type Part = readonly [amount: number, unit: keyof typeof UNITS];

const UNITS = {
  microsecond: { months: 0, ms: 0.001 },
  millisecond: { months: 0, ms: 1 },
  second: { months: 0, ms: 1000 },
  minute: { months: 0, ms: 60_000 },
  hour: { months: 0, ms: 3_600_000 },
  day: { months: 0, ms: DAY_MS },
  week: { months: 0, ms: 7 * DAY_MS },
  month: { months: 1, ms: 0 },
  quarter: { months: 3, ms: 0 },
  year: { months: 12, ms: 0 },
} as const satisfies Record<string, Span>;

const SHORT: Readonly<Record<string, Part[1]>> = { ms: 'millisecond', sec: 'second', min: 'minute' };

function readWords(text: string): Part[] | undefined {
  const pieces = [...text.matchAll(/(?<!\d)(\d+)\s*([a-z]+)/g)];
  const parts = pieces.flatMap(([, amount, word = '']): Part[] => {
    const name = SHORT[word] ?? word.replace(/s$/, '');
    return isUnit(name) ? [[Number(amount), name]] : [];
  });
  const rest = text.replace(/(?<!\d)(\d+)\s*([a-z]+)/g, '').replace(/[\s,]+/g, '');
  return rest === '' && parts.length > 0 && parts.length === pieces.length ? parts : undefined;
}

function readIso(text: string): Part[] | undefined {
  const [date = '', time = ''] = text.slice(1).split('t');
  const parts = [...piecesOf(date, ISO_DATE), ...piecesOf(time, ISO_TIME)];
  return parts.every(([amount]) => !Number.isNaN(amount)) ? parts : undefined;
}

const ISO_DATE: Readonly<Record<string, Part[1]>> = { y: 'year', m: 'month', w: 'week', d: 'day' };
const ISO_TIME: Readonly<Record<string, Part[1]>> = { h: 'hour', m: 'minute', s: 'second' };

function piecesOf(text: string, units: Readonly<Record<string, Part[1]>>): Part[] {
  return Array.from(text.matchAll(/(?<![\d.])([\d.]+)([a-z])/g), ([, amount, letter = '']) => [
    Number(amount),
    units[letter] ?? 'second',
  ]);
}

function total(parts: readonly Part[]): Span | undefined {
  let [months, ms] = [0, 0];
  for (const [amount, unit] of parts) {
    months += amount * UNITS[unit].months;
    ms += amount * UNITS[unit].ms;
  }
  if (!Number.isSafeInteger(months)) return undefined;
  if (Number.isSafeInteger(ms)) return { months, ms };
  const micros = microsOf(ms);
  return Number.isSafeInteger(micros) && micros > 0 && Math.abs(ms * 1000 - micros) < 1e-6
    ? { months, ms: micros / 1000 }
    : undefined;
}

/** Returns whole microseconds. */
export function microsOf(ms: number): number {
  return Math.round(ms * 1000);
}

function isUnit(name: string): name is keyof typeof UNITS {
  return Object.hasOwn(UNITS, name);
}

function addMonths(ms: number, months: number): number {
  if (months === 0) return ms;
  const days = Math.floor(ms / DAY_MS);
  const { year, month, day } = civilDate(days);
  const index = year * 12 + month - 1 + months;
  const [newYear, newMonth] = [Math.floor(index / 12), (((index % 12) + 12) % 12) + 1];
  const newDay = Math.min(day, daysInMonth(newYear, newMonth));
  return dayNumber(newYear, newMonth, newDay) * DAY_MS + (ms - days * DAY_MS);
}

const FIXED = ['week', 'day', 'hour', 'minute', 'second', 'millisecond'] as const;

function fixedText(ms: number): string {
  const unit = FIXED.find((name) => ms % UNITS[name].ms === 0);
  return unit === undefined ? counted(microsOf(ms), 'microsecond') : counted(ms / UNITS[unit].ms, unit);
}
