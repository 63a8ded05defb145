import type { RunExplanation } from '../protocol/explanation.ts';
import type { RunDay, SourceDaysPage } from '../protocol/lineage.ts';
import type { RunProblems } from '../protocol/problems.ts';
import type { RunRequests } from '../protocol/run-requests.ts';
import type { Run, RunCreate, RunStatus } from '../protocol/run.ts';
import type { SourceCondition, SourceStates } from '../protocol/source-state.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { listOf, shaped } from './shape.ts';

/** Which runs. */
export interface RunsQuery {
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
  readonly status?: readonly RunStatus[] | undefined;
  /** Only the last run of each configuration, of those with these statuses. */
  readonly isLast?: boolean | undefined;
  /** Only those that failed, or may not have everything. */
  readonly isBad?: boolean | undefined;
  /** Only those that ended from this time on; ISO 8601. */
  readonly since?: string | undefined;
  /** Only those that ended before this time; ISO 8601. */
  readonly until?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Range of time, and which runs. */
export interface RunProblemsQuery {
  /** ISO 8601. Default: 24 hours before `until`. */
  readonly since?: string | undefined;
  /** ISO 8601; up to before it. Default: now. */
  readonly until?: string | undefined;
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
}

/** Which sources, in a list of their states. */
export interface SourceStatesQuery {
  readonly state?: readonly SourceCondition[] | undefined;
  readonly isPaused?: boolean | undefined;
  /** Words that name, id or component must have. */
  readonly search?: string | undefined;
  /** Default: those that need a look first. */
  readonly sort?: 'lastLoad' | 'lastRun' | 'name' | 'need' | 'next' | undefined;
  readonly isReversed?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Which days, and which runs. */
export interface RunDaysQuery {
  /** How many days, with the last one. Default: 30. */
  readonly days?: number | undefined;
  /** A time on the last day, in UTC. Default: today. */
  readonly until?: string | undefined;
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
}

/** Which days, and which sources. */
export interface SourceDaysQuery {
  /** How many days, with the last one. Default: 14. */
  readonly days?: number | undefined;
  /** A time on the last day, in UTC. Default: today. */
  readonly until?: string | undefined;
  /** Words that name, id or component must have. */
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** A line of a log: `level`, `time`, `message`, and further facts. */
export interface RunLogLine {
  readonly level: string;
  readonly time: string;
  readonly message: string;
  readonly [fact: string]: unknown;
}

/** A part of a log. */
export interface RunLogPart {
  readonly lines: readonly RunLogLine[];
  /** The offset to continue from. */
  readonly next: number;
  /** True when nothing comes any more. */
  readonly isEnded: boolean;
}

/** Which requests of a run. */
export interface RunExplanationQuery {
  /** Only this row of the configuration. */
  readonly row?: string | undefined;
  /** Only the job of this name. */
  readonly job?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Runs of stored configurations, done by the service: all but what moves a recording. */
export interface RunOperations {
  /** @param options.key `Idempotency-Key`: the same again starts no second run; one of its own by default */
  start(run: RunCreate, options?: { readonly key?: string | undefined }): Promise<Run>;
  /** With what each row gave. */
  detail(id: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<Run>;
  /** Newest first. */
  list(query?: RunsQuery): Promise<Run[]>;
  /** Returns the runs that went wrong in a range of time, by causes, and times of schedules that gave no run. */
  problems(query?: RunProblemsQuery): Promise<RunProblems>;
  /** Returns how configurations ran last and how old their data is, those that need a look first. */
  states(query?: SourceStatesQuery): Promise<SourceStates>;
  /** Counts the runs that ended on each of the last days (30 by default, in UTC), the oldest day first. */
  days(query?: RunDaysQuery): Promise<RunDay[]>;
  /** Counts them for each configuration, page by page; those of which most failed come first. */
  sourceDays(query?: SourceDaysQuery): Promise<SourceDaysPage>;
  log(
    id: string,
    query?: { readonly offset?: number | undefined; readonly limit?: number | undefined },
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RunLogPart>;
  /**
   * Returns the requests of an ended run, the reasons that led from page to page, and why each job ended: a part of the
   * requests.
   */
  explanation(
    id: string,
    query?: RunExplanationQuery,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RunExplanation>;
  /** Returns the requests that it has sent, those that failed among them, also while it goes on: a part of them. */
  requests(
    id: string,
    query?: {
      /** Only those that failed. */
      readonly isBad?: boolean | undefined;
      readonly offset?: number | undefined;
      readonly limit?: number | undefined;
    },
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RunRequests>;
  /**
   * Accepts the doubt of a run that loaded nothing because of it, or that loaded in doubt.
   *
   * @returns the run that loads what was held back; of one that had loaded, that one
   */
  accept(id: string, options: { readonly because: string; readonly key?: string | undefined }): Promise<Run>;
  /** Asks it to end. One that has ended otherwise is refused. */
  cancel(id: string): Promise<Run>;
}

const FIELDS = { id: 'id', status: 'string', component: 'string', configuration: 'id' } as const;

const at = (id: string): string => path`runs/${id}`;

export function createRunOperations(api: ApiCore): RunOperations {
  return {
    start: async (body, { key } = {}) =>
      shaped<Run>(await api.call({ method: 'POST', path: 'runs', body, key, isOnce: true }), 'run', FIELDS),
    detail: async (id, { signal } = {}) =>
      shaped<Run>(await api.call({ method: 'GET', path: at(id), signal }), 'run', FIELDS),
    list: async (query = {}) =>
      listOf<Run>(await api.call({ method: 'GET', path: 'runs', query: { ...query } }), 'run', FIELDS),
    async problems(query = {}) {
      const json = await api.call({ method: 'GET', path: 'runs/problems', query: { ...query } });
      return shaped<RunProblems>(json, 'problems', { problems: 'list', missed: 'list' });
    },
    async states(query = {}) {
      const json = await api.call({ method: 'GET', path: 'runs/sources', query: { ...query } });
      return shaped<SourceStates>(json, 'states', { counts: 'object', sources: 'list', total: 'number' });
    },
    days: async (query = {}) =>
      listOf<RunDay>(await api.call({ method: 'GET', path: 'runs/days', query: { ...query } }), 'day', {
        day: 'string',
      }),
    async sourceDays(query = {}) {
      const json = await api.call({ method: 'GET', path: 'runs/source-days', query: { ...query } });
      return shaped<SourceDaysPage>(json, 'days', { days: 'list', sources: 'list', total: 'number' });
    },
    async log(id, query = {}, { signal } = {}) {
      const json = await api.call({ method: 'GET', path: `${at(id)}/log`, query: { ...query }, signal });
      return shaped<RunLogPart>(json, 'log', { lines: 'list', next: 'number', isEnded: 'boolean' });
    },
    async explanation(id, query = {}, { signal } = {}) {
      const json = await api.call({
        method: 'GET',
        path: `${at(id)}/explanation`,
        query: { ...query },
        signal,
      });
      const fields = { recordings: 'list', requests: 'list', next: 'number', isEnded: 'boolean' } as const;
      return shaped<RunExplanation>(json, 'explanation', fields);
    },
    async requests(id, query = {}, { signal } = {}) {
      const json = await api.call({ method: 'GET', path: `${at(id)}/requests`, query: { ...query }, signal });
      return shaped<RunRequests>(json, 'requests', {
        requests: 'list',
        total: 'number',
        bad: 'number',
        next: 'number',
      });
    },
    async accept(id, { because, key }) {
      const json = await api.call({
        method: 'POST',
        path: `${at(id)}/accept`,
        body: { because },
        key,
        isOnce: true,
      });
      return shaped<Run>(json, 'run', FIELDS);
    },
    async cancel(id) {
      // One that has ended is refused with a status that is otherwise tried again.
      const json = await api.call({ method: 'POST', path: `${at(id)}/cancel`, body: {}, isOnce: true });
      return shaped<Run>(json, 'run', FIELDS);
    },
  };
}
