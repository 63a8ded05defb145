import type { JobPagination } from '../config/job-pagination.ts';
import type { Env } from '../env.ts';
import { ExtractorError, PaginationError, RecordError } from '../errors.ts';
import type { CallFunction, Contexts, Evaluate } from '../evaluate.ts';
import { bodyBytes, type JobRequest } from '../http/message.ts';
import { objectOf, type AnyObject, type Json } from '../json/index.ts';
import {
  childRuns,
  contextsOf,
  extraColumns,
  firstRequest,
  Groups,
  joined,
  ROOT_RUN,
  withComputed,
  type ExportSettings,
  type Group,
  type Job,
  type JobRun,
  type JobWarning,
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
import type { Moment } from '../recording/exchange.ts';
import type { Kept } from '../recording/exchanges.ts';
import { positionOf, type Position, type RunPlace } from '../recording/position.ts';
import type { CompatLevel } from '../records/filter.ts';
import type { Reason } from '../reason.ts';
import type { Bucket, PageTarget } from './bucket.ts';
import type { PageContent } from './content.ts';
import { countedBehind, exportPages } from './export-pages.ts';
import { ExportRun } from './export-run.ts';
import { GroupWatch } from './group-watch.ts';
import { HeaderWatch } from './header-watch.ts';
import { InOrder } from './in-order.ts';
import { JobParts } from './job-parts.ts';
import { warningLevel } from './page-warning.ts';
import type { ReactorOptions } from './reactor.ts';
import { noteJudgement, pageSource, type ArrivedPage, type PageSourceOptions } from './page-source.ts';
import { endText, type Progress } from './progress.ts';
import { beginState, type RunState } from './incremental/run-state.ts';
import { planRuns, type PlannedRun, type PlannedWindow, type PlanOptions } from './run-windows.ts';
import type { RunWitness, Witnesses } from './witnesses.ts';

export interface JobRunnerOptions
  extends PageSourceOptions, ReactorOptions, Pick<PlanOptions, 'stateOf' | 'period'> {
  /** Where the pages of all jobs go. */
  readonly bucket: Pick<Bucket, 'take'>;
  readonly paginationOf: (job: Job) => JobPagination;
  readonly methods?: readonly PaginationMethod[] | undefined;
  readonly parseTime: ParseTime;
  /** Evaluates functions at a moment, in milliseconds since 1970. */
  readonly evaluateAt: (now: () => number) => Evaluate;
  /** For placeholders, where one more function is known. */
  readonly evaluatePlaceholderAt: (now: () => number) => Evaluate;
  /** Calls functions at a moment, those of placeholders among them. */
  readonly callAt: (now: () => number) => CallFunction;
  /** Milliseconds since 1970 when the run began, however often it was stopped: the windows of time go by it. */
  readonly startedAt: number;
  readonly contexts: Contexts;
  readonly userData: AnyObject;
  readonly userDataAt: string;
  readonly compatLevel: CompatLevel;
  /** Pages of each job, `--limit`. */
  readonly limit?: number | undefined;
  readonly concurrency: number;
  /** Which of the iterations, from 0. */
  readonly iteration: number;
  /** Waits between the polls of an export. */
  readonly env: Pick<Env, 'sleep'>;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Say whether the pages were all; without them nobody asks. */
  readonly witnesses?: Witnesses;
}

/** A run of a job that was begun: its first request is under way. */
interface Begun {
  readonly job: Job;
  readonly run: JobRun;
  readonly place: RunPlace;
  readonly began: Moment;
  readonly window: PlannedWindow | undefined;
  readonly state: RunState | undefined;
  readonly group: GroupWatch | undefined;
  /** Of an export, only when its first file is asked for. */
  readonly witness: () => RunWitness | undefined;
  readonly steps: AsyncGenerator<PageStep<PageContent>, Reason>;
  readonly first: Promise<IteratorResult<PageStep<PageContent>, Reason>>;
  /** Ends its requests and its waiting. */
  readonly abandon: () => void;
}

/** A run of a job that is about to begin. */
interface Beginning extends Pick<Begun, 'job' | 'run' | 'place' | 'began' | 'window' | 'group' | 'state'> {
  readonly signal: AbortSignal;
  readonly headers: HeaderWatch;
}

/** Nobody reads why pages ended that are given up. */
const ABANDONED: Reason = { code: 'other', text: 'the job was given up' };

const NO_PAGINATION: JobPagination = { options: null, at: 'parameters.api.pagination' };
const NO_REQUEST: PaginatedJob = { endpoint: '', method: 'GET', params: {}, headers: {} };

/** Runs the jobs of one configuration, each with its children, depth first (spec extractor 1.9). */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #parts: JobParts;
  readonly #failing = new AbortController();

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#parts = new JobParts(options);
  }

  /**
   * Reads the settings of the rows of all jobs, so that a mistake in the last one ends a run before it begins.
   *
   * @throws {RecordError}
   */
  check(jobs: readonly Job[]): void {
    for (const job of jobs) {
      this.#parts.rows(job);
      this.check(job.children);
    }
  }

  /** Rows that conditions left out, by the JSON path of the job. */
  get leftOut(): ReadonlyMap<string, number> {
    return this.#parts.leftOut;
  }

  /** @param index which job of the configuration, from 0 */
  async run(job: Job, index: number): Promise<void> {
    const { iteration, limit, concurrency } = this.#options;
    const place = { above: [], step: { job: job.name, index, iteration } };
    // windows may be begun ahead; a limit counts the pages of all of them
    const work = new InOrder(limit === undefined ? concurrency : 1);
    let left = limit;
    const beginning = this.#beginning(place);
    const planned = planRuns(job, { run: ROOT_RUN, place }, this.#options);
    try {
      for (const [done, each] of planned.entries()) {
        if (left === 0) {
          this.#skip(job, planned.slice(done));
          break;
        }
        const begun = this.#begin(job, each, beginning, left);
        const run = async (): Promise<void> => {
          const pages = await this.#finish(begun);
          if (left !== undefined) left -= pages;
        };
        await this.#add(work, begun, run);
      }
      await work.finish();
    } catch (error) {
      await work.abandon();
      throw error;
    }
    this.#parts.warnOfMisses();
  }

  /** What was begun ahead ends all behind it when it fails. */
  async #add(work: InOrder, begun: Begun, run: () => Promise<void>, onLost?: () => void): Promise<void> {
    const item = { run, abandon: async (): Promise<void> => await abandon(begun) };
    begun.first.catch(() => {
      work.lose(item);
      onLost?.();
    });
    await work.add(item);
  }

  #begin(
    job: Job,
    { run: planned, place, window, state: plannedState, group }: PlannedRun,
    beginning: () => Moment,
    limit = this.#options.limit,
  ): Begun {
    const options = this.#options;
    // each window has its own moment: the first and the last may be hours apart
    const began = window === undefined ? beginning() : options.exchanges.moment(place);
    const controller = new AbortController();
    const signal = AbortSignal.any([options.signal, this.#failing.signal, controller.signal]);
    const evaluate = options.evaluateAt(() => began.now);
    const call = options.callAt(() => began.now);
    const begun = { job, place, began, window, group, signal, headers: new HeaderWatch() };
    const abandon = (): void => controller.abort();
    if (job.export !== undefined) {
      const state = beginState(job, planned, plannedState, options.contexts);
      const exporting = { ...begun, run: planned, state, evaluate, call };
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

  /** The files of an export are the pages of the job: those of one behind those of the other. */
  #export(
    settings: ExportSettings<Job>,
    begun: Beginning & { readonly evaluate: Evaluate; readonly call: CallFunction },
    limit: number | undefined,
  ): Omit<Begun, 'abandon'> {
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
        ({ witness } = file);
        return file.steps;
      },
      onEmpty: (reason) => {
        witness ??= options.witnesses?.begin(
          job,
          this.#paginator(NO_PAGINATION, NO_REQUEST, begun.began),
          window?.text,
        );
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
      onPage: (content, page, verdict) => {
        headers.see(content.page.header, before + page, (message) => warn(message, before + page));
        if (content.taken !== undefined) reactor.tell(content.taken, content.request.url);
        witness?.see(content, before + page, verdict);
        if (verdict.verdict === 'keep') state?.see(content, before + page);
        group?.watch(content);
      },
    });
    return { steps, witness };
  }

  #paginator({ options, at }: JobPagination, job: PaginatedJob, began: Moment): Paginator {
    const { methods, parseTime, callAt } = this.#options;
    const call = callAt(() => began.now);
    return createPaginator(options, job, {
      parseTime,
      call,
      at,
      ...(methods === undefined ? {} : { methods }),
    });
  }

  /** @returns how many pages came */
  async #finish(begun: Begun): Promise<number> {
    const { job, place, window, group, state, steps, first } = begun;
    const { log, progress } = this.#options;
    const target = this.#target(begun);
    let [page, wanted] = [0, 1];
    let last: Kept | undefined;
    /** The page at hand may be what is wrong. */
    let isSuspect = true;
    const at = (number: number, suspect: boolean): void => {
      wanted = number;
      isSuspect = suspect;
    };
    // pages and the children of each, in order; children of later pages may be begun while earlier ones are waited for
    const work = new InOrder(this.#options.concurrency);
    /** What came before a page that cannot be had is done all the same, and fails before it if it does. */
    const doneBefore = async (error: unknown): Promise<never> => {
      await work.finish();
      at(page + 1, true);
      throw error;
    };
    try {
      let step = await first;
      for (; step.done !== true; step = await steps.next().catch(doneBefore)) {
        const { value } = step;
        const number = (page = value.page);
        last = value.content.answer.kept;
        if (number === 1) window?.series.take(value.content);
        const take = async (): Promise<void> => {
          at(number, true);
          await this.#take(job, value, target);
        };
        await work.add({ run: take });
        at(number, false);
        for (const child of this.#children(begun, number, value.content)) {
          const run = async (): Promise<void> => {
            at(number, false);
            await this.#finish(child);
          };
          await this.#add(work, child, run, () => begun.abandon());
          at(number, false);
        }
      }
      await work.finish();
      const judgement = begun
        .witness()
        ?.end(step.value, [
          ...(window?.isLast === true ? window.series.doubts() : []),
          ...(group?.doubts() ?? []),
        ]);
      noteJudgement(judgement, step.value, last, this.#options.exchanges);
      state?.end(judgement, this.#options.witnesses?.accepts(job) === true);
      log[job.level === 0 && progress.end === undefined ? 'info' : 'debug'](
        `“${job.name}”${window === undefined ? '' : ` ${window.text}`} ended after ${count(page, 'page')}: ${endText(step.value, judgement)}`,
        {
          job: job.name,
          ...(window === undefined ? {} : { window: window.text }),
          pages: page,
          reason: step.value.code,
          ...(judgement === undefined ? {} : { verdict: judgement.verdict }),
        },
      );
      progress.end?.({
        job: job.name,
        level: job.level,
        window: window?.text,
        pages: page,
        reason: step.value,
        judgement,
      });
      return page;
    } catch (error) {
      // Work is done in its order, so this ends all: the others may wait for their turn, or be in the middle of long
      // retries, and their answers are wanted no more.
      this.#failing.abort();
      await work.abandon();
      await steps.return(ABANDONED).catch(() => undefined);
      if (!(error instanceof ExtractorError)) throw error;
      // its answer was recorded: a run that goes on asks for it again, as another one may be good
      if (isSuspect && isOfPage(error)) this.#options.exchanges.drop(place, wanted);
      throw error.at({ job: job.name, path: job.at, page: wanted });
    }
  }

  #target({ job, run, began }: Begun): PageTarget {
    const { userData, userDataAt, contexts, log } = this.#options;
    const extra = extraColumns(job, run, {
      userData,
      userDataAt,
      evaluate: this.#options.evaluateAt(() => began.now),
      contexts,
      warn: (warning: JobWarning) => log.warn(warning.message, { path: warning.path }),
    });
    return { dataType: job.dataType, extra, source: this.#parts.source(job) };
  }

  async #take(job: Job, { page, content, end }: PageStep<PageContent>, target: PageTarget): Promise<void> {
    const { log, progress, bucket } = this.#options;
    await bucket.take(content, target);
    progress.page?.({
      job: job.name,
      level: job.level,
      page,
      rows: content.page.rows,
      bytes: bodyBytes(content.response),
    });
    const { warning } = content.page;
    if (warning !== undefined) log[warningLevel(content.page, page, end)](warning, { job: job.name, page });
  }

  /** Begins the children of a page one after the other: each child in order, and for each the rows in order. */
  *#children({ job, run, place, state }: Begun, page: number, content: PageContent): Generator<Begun> {
    const above = positionOf(place, page);
    for (const [index, child] of job.children.entries()) {
      if (child.group !== undefined) {
        yield* this.#grouped(child, child.group, { index, above, run, state, content });
        continue;
      }
      let row = 0;
      for (const chunk of content.chunks()) {
        for (const value of chunk) {
          if (state !== undefined && !state.writes(value)) {
            row++;
            continue;
          }
          const step = { job: child.name, index, row: row++ };
          if (content.isLeftOut(value)) continue;
          const placeOf = (number: number): RunPlace => ({ above, step: { ...step, run: number } });
          const began = this.#beginning(placeOf(0));
          for (const [number, each] of this.#childRunsOf(child, value, run, began).entries())
            for (const planned of this.#planChild(child, each, placeOf(number)))
              yield this.#begin(child, planned, began);
        }
      }
    }
  }

  /** Begins a child once for each group of the rows of a page. */
  *#grouped(
    child: Job,
    group: Group,
    {
      index,
      above,
      run,
      state,
      content,
    }: Pick<Begun, 'run' | 'state'> & { index: number; above: Position; content: PageContent },
  ): Generator<Begun> {
    let number = 0;
    const placeOf = (one: number): RunPlace => ({
      above,
      step: { job: child.name, index, row: 0, run: one },
    });
    // all groups of a page share a moment: which rows are in which of them is not known before
    const began = this.#beginning(placeOf(0));
    const begin = function* (this: JobRunner, values: readonly Json[]): Generator<Begun> {
      const parameter = { name: group.name, value: joined(values, group) };
      const parameters = [...run.parameters.filter(({ name }) => name !== group.name), parameter];
      // no row is that of the group
      const own: JobRun = { ...run, parameters, rows: [{}, ...run.rows] };
      for (const planned of this.#planChild(child, own, placeOf(number++)))
        yield this.#begin(child, { ...planned, group: new GroupWatch(group, values) }, began);
    }.bind(this);
    const groups = new Groups(group);
    for (const chunk of content.chunks()) {
      for (const row of chunk) {
        if (state !== undefined && !state.writes(row)) continue;
        const runs = this.#childRunsOf(child, row, run, began).map(({ parameters }) => parameters);
        for (const values of groups.add(runs)) yield* begin(values);
      }
    }
    for (const values of groups.rest()) yield* begin(values);
  }

  /** The moment of all runs that one row, or a job at the top, starts; looked up only when it is needed. */
  #beginning(place: RunPlace): () => Moment {
    let moment: Moment | undefined;
    return () => (moment ??= this.#options.exchanges.moment(place));
  }

  /** In a trial no more windows than pages: each has one at least. */
  #planChild(child: Job, run: JobRun, place: RunPlace): readonly PlannedRun[] {
    const planned = planRuns(child, { run, place }, this.#options);
    const { limit } = this.#options;
    if (limit === undefined || planned.length <= limit) return planned;
    this.#skip(child, planned.slice(limit));
    return planned.slice(0, limit);
  }

  /** Runs that are not begun any more: what they are about was not seen. */
  #skip(job: Job, planned: readonly PlannedRun[]): void {
    const { limit = 0, witnesses } = this.#options;
    witnesses?.skip(job, planned.length, limit);
    for (const { state } of planned) state?.progress.skip();
  }

  #childRunsOf(child: Job, row: Json, run: JobRun, began: () => Moment): JobRun[] {
    const isWanted = this.#parts.recursionFilter(child);
    if (!isWanted(row, this.#options.contexts)) return [];
    const rows = [row, ...run.rows];
    const evaluate = this.#options.evaluatePlaceholderAt(() => began().now);
    return childRuns(child, rows, run.parameters, evaluate).map((parameters) => ({
      ...(run.own === undefined ? {} : { own: run.own }),
      parameters,
      rows,
    }));
  }
}

/** Asks for the first page. */
function started(steps: Begun['steps']): Pick<Begun, 'steps' | 'first'> {
  const first = steps.next();
  first.catch(() => undefined); // thrown when its turn comes
  return { steps, first };
}

async function abandon({ abandon: end, first, steps }: Begun): Promise<void> {
  end();
  await first.catch(() => undefined);
  await steps.return(ABANDONED).catch(() => undefined);
}

/** What is wrong with an answer, and not with the network, the disk or whoever ended the run. */
function isOfPage(error: ExtractorError): boolean {
  return error instanceof RecordError || error instanceof PaginationError;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
