import {
  getKey,
  isEmpty,
  isNumber,
  isObject,
  keysOf,
  objectOf,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { compilePlace, compileSource, type Place, type Source } from '../../language/index.ts';
import { given, kindOf } from '../../../lib/read-settings.ts';
import { checkContextValue } from '../context-value.ts';
import { createCaller } from '../functions/evaluate.ts';
import { systemEnv } from '../../../lib/env.ts';
import { jobError, read } from '../read-job.ts';
import { readSpan, isNoSpan, type Span } from '../windows/span.ts';
import type { AskedParts } from './asked.ts';
import { readCursorForm, type CursorForm } from './cursor-form.ts';
import { MARK_KINDS, type MarkKind } from './mark.ts';

/** Settings of the incremental state of a job, as written and checked. */
export interface Incremental {
  /** JSON path. */
  readonly at: string;
  /** Over a row: its newest value is the state. */
  readonly cursor?: Source;
  /** Values that it does not read cannot be compared. */
  readonly cursorForm?: CursorForm;
  /** Over the last response: its value is the state. */
  readonly keep?: Source;
  /** As written: where a first run begins. */
  readonly first?: Json;
  readonly lookback?: Lookback;
  /** As written: no later run begins before it. */
  readonly notBefore?: Json;
  /** Place in the request that the state is sent in. */
  readonly to?: Place;
  /** How a time is sent; as it came by default. */
  readonly format?: string;
  readonly as?: MarkKind;
  readonly order: 'ascending' | 'descending' | 'none';
  /** Rows before the state are dropped. */
  readonly isFiltering: boolean;
  /** Rows outside of a period that is filled again are dropped: windows say it in the request. */
  readonly isFilteringPeriods: boolean;
  /** So are rows at the very state. */
  readonly dropsEqual: boolean;
  /** So are rows at the very state that an earlier run had: the state has their digests. */
  readonly dropsKnown: boolean;
  readonly isPerParent: boolean;
  /** Times ahead of the clock count, too. */
  readonly takesFuture: boolean;
  /** The value that is kept is where the last window ended. */
  readonly keepsEnd: boolean;
  /** Settings that the state comes from: when they change, it begins anew. */
  readonly settings: Json;
  /** Definition that the state is valid for: when it changes, the state begins anew, too. */
  readonly asked: AskedParts;
}

export type Lookback = { readonly span: Span } | { readonly number: Json };

/**
 * Reads `incremental` of a job.
 *
 * @param job the job that has it
 * @param at JSON path of the job
 * @param hasParts whether the job is started by rows, or runs for each value of a list
 * @param above what the jobs above it ask for
 * @throws {JobError} naming the key
 */
export function parseIncremental(
  value: Json | undefined,
  job: AnyObject,
  at: string,
  hasParts: boolean,
  asked: AskedParts,
): Incremental | undefined {
  if (value === undefined || isEmpty(value)) return undefined;
  const place = `${at}.incremental`;
  if (!isObject(value))
    throw jobError(
      place,
      `“incremental” must be an object, not ${kindOf(value)}`,
      'Write {"cursor": "updated_at", "to": "since"}.',
    );
  const cursor = readCursor(value, place);
  const keep = readKeep(value, place);
  if ((cursor === undefined) === (keep === undefined))
    throw jobError(
      place,
      cursor === undefined
        ? '“incremental” does not say what the state is'
        : '“incremental” has one state, and here are “cursor” and “keep”',
      'Give “cursor”, the path of the time or number in a row; or “keep”, a value of the response.',
    );
  const first = readBeginning(value, 'first');
  if (first !== undefined) checkContextValue(first, `${place}.first`);
  const notBefore = readBeginning(value, 'notBefore');
  if (notBefore !== undefined) checkContextValue(notBefore, `${place}.notBefore`);
  const to = getKey(value, 'to');
  const isSent = (to !== undefined && !isEmpty(to)) || refersToState(job);
  if (refersToState(job) && first === undefined && (to === undefined || isEmpty(to)))
    throw jobError(
      `${place}.first`,
      'The first run has no state, and the request refers to it',
      'Give “first”, such as "2025-01-01"; or name the place by “to”, which the first run leaves out.',
    );
  const format = read.text(value, 'format', place);
  const cursorForm = readCursorForm(value, place);
  const as = read.word(value, 'as', place, MARK_KINDS) ?? (cursorForm === undefined ? undefined : 'time');
  if (cursorForm !== undefined && as !== 'time')
    throw jobError(
      `${place}.cursorFormat`,
      `A cursor with a format is a time, and “as” says that it is a ${as}`,
      'Leave “as” or “cursorFormat” out.',
    );
  const lookback = readLookback(value, place);
  const order = read.word(value, 'order', place, ['ascending', 'descending', 'none']) ?? 'none';
  const isPerParent = read.flag(value, 'perParent', place) ?? hasParts;
  if (isPerParent && !hasParts)
    throw jobError(
      `${place}.perParent`,
      'A job at the top without “over” has no parts to keep states for',
      'Leave “perParent” out.',
    );
  if (keep !== undefined) checkKeep(value, place);
  const equal = read.word(value, 'equal', place, ['keep', 'drop', 'new']) ?? 'keep';
  if (equal !== 'keep' && lookback !== undefined)
    throw jobError(
      `${place}.equal`,
      'With a lookback no row is at the state: rows from before it are asked for again',
      'Leave “equal” or “lookback” out.',
    );
  return {
    at: place,
    ...given('cursor', cursor),
    ...given('cursorForm', cursorForm),
    ...given('keep', keep),
    ...given('first', first),
    ...given('lookback', lookback),
    ...given('notBefore', notBefore),
    ...(to === undefined || isEmpty(to)
      ? {}
      : { to: compilePlace(to, { at: `${place}.to`, invalid: jobError }) }),
    ...given('format', format),
    ...given('as', as),
    order,
    isFiltering: cursor !== undefined && (read.flag(value, 'filter', place) ?? (!isSent && !hasWindows(job))),
    isFilteringPeriods: cursor !== undefined && !hasWindows(job),
    dropsEqual: equal === 'drop',
    dropsKnown: equal === 'new',
    isPerParent,
    keepsEnd: keep !== undefined && isWindowEnd(getKey(value, 'keep')),
    takesFuture: read.flag(value, 'future', place) ?? false,
    asked,
    settings: objectOf(
      (['cursor', 'cursorFormat', 'keep', 'as'] as const).flatMap((key) => {
        const item = getKey(value, key);
        return item === undefined ? [] : [[key, item] as const];
      }),
    ),
  };
}

/** A page may be read a second time, and has nothing but its rows then. */
const ROW_KINDS = ['path', 'row', 'firstOf', 'attr', 'time', 'window', 'placeholder', 'parent'] as const;
const ANSWER_KINDS = ['path', 'response', 'header', 'link', 'answer', 'firstOf', 'window'] as const;

function readCursor(node: AnyObject, at: string): Source | undefined {
  const value = getKey(node, 'cursor');
  if (value === undefined || isEmpty(value)) return undefined;
  return compileSource(value, { at: `${at}.cursor`, call: CALL, kinds: ROW_KINDS, invalid: jobError });
}

function isWindowEnd(value: Json | undefined): boolean {
  return value !== undefined && isObject(value) && getKey(value, 'window') === 'to';
}

/** Reads `keep`; the end of a window is kept as ISO 8601, whatever the format of the window is. */
function readKeep(node: AnyObject, at: string): Source | undefined {
  const value = getKey(node, 'keep');
  if (value === undefined || isEmpty(value)) return undefined;
  const source = isWindowEnd(value) ? objectOf([['window', 'end']]) : value;
  return compileSource(source, { at: `${at}.keep`, call: CALL, kinds: ANSWER_KINDS, invalid: jobError });
}

/** Functions of a state have no clock: the same rows give the same state. */
const CALL = createCaller({ ...systemEnv, now: () => 0 });

/** Refuses keys that apply to rows. */
function checkKeep(node: AnyObject, at: string): void {
  const odd = ['cursorFormat', 'filter', 'order', 'equal', 'future'].find(
    (key) => !isEmpty(getKey(node, key)),
  );
  if (odd === undefined) return;
  throw jobError(
    `${at}.${odd}`,
    `“${odd}” is about the rows, and what is kept here is a value of the response`,
    'Leave it out, or give “cursor” in place of “keep”.',
  );
}

/** Reads `first` or `notBefore`; 0 is a valid beginning. */
function readBeginning(node: AnyObject, key: string): Json | undefined {
  const value = getKey(node, key);
  return value === null || value === '' ? undefined : value;
}

function readLookback(node: AnyObject, at: string): Lookback | undefined {
  const value = getKey(node, 'lookback');
  if (value === undefined || isEmpty(value)) return undefined;
  if (isNumber(value)) return { number: value };
  const span = typeof value === 'string' ? readSpan(value) : undefined;
  if (span !== undefined && !isNoSpan(span)) return { span };
  throw jobError(
    `${at}.lookback`,
    'The lookback is neither a length of time nor a number',
    'Write "7 days" for a cursor that is a time, or 100 for one that is a number.',
  );
}

function hasWindows(job: AnyObject): boolean {
  const windows = getKey(job, 'windows');
  return windows !== undefined && !isEmpty(windows);
}

/**
 * Tells whether a job has `{"state": "cursor"}` without a replacement for a missing value, anywhere but in
 * `incremental` itself and in children.
 */
function refersToState(job: AnyObject): boolean {
  return keysOf(job).some(
    (key) => !['incremental', 'children', 'windows'].includes(key) && refers(getKey(job, key) ?? null),
  );
}

function refers(value: Json): boolean {
  if (isObject(value)) {
    if (getKey(value, 'state') === 'cursor' && getKey(value, 'default') === undefined) return true;
    return keysOf(value).some((key) => refers(getKey(value, key) ?? null));
  }
  return Array.isArray(value) && value.some((item: Json) => refers(item));
}
