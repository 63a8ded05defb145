import { civilDate, dayNumber, SECONDS_OF_DAY } from '../calendar.ts';
import { ABBREVIATIONS } from './abbreviations.ts';
import { ZONE } from './pieces.ts';
import { countZone, Unreadable, type Reading, type Zone } from './reading.ts';
import { rule, type TimeRule } from './rule.ts';

/** `+02:00`, `GMT-7`, `CEST`, `(PST)`, `Europe/Prague`. */
export const ZONE_RULES: readonly TimeRule[] = [
  rule(ZONE, (reading, groups) => {
    if (countZone(reading)) applyZone(reading, groups['zone'] ?? '');
  }),
];

/** @throws {Unreadable} for an unknown zone */
export function applyZone(reading: Reading, text: string): void {
  const zone = zoneOf(text);
  if (zone === undefined) throw new Unreadable('unknown time zone');
  reading.zone = zone;
}

/** Returns the zone that a text names; undefined for an unknown one. */
export function zoneOf(text: string): Zone | undefined {
  const name = text.replace(/^\(|\)$/g, '').replace(/^GMT(?=[+-])/, '');
  if (/^[+-]/.test(name)) return { offset: offsetOf(name) };
  const abbreviated = ABBREVIATIONS.get(name.toLowerCase());
  if (abbreviated !== undefined) return { offset: abbreviated };
  return clockOf(name) === undefined ? undefined : { id: name };
}

/** Returns the seconds that a zone is east of UTC at a time. */
export function offsetIn(zone: Zone, seconds: number): number {
  return 'offset' in zone ? zone.offset : offsetAt(zone.id, seconds);
}

/**
 * Converts a local time, given as if it were UTC, to seconds since 1970. A time that clocks skip moves on by the hour
 * skipped; one that comes twice is the second east of UTC and the first west of it, as in PHP 7.4.
 */
export function toUtc(local: number, zone: Zone | undefined): number {
  if (zone === undefined) return local;
  if ('offset' in zone) return local - zone.offset;
  const before = offsetAt(zone.id, local);
  const after = offsetAt(zone.id, local - before);
  if (after <= before) return local - after;
  return local - (offsetAt(zone.id, local - after) === after ? after : before);
}

/** Parses `+2`, `-0730`, `+05:30` into seconds. */
function offsetOf(text: string): number {
  const [hours = '', minutes] = text.slice(1).split(':');
  const split = minutes === undefined && hours.length > 2;
  const h = Number(split ? hours.slice(0, -2) : hours);
  const m = Number(split ? hours.slice(-2) : (minutes ?? 0));
  return (text.startsWith('-') ? -1 : 1) * (h * 3600 + m * 60);
}

function offsetAt(id: string, seconds: number): number {
  const { year } = civilDate(Math.floor(seconds / SECONDS_OF_DAY));
  // outside the years of the platform's calendar the nearest ones tell
  const inside =
    Math.abs(year) <= 200_000 ? seconds : Math.sign(seconds) * dayNumber(202_000, 1, 1) * SECONDS_OF_DAY;
  const parts: Record<string, number> = {};
  for (const { type, value } of clockOf(id)?.formatToParts(inside * 1000) ?? []) {
    parts[type] = type === 'era' ? Number(value.startsWith('B')) : Number(value);
  }
  const { year: yearOfEra = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const shownYear = parts['era'] === 1 ? 1 - yearOfEra : yearOfEra;
  return dayNumber(shownYear, month, day) * SECONDS_OF_DAY + hour * 3600 + minute * 60 + second - inside;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(id: string): Intl.DateTimeFormat | undefined {
  let clock = clocks.get(id);
  if (clock !== undefined) return clock;
  try {
    clock = new Intl.DateTimeFormat('en-u-ca-gregory', {
      timeZone: id,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  clocks.set(id, clock);
  return clock;
}
