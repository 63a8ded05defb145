import type { CallFunction, Contexts } from '../../shared/evaluate.ts';
import { isList, isObject, objectOf, toText, type AnyObject, type Json } from '../../../lib/json/index.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import { contextValue } from '../context-value.ts';
import type { ClockZone } from '../functions/date.ts';
import { momentFrom } from '../moment.ts';
import { jobError } from '../read-job.ts';
import { formatTime } from './grain.ts';
import type { Windows } from './read-windows.ts';
import { writtenOffset } from './offset.ts';
import { addSpan, spanText } from './span.ts';
import { tile, type Stretch } from './tile.ts';

/** One window of a run of a job. */
export interface Window extends Stretch {
  /** From 0, in the order of the requests. */
  readonly index: number;
  /**
   * Context of `{"window": …}`: `from` and `to` in the format of the API, `fromTime` and `toTime` in seconds, and `end`
   * in ISO 8601, which a state can keep: the end of the window, but no later than that of the period.
   */
  readonly context: AnyObject;
  /** `2026-01-01 – 2026-02-01`, for people. */
  readonly text: string;
}

export interface WindowsOptions {
  /** Milliseconds since 1970 when the run began: the windows of a run stay the same however often it is stopped. */
  readonly now: number;
  readonly call: CallFunction;
  readonly contexts: Contexts;
  /** Beginning that the state of the job gives, in milliseconds since 1970. */
  readonly begins?: number | undefined;
  /** Offset that this beginning is written with. */
  readonly offset?: ClockZone | undefined;
  /** In place of `from` and `to`: a period that is to be filled again. */
  readonly period?: Stretch | undefined;
}

export interface RunWindows {
  readonly windows: readonly Window[];
  /** Why there are none, as half a sentence. */
  readonly why?: string;
  /** There are none because the period runs backward. */
  readonly isBackward?: boolean;
}

/**
 * Returns the windows of one job invocation, in the order of its requests.
 *
 * An explicit period that is empty, or runs backward, is an error; one that follows from a state or a function may have
 * no windows yet.
 *
 * @throws {JobError} for a bound that is no time, an empty period, or more than `max` windows
 * @throws {FunctionError} when a function fails
 */
export function windowsOf(settings: Windows, options: WindowsOptions): RunWindows {
  const { at, lookback, most, step } = settings;
  const { period, now } = options;
  const bounds = boundsOf(settings, options);
  const begins = bounds.from?.moment;
  if (begins === undefined)
    throw jobError(
      `${at}.from`,
      'The windows have no beginning: neither “from” nor the state says one',
      'Give “from”, or “first” of “incremental”; a state that is a number since 1970 needs “as”: "time".',
    );
  const from = period === undefined && lookback !== undefined ? addSpan(begins, lookback, -1) : begins;
  const to = bounds.to?.moment ?? now;
  const isThrough = settings.end === 'through';
  if (isThrough ? from > to : from >= to) return nothing(settings, { from, to }, options);
  const stretches = tile({ ...settings, from, to, isThrough }, most);
  if (stretches.length > most)
    throw jobError(
      `${at}.step`,
      `The time from ${timeText(from)} to ${timeText(to)} has more than ${most} windows of ${step === undefined ? 'its length' : spanText(step)}`,
      'Take a longer “step”, begin later, or allow more by “max”.',
    );
  const zones = { from: bounds.from?.offset, to: bounds.to?.offset };
  return { windows: stretches.map((stretch, index) => windowOf(settings, stretch, index, { to, zones })) };
}

/** Formats a time in words: the date alone if it is midnight. */
export function timeText(ms: number): string {
  const text = String(formatTime('Y-m-d\\TH:i:s.v\\Z', ms));
  return text.replace('T00:00:00.000Z', '').replace('.000Z', 'Z');
}

interface Bound {
  /** Milliseconds since 1970. */
  readonly moment: number;
  /** As it is written. */
  readonly offset?: ClockZone | undefined;
}

/** Returns where the windows begin and end: of a period, of the state, or as it is written. */
function boundsOf(
  settings: Windows,
  options: WindowsOptions,
): { readonly from: Bound | undefined; readonly to: Bound | undefined } {
  const { period, begins, offset } = options;
  if (period !== undefined) return { from: { moment: period.from }, to: { moment: period.to } };
  return {
    from: begins === undefined ? boundOf(settings, 'from', options) : { moment: begins, offset },
    to: boundOf(settings, 'to', options),
  };
}

function boundOf(
  settings: Windows,
  which: 'from' | 'to',
  { now, call, contexts }: WindowsOptions,
): Bound | undefined {
  const written = settings[which];
  if (written === undefined) return undefined;
  const at = `${settings.at}.${which}`;
  const value = contextValue(written, { call, contexts, at });
  const moment = value === undefined ? undefined : momentFrom(value, now);
  if (moment !== undefined) return { moment, offset: writtenOffset(value) };
  const found = foundText(value);
  throw jobError(
    at,
    `“${which}” of the windows is ${found}, which is no time`,
    'Give a date such as "2025-01-01", words such as "-30 days", seconds since 1970, or a function that gives one of them.',
  );
}

function foundText(value: Json | undefined): string {
  if (value === undefined) return 'not there';
  return isObject(value) || isList(value) ? kindOf(value) : `“${toText(value)}”`;
}

function nothing(settings: Windows, { from, to }: Stretch, { period, begins }: WindowsOptions): RunWindows {
  const isBackward = from > to;
  const what = isBackward ? 'runs backward' : 'is empty';
  const isWritten =
    period === undefined &&
    begins === undefined &&
    settings.from !== undefined &&
    !isObject(settings.from) &&
    !isObject(settings.to ?? null);
  if (isWritten)
    throw jobError(
      `${settings.at}.${isBackward ? 'from' : 'to'}`,
      `The time of the windows ${what}: from ${timeText(from)} to ${timeText(to)}`,
      'It goes from “from” to before “to”, which is the start of the run when it is not given.',
    );
  return {
    windows: [],
    why: isBackward
      ? `its windows would begin at ${timeText(from)}, which is after their end at ${timeText(to)}`
      : `its windows begin at ${timeText(from)}, where they end: there is nothing new to ask for`,
    ...(isBackward ? { isBackward } : {}),
  };
}

/** The whole time of windows: its end, and the offsets that its bounds are written with. */
interface Whole {
  readonly to: number;
  readonly zones: { readonly from?: ClockZone | undefined; readonly to?: ClockZone | undefined };
}

function windowOf(settings: Windows, stretch: Stretch, index: number, { to: until, zones }: Whole): Window {
  const { format, grain, end } = settings;
  const { from, to } = stretch;
  const last = end === 'exclusive' ? to : addSpan(to, grain, -1);
  const context = objectOf([
    ['from', formatTime(format, from, zones.from)],
    ['to', formatTime(format, last, to < until ? zones.from : zones.to)],
    ['fromTime', Math.floor(from / 1000)],
    ['toTime', Math.floor(last / 1000)],
    ['end', formatTime('Y-m-d\\TH:i:s.v\\Z', Math.min(to, until))],
  ]);
  return { index, from, to, context, text: `${timeText(from)} – ${timeText(to)}` };
}
