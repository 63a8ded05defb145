import { civilDate, dayNumber, modulo, SECONDS_OF_DAY, weekdayOf } from '../calendar.ts';
import type { Reading, ShiftPart } from './reading.ts';
import { toUtc } from './zones.ts';

/**
 * Resolves a reading to a time, with the parts that it leaves open taken from the base.
 *
 * @returns seconds since 1970, or false where they are too many for a number
 */
export function resolve(reading: Reading, base: number): number | false {
  const shift = { ...reading.shift };
  const wall = start(reading, base);
  if (reading.special?.kind === 'nthOfMonth' || reading.special?.kind === 'lastOfMonth') {
    wall.day = 1;
    wall.month += shift.month + (reading.special.kind === 'lastOfMonth' ? 1 : 0);
    shift.month = 0;
  }
  toEdge(wall, reading.edge);
  carry(wall);
  toWeekday(wall, reading, shift.day);
  carry(wall);
  for (const part of PARTS) wall[part] += shift[part];
  toEdge(wall, reading.edge);
  carry(wall);
  if (reading.special?.kind === 'workdays') wall.day += workdays(weekday(wall), reading.special.amount);
  const seconds = toUtc(toSeconds(wall), reading.zone);
  return Number.isSafeInteger(seconds) ? seconds : false;
}

/** A time on a clock; its parts may be out of range until they are carried. */
type Wall = Record<ShiftPart, number>;

const PARTS: readonly ShiftPart[] = ['year', 'month', 'day', 'hour', 'minute', 'second', 'micros'];

function start(reading: Reading, base: number): Wall {
  const now: Wall = { year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: base, micros: 0 };
  carry(now);
  const midnight = reading.hasDate && reading.times === 0;
  return {
    year: reading.year ?? now.year,
    month: reading.month ?? now.month,
    day: reading.day ?? now.day,
    hour: midnight ? 0 : (reading.hour ?? now.hour),
    minute: midnight ? 0 : (reading.minute ?? now.minute),
    second: midnight ? 0 : (reading.second ?? now.second),
    micros: midnight ? 0 : (reading.micros ?? 0),
  };
}

function toEdge(wall: Wall, edge: Reading['edge']): void {
  if (edge === undefined) return;
  wall.day = edge === 'first' ? 1 : 0;
  if (edge === 'last') wall.month++;
}

/** Brings every part into its range: 24:00 is the next day, February 30 is March. */
function carry(wall: Wall): void {
  const seconds = toSeconds(wall);
  const days = Math.floor(seconds / SECONDS_OF_DAY);
  const time = seconds - days * SECONDS_OF_DAY;
  const micros = wall.micros - Math.floor(wall.micros / 1e6) * 1e6;
  Object.assign(wall, civilDate(days), {
    hour: Math.floor(time / 3600),
    minute: Math.floor(time / 60) % 60,
    second: time % 60,
    micros,
  });
}

function toSeconds(wall: Wall): number {
  const days = dayNumber(wall.year, wall.month, wall.day);
  const time = wall.hour * 3600 + wall.minute * 60 + wall.second;
  return days * SECONDS_OF_DAY + time + Math.floor(wall.micros / 1e6);
}

function weekday(wall: Wall): number {
  return weekdayOf(dayNumber(wall.year, wall.month, wall.day));
}

/** @param dayShift the days that are still to be added: going back, the day itself counts */
function toWeekday(wall: Wall, { weekday: wanted, weekdayRule }: Reading, dayShift: number): void {
  if (wanted === undefined) return;
  const today = weekday(wall);
  if (weekdayRule === 'ofWeek') {
    // weeks start on Monday
    wall.day += mondayFirst(wanted) - mondayFirst(today);
  } else if (wanted < 0) {
    // ago: the last day of that name before today
    wall.day -= modulo(today + wanted, 7) || 7;
  } else {
    const ahead = wanted - today;
    const past = ahead < 0 || (ahead === 0 && weekdayRule === 'after' && dayShift >= 0);
    wall.day += past ? ahead + 7 : ahead;
  }
}

function mondayFirst(weekday: number): number {
  return weekday === 0 ? 7 : weekday;
}

/** Days to go for an amount of days from Monday to Friday. */
function workdays(today: number, amount: number): number {
  if (amount > 0) {
    // from a weekend one starts at its Friday
    const start = today === 6 ? -1 : today === 0 ? -2 : 0;
    const from = today === 6 || today === 0 ? 5 : today;
    return start + amount + 2 * Math.floor((from - 1 + amount) / 5);
  }
  // going back, or nowhere, one starts at the Monday after a weekend
  const start = today === 6 ? 2 : today === 0 ? 1 : 0;
  const from = today === 6 || today === 0 ? 1 : today;
  return start + amount - 2 * Math.floor((5 - from - amount) / 5);
}
