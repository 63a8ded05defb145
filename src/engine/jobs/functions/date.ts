import {
  civilDate,
  dayNumber,
  daysInMonth,
  isLeapYear,
  isoWeek,
  modulo,
  SECONDS_OF_DAY,
  weekdayOf,
  type CivilDate,
} from './calendar.ts';

/** Time zone with its offset from UTC. */
export interface ClockZone {
  /** As it is shown by `e`. */
  readonly name: string;
  /** Seconds east of UTC at a moment. */
  readonly offsetAt: (timestamp: number) => number;
}

const UTC: ClockZone = { name: 'UTC', offsetAt: () => 0 };

/**
 * Formats a time by the format letters of PHP 7.4 `date`; `\` keeps the next character as it is.
 *
 * @param timestamp seconds since 1970, a whole number, negative before
 * @param micros of the second, for `u` and `v`
 */
export function formatDate(format: string, timestamp: number, zone: ClockZone = UTC, micros = 0): string {
  const moment = { ...momentOf(timestamp, zone), micros };
  return format.replace(/\\([^])|\\$|([A-Za-z])/g, (found: string, kept?: string, letter?: string) => {
    if (letter === undefined) return kept ?? found;
    return LETTERS[letter]?.(moment) ?? letter;
  });
}

interface Moment extends CivilDate {
  readonly timestamp: number;
  readonly zone: ClockZone;
  /** Seconds east of UTC. */
  readonly offset: number;
  /** Days since 1970. */
  readonly days: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly micros: number;
}

function momentOf(timestamp: number, zone: ClockZone): Omit<Moment, 'micros'> {
  const offset = zone.offsetAt(timestamp);
  const days = Math.floor((timestamp + offset) / SECONDS_OF_DAY);
  const time = timestamp + offset - days * SECONDS_OF_DAY;
  return {
    ...civilDate(days),
    timestamp,
    zone,
    offset,
    days,
    hour: Math.floor(time / 3600),
    minute: Math.floor(time / 60) % 60,
    second: time % 60,
  };
}

const LETTERS: Readonly<Record<string, (moment: Moment) => string>> = {
  // day
  d: ({ day }) => two(day),
  D: ({ days }) => dayName(days).slice(0, 3),
  j: ({ day }) => String(day),
  l: ({ days }) => dayName(days),
  N: ({ days }) => String(weekdayOf(days) || 7),
  S: ({ day }) => ordinalSuffix(day),
  w: ({ days }) => String(weekdayOf(days)),
  z: ({ days, year }) => String(days - dayNumber(year, 1, 1)),
  // week, month, year
  W: ({ days }) => two(isoWeek(days).week),
  F: ({ month }) => monthName(month),
  M: ({ month }) => monthName(month).slice(0, 3),
  m: ({ month }) => two(month),
  n: ({ month }) => String(month),
  t: ({ year, month }) => String(daysInMonth(year, month)),
  L: ({ year }) => (isLeapYear(year) ? '1' : '0'),
  o: ({ days }) => String(isoWeek(days).year),
  Y: ({ year }) => fourDigits(year),
  y: ({ year }) => two(year % 100),
  // time
  a: ({ hour }) => (hour < 12 ? 'am' : 'pm'),
  A: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  B: ({ timestamp }) => internetTime(timestamp),
  g: ({ hour }) => String(hour % 12 || 12),
  G: ({ hour }) => String(hour),
  h: ({ hour }) => two(hour % 12 || 12),
  H: ({ hour }) => two(hour),
  i: ({ minute }) => two(minute),
  s: ({ second }) => two(second),
  u: ({ micros }) => String(micros).padStart(6, '0'),
  v: ({ micros }) => String(Math.floor(micros / 1000)).padStart(3, '0'),
  // zone
  e: ({ zone }) => zone.name,
  I: (moment) => (isSummer(moment) ? '1' : '0'),
  O: ({ offset }) => offsetText(offset, ''),
  P: ({ offset }) => offsetText(offset, ':'),
  T: ({ zone, offset }) => (zone === UTC ? 'UTC' : offsetText(offset, ':')),
  Z: ({ offset }) => String(offset),
  // whole
  c: ({ timestamp, zone }) => formatDate('Y-m-d\\TH:i:sP', timestamp, zone),
  r: ({ timestamp, zone }) => formatDate('D, d M Y H:i:s O', timestamp, zone),
  U: ({ timestamp }) => String(timestamp),
};

const DAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTH_NAMES = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** Clocks are ahead of those of one of the two ends of the half year around. */
function isSummer({ zone, year, offset }: Moment): boolean {
  const offsets = [dayNumber(year, 1, 1), dayNumber(year, 7, 1)].map((day) =>
    zone.offsetAt(day * SECONDS_OF_DAY),
  );
  return offset > Math.min(...offsets);
}

function offsetText(offset: number, between: string): string {
  const size = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 3600))}${between}${two(Math.floor(size / 60) % 60)}`;
}

function dayName(days: number): string {
  return DAY_NAMES[weekdayOf(days)] ?? '';
}

function monthName(month: number): string {
  return MONTH_NAMES[month - 1] ?? '';
}

function ordinalSuffix(day: number): string {
  if (day >= 10 && day <= 19) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}

/** Returns Swatch Internet Time: thousandths of a day at UTC+1. */
function internetTime(timestamp: number): string {
  const beats = Math.floor((modulo(timestamp + 3600, SECONDS_OF_DAY) * 10) / 864);
  return String(beats).padStart(3, '0');
}

function fourDigits(year: number): string {
  return (year < 0 ? '-' : '') + String(Math.abs(year)).padStart(4, '0');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
