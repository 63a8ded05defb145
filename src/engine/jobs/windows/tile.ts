import { floorTo, ceilTo } from './grain.ts';
import { addSpan, microsOf, type Span } from './span.ts';

/** A stretch of time: from a moment to before another one, in milliseconds since 1970. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface TileOptions extends Stretch {
  /** Length of each window but the last, which ends with the period; undefined for one window. */
  readonly step?: Span | undefined;
  /** Moments between are not told apart by the API: windows begin and end on whole grains. */
  readonly grain: Span;
  /** Each window but the first begins so much before the end of the one before. */
  readonly overlap?: Span | undefined;
  /** Windows begin where the period does, and the last one takes its end, too. */
  readonly isThrough?: boolean;
  /** The newest window first. The windows are the same. */
  readonly isBackward?: boolean;
}

/**
 * Cuts a period into windows, half-open, that cover it exactly: each begins where the one before ends, or `overlap`
 * earlier. What lies between two grains is widened to them, so that nothing is left out.
 *
 * @returns none when the period is empty or runs backward; a window too many is there when there are more than `most`
 */
export function tile(options: TileOptions, most: number): readonly Stretch[] {
  const { step, grain, overlap, isBackward = false, isThrough = false } = options;
  if (isThrough ? options.from > options.to : options.from >= options.to) return [];
  const from = isThrough ? options.from : floorTo(grain, options.from);
  const to = isThrough ? addSpan(options.to, grain, 1) : ceilTo(grain, options.to);
  const windows: Stretch[] = [];
  for (let start = from; start < to && windows.length <= most;) {
    const next = step === undefined ? to : addSpan(from, step, windows.length + 1);
    const end = next >= (isThrough ? options.to : to) ? to : next;
    const begins = overlap === undefined || windows.length === 0 ? start : addSpan(start, overlap, -1);
    windows.push({ from: Math.max(from, isThrough ? begins : floorTo(grain, begins)), to: end });
    start = end;
  }
  return isBackward ? windows.toReversed() : windows;
}

/**
 * Tells whether windows of this step begin on whole grains: a step of 30 days does not where the API only knows months.
 */
export function fits(step: Span, grain: Span): boolean {
  if (grain.months > 0) return step.ms === 0 && step.months % grain.months === 0;
  // the first of a month is midnight, and no Monday
  if (step.months > 0 && grain.ms > DAY) return false;
  return microsOf(step.ms) % microsOf(grain.ms) === 0;
}

const DAY = 86_400_000;
