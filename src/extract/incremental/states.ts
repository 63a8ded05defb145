import type { Job, Stretch } from '../../jobs/index.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isObject,
  md5,
  objectOf,
  type AnyObject,
  type Json,
} from '../../json/index.ts';
import type { Log } from '../../log.ts';
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

/** What tells one iteration from another, and a state of one API from that of another. */
export interface StateScope {
  /** The attributes of the iteration, without secrets; undefined without iterations. */
  readonly iteration: AnyObject | undefined;
  /** `api.baseUrl`, as written. */
  readonly baseUrl: Json;
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
   * The state of a job; undefined for one that keeps none.
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
      const startedAt = Math.floor(this.startedAt / 1000);
      state = new JobState(job, settings, { of, startedAt, stored: this.#storedOf(name, of) });
      this.#jobs.set(name, state);
    }
    return state;
  }

  /** `incremental` of the next state; undefined where it stays as it was. */
  next(): AnyObject | undefined {
    if (this.period !== undefined || this.#jobs.size === 0) return undefined;
    const next = new Map(entriesOf(this.#stored));
    for (const [name, job] of this.#jobs) {
      const value = job.next();
      if (value === undefined) next.delete(name);
      else next.set(name, value);
    }
    return objectOf(next);
  }

  tell(): void {
    if (this.period !== undefined) return;
    for (const job of this.#jobs.values()) job.tell(this.#log);
  }

  #storedOf(name: string, of: string): AnyObject | undefined {
    const stored = getKey(this.#stored, name);
    if (stored === undefined || !isObject(stored)) return undefined;
    const known = getKey(stored, 'of');
    // one that was written by hand says nothing of its settings
    if (known === undefined || known === of) return stored;
    this.#log.warn(
      `The settings that the state of “${name}” comes from have changed since the last run: it begins anew`,
      { job: name },
    );
    return undefined;
  }
}

function digestOf({ endpoint, incremental }: Job, { baseUrl }: StateScope): string {
  const parts: Json = [baseUrl, endpoint, incremental?.settings ?? null, incremental?.isPerParent ?? false];
  return md5(encodeExact(parts)).slice(0, 16);
}
