/** Parts of a time that a text has given so far. Undefined ones come from the base time. */
export interface Reading {
  year?: number;
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  micros?: number;
  zone?: Zone;
  hasDate: boolean;
  /** How often a time was said; a time without colons may be said twice, then the second is a year. */
  times: number;
  zones: number;
  /** Steps to be added once the date is known. */
  readonly shift: Record<ShiftPart, number>;
  /** 0 for Sunday to 6; negative after `ago`. */
  weekday?: number;
  weekdayRule: WeekdayRule;
  special?: Special;
  /** `first day of`, `last day of`. */
  edge?: 'first' | 'last';
}

/** Seconds east of UTC, or a name of the time zone database. */
export type Zone = { readonly offset: number } | { readonly id: string };

export type ShiftPart = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'micros';

/** Which day of that name: the next but not today, the next or today, or the one of the week from Monday. */
export type WeekdayRule = 'after' | 'onOrAfter' | 'ofWeek';

export type Special =
  /** The weekday is counted from the start of the month (`second tuesday of`), or from its end (`last friday of`). */
  | { readonly kind: 'nthOfMonth' | 'lastOfMonth' }
  /** Steps over days from Monday to Friday. */
  | { readonly kind: 'workdays'; readonly amount: number };

/** The text cannot be read; never leaves this folder. */
export class Unreadable extends Error {}

export function emptyReading(): Reading {
  return {
    hasDate: false,
    times: 0,
    zones: 0,
    shift: { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, micros: 0 },
    weekdayRule: 'after',
  };
}

export interface DateParts {
  readonly year?: number | undefined;
  readonly month?: number | undefined;
  readonly day?: number | undefined;
}

/** @throws {Unreadable} for the second date of a text */
export function takeDate(reading: Reading, { year, month, day }: DateParts): void {
  if (reading.hasDate) throw new Unreadable('two dates');
  reading.hasDate = true;
  if (year !== undefined) reading.year = year;
  if (month !== undefined) reading.month = month;
  if (day !== undefined) reading.day = day;
}

/** @throws {Unreadable} for the second time of a text */
export function takeTime(reading: Reading, hour: number, minute = 0, second = 0, micros = 0): void {
  if (reading.times > 0) throw new Unreadable('two times');
  Object.assign(reading, { times: 1, hour, minute, second, micros });
}

/** Resets the time to midnight, so that another one may follow. */
export function dropTime(reading: Reading): void {
  Object.assign(reading, { times: 0, hour: 0, minute: 0, second: 0, micros: 0 });
}

/**
 * Counts a zone: the first holds, the second is passed over (`UTC+2` is UTC).
 *
 * @returns whether it holds
 * @throws {Unreadable} for a third
 */
export function countZone(reading: Reading): boolean {
  reading.zones++;
  if (reading.zones > 2) throw new Unreadable('three time zones');
  return reading.zones === 1;
}
