import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';

/** Parts of a job that are no part of its requests, or of those of other jobs. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'children',
  'columns',
  'completeness',
  'exclude',
  'incremental',
  'rename',
  'userData',
  'where',
  'windows',
]);

/**
 * Returns the formats in which the requests of a job send a window: those of `date` around it, and `''` for a plain
 * bound. Empty when they do not send it at all.
 */
export function windowFormats(job: AnyObject): ReadonlySet<string> {
  const formats = new Set<string>();
  for (const [key, value] of entriesOf(job)) if (!ELSEWHERE.has(key)) collect(value, '', formats);
  return formats;
}

/** Tells whether conditions on rows refer to a window. */
export function isWindowOfRows(job: AnyObject): boolean {
  const formats = new Set<string>();
  collect(getKey(job, 'where') ?? null, '', formats);
  return formats.size > 0;
}

/**
 * Replaces `{"window": "from"}` as an argument of `date` or `strtotime` by the bound in seconds, whatever the format of
 * the window is: `date` of `17/01/2026` would be a guess.
 */
export function withWindowTimes(value: Json): Json {
  if (isList(value)) return withItems(value, withWindowTimes);
  if (!isObject(value)) return value;
  const args = getKey(value, 'args');
  const takesTime = TIMED.has(getKey(value, 'function')) && isList(args);
  let isChanged = false;
  const entries = entriesOf(value).map(([key, item]) => {
    const timed =
      key === 'args' && takesTime
        ? withItems(args, (arg, i) => (i === 1 ? asTime(arg) : withWindowTimes(arg)))
        : withWindowTimes(item);
    isChanged ||= timed !== item;
    return [key, timed] as const;
  });
  return isChanged ? objectOf(entries) : value;
}

/** Changes the items of a list; it stays what it is where none of them changes. */
function withItems(list: readonly Json[], change: (item: Json, index: number) => Json): readonly Json[] {
  const items = list.map(change);
  return items.every((item, i) => item === list[i]) ? list : items;
}

const TIMED: ReadonlySet<Json | undefined> = new Set(['date', 'strtotime']);

function collect(value: Json, format: string, formats: Set<string>): void {
  if (isList(value)) for (const item of value) collect(item, format, formats);
  if (!isObject(value)) return;
  if (boundOf(value) !== undefined) formats.add(format);
  const args = getKey(value, 'args');
  const first = isList(args) ? args[0] : undefined;
  const isDate = getKey(value, 'function') === 'date' && typeof first === 'string';
  for (const [key, item] of entriesOf(value))
    collect(item, key === 'args' && isDate ? first : format, formats);
}

function asTime(arg: Json): Json {
  const bound = boundOf(arg);
  return bound === 'from' || bound === 'to' ? objectOf([['window', `${bound}Time`]]) : withWindowTimes(arg);
}

/** Returns the bound that a source `{"window": "from"}` names, with or without other keys. */
function boundOf(value: Json): Json | undefined {
  return isObject(value) && sizeOf(value) > 0 ? getKey(value, 'window') : undefined;
}
