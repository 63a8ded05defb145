import type { Contexts } from '../../shared/evaluate.ts';
import type { JobRequest } from '../../shared/message.ts';
import {
  compareMarks,
  contextsOf,
  type Incremental,
  type Job,
  type JobInvocation,
  type Mark,
  partKey,
} from '../../jobs/index.ts';
import { toText, type Json } from '../../../lib/json/index.ts';
import type { Needs, Paginator } from '../../pagination/index.ts';
import type { PageSource } from '../../pagination/pages.ts';
import type { Judgement } from '../../completeness/index.ts';
import { JobError } from '../../../lib/errors.ts';
import { serverTime } from '../clock-witness.ts';
import type { PageContent } from '../content.ts';
import { pageView } from '../page-view.ts';
import type { PlannedState } from '../run-windows.ts';
import { keepsRow, markOfRow, type RowLimits } from './row-limits.ts';
import { RunCursor } from './run-cursor.ts';

/** Returns the state of a job in a run of it; undefined for one that keeps none. */
export function beginState(
  job: Job,
  run: JobInvocation,
  planned: PlannedState | undefined,
  common: Contexts,
): RunState | undefined {
  if (planned === undefined || job.incremental === undefined) return undefined;
  const { incremental } = job;
  const part = incremental.dropsKnown && !incremental.isPerParent ? partKey(incremental.asked, run) : '';
  return new RunState(incremental, planned, { contexts: contextsOf(run, common), part });
}

/** The state of a job in one of its runs: what is sent, and what is seen of the pages. */
export class RunState {
  readonly #settings: Incremental;
  readonly #planned: PlannedState;
  readonly #contexts: Contexts;
  readonly #cursor: RunCursor;
  readonly #bounds: RowLimits;
  readonly #keeps: (row: Json) => boolean;
  #kept: Json | undefined;
  #isSkipped = false;
  /** Rows so far. */
  #read = 0;

  /**
   * @param contexts what the run may refer to
   * @param part names the part of the job that it is about, where parts share a state
   */
  constructor(
    settings: Incremental,
    planned: PlannedState,
    { contexts, part }: { readonly contexts: Contexts; readonly part: string },
  ) {
    this.#settings = settings;
    this.#planned = planned;
    this.#contexts = contexts;
    const { since, until, dropsEqual } = planned.bounds;
    // a period that is filled again has what was there before
    const isNew = settings.dropsKnown && until === undefined;
    const digests = isNew ? planned.progress.storedRows : [];
    this.#bounds = {
      since,
      until,
      dropsEqual,
      ...(digests.length === 0 ? {} : { known: { digests, part } }),
    };
    this.#keeps = keepsRow(settings, this.#bounds, contexts);
    this.#cursor = new RunCursor(settings, contexts, part, this.limits?.since);
  }

  /** Headers are kept of each answer beside those of the pagination. */
  needs(needs: Needs): Needs {
    const headers = this.#settings.keep?.needs.headers ?? [];
    return headers.length === 0 ? needs : { ...needs, headers: [...(needs.headers ?? []), ...headers] };
  }

  /** Returns the source of pages with those reported that have nothing new. Sorted rows are examined as they come. */
  watch(source: PageSource<PageContent>): PageSource<PageContent> {
    const { order, cursor } = this.#settings;
    if (order === 'none' || cursor === undefined) return source;
    return {
      ...source,
      observe: (content, wanted, page) => {
        // a stream is one page, and may be larger than memory
        const olderThan = content.page.stream === undefined ? this.#olderThan(content) : undefined;
        const observation = source.observe(content, wanted, page);
        return olderThan === undefined ? observation : { ...observation, olderThan };
      },
    };
  }

  /**
   * Puts the state into its place in the request.
   *
   * @throws {JobError} when that is nowhere in the request
   */
  put(request: JobRequest): JobRequest {
    const { to, at } = this.#settings;
    if (to === undefined) return request;
    if (!to.isIn(request))
      throw new JobError('job.invalid', `There is no ${to.text} to send the state in`, {
        where: { path: `${at}.to` },
        hint: 'Write the name in braces into the endpoint or a text of the request, or name another place.',
      });
    const { sent } = this.#planned.bounds;
    return sent === undefined ? to.blank(request) : to.put(request, sent);
  }

  /** Takes a page that will be written, in their order. */
  see(content: PageContent, page: number): void {
    this.#read += content.page.rows;
    if (content.taken?.do === 'skip') this.#isSkipped = true;
    if (this.#settings.cursor !== undefined) {
      const { now, response } = content.answer;
      // whichever clock is ahead
      const seenAt = Math.min(now, serverTime(response.headers) ?? now);
      content.onRows({ take: (rows) => this.#cursor.take(rows, seenAt) });
    }
    const facts = { page, read: this.#read, request: content.asked, contexts: () => this.#contexts };
    const value = this.#settings.keep?.read(pageView(content, facts));
    if (value !== undefined && value !== null && value !== '') this.#kept = value;
  }

  /**
   * Returns the paginator, ended by the first page whose last row is older than the state; as it is if the API does not
   * sort so.
   */
  ending(paginator: Paginator): Paginator {
    if (this.#settings.order !== 'descending' || this.#planned.bounds.since === undefined) return paginator;
    const { needs, plan, ahead, traits } = paginator;
    return {
      needs,
      first: (now) => paginator.first(now),
      next: (observation, state) =>
        observation.olderThan === undefined
          ? paginator.next(observation, state)
          : { stop: { code: 'olderRows', state: observation.olderThan } },
      ...(plan === undefined ? {} : { plan }),
      ...(ahead === undefined ? {} : { ahead }),
      ...(traits === undefined ? {} : { traits }),
    };
  }

  /** Limits of the rows to be written; undefined if all are. */
  get limits(): RowLimits | undefined {
    const bounds = this.#bounds;
    const { isFiltering, isFilteringPeriods } = this.#settings;
    if (bounds.until !== undefined) return isFiltering || isFilteringPeriods ? bounds : undefined;
    return isFiltering && bounds.since !== undefined ? bounds : undefined;
  }

  /** Tells whether a row is written, and starts the children of the job. */
  writes(row: Json): boolean {
    return this.limits === undefined || this.#keeps(row);
  }

  /**
   * Ends the run.
   *
   * @param acceptsDoubt the configuration takes a doubt about the job
   */
  end(judgement: Judgement | undefined, acceptsDoubt: boolean): void {
    const { job, progress, isLast } = this.#planned;
    const verdict = judgement?.verdict;
    const isTaken = verdict === 'doubtful' ? acceptsDoubt : verdict !== 'cut';
    const isComplete = isTaken && !this.#isSkipped;
    job.end(progress, { facts: this.#cursor.facts(), kept: this.#kept, isComplete });
    if (isLast) job.finish(progress);
  }

  /** Returns the state that the last row of a page is older than, and with it all behind it; undefined for none. */
  #olderThan(content: PageContent): string | undefined {
    const { since } = this.#planned.bounds;
    let last: Json | undefined;
    // all of them are decoded, in their order: that is when they are looked at
    for (const rows of content.chunks()) last = rows.at(-1) ?? last;
    const isOlder = since !== undefined && last !== undefined && this.#isOlder(last, since);
    if (!isOlder || this.#settings.order !== 'descending') return undefined;
    return this.#cursor.facts().isInOrder ? toText(since.value) : undefined;
  }

  #isOlder(row: Json, since: Mark): boolean {
    const { mark } = markOfRow(this.#settings, row, this.#contexts);
    return mark !== undefined && (compareMarks(mark, since) ?? 0) < 0;
  }
}
