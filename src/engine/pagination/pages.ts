import type { JobRequest } from '../shared/message.ts';
import { encodeExact, objectOf } from '../../lib/json/index.ts';
import { numberAtOnce, type RequestsAtOnce } from '../shared/at-once.ts';
import type { Reason } from '../shared/stop-reason.ts';
import type { Guard, GuardVerdict } from './page-guard.ts';
import type { FirstStep, Needs, Observation, Paginator, Step } from './paginator.ts';
import { reusedController } from '../../lib/reused-abort.ts';
import { turn } from '../../lib/turn.ts';

/** Fetches pages and describes what is seen of them. The loop knows nothing else about a page. */
export interface PageSource<T> {
  /** Fetches one page. A rejection ends the loop with that error. */
  fetch(request: JobRequest, page: number, signal: AbortSignal): Promise<T>;
  /**
   * Tells whether a page was fetched now, and not read from a recording. While pages come from a recording, nothing is
   * planned ahead: a request that was made in vain is not in it, and would be sent again.
   */
  isLive(content: T): boolean;
  observe(content: T, needs: Needs, page: number): Observation;
  /** Returns the reason to end the job with this page, whatever the pagination decides; else undefined. */
  ends?(content: T, page: number): Reason | undefined;
  digests(content: T): PageDigests;
  /** Receives the decision that follows a page: the next request, or the end. */
  decided(content: T, decision: Decision): void;
}

export interface Decision {
  /** Absent when the guard ended the job before the page was observed. */
  readonly observation?: Observation;
  readonly next: Step;
}

export interface PageDigests {
  readonly request: string;
  readonly body: string;
  readonly rows: string;
  readonly count: number;
  /** Returns the request in words, redacted. */
  readonly describe: () => string;
}

export interface PagesOptions<T> {
  readonly paginator: Paginator;
  readonly guard: Guard;
  readonly source: PageSource<T>;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Number of pages after which the job ends (`--limit`). */
  readonly limit?: number | undefined;
  /** Maximum of concurrent requests; one that changes is reached page by page. With 1, the next request is sent when its page is known, no earlier. */
  readonly concurrency: RequestsAtOnce;
  /** True when each page starts child jobs: with a concurrency of 1 the next request then waits for them. */
  readonly hasChildren: boolean;
  readonly onWarning: (message: string, page: number) => void;
  /** Returns how many pages are still to come according to the responses; undefined when they do not say. */
  readonly pagesLeft?: () => number | undefined;
  /**
   * Waits until all is known of the pages before, which may be read while the next one is waited for; undefined where
   * it is.
   */
  readonly ready?: () => Promise<void> | undefined;
  /**
   * Called with each page, in order, and the guard's decision about it: while the next page is waited for, unless that
   * may not be asked for before.
   */
  readonly onPage?: (content: T, page: number, verdict: GuardVerdict) => void;
  /**
   * Tells whether {@link onPage} may end the job at this page, or change what is asked for next; asked before
   * {@link ready}.
   */
  readonly isDecisive?: (content: T) => boolean;
}

/** One page to write. */
export interface PageStep<T> {
  /** From 1. */
  readonly page: number;
  readonly content: T;
  /** Reason why it is the last page. */
  readonly end?: Reason;
}

/** A request that was sent ahead. */
interface Ahead<T> {
  step: FirstStep;
  readonly page: Promise<T>;
  /** True when its page failed: the pages behind it are not wanted. */
  isLost: boolean;
  /** Aborts the request, whose page is not wanted any more. */
  readonly drop: () => void;
}

/**
 * Runs one job from page to page, yields the pages to write in order, and returns why the job ended.
 *
 * The next request is sent as soon as a page has arrived and before that page is used, so that waiting and work
 * overlap. A paginator with `plan` has up to `concurrency` requests in flight, none of them beyond a budget or the
 * number of pages that the responses announce. Requests made in vain are dropped, and so are those behind a page that
 * failed.
 */
export async function* pages<T>(options: PagesOptions<T>): AsyncGenerator<PageStep<T>, Reason> {
  const { paginator, guard, source, limit } = options;
  /** Requests whose pages have not come; each has a signal of its own, and no other to follow, which costs more. */
  const underWay = new Set<AbortController>();
  /** Those of requests whose pages have come. */
  const spare: AbortController[] = [];
  let isStopped = options.signal.aborted;
  const abortAll = (): void => {
    isStopped = true;
    for (const request of underWay) request.abort(options.signal.reason);
  };
  options.signal.addEventListener('abort', abortAll);
  const queue: Ahead<T>[] = [];
  const send = (step: FirstStep, number: number): void => {
    const dropping = spare.pop() ?? reusedController();
    underWay.add(dropping);
    // a signal that follows others takes longer to say it
    if (isStopped) abortAll();
    const page = source.fetch(step.request, number, dropping.signal);
    let hasCome = false;
    const drop = (): void => {
      if (!hasCome) dropping.abort();
    };
    const ahead = { step, page, isLost: false, drop };
    queue.push(ahead);
    // the page may never be used; when it is, the error is thrown there
    page.then(
      () => {
        hasCome = true;
        underWay.delete(dropping);
        if (!dropping.signal.aborted) spare.push(dropping);
      },
      () => {
        underWay.delete(dropping);
        ahead.isLost = true;
        if (!dropping.signal.aborted)
          for (const behind of queue.slice(queue.indexOf(ahead) + 1)) behind.drop();
      },
    );
  };
  send(paginator.first(options.now), 1);
  const isEager = !options.hasChildren || numberAtOnce(options.concurrency) > 1;
  let guardState = guard.initial;
  /** Number of requests that may be in flight behind a page. */
  const budget = ({ state }: FirstStep, page: number): number => {
    const left = options.pagesLeft?.();
    // what is asked for in vain is no more than what was needed, unless somebody has said how many at once
    const hoped = left === undefined && typeof options.concurrency !== 'number' ? page : Infinity;
    return Math.min(
      numberAtOnce(options.concurrency),
      Math.min(limit ?? Infinity, guard.maxPages) - page,
      paginator.ahead?.(state) ?? Infinity,
      left ?? Infinity,
      hoped,
    );
  };
  try {
    for (let page = 1; ; page++) {
      const current = queue.shift();
      if (current === undefined) throw new Error('a job goes on without a request');
      const content = await current.page;
      const digests = source.digests(content);
      const verdict = guard.check(
        {
          page,
          requestDigest: digests.request,
          bodyDigest: digests.body,
          rowsDigest: digests.rows,
          rows: digests.count,
          describeRequest: digests.describe,
        },
        guardState,
      );
      guardState = verdict.state;
      if (verdict.reason !== undefined) {
        await tell(content, page, verdict, options);
        source.decided(content, { next: { stop: verdict.reason } });
        return verdict.reason;
      }
      // what the next request does not need waits until that is on its way
      const isSeenLater = isEager && verdict.warning === undefined && options.isDecisive?.(content) !== true;
      if (!isSeenLater) await tell(content, page, verdict, options);
      let decision: Required<Decision>;
      try {
        decision = decide(current.step, content, page, options);
      } catch (error) {
        if (isSeenLater) await tell(content, page, verdict, options);
        throw error;
      }
      const { next } = decision;
      // the first page after a restart may equal the page before it
      if ('request' in next && next.restarts === true) guardState = guard.initial;
      const isAhead = isEager && !('stop' in next);
      const isAsked = isAhead && ask(queue, next, page + 1, send);
      if (isAsked) await turn();
      source.decided(content, decision);
      if (isSeenLater) {
        const told = tell(content, page, verdict, options);
        if (told !== undefined) await told;
      }
      if (isAhead && paginator.plan !== undefined) {
        const most = source.isLive(content) ? budget(next, page) : 1;
        if (fill(queue, page + 1, paginator.plan, send, most) || !isAsked) await turn();
      }
      if (verdict.verdict === 'keep') yield { page, content, ...('stop' in next ? { end: next.stop } : {}) };
      if ('stop' in next) return next.stop;
      if (!isEager) send(next, page + 1);
    }
  } finally {
    options.signal.removeEventListener('abort', abortAll);
    abortAll();
  }
}

/** Tells of a page that is kept, when all is known of those before: at once where it is. */
function tell<T>(
  content: T,
  page: number,
  verdict: GuardVerdict,
  { ready, onPage, onWarning }: PagesOptions<T>,
): Promise<void> | undefined {
  const say = (): void => {
    onPage?.(content, page, verdict);
    if (verdict.warning !== undefined) onWarning(verdict.warning, page);
  };
  const waiting = ready?.();
  if (waiting !== undefined) return waiting.then(say);
  say();
  return undefined;
}

/** Decides what follows a page. */
function decide<T>(
  { state }: FirstStep,
  content: T,
  page: number,
  { source, paginator, limit }: PagesOptions<T>,
): Required<Decision> {
  const observation = source.observe(content, paginator.needs, page);
  const ended = source.ends?.(content, page);
  if (ended !== undefined) return { observation, next: { stop: ended } };
  if (limit !== undefined && page >= limit)
    return { observation, next: { stop: { code: 'limit', pages: limit } } };
  return { observation, next: paginator.next(observation, state) };
}

/** Ensures that the next request is in flight, and tells whether it was sent now. */
function ask<T>(
  queue: Ahead<T>[],
  next: FirstStep,
  page: number,
  send: (step: FirstStep, page: number) => void,
): boolean {
  const [planned] = queue;
  if (planned !== undefined && sameRequest(planned.step.request, next.request)) {
    planned.step = next;
    return false;
  }
  for (const { drop } of queue.splice(0)) drop();
  send(next, page);
  return true;
}

/** Ensures that up to `most` requests are in flight by the plan, and tells whether one of them was sent now. */
function fill<T>(
  queue: Ahead<T>[],
  page: number,
  plan: NonNullable<Paginator['plan']>,
  send: (step: FirstStep, page: number) => void,
  most: number,
): boolean {
  if (queue.some(({ isLost }) => isLost)) return false;
  const before = queue.length;
  for (let last = queue.at(-1); last !== undefined && queue.length < most; last = queue.at(-1))
    send(plan(last.step.state), page + queue.length);
  return queue.length > before;
}

/** Tells whether two requests are equal to the last literal, including the order of their parameters. */
function sameRequest(a: JobRequest, b: JobRequest): boolean {
  return exactText(a) === exactText(b);
}

function exactText({ query, body, ...request }: JobRequest): string {
  return encodeExact(
    objectOf([...Object.entries(request), ['query', query ?? null], ['body', body ?? null]]),
  );
}
