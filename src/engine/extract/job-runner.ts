import { ExtractorError, PaginationError, RecordError } from '../../lib/errors.ts';
import { bodyBytes } from '../shared/message.ts';
import { extraColumns, ROOT_RUN, type Job, type JobWarning } from '../jobs/index.ts';
import type { AnyObject } from '../../lib/json/index.ts';
import type { PageStep } from '../pagination/pages.ts';
import type { KeptAnswers } from '../recording/exchanges.ts';
import { positionOf } from '../recording/position.ts';
import type { CompatLevel } from '../records/filter.ts';
import type { OutputBucket, PageTarget } from './table-writer.ts';
import { beginning, ChildStarts, skipRuns, type ChildStartsOptions } from './child-starts.ts';
import type { PageContent } from './content.ts';
import { OrderedQueue } from './in-order.ts';
import { JobParts } from './job-parts.ts';
import { noteJudgement } from './page-source.ts';
import { PageWarnings } from './page-warning.ts';
import { endText, type Progress } from './progress.ts';
import { planRuns } from './run-windows.ts';
import {
  abandon,
  ABANDONED,
  RunStarter,
  type BegunInvocation,
  type RunStarterOptions,
} from './run-starter.ts';
import { counted } from '../../lib/counted.ts';

export interface JobRunnerOptions extends RunStarterOptions, ChildStartsOptions {
  /** Writer for the pages of all jobs. */
  readonly bucket: Pick<OutputBucket, 'take' | 'settle' | 'isSettled'>;
  readonly userData: AnyObject;
  readonly userDataAt: string;
  readonly compatLevel: CompatLevel;
  /** Which of the iterations, from 0. */
  readonly iteration: number;
  readonly progress: Progress;
}

/** Runs the jobs of one configuration, each with its children, depth first. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #parts: JobParts;
  readonly #starter: RunStarter;
  readonly #childStarts: ChildStarts;
  readonly #warnings: PageWarnings;
  readonly #failing = new AbortController();

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#parts = new JobParts(options);
    this.#starter = new RunStarter(options, this.#parts, this.#failing.signal);
    this.#childStarts = new ChildStarts(options, this.#parts);
    this.#warnings = new PageWarnings(options.log, options.secrets);
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
    const { iteration, limit, concurrency, sample } = this.#options;
    const place = { above: [], step: { job: job.name, index, iteration } };
    // windows may be begun ahead; a limit counts the pages of all of them
    const work = new OrderedQueue(limit === undefined ? concurrency : 1);
    let left = limit;
    const began = beginning(this.#options.exchanges, place);
    const planned = planRuns(job, { run: ROOT_RUN, place }, this.#options);
    try {
      for (const [done, each] of planned.entries()) {
        if (left === 0 || done === sample?.windows) {
          skipRuns(job, planned.slice(done), this.#options);
          break;
        }
        const begun = this.#starter.begin(job, each, began, left);
        const run = async (): Promise<void> => {
          const pages = await this.#finish(begun);
          if (left !== undefined && sample === undefined) left -= pages;
        };
        await this.#add(work, begun, run);
      }
      await work.finish();
    } catch (error) {
      await work.abandon();
      throw error;
    }
    this.#warnings.tellRest();
    this.#parts.warnOfMisses();
  }

  /** Adds work that was begun ahead; if that fails, the work behind it is abandoned. */
  async #add(
    work: OrderedQueue,
    begun: BegunInvocation,
    run: () => Promise<void>,
    onLost?: () => void,
  ): Promise<void> {
    const item = { run, abandon: async (): Promise<void> => await abandon(begun) };
    begun.first.catch(() => {
      work.lose(item);
      onLost?.();
    });
    await work.add(item);
  }

  /** @returns how many pages came */
  async #finish(begun: BegunInvocation): Promise<number> {
    const { job, place, window, group, state, steps, first } = begun;
    const { log, progress } = this.#options;
    const target = this.#target(begun);
    let [page, wanted] = [0, 1];
    let last: KeptAnswers | undefined;
    /** The page at hand may be what is wrong. */
    let isSuspect = true;
    const at = (number: number, suspect: boolean): void => {
      wanted = number;
      isSuspect = suspect;
    };
    // pages and the children of each, in order; children of later pages may be begun while earlier ones are waited for
    const work = new OrderedQueue(this.#options.concurrency);
    /** Waits until the last page is written. */
    const settled = async (): Promise<void> => {
      if (this.#options.bucket.isSettled) return;
      const [number, suspect] = [wanted, isSuspect];
      at(page, true);
      await this.#options.bucket.settle();
      at(number, suspect);
    };
    /** Completes the work on the pages before one that failed; an error in it comes first. */
    const doneBefore = async (error: unknown): Promise<never> => {
      await settled();
      await work.finish();
      at(page + 1, true);
      throw error;
    };
    try {
      let step = await first;
      for (; step.done !== true; step = await steps.next().catch(doneBefore)) {
        const { value } = step;
        if (!this.#options.bucket.isSettled) await settled();
        const number = (page = value.page);
        last = value.content.answer.kept;
        if (number === 1) window?.series.take(value.content);
        const take = (): Promise<void> => {
          at(number, true);
          return this.#take(begun, value, target);
        };
        await work.add({ run: take });
        at(number, false);
        const starts = job.children.length === 0 ? [] : this.#childStarts.of(begun, number, value.content);
        for (const { job: child, planned, began } of starts) {
          const startedChild = this.#starter.begin(child, planned, began);
          const run = async (): Promise<void> => {
            at(number, false);
            await this.#finish(startedChild);
          };
          await this.#add(work, startedChild, run, () => begun.abandon());
          at(number, false);
        }
      }
      await settled();
      await work.finish();
      window?.series.end(window.rows);
      const judgement = begun
        .witness()
        ?.end(step.value, [
          ...(window?.isLast === true
            ? window.series.doubts(this.#options.witnesses?.hasKey(job) === true)
            : []),
          ...(group?.doubts() ?? []),
        ]);
      noteJudgement(judgement, step.value, last, this.#options.exchanges);
      state?.end(judgement, this.#options.witnesses?.accepts(job) === true);
      log[job.level === 0 && progress.end === undefined ? 'info' : 'debug'](
        `“${job.name}”${window === undefined ? '' : ` ${window.text}`} ended after ${counted(page, 'page')}: ${endText(step.value, judgement)}`,
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

  #target({ job, run, began }: BegunInvocation): PageTarget {
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

  async #take(
    { job, run, place }: BegunInvocation,
    { page, content, end }: PageStep<PageContent>,
    target: PageTarget,
  ): Promise<void> {
    const { progress, bucket } = this.#options;
    progress.rows?.({
      position: positionOf(place, page),
      dataType: target.dataType,
      at: content.page.isMade === true ? undefined : content.page.rowsAt,
      count: content.page.rows,
      isChanged: content.steps !== undefined,
      chunks: () => content.chunks(),
    });
    await bucket.take(content, { ...target, page: `${job.at}, page ${page}` }, job.children.length === 0);
    progress.page?.({
      job: job.name,
      level: job.level,
      page,
      rows: content.page.rows,
      bytes: bodyBytes(content.response),
    });
    this.#warnings.add(job, run, content.page, page, end);
  }
}

/** Tells whether an error is about an answer, and not about the network, the disk or an interruption. */
function isOfPage(error: ExtractorError): boolean {
  return error instanceof RecordError || error instanceof PaginationError;
}
