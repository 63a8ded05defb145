import { JobError } from '../../lib/errors.ts';
import type { CallFunction, Contexts } from '../shared/evaluate.ts';
import type { JobRequest } from '../shared/message.ts';
import {
  contextsOf,
  overRuns,
  windowsOf,
  type Bounds,
  type Job,
  type JobInvocation,
  type Stretch,
  type Window,
} from '../jobs/index.ts';
import { encodeExact, objectOf, type Json } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import type { RunPlace } from '../recording/position.ts';
import { isNoAccident, type Doubt } from '../completeness/index.ts';
import type { PageContent } from './content.ts';
import type { JobState } from './incremental/job-state.ts';
import type { StateProgress } from './incremental/state-progress.ts';
import type { GroupWatch } from './group-watch.ts';
import { WindowRows } from './window-rows.ts';

/** One run of a job that is to begin: the job as a whole, or one of its windows. */
export interface PlannedRun {
  readonly run: JobInvocation;
  readonly place: RunPlace;
  readonly window?: PlannedWindow;
  readonly state?: PlannedState;
  /** Sees whether the rows are those of the parent rows that it asks for. */
  readonly group?: GroupWatch;
}

/** Plan for the state of a job: the beginning of a run by it, and its progress when the run has ended. */
export interface PlannedState {
  readonly job: JobState;
  readonly progress: StateProgress;
  readonly bounds: Bounds;
  /** True for the last one of one start of the job. */
  readonly isLast: boolean;
}

export interface PlannedWindow extends Window {
  readonly isLast: boolean;
  /** Series that all windows of one start of a job share. */
  readonly series: WindowSeries;
  /** Undefined where windows overlap because the configuration says so. */
  readonly rows: WindowRows | undefined;
}

export interface WindowPlanOptions {
  /** Milliseconds since 1970 when the run began. */
  readonly startedAt: number;
  readonly callAt: (now: () => number) => CallFunction;
  /** `attr` and `time`. */
  readonly contexts: Contexts;
  /** The state of a job; undefined for one that keeps none. */
  readonly stateOf: (job: Job, place: RunPlace) => JobState | undefined;
  /** A period that is filled again, in place of the states and the beginnings of windows. */
  readonly period?: Stretch | undefined;
  readonly log: Log;
}

/**
 * Plans the runs that one start of a job has: one, or one for each combination of its lists and each of its windows.
 *
 * Functions go by the start of the run, which stays the same when a stopped run is resumed.
 */
export function planRuns(job: Job, start: PlannedRun, options: WindowPlanOptions): readonly PlannedRun[] {
  const { startedAt, callAt, contexts, log } = options;
  if (job.over === undefined) return planWindows(job, start, options);
  const { runs, empty } = overRuns(job.over, start.run, {
    call: callAt(() => startedAt),
    contexts: contextsOf(start.run, contexts),
  });
  if (empty !== undefined)
    log.warn(`“${job.name}” asks for nothing: “over.${empty}” has no values`, {
      job: job.name,
      path: job.at,
    });
  return runs.flatMap((run, over) => {
    const { place } = start;
    return planWindows(job, { run, place: { ...place, step: { ...place.step, over } } }, options);
  });
}

function planWindows(
  job: Job,
  { run, place }: PlannedRun,
  { startedAt, callAt, contexts, stateOf, period, log }: WindowPlanOptions,
): readonly PlannedRun[] {
  const known = {
    now: startedAt,
    call: callAt(() => startedAt),
    contexts: contextsOf(run, contexts),
    period,
  };
  const jobState = stateOf(job, place);
  const progress = jobState?.begin(run);
  const bounds = progress?.bounds(known);
  const own = bounds === undefined ? run.own : { ...run.own, state: bounds.context };
  const stateful = own === undefined ? run : { ...run, own };
  const state = (isLast: boolean): Pick<PlannedRun, 'state'> =>
    jobState === undefined || progress === undefined || bounds === undefined
      ? {}
      : { state: { job: jobState, progress, bounds, isLast } };
  if (job.windows === undefined) return [{ run: stateful, place, ...state(true) }];
  const { windows, why, isBackward } = windowsOf(job.windows, {
    ...known,
    begins: bounds?.begins,
    offset: bounds?.offset,
  });
  if (why !== undefined)
    log[isBackward === true ? 'warn' : 'info'](`“${job.name}” asks for nothing: ${why}`, { job: job.name });
  const { overlap } = job.windows;
  const series = new WindowSeries(job);
  return windows.map((window, i) => ({
    run: { ...stateful, own: { ...own, window: window.context } },
    place: { ...place, step: { ...place.step, window: window.index } },
    window: {
      ...window,
      isLast: i === windows.length - 1,
      series,
      rows: overlap === undefined && windows.length > 1 ? new WindowRows(window) : undefined,
    },
    ...state(i === windows.length - 1),
  }));
}

/** Sees whether the windows of one start of a job are asked for, and answered, differently. */
export class WindowSeries {
  readonly #job: Job;
  #before: { readonly request: string; readonly text: string } | undefined;
  /** Digest of the first page with rows. */
  #rows: string | undefined;
  #windowsWithRows = 0;
  #rowsOfWindow = 0;
  #isOneAnswer = true;
  #rowsBefore: WindowRows | undefined;
  #shared: { readonly windows: readonly [string, string]; rows: number; timed: number } | undefined;
  /** An id may have several rows. */
  #isOfThings = false;

  constructor(job: Job) {
    this.#job = job;
  }

  /**
   * Takes the first request of each window, in their order.
   *
   * @throws {JobError} when it is that of the window before: the same rows would come twice
   */
  ask(request: JobRequest, { text }: Window): void {
    const exact = exactText(request);
    const before = this.#before;
    this.#before = { request: exact, text };
    if (before?.request !== exact) return;
    throw new JobError(
      'job.invalid',
      `The windows ${before.text} and ${text} ask for the same, so that its rows would come twice`,
      {
        where: { path: this.#job.windows?.at ?? this.#job.at, job: this.#job.name },
        hint: 'Put {"window": "from"} and {"window": "to"} into the request, in a “format” as fine as the “step”.',
      },
    );
  }

  /** Takes the first page of each window, in their order. */
  take({ page: { rows, rowsDigest, pieces } }: PageContent): void {
    if (rows === 0) return;
    this.#windowsWithRows++;
    this.#rowsOfWindow = rows;
    if (pieces[0]?.single === true) this.#isOneAnswer = false;
    this.#rows ??= rowsDigest;
    if (this.#rows !== rowsDigest) this.#isOneAnswer = false;
  }

  /** To be called when all rows of a window came, in their order. */
  end(rows: WindowRows | undefined): void {
    const before = this.#rowsBefore;
    this.#rowsBefore = rows;
    rows?.end();
    if (before === undefined || rows === undefined) return;
    const { rows: known, timed, isThing } = before.sharedWith(rows);
    before.clear();
    this.#isOfThings ||= isThing;
    if (known + timed === 0) return;
    this.#shared ??= { windows: [before.text, rows.text], rows: 0, timed: 0 };
    this.#shared.rows += Math.max(known, timed);
    this.#shared.timed += timed;
  }

  /**
   * Returns the doubts about all windows together.
   *
   * @param hasKey the table has a primary key, so that a storage keeps rows that come twice once
   */
  doubts(hasKey: boolean): readonly Doubt[] {
    const windowsWithRows = this.#windowsWithRows;
    // a few numbers that are all 0 are the same in many a window
    if (this.#isOneAnswer && isNoAccident(windowsWithRows, this.#rowsOfWindow))
      return [{ code: 'sameWindows', page: 1, key: 'params', windows: windowsWithRows }];
    if (hasKey || this.#shared === undefined) return [];
    const { windows, rows: all, timed } = this.#shared;
    const rows = this.#isOfThings ? timed : all;
    return rows === 0 ? [] : [{ code: 'windowsOverlap', page: 1, key: 'windows', rows, windows }];
  }
}

function exactText({ query, ...request }: JobRequest): string {
  const entries: [string, Json][] = Object.entries(request);
  return encodeExact(objectOf([...entries, ['query', query ?? null]]));
}
