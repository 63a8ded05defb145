import { meaningOf, withSortedKeys, type Incremental, type Job, type Stretch } from '../../jobs/index.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  keysOf,
  md5,
  objectOf,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { Log } from '../../../lib/log.ts';
import { INCREMENTAL_KEY } from '../../sink/state.ts';
import { JobState } from './job-state.ts';

export interface StatesOptions {
  /** The state that the run began with. */
  readonly state: AnyObject;
  /** Milliseconds since 1970 when the run began. */
  readonly startedAt: number;
  /** A period that is filled again, so that no state moves. */
  readonly period?: Stretch | undefined;
  readonly log: Log;
}

/** Scope of a state: its iteration, and its API. */
export interface StateScope {
  /** The attributes of the iteration, without secrets; undefined without iterations. */
  readonly iteration: AnyObject | undefined;
  /** `api.baseUrl`, as written. */
  readonly baseUrl: Json;
  /** Settings that are sent with the requests of all jobs, as written: headers and default options. */
  readonly common: AnyObject;
  /** Attributes, which the configuration refers to. */
  readonly attr: AnyObject;
}

/** The states of all jobs that keep one: `incremental` of the state file. */
export class IncrementalStates {
  readonly period: Stretch | undefined;
  readonly startedAt: number;
  readonly #log: Log;
  readonly #stored: AnyObject;
  readonly #jobs = new Map<string, JobState>();

  constructor({ state, startedAt, period, log }: StatesOptions) {
    const stored = getKey(state, INCREMENTAL_KEY);
    this.#stored = stored !== undefined && isObject(stored) ? stored : objectOf([]);
    this.startedAt = startedAt;
    this.period = period;
    this.#log = log;
  }

  /**
   * Returns the state of a job; undefined for one that keeps none.
   *
   * @param path names of the jobs above it, and its own
   */
  of(job: Job, path: readonly string[], scope: StateScope): JobState | undefined {
    const settings = job.incremental;
    if (settings === undefined) return undefined;
    const { iteration } = scope;
    const name =
      path.join('/') + (iteration === undefined ? '' : `@${md5(encodeExact(iteration)).slice(0, 8)}`);
    let state = this.#jobs.get(name);
    if (state === undefined) {
      const of = digestOf(job, scope);
      const asked = askedBy(settings, scope);
      const startedAt = Math.floor(this.startedAt / 1000);
      state = new JobState(job, settings, { of, asked, startedAt, stored: this.#storedOf(name, of, asked) });
      this.#jobs.set(name, state);
    }
    return state;
  }

  /**
   * Returns `incremental` of the next state; undefined if it is unchanged.
   *
   * @param there when the run began by the clock of the API, in milliseconds since 1970
   */
  next(there = this.startedAt): AnyObject | undefined {
    if (this.period !== undefined || this.#jobs.size === 0) return undefined;
    const next = new Map(entriesOf(this.#stored));
    for (const [name, job] of this.#jobs) {
      const value = job.next({ here: this.startedAt, there });
      if (value === undefined) next.delete(name);
      else next.set(name, value);
    }
    return objectOf(next);
  }

  tell(): void {
    if (this.period !== undefined) return;
    for (const job of this.#jobs.values()) job.tell(this.#log);
  }

  #storedOf(name: string, of: string, asked: string): AnyObject | undefined {
    const stored = getKey(this.#stored, name);
    if (stored === undefined) return undefined;
    if (!isObject(stored) || isList(stored) || !holdsState(stored)) {
      this.#log.warn(
        `The state of “${name}” cannot be read, as it has neither a “cursor” nor “parents”: it begins anew`,
        { job: name },
      );
      return undefined;
    }
    const known = getKey(stored, 'of');
    // one that was written by hand says nothing of its settings
    if (known !== undefined && known !== of) {
      this.#log.warn(
        `The settings that the state of “${name}” comes from have changed since the last run: it begins anew`,
        { job: name },
      );
      return undefined;
    }
    const before = getKey(stored, 'asked');
    if (before === undefined || before === asked) return stored;
    this.#log.warn(
      `“${name}” asks for something else than when its state was kept (its request, its filters, the parents or the attributes that it refers to have changed): ` +
        'the state says nothing of that, and it begins anew. Rows that came before come again',
      { job: name },
    );
    return undefined;
  }
}

function holdsState(stored: AnyObject): boolean {
  const [cursor, parents] = [getKey(stored, 'cursor'), getKey(stored, 'parents')];
  const isCursor = cursor !== undefined && cursor !== null;
  return isCursor || (parents !== undefined && isObject(parents) && (!isList(parents) || isEmpty(parents)));
}

function digestOf({ endpoint, incremental }: Job, { baseUrl }: StateScope): string {
  const { settings, isPerParent = false } = incremental ?? {};
  return digest([
    baseUrl,
    endpoint,
    settings !== undefined && isObject(settings) ? withSortedKeys(settings) : null,
    isPerParent,
  ]);
}

/** Returns the digest of the request definition, with the attributes that it refers to. */
function askedBy({ asked, isPerParent }: Incremental, { baseUrl, common, attr }: StateScope): string {
  return digest(
    [baseUrl, withSortedKeys(common), meaningOf(asked, isPerParent)].map((part) => told(part, attr)),
  );
}

/**
 * Returns a setting with the values of its attributes. Secrets are left out, because they change while the access stays
 * the same, and so are headers that identify the caller.
 */
function told(setting: Json, attr: AnyObject): Json {
  if (isList(setting)) return setting.map((item) => told(item, attr));
  if (!isObject(setting)) return setting;
  const name = getKey(setting, 'attr');
  const value = typeof name === 'string' && !SECRET.test(name) ? attribute(name, attr) : undefined;
  const entries = entriesOf(setting).filter(([key]) => !SECRET.test(key));
  return objectOf([
    ...entries.map(
      ([key, item]) => [key, told(key === 'headers' ? withoutSenders(item) : item, attr)] as const,
    ),
    ...(value === undefined ? [] : [['', value] as const]),
  ]);
}

const SECRET = /(?:^|\.)#/;
const SENDER = /^(?:user-agent|accept-encoding|accept-language)$|auth|cookie|key|secret|sign|token/i;

function withoutSenders(headers: Json): Json {
  return isObject(headers) ? objectOf(entriesOf(headers).filter(([name]) => !SENDER.test(name))) : headers;
}

/** Returns one value; or all below the name, for a list or an object. */
function attribute(name: string, attr: AnyObject): Json {
  const names = keysOf(attr).filter(
    (key) => key === name || (key.startsWith(`${name}.`) && !SECRET.test(key)),
  );
  return names.map((key) => [key, getKey(attr, key) ?? null]);
}

function digest(parts: readonly Json[]): string {
  return md5(encodeExact([...parts])).slice(0, 16);
}
