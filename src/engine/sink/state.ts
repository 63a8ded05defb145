import { readFileSync } from 'node:fs';
import {
  entriesOf,
  getKey,
  isNumber,
  isObject,
  numberOf,
  objectOf,
  parseExact,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import { reasonOf } from '../../lib/errors.ts';

/** Key of the states of jobs. */
export const INCREMENTAL_KEY = 'incremental';

export interface StateUpdate {
  /** The state that the run began with. */
  readonly before: Json | undefined;
  /** Start of this run in seconds. */
  readonly startedAt: number;
  /** `json_parser.struct` of the run's parsers, in order; none in mapping mode. */
  readonly structs: readonly Json[];
  readonly structVersion: number;
  /** `json_parser.structSettings`: the settings that the structure depends on. */
  readonly structSettings: Json;
  /** `incremental`: the states of the jobs; undefined where it stays as it was. */
  readonly incremental?: AnyObject | undefined;
  /** True when the run filled a period again: the times of earlier runs stay. */
  readonly isPeriod?: boolean;
}

/** Reads `in/state.json`. A missing or unreadable file gives an empty state and a warning. */
export function readState(file: string, log: Log): AnyObject {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    log.warn(`There is no state file (${file}): this is a first run`);
    return {};
  }
  try {
    const state = parseExact(text.replace(/^\uFEFF/, ''));
    if (isObject(state)) return state;
    log.warn(`The state in ${file} is not an object and is ignored: this is a first run`);
  } catch (error) {
    const reason = reasonOf(error);
    log.warn(`The state in ${file} is not JSON and is ignored (${reason}): this is a first run`);
  }
  return {};
}

/**
 * Returns the state after a run: the previous one, with `time.previousStart` advanced and the structure of the tables
 * merged in. A clock that was set back never moves the state back: the rows since then would come twice.
 */
export function nextState({
  before,
  startedAt,
  structs,
  structVersion,
  structSettings,
  incremental,
  isPeriod = false,
}: StateUpdate): AnyObject {
  const old = isObject(before) ? before : {};
  const oldTime = getKey(old, 'time');
  const time = objectOf([
    ...(isObject(oldTime) ? entriesOf(oldTime) : []).filter(([key]) => key !== 'currentStart'),
    ['previousStart', Math.max(startedAt, previousStartOf(old) ?? startedAt)],
  ]);
  const entries: [string, Json][] = [
    ...entriesOf(old).filter(([key]) => incremental === undefined || key !== INCREMENTAL_KEY),
    ...(isPeriod ? [] : [['time', time] as [string, Json]]),
  ];
  if (incremental !== undefined && sizeOf(incremental) > 0) entries.push([INCREMENTAL_KEY, incremental]);
  if (structs.length > 0) {
    const known = getKey(old, 'json_parser.struct');
    const sameForm = getKey(old, 'json_parser.structVersion') === structVersion;
    const merged = structs.reduce<Json>(deepMerge, sameForm ? (known ?? {}) : {});
    entries.push(
      ['json_parser.struct', merged],
      ['json_parser.structVersion', structVersion],
      ['json_parser.structSettings', structSettings],
    );
  }
  return objectOf(entries);
}

/** Returns the start of the previous run, in seconds; undefined for a value that is no number. */
export function previousStartOf(state: AnyObject): number | undefined {
  const time = getKey(state, 'time');
  const previous = isObject(time) ? getKey(time, 'previousStart') : undefined;
  return isNumber(previous) ? numberOf(previous) : undefined;
}

/** Merges objects key by key, the second winning; any other value is replaced. */
function deepMerge(first: Json, second: Json): Json {
  if (!isObject(first) || !isObject(second)) return second;
  const merged = new Map(entriesOf(first));
  for (const [key, value] of entriesOf(second)) {
    const known = merged.get(key);
    merged.set(key, known === undefined ? value : deepMerge(known, value));
  }
  return objectOf(merged);
}
