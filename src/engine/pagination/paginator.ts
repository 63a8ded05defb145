import type { CallFunction } from '../shared/evaluate.ts';
import type { OptionSchema } from '../../lib/option.ts';
import type { JobRequest } from '../shared/message.ts';
import type { AnyObject, Json, JsonNumber, Path } from '../../lib/json/index.ts';
import type { Condition, Source } from '../language/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import type { Traits } from '../shared/paginator-capabilities.ts';

/** Position of a paginator as small JSON. It survives `JSON.stringify` and is never changed in place. */
export type PaginatorState = Json;

/** Values that a paginator reads from each page. The page itself never reaches it. */
export interface Needs {
  /** Paths into the response, made by `compilePath('meta.next')`. */
  readonly paths?: readonly Path[];
  /** Values of the exchange, made by `compileSource`. */
  readonly sources?: readonly Source[];
  /** Paths and sources that some response must have: a warning is logged when none has them. */
  readonly expected?: readonly (Path | Source)[];
  /** Conditions on the page, made by `compileCondition`. */
  readonly conditions?: readonly Condition[];
  /** Names of response headers, in lower case; those of the sources and conditions need not be named. */
  readonly headers?: readonly string[];
  /** Path to a numeric id in each row; the smallest and largest are given. */
  readonly ids?: IdPath;
  /** True to request `volume`, which costs a re-encoding of the page. */
  readonly volume?: boolean;
}

/** Values observed on a page: JSON. */
export interface Observation {
  /** Number of the page in the job, from 1. */
  readonly page: number;
  readonly status: number;
  /** URL that was asked for. */
  readonly url: string;
  /** Values at `needs.paths`, in that order; undefined where there is none. */
  readonly values: readonly (Json | undefined)[];
  /** Values of `needs.sources`, in that order; undefined where there is none. */
  readonly read: readonly (Json | undefined)[];
  /** For each of `needs.conditions`, the evidence that it holds, in words; undefined where it does not hold. */
  readonly met: readonly (string | undefined)[];
  /** Values of `needs.headers` that the response has. */
  readonly headers: Readonly<Record<string, string>>;
  /** Rows after `dataField` and `responseFilter`. */
  readonly rows: number;
  /** Smallest and largest id of the page's rows, truncated to integers. Absent when the page has no rows. */
  readonly ids?: IdRange;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Bytes of the response re-encoded, when requested. */
  readonly volume?: number;
  /** The state that all rows of the page are older than, in words; absent when some are not. */
  readonly olderThan?: string;
  /** Milliseconds since 1970 when the page arrived. */
  readonly now: number;
}

/** The way to an id in a row: a {@link Path} is one. */
export interface IdPath {
  /** Text of the path, for messages. */
  readonly text: string;
  readonly find: (row: Json) => Json | undefined;
}

/** Integers; one beyond 2^53 is a `JsonNumber`, which stays exact. */
export interface IdRange {
  readonly min: number | JsonNumber;
  readonly max: number | JsonNumber;
}

/** The next request and the state that goes with it, or the reason to stop. */
export type Step =
  | {
      readonly request: JobRequest;
      readonly state: PaginatorState;
      /** True when pagination restarts behind the last row: rows may come again at the border. */
      readonly restarts?: true;
    }
  | { readonly stop: Reason };

/** The step before the first page, which cannot stop. */
export type FirstStep = Exclude<Step, { stop: Reason }>;

/**
 * Decides which request follows a page. Pure: the same observation and state give the same step.
 * It counts from its own state, or follows the response; it keeps nothing in fields.
 */
export interface Paginator {
  readonly needs: Needs;
  /** @param now milliseconds since 1970 when the job starts */
  first(now: number): FirstStep;
  next(observation: Observation, state: PaginatorState): Step;
  /**
   * Returns the request that follows `state` if the job continues, for methods that depend on their own state alone;
   * absent for methods that must see the page first.
   */
  readonly plan?: (state: PaginatorState) => FirstStep;
  /**
   * Returns how many requests from `state` on are within a budget; absent without a bound. The first is sent in any
   * case.
   */
  readonly ahead?: (state: PaginatorState) => number;
  /** Capabilities of the paginator, for completeness; without them, it is taken to follow the response. */
  readonly traits?: Traits;
}

/** A pagination method: an entry of a list that a library user may extend. */
export interface PaginationMethod {
  /** The word in `pagination.method`. */
  readonly method: string;
  /** JSON Schema of the method's own keys, without `method` and the stop rules, which every method has. */
  readonly options: OptionSchema;
  /**
   * Creates the paginator of a job.
   *
   * @param options the `pagination` node of the configuration
   * @param job the job's first request, functions evaluated
   * @throws {PaginationError} when the options are wrong
   */
  create(options: AnyObject, job: PaginatedJob, context: MethodContext): Paginator;
}

/** Arguments of a method beside its options. */
export interface MethodContext {
  /** JSON path of the options, for messages. */
  readonly at: string;
  /** Calls the functions in sources; without it they are refused. */
  readonly call?: CallFunction | undefined;
  /** The job's request as written, in which functions have no values yet: places inside texts are found in it. */
  readonly written?: JobRequest | undefined;
  /** Creates the paginator of another `pagination` node, stop rules included, for methods composed of others. */
  readonly nested: (options: Json, at: string, job?: PaginatedJob) => Paginator;
}

/** Parts of a job that a paginator may use. */
export interface PaginatedJob extends JobRequest {
  /** The job's `scroller`, for `multiple`. */
  readonly scroller?: string;
  /** Place of the pagination's parameters; the job's setting overrides the pagination's. */
  readonly queryParamIn?: 'query' | 'params';
}
