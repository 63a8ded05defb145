import type { Job, Stretch } from '../../jobs/index.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isEmpty,
  isList,
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
      const asks = narrowingOf(job);
      const startedAt = Math.floor(this.startedAt / 1000);
      state = new JobState(job, settings, { of, asks, startedAt, stored: this.#storedOf(name, of, asks) });
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

  #storedOf(name: string, of: string, asks: string | undefined): AnyObject | undefined {
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
    if (known === undefined) return stored;
    if (known === of) {
      if (getKey(stored, 'asks') !== asks)
        this.#log.warn(
          `“${name}” asks for other rows than when its state was kept (its parameters, body or filters have changed): ` +
            'those that are older than the state are not asked for. To have them, fill the time again with --from, or begin anew with --reset-state',
          { job: name },
        );
      return stored;
    }
    this.#log.warn(
      `The settings that the state of “${name}” comes from have changed since the last run: it begins anew`,
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
  return digest([baseUrl, endpoint, incremental?.settings ?? null, incremental?.isPerParent ?? false]);
}

/** Digest of what chooses among the rows, as written; undefined where nothing does. */
function narrowingOf(job: Job): string | undefined {
  const { params, query, body, dataField, over, rowSettings, recursionFilter } = job;
  const parts: readonly (Json | undefined)[] = [
    isEmpty(params) ? undefined : params,
    query,
    body,
    dataField?.text,
    over?.map(({ name, values }) => [name, values]),
    getKey(rowSettings, 'where'),
    recursionFilter,
  ];
  return parts.every((part) => part === undefined) ? undefined : digest(parts.map((part) => part ?? null));
}

function digest(parts: readonly Json[]): string {
  return md5(encodeExact([...parts])).slice(0, 16);
}
