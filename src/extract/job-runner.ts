import type { Env } from '../env.ts';
import { ExtractorError, RecordError } from '../errors.ts';
import type { Contexts, Evaluate } from '../evaluate.ts';
import type { ApiRequest, ApiResponse, JobRequest, Send } from '../http/message.ts';
import { splitPath, type AnyObject, type Json } from '../json/index.ts';
import {
  childRuns,
  compileFilter,
  extraColumns,
  firstRequest,
  ROOT_RUN,
  type Job,
  type JobRun,
  type JobWarning,
} from '../jobs/index.ts';
import type { Log } from '../log.ts';
import {
  createGuard,
  createPaginator,
  maxPagesOf,
  type PaginatedJob,
  type PaginationMethod,
  type Paginator,
  type ParseTime,
} from '../pagination/index.ts';
import { pages, type PageSource, type PageStep, type Position } from '../pagination/pages.ts';
import { createFilter, type CompatLevel } from '../records/filter.ts';
import { readPage, type DataField, type Page } from '../records/page.ts';
import type { Secrets } from '../secrets.ts';
import type { Bucket } from './bucket.ts';
import { PageContent, type RowFilter } from './content.ts';
import { MissWatch } from './miss-watch.ts';
import type { Progress } from './progress.ts';

export interface JobRunnerOptions {
  readonly send: Send;
  readonly buildRequest: (request: JobRequest, label: string) => ApiRequest;
  /** Where the pages of all jobs go. */
  readonly bucket: Pick<Bucket, 'take'>;
  readonly pagination: Json;
  readonly methods?: readonly PaginationMethod[] | undefined;
  readonly parseTime: ParseTime;
  readonly evaluate: Evaluate;
  /** For placeholders, where one more function is known. */
  readonly evaluatePlaceholder: Evaluate;
  readonly contexts: Contexts;
  readonly userData: AnyObject;
  readonly userDataAt: string;
  readonly compatLevel: CompatLevel;
  /** Pages of each job, `--limit`. */
  readonly limit?: number | undefined;
  /** Statuses whose body is data, whatever it is. */
  readonly ignoreErrors: readonly number[];
  readonly concurrency: number;
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** Where a run stands, from the job to the innermost child: JSON. */
export type RunPosition = readonly Frame[];
interface Frame {
  readonly job: string;
  readonly position?: Position;
  /** Row of the page whose children are run, and which child. */
  readonly row?: number;
  readonly child?: number;
}

/** A run of a job that was begun: its first request is under way. */
interface Begun {
  readonly job: Job;
  readonly run: JobRun;
  readonly steps: AsyncGenerator<PageStep<PageContent>, string>;
  readonly first: Promise<IteratorResult<PageStep<PageContent>, string>>;
  /** Ends its requests and its waiting. */
  readonly abandon: () => void;
}

/** Runs the jobs of one configuration, each with its children, depth first (spec extractor 1.9). */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #filters = new Map<Job, RowFilter | undefined>();
  readonly #recursion = new Map<Job, (row: Json) => boolean>();
  readonly #watches = new Map<Job, MissWatch>();
  readonly #frames: Frame[] = [];

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  /** Where the run stands at this moment. */
  get position(): RunPosition {
    return [...this.#frames];
  }

  async run(job: Job): Promise<void> {
    await this.#finish(this.#begin(job, ROOT_RUN));
    for (const [watched, watch] of this.#watches) {
      for (const message of watch.warnings()) this.#options.log.warn(message, { job: watched.name });
    }
    this.#watches.clear();
  }

  #begin(job: Job, run: JobRun): Begun {
    const options = this.#options;
    const request = firstRequest(job, run, options.evaluate, options.contexts);
    const { scroller, queryParamIn } = job;
    const paginated = {
      ...request,
      ...(scroller === undefined ? {} : { scroller }),
      ...(queryParamIn === undefined ? {} : { queryParamIn }),
    };
    const at = { job: job.name };
    const controller = new AbortController();
    const steps = pages({
      paginator: this.#paginator(paginated),
      guard: createGuard({ maxPages: maxPagesOf(options.pagination, paginated) }),
      source: this.#source(job),
      signal: AbortSignal.any([options.signal, controller.signal]),
      now: options.env.now(),
      limit: options.limit,
      concurrency: options.concurrency,
      isEager: job.children.length === 0,
      onWarning: (message, page) => options.log.warn(message, { ...at, page }),
    });
    const first = steps.next();
    first.catch(() => undefined); // thrown when its turn comes
    return { job, run, steps, first, abandon: () => controller.abort() };
  }

  #paginator(job: PaginatedJob): Paginator {
    const { pagination, methods, parseTime } = this.#options;
    return createPaginator(pagination, job, { parseTime, ...(methods === undefined ? {} : { methods }) });
  }

  async #finish({ job, run, steps, first }: Begun): Promise<void> {
    const { log, progress, bucket } = this.#options;
    const extra = extraColumns(job, run, {
      userData: this.#options.userData,
      userDataAt: this.#options.userDataAt,
      evaluate: this.#options.evaluate,
      contexts: this.#options.contexts,
      warn: (warning: JobWarning) => log.warn(warning.message, { path: warning.path }),
    });
    const target = { dataType: job.dataType, extra, filter: this.#filter(job) };
    const depth = this.#frames.push({ job: job.name }) - 1;
    let page = 0;
    let wanted = 1;
    try {
      let step = await first;
      for (; step.done !== true; step = await steps.next()) {
        const { content, position } = step.value;
        page = step.value.page;
        wanted = page;
        this.#frames[depth] = { job: job.name, position };
        await bucket.take(content, target);
        progress.page?.({
          job: job.name,
          level: job.level,
          page,
          rows: content.page.rows,
          bytes: content.response.body.length,
        });
        if (content.page.warning !== undefined) log.warn(content.page.warning, { job: job.name, page });
        await this.#children(job, run, content, depth);
        wanted = page + 1;
      }
      log[job.level === 0 && progress.end === undefined ? 'info' : 'debug'](
        `“${job.name}” ended after ${count(page, 'page')}: ${step.value}`,
        {
          job: job.name,
          pages: page,
        },
      );
      progress.end?.({ job: job.name, level: job.level, pages: page, reason: step.value });
    } catch (error) {
      await steps.return('').catch(() => undefined);
      if (error instanceof ExtractorError) error.at({ job: job.name, path: job.at, page: wanted });
      throw error;
    }
    this.#frames.length = depth;
  }

  /** Children in order; for each, the rows in order. Their first requests may be under way ahead of their turn. */
  async #children(job: Job, run: JobRun, content: PageContent, depth: number): Promise<void> {
    for (const [child, definition] of job.children.entries()) {
      const begun: Begun[] = [];
      let index = 0;
      try {
        for (const chunk of content.chunks()) {
          for (const row of chunk) {
            const { position } = this.#frames[depth] ?? {};
            this.#frames[depth] = {
              job: job.name,
              child,
              row: index++,
              ...(position === undefined ? {} : { position }),
            };
            for (const each of this.#childRunsOf(definition, row, run)) {
              begun.push(this.#begin(definition, each));
              if (begun.length >= this.#options.concurrency) await this.#finishNext(begun);
            }
          }
        }
        while (begun.length > 0) await this.#finishNext(begun);
      } finally {
        // After a failure the others may be in the middle of long retries, and their answers are wanted no more.
        for (const { abandon } of begun) abandon();
        for (const { steps, first } of begun) {
          await first.catch(() => undefined);
          await steps.return('').catch(() => undefined);
        }
      }
    }
  }

  async #finishNext(begun: Begun[]): Promise<void> {
    const next = begun.shift();
    if (next !== undefined) await this.#finish(next);
  }

  #childRunsOf(child: Job, row: Json, run: JobRun): JobRun[] {
    const isWanted = this.#recursionFilter(child);
    if (!isWanted(row)) return [];
    const rows = [row, ...run.rows];
    return childRuns(child, rows, run.parameters, this.#options.evaluatePlaceholder).map((parameters) => ({
      parameters,
      rows,
    }));
  }

  #recursionFilter(child: Job): (row: Json) => boolean {
    let filter = this.#recursion.get(child);
    if (filter === undefined) {
      const text = child.recursionFilter;
      filter = text === undefined ? () => true : compileFilter(text, `${child.at}.recursionFilter`);
      this.#recursion.set(child, filter);
    }
    return filter;
  }

  #filter(job: Job): RowFilter | undefined {
    if (!this.#filters.has(job)) {
      const { responseFilter, responseFilterDelimiter, at } = job;
      const filter =
        responseFilter.length === 0
          ? undefined
          : createFilter(
              responseFilter,
              responseFilterDelimiter,
              this.#options.compatLevel,
              `${at}.responseFilter`,
            );
      this.#filters.set(job, filter);
    }
    return this.#filters.get(job);
  }

  #source(job: Job): PageSource<PageContent> {
    const { send, buildRequest, env, secrets } = this.#options;
    const dataField = dataFieldOf(job);
    return {
      fetch: async (request, signal) => {
        const wire = buildRequest(request, job.name);
        const response = await send(wire, { signal });
        const page = this.#readPage(job, request.endpoint, dataField, response);
        return new PageContent(wire, response, page, this.#filter(job));
      },
      observe: (content, needs, page) => {
        const observation = content.observe(needs, page, env.now());
        this.#watch(job).see(needs, observation, () => content.page.envelope);
        return observation;
      },
      digests: (content) => ({
        request: content.requestDigest,
        body: content.page.digest,
        rows: content.page.rowsDigest,
        count: content.page.rows,
        describe: () => `${content.request.method} ${secrets.redactUrl(content.request.url)}`,
      }),
    };
  }

  /** A body that is no JSON is an error, unless its status is to be ignored: it is then data (spec extractor 6.6). */
  #readPage(
    job: Job,
    endpoint: string,
    dataField: DataField | undefined,
    { body, status, url }: ApiResponse,
  ): Page {
    const { ignoreErrors, log, secrets } = this.#options;
    try {
      return readPage(body, dataField, endpoint);
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      if (error.code !== 'response.notJson' || !ignoreErrors.includes(status))
        throw error.at({ url: secrets.redactUrl(url) });
      log.warn(
        `A body that is not JSON came with the ignored status ${status}: its text becomes “errorData”`,
        { job: job.name },
      );
      const errorData = Buffer.from(body).toString('utf8');
      return readPage(Buffer.from(JSON.stringify({ errorData })), dataField, endpoint);
    }
  }

  #watch(job: Job): MissWatch {
    let watch = this.#watches.get(job);
    if (watch === undefined) this.#watches.set(job, (watch = new MissWatch()));
    return watch;
  }
}

function dataFieldOf(job: Job): DataField | undefined {
  const { dataField } = job;
  if (dataField === undefined) return undefined;
  return { keys: splitPath(dataField.path, dataField.delimiter), text: dataField.path };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
