import { civilDate, dayNumber } from '../functions/calendar.ts';
import { formatDate, type ClockZone } from '../functions/date.ts';
import { writesOffset } from './offset.ts';
import { DAY_MS, microsOf, type Span } from './span.ts';

/** How a moment is written: the letters of PHP's `date`, or a number since 1970. */
export type TimeFormat = string;

/** ISO 8601 to the second, in UTC. */
export const DEFAULT_FORMAT: TimeFormat = 'Y-m-d\\TH:i:s\\Z';

const NUMBERS: Readonly<Record<string, number>> = { epoch: 1000, epochMs: 1 };

/**
 * Formats a time for the API, truncated to the precision of the format.
 *
 * @param ms milliseconds since 1970
 * @param zone in place of UTC, where the format says which one it is
 */
export function formatTime(format: TimeFormat, ms: number, zone?: ClockZone): string | number {
  const unit = NUMBERS[format];
  if (unit !== undefined) return Math.floor(ms / unit);
  const seconds = Math.floor(ms / 1000);
  return formatDate(format, seconds, writesOffset(format) ? zone : undefined, microsOf(ms - seconds * 1000));
}

/**
 * Returns the shortest time by which two times must differ to be formatted differently. Undefined for a text without a
 * time.
 */
export function grainOf(format: TimeFormat): Span | undefined {
  if (format === 'epoch') return { months: 0, ms: 1000 };
  if (format === 'epochMs') return { months: 0, ms: 1 };
  const letters = new Set(format.replace(/\\[^]/g, ''));
  return GRAINS.find(([names]) => Array.from(names).some((name) => letters.has(name)))?.[1];
}

/** From the shortest on; `B` (thousandths of a day) is as good as seconds here. */
const GRAINS: readonly (readonly [letters: string, grain: Span])[] = [
  ['u', { months: 0, ms: 0.001 }],
  ['v', { months: 0, ms: 1 }],
  ['sUcrB', { months: 0, ms: 1000 }],
  ['i', { months: 0, ms: 60_000 }],
  ['GHgh', { months: 0, ms: 3_600_000 }],
  ['dDjlNwz', { months: 0, ms: DAY_MS }],
  ['Wo', { months: 0, ms: 7 * DAY_MS }],
  ['FmMnt', { months: 1, ms: 0 }],
  ['YyL', { months: 12, ms: 0 }],
];

/** Returns the shorter of two spans; any fixed one is shorter than a month. */
export function finer(a: Span, b: Span): Span {
  if (a.months === b.months) return a.ms <= b.ms ? a : b;
  return a.months < b.months ? a : b;
}

/** Returns the last whole grain at or before a time: midnight, Monday, the first of a month. */
export function floorTo(grain: Span, ms: number): number {
  if (grain.months > 0) {
    const { year, month } = civilDate(Math.floor(ms / DAY_MS));
    const index = Math.floor((year * 12 + month - 1) / grain.months) * grain.months;
    return dayNumber(Math.floor(index / 12), (((index % 12) + 12) % 12) + 1, 1) * DAY_MS;
  }
  // Times are whole microseconds.
  if (grain.ms < 1) return ms;
  const start = grain.ms % (7 * DAY_MS) === 0 ? MONDAY_MS : 0;
  return Math.floor((ms - start) / grain.ms) * grain.ms + start;
}

/** Returns the first whole grain at or after a time. */
export function ceilTo(grain: Span, ms: number): number {
  const floor = floorTo(grain, ms);
  if (floor === ms) return ms;
  return grain.months > 0 ? floorTo(grain, floor + (grain.months * 31 + 1) * DAY_MS) : floor + grain.ms;
}

/** 1970-01-05 */
const MONDAY_MS = 4 * DAY_MS;
