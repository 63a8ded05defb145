import type { JobPagination } from '../config/job-pagination.ts';
import type { Env } from '../../lib/env.ts';
import type { CallFunction, Contexts, Evaluate } from '../shared/evaluate.ts';
import type { JobRequest } from '../shared/message.ts';
import { objectOf } from '../../lib/json/index.ts';
import {
  contextsOf,
  firstRequest,
  isOfExport,
  withComputed,
  type ExportSettings,
  type Job,
  type JobInvocation,
} from '../jobs/index.ts';
import {
  createGuard,
  createPaginator,
  guardOptionsOf,
  type PaginatedJob,
  type PaginationMethod,
  type Paginator,
  type ParseTime,
} from '../pagination/index.ts';
import { pages, type PageStep } from '../pagination/pages.ts';
import type { RequestsAtOnce } from '../shared/at-once.ts';
import type { Reason } from '../shared/stop-reason.ts';
import type { ExchangeMoment } from '../recording/exchange.ts';
import type { RunPlace } from '../recording/position.ts';
import type { PageContent } from './content.ts';
import type { OutputBucket } from './table-writer.ts';
import { countedBehind, exportPages } from './export-pages.ts';
import { ExportRun } from './export-run.ts';
import type { GroupWatch } from './group-watch.ts';
import { HeaderWatch } from './header-watch.ts';
import { beginState, type RunState } from './incremental/run-state.ts';
import type { JobParts } from './job-parts.ts';
import { pageSource, type ArrivedPage, type PageSourceOptions } from './page-source.ts';
import type { ReactorOptions } from './reactor.ts';
import type { PlannedRun, PlannedWindow } from './run-windows.ts';
import type { RunWitness, Witnesses } from './witnesses.ts';

export interface RunStarterOptions extends PageSourceOptions, ReactorOptions {
  /** Writer for the pages, the last of which may be under way. */
  readonly bucket: Pick<OutputBucket, 'settle' | 'isSettled'>;
  readonly paginationOf: (job: Job) => JobPagination;
  readonly methods?: readonly PaginationMethod[] | undefined;
  readonly parseTime: ParseTime;
  /** Evaluates functions at a moment, in milliseconds since 1970. */
  readonly evaluateAt: (now: () => number) => Evaluate;
  /** Calls functions at a moment, those of placeholders among them. */
  readonly callAt: (now: () => number) => CallFunction;
  readonly contexts: Contexts;
  /** Pages of each job, `--limit`. */
  readonly limit?: number | undefined;
  readonly concurrency: RequestsAtOnce;
  /** Waits between the polls of an export. */
  readonly env: Pick<Env, 'sleep'>;
  readonly signal: AbortSignal;
  /** Say whether the pages were all; without them nobody asks. */
  readonly witnesses?: Witnesses;
}

/** A run of a job that was begun: its first request is under way. */
export interface BegunInvocation {
  readonly job: Job;
  readonly run: JobInvocation;
  readonly place: RunPlace;
  readonly began: ExchangeMoment;
  readonly window: PlannedWindow | undefined;
  readonly state: RunState | undefined;
  readonly group: GroupWatch | undefined;
  /** Returns the tracker; for an export, only when its first file is requested. */
  readonly witness: () => RunWitness | undefined;
  readonly steps: AsyncGenerator<PageStep<PageContent>, Reason>;
  readonly first: Promise<IteratorResult<PageStep<PageContent>, Reason>>;
  /** Ends its requests and its waiting. */
  readonly abandon: () => void;
}

/** A run of a job that is about to begin. */
interface Beginning extends Pick<
  BegunInvocation,
  'job' | 'run' | 'place' | 'began' | 'window' | 'group' | 'state'
> {
  readonly signal: AbortSignal;
  readonly headers: HeaderWatch;
}

/** Nobody reads why pages ended that are given up. */
export const ABANDONED: Reason = { code: 'other', text: 'the job was given up' };

const NO_PAGINATION: JobPagination = { options: null, at: 'parameters.api.pagination' };
const NO_REQUEST: PaginatedJob = { endpoint: '', method: 'GET', params: {}, headers: {} };

/** Begins runs of jobs: makes the first request of each, and what its pages come from. */
export class RunStarter {
  readonly #options: RunStarterOptions;
  readonly #parts: JobParts;
  readonly #failing: AbortSignal;

  /** @param failing aborted when a run has failed: all others end */
  constructor(options: RunStarterOptions, parts: JobParts, failing: AbortSignal) {
    this.#options = options;
    this.#parts = parts;
    this.#failing = failing;
  }

  /** @param limit how many pages it may have */
  begin(
    job: Job,
    { run: planned, place, window, state: plannedState, group }: PlannedRun,
    beginning: () => ExchangeMoment,
    limit = this.#options.limit,
  ): BegunInvocation {
    const options = this.#options;
    // each window has its own moment: the first and the last may be hours apart
    const began = window === undefined ? beginning() : options.exchanges.moment(place);
    const controller = new AbortController();
    const signal = AbortSignal.any([options.signal, this.#failing, controller.signal]);
    const evaluate = options.evaluateAt(() => began.now);
    const call = options.callAt(() => began.now);
    const begun = { job, place, began, window, group, signal, headers: new HeaderWatch() };
    const abandon = (): void => controller.abort();
    if (job.export !== undefined) {
      const known = job.computed.filter((one) => !isOfExport(one));
      const run = known.length === 0 ? planned : withComputed(planned, known, call, options.contexts);
      const state = beginState(job, run, plannedState, options.contexts);
      const exporting = { ...begun, run, state, evaluate, call };
      return { ...this.#export(job.export, exporting, limit), abandon };
    }
    const run =
      job.computed.length === 0 ? planned : withComputed(planned, job.computed, call, options.contexts);
    const state = beginState(job, run, plannedState, options.contexts);
    const written = firstRequest(job, run, evaluate, options.contexts);
    const request = state === undefined ? written : state.put(written);
    if (window !== undefined) window.series.ask(request, window);
    const { steps, witness } = this.#pages({ ...begun, run, state }, request, limit);
    return { ...started(steps), ...begun, run, state, witness: () => witness, abandon };
  }

  /** Yields the files of an export as the pages of the job, one file behind the other. */
  #export(
    settings: ExportSettings<Job>,
    begun: Beginning & { readonly evaluate: Evaluate; readonly call: CallFunction },
    limit: number | undefined,
  ): Omit<BegunInvocation, 'abandon'> {
    const options = this.#options;
    const { job, window } = begun;
    let witness: RunWitness | undefined;
    const reactor = this.#parts.reactor(job);
    const exporting = new ExportRun({
      ...options,
      ...begun,
      settings,
      reactor,
      put: (request) => begun.state?.put(request) ?? request,
    });
    const steps = exportPages({
      exporting,
      limit,
      filePages: (request, before) => {
        const file = this.#pages(begun, request, limit === undefined ? undefined : limit - before, {
          before,
          witness,
        });
        if (witness === undefined) file.witness?.announce(exporting.answers);
        ({ witness } = file);
        return file.steps;
      },
      onEmpty: (reason) => {
        witness ??= options.witnesses?.begin(
          job,
          this.#paginator(NO_PAGINATION, NO_REQUEST, begun.began),
          window?.text,
        );
        witness?.announce(exporting.answers);
        const stop = objectOf(Object.entries(reason));
        if (exporting.kept !== undefined) options.exchanges.note(exporting.kept, objectOf([['stop', stop]]));
      },
    });
    return { ...started(steps), ...begun, witness: () => witness };
  }

  /** @param behind of an export, what the files before this one were */
  #pages(
    { job, run, place, began, window, group, state, signal, headers }: Beginning,
    request: JobRequest,
    limit: number | undefined,
    behind?: { readonly before: number; readonly witness: RunWitness | undefined },
  ): { steps: AsyncGenerator<PageStep<PageContent>, Reason>; witness: RunWitness | undefined } {
    const options = this.#options;
    const before = behind?.before ?? 0;
    const { scroller, queryParamIn } = job;
    const paginated = {
      ...request,
      ...(scroller === undefined ? {} : { scroller }),
      ...(queryParamIn === undefined ? {} : { queryParamIn }),
    };
    const at = { job: job.name };
    const pagination = options.paginationOf(job);
    const paginator = this.#paginator(pagination, paginated, began);
    const needs = state === undefined ? paginator.needs : state.needs(paginator.needs);
    const witness = behind?.witness ?? options.witnesses?.begin(job, paginator, window?.text);
    const reactor = this.#parts.reactor(job);
    const repeats = paginator.traits?.restarts === true ? this.#parts.repeats(job) : undefined;
    const { rowsAt, steps: rowSteps } = this.#parts.rows(job);
    const source = {
      job,
      run,
      place,
      began,
      needs,
      traits: paginator.traits,
      filter: this.#parts.source(job).filter,
      rowsAt,
      headers: rowSteps?.needs.headers ?? [],
      stepsOf:
        rowSteps === undefined && state?.limits === undefined
          ? undefined
          : (page: ArrivedPage) =>
              this.#parts.pageSteps(job, page, () => contextsOf(run, options.contexts), state?.limits),
      watch: this.#parts.watch(job),
      window: window?.text,
      reactor,
      contexts: () => contextsOf(run, options.contexts),
      repeats,
    };
    const warn = (message: string, page: number): void => options.log.warn(message, { ...at, page });
    const pageSteps = countedBehind(pageSource(source, options), before);
    const steps = pages({
      paginator: state === undefined ? paginator : state.ending(paginator),
      guard: createGuard(guardOptionsOf(pagination.options, paginated, pagination.at)),
      source: state === undefined ? pageSteps : state.watch(pageSteps),
      signal,
      now: began.now - began.pausedMs,
      limit,
      concurrency: options.concurrency,
      hasChildren: job.children.length > 0,
      onWarning: (message, page) => warn(message, before + page),
      ...(witness === undefined ? {} : { pagesLeft: () => witness.pagesLeft() }),
      // an error of that page is told by whoever took it
      ready: () => (options.bucket.isSettled ? undefined : options.bucket.settle().catch(() => undefined)),
      isDecisive: ({ page, taken }) =>
        state !== undefined ||
        taken !== undefined ||
        page.header !== undefined ||
        witness?.isNearCircle() === true,
      onPage: (content, page, verdict) => {
        headers.see(content.page.header, before + page, (message) => warn(message, before + page));
        this.#parts.texts(job).see(content.page.text, before + page);
        if (content.taken !== undefined) reactor.tell(content.taken, content.request.url);
        witness?.see(content, before + page, verdict);
        if (verdict.verdict === 'keep') state?.see(content, before + page);
        group?.watch(content);
        const { rows } = window ?? {};
        if (rows !== undefined) content.onRows({ take: (decoded) => rows.take(decoded) });
      },
    });
    return { steps, witness };
  }

  #paginator({ options, at }: JobPagination, job: PaginatedJob, began: ExchangeMoment): Paginator {
    const { methods, parseTime, callAt } = this.#options;
    const call = callAt(() => began.now);
    return createPaginator(options, job, {
      parseTime,
      call,
      at,
      ...(methods === undefined ? {} : { methods }),
    });
  }
}

/** Asks for the first page. */
function started(steps: BegunInvocation['steps']): Pick<BegunInvocation, 'steps' | 'first'> {
  const first = steps.next();
  first.catch(() => undefined); // thrown when its turn comes
  return { steps, first };
}

/** Ends a run whose pages nobody takes. */
export async function abandon({ abandon: end, first, steps }: BegunInvocation): Promise<void> {
  end();
  await first.catch(() => undefined);
  await steps.return(ABANDONED).catch(() => undefined);
}
