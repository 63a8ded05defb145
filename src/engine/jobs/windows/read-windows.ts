import { getKey, isEmpty, isObject, type AnyObject, type Json } from '../../../lib/json/index.ts';
import { given, kindOf } from '../../../lib/read-settings.ts';
import { checkContextValue } from '../context-value.ts';
import { jobError, read } from '../read-job.ts';
import { DEFAULT_FORMAT, finer, grainOf, type TimeFormat } from './grain.ts';
import { isNoSpan, readSpan, spanText, type Span } from './span.ts';
import { fits } from './tile.ts';
import { isWindowOfRows, windowFormats } from './uses.ts';

/** Windows of a job, as written and checked. */
export interface Windows {
  /** JSON path. */
  readonly at: string;
  /** As written, functions unevaluated; absent where the state of the job says it. */
  readonly from?: Json;
  /** Absent: the start of the run. */
  readonly to?: Json;
  readonly step?: Span;
  readonly format: TimeFormat;
  readonly grain: Span;
  /** Meaning of `to` in a request; with `through` that of the last window is the end of the whole time. */
  readonly end: 'exclusive' | 'inclusive' | 'through';
  readonly overlap?: Span;
  readonly lookback?: Span;
  readonly isBackward: boolean;
  /** Windows that a run may have. */
  readonly most: number;
}

/** Windows that a run of a job may have unless `max` says otherwise. */
const DEFAULT_MAX_WINDOWS = 10_000;

/**
 * Reads `windows` of a job. What a window is told apart by is the finest of the formats that its requests have, so that
 * windows of a path with year and month are whole months.
 *
 * @param at JSON path of the job
 * @param hasState whether the job has a state that says where the first window begins
 * @throws {JobError} naming the key
 */
export function parseWindows(job: AnyObject, at: string, hasState: boolean): Windows | undefined {
  const value = getKey(job, 'windows');
  if (value === undefined || isEmpty(value)) return undefined;
  const place = `${at}.windows`;
  if (!isObject(value))
    throw jobError(
      place,
      `“windows” must be an object, not ${kindOf(value)}`,
      'Write {"from": "2025-01-01", "step": "30 days"}.',
    );
  const formats = windowFormats(job);
  const step = readSpanAt(value, 'step', place);
  // a single window asks for the same rows only once
  const isOfRows = step === undefined && isWindowOfRows(job);
  if (formats.size === 0 && !isOfRows)
    throw jobError(
      place,
      'No request of this job has its window, so that each would bring the same rows',
      'Put {"window": "from"} and {"window": "to"} into “params”, or into “placeholders” for the endpoint.',
    );
  const format = read.text(value, 'format', place) ?? DEFAULT_FORMAT;
  const grain = readGrain(value, place, format, formats.size === 0 ? new Set(['']) : formats);
  if (step !== undefined) checkStep(step, grain, place);
  const from = getKey(value, 'from');
  const to = getKey(value, 'to');
  if ((from === undefined || isEmpty(from)) && !hasState)
    throw jobError(
      `${place}.from`,
      'The windows have no beginning',
      'Give “from”, such as "2025-01-01" or "-90 days"; or let the state say it: give the job “incremental”.',
    );
  for (const [key, bound] of [['from', from] as const, ['to', to] as const])
    if (bound !== undefined) checkContextValue(bound, `${place}.${key}`);
  return {
    at: place,
    ...(from === undefined || isEmpty(from) ? {} : { from }),
    ...(to === undefined || isEmpty(to) ? {} : { to }),
    ...given('step', step),
    format,
    grain,
    end: read.word(value, 'end', place, ['exclusive', 'inclusive', 'through']) ?? 'exclusive',
    ...given('overlap', readSpanAt(value, 'overlap', place)),
    ...given('lookback', readSpanAt(value, 'lookback', place)),
    isBackward: read.word(value, 'order', place, ['forward', 'backward']) === 'backward',
    most: read.count(value, 'max', place) ?? DEFAULT_MAX_WINDOWS,
  };
}

/** Reads a length of time at a key, such as `30 days`. */
function readSpanAt(node: AnyObject, key: string, at: string): Span | undefined {
  const text = read.text(node, key, at);
  if (text === undefined) return undefined;
  const span = readSpan(text);
  if (span !== undefined && !isNoSpan(span)) return span;
  throw jobError(
    `${at}.${key}`,
    `“${text}” is no length of time`,
    'Write a number with its unit, such as "30 days", "1 month", "6 hours" or "P1M".',
  );
}

function readGrain(node: AnyObject, at: string, format: TimeFormat, formats: ReadonlySet<string>): Span {
  const own = readSpanAt(node, 'granularity', at);
  if (own !== undefined) {
    if (own.months === 0 || own.ms === 0) return own;
    throw jobError(`${at}.granularity`, 'The granularity must be one unit', 'Write "1 day", or "1 month".');
  }
  const grains = [...formats].flatMap((used) => {
    const grain = grainOf(used === '' ? format : used);
    return grain === undefined ? [] : [grain];
  });
  const [first, ...others] = grains;
  if (first !== undefined) return others.reduce(finer, first);
  throw jobError(
    `${at}.format`,
    `The format “${format}” has no letter of a time`,
    'Use the letters of PHP, such as "Y-m-d", or "epoch" or "epochMs".',
  );
}

function checkStep(step: Span, grain: Span, at: string): void {
  if (fits(step, grain)) return;
  throw jobError(
    `${at}.step`,
    `Windows of ${spanText(step)} do not begin on whole steps of ${spanText(grain)}, which is all that the request can say: rows would be asked for twice, or not at all`,
    `Use a step of whole ${spanText(grain).replace(/^1 /, '')}s, or a finer “format”.`,
  );
}
