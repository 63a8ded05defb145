import { anyOf } from './rule.ts';
import type { ShiftPart } from './reading.ts';

/** Names of months and their numbers. */
const MONTH_NAMES: ReadonlyMap<string, number> = new Map(
  [
    ['january', 'jan'],
    ['february', 'feb'],
    ['march', 'mar'],
    ['april', 'apr'],
    ['may'],
    ['june', 'jun'],
    ['july', 'jul'],
    ['august', 'aug'],
    ['september', 'sep', 'sept'],
    ['october', 'oct'],
    ['november', 'nov'],
    ['december', 'dec'],
  ].flatMap((names, index) => names.map((name) => [name, index + 1] as const)),
);

const ROMAN_MONTHS = ['I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X', 'XI', 'XII'];

/** A month by name. */
export const MONTH_NAME = `(?<monthName>${anyOf(MONTH_NAMES.keys())})`;
/** A month by short name. */
export const SHORT_MONTH_NAME = `(?<monthName>${anyOf([...MONTH_NAMES.keys()].filter((name) => name.length <= 4 && !['june', 'july'].includes(name)))})`;
/** A month by name or by a Roman number in upper case. */
export const MONTH_TEXT = `(?<monthName>${anyOf(MONTH_NAMES.keys())}|${[...ROMAN_MONTHS].sort((a, b) => b.length - a.length).join('|')})`;

export function monthOf(name: string): number | undefined {
  const roman = ROMAN_MONTHS.indexOf(name);
  return roman >= 0 ? roman + 1 : MONTH_NAMES.get(name.toLowerCase());
}

const WEEKDAYS: ReadonlyMap<string, number> = new Map(
  ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'].flatMap((name, index) =>
    [name, `${name}s`, name.slice(0, 3)].map((form) => [form, index] as const),
  ),
);

/** Unit of an amount: a part of date or time, a day of the week, or days from Monday to Friday. */
export type Unit =
  | { readonly kind: 'part'; readonly part: ShiftPart; readonly size: number }
  | { readonly kind: 'weekday'; readonly weekday: number }
  | { readonly kind: 'workdays' };

const UNITS: ReadonlyMap<string, Unit> = new Map<string, Unit>([
  ...part('micros', 1000, ['ms', 'msec', 'msecs', 'millisecond', 'milliseconds']),
  ...part('micros', 1, ['µs', 'µsec', 'µsecs', 'usec', 'usecs', 'microsecond', 'microseconds']),
  ...part('second', 1, ['sec', 'secs', 'second', 'seconds']),
  ...part('minute', 1, ['min', 'mins', 'minute', 'minutes']),
  ...part('hour', 1, ['hour', 'hours']),
  ...part('day', 1, ['day', 'days']),
  ...part('day', 7, ['week', 'weeks']),
  ...part('day', 14, ['fortnight', 'fortnights', 'forthnight', 'forthnights']),
  ...part('month', 1, ['month', 'months']),
  ...part('year', 1, ['year', 'years']),
  ['weekday', { kind: 'workdays' }],
  ['weekdays', { kind: 'workdays' }],
  ...[...WEEKDAYS].map(([name, weekday]): [string, Unit] => [name, { kind: 'weekday', weekday }]),
]);

function part(name: ShiftPart, size: number, words: readonly string[]): [string, Unit][] {
  return words.map((word) => [word, { kind: 'part', part: name, size }]);
}

export const UNIT = `(?<unit>${anyOf(UNITS.keys())})`;
/** After a word for an amount, `week` has a rule of its own (`monday next week`). */
export const UNIT_WITHOUT_WEEK = `(?<unit>${anyOf([...UNITS.keys()].filter((name) => name !== 'week'))})`;
export const WEEKDAY = `(?<unit>${anyOf([...WEEKDAYS.keys(), 'weekday', 'weekdays'])})`;
export const WEEKDAY_NAME = `(?<unit>${anyOf(WEEKDAYS.keys())})`;

export function unitOf(word: string): Unit | undefined {
  return UNITS.get(word.toLowerCase());
}

const DIRECTIONS: ReadonlyMap<string, number> = new Map([
  ['last', -1],
  ['previous', -1],
  ['this', 0],
  ['next', 1],
]);

const AMOUNTS: ReadonlyMap<string, number> = new Map([
  ...DIRECTIONS,
  ...['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'].map(
    (word, index) => [word, index + 1] as const,
  ),
  ['eleventh', 11],
  ['twelfth', 12],
]);

export const DIRECTION = `(?<amount>${anyOf(DIRECTIONS.keys())})`;
export const AMOUNT_WORD = `(?<amount>${anyOf(AMOUNTS.keys())})`;

export function amountOf(word: string): number {
  return AMOUNTS.get(word.toLowerCase()) ?? 0;
}
