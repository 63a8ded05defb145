import type { JobRequest } from '../shared/message.ts';
import { encodeExact, objectOf } from '../../lib/json/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import type { Guard, GuardVerdict } from './page-guard.ts';
import type { FirstStep, Needs, Observation, Paginator, Step } from './paginator.ts';

/** Gets pages and says what is seen of them. The loop knows nothing else about a page. */
export interface PageSource<T> {
  /** Asks for one page. Rejected when it cannot be had; the loop then ends with that error. */
  fetch(request: JobRequest, page: number, signal: AbortSignal): Promise<T>;
  /**
   * True for a page that was asked for now, false for one that was recorded before. While pages come from a recording
   * nothing is planned ahead: what was asked for in vain is not in it, and would be asked for again.
   */
  isLive(content: T): boolean;
  observe(content: T, needs: Needs, page: number): Observation;
  /** Why the job ends with a page whatever the pagination says; undefined where it decides. */
  ends?(content: T, page: number): Reason | undefined;
  digests(content: T): PageDigests;
  /** Told of what follows from a page: the next request, or the end. */
  decided(content: T, decision: Decision): void;
}

export interface Decision {
  /** Absent when the guard ended the job before the page was looked at. */
  readonly observation?: Observation;
  readonly next: Step;
}

export interface PageDigests {
  readonly request: string;
  readonly body: string;
  readonly rows: string;
  readonly count: number;
  /** The request in words, redacted. */
  readonly describe: () => string;
}

export interface PagesOptions<T> {
  readonly paginator: Paginator;
  readonly guard: Guard;
  readonly source: PageSource<T>;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Ends the job after so many pages (`--limit`). */
  readonly limit?: number | undefined;
  /** Requests that may be under way at once. With 1, the next request leaves when its page is known, no earlier. */
  readonly concurrency: number;
  /** True when each page starts children: with a concurrency of 1 the next request then waits for them. */
  readonly hasChildren: boolean;
  readonly onWarning: (message: string, page: number) => void;
  /** Pages that are still to come by what the answers say; undefined when they do not say it. */
  readonly pagesLeft?: () => number | undefined;
  /** Sees each page that came, in order, with what the guard says of it. */
  readonly onPage?: (content: T, page: number, verdict: GuardVerdict) => void;
}

/** One page that is to be written. */
export interface PageStep<T> {
  /** From 1. */
  readonly page: number;
  readonly content: T;
  /** Why it is the last one. */
  readonly end?: Reason;
}

/** A request that was sent before its turn. */
interface Ahead<T> {
  step: FirstStep;
  readonly page: Promise<T>;
  /** Its page cannot be had: what comes behind it is not wanted. */
  isLost: boolean;
  /** Ends the request, whose page is not wanted any more. */
  readonly drop: () => void;
}

/**
 * Runs one job from page to page and gives the pages that are to be written, in order. Returns why it ended.
 *
 * The next request leaves as soon as a page has arrived and before that page is used, so that waiting and work
 * overlap; a paginator with `plan` has up to `concurrency` requests under way, none of them beyond a budget or what the
 * answers say that there is. What was asked for in vain is dropped, and so is what comes behind a page that failed.
 */
export async function* pages<T>(options: PagesOptions<T>): AsyncGenerator<PageStep<T>, Reason> {
  const { paginator, guard, source, limit } = options;
  const controller = new AbortController();
  const signal = AbortSignal.any([options.signal, controller.signal]);
  const queue: Ahead<T>[] = [];
  const send = (step: FirstStep, number: number): void => {
    const dropping = new AbortController();
    const page = source.fetch(step.request, number, AbortSignal.any([signal, dropping.signal]));
    const ahead = { step, page, isLost: false, drop: () => dropping.abort() };
    queue.push(ahead);
    // its turn may never come; when it does, the error is thrown there
    page.catch(() => {
      ahead.isLost = true;
      if (!dropping.signal.aborted) for (const behind of queue.slice(queue.indexOf(ahead) + 1)) behind.drop();
    });
  };
  send(paginator.first(options.now), 1);
  const isEager = !options.hasChildren || options.concurrency > 1;
  let guardState = guard.initial;
  /** Requests that may be under way behind a page. */
  const budget = ({ state }: FirstStep, page: number): number =>
    Math.min(
      options.concurrency,
      Math.min(limit ?? Infinity, guard.maxPages) - page,
      paginator.ahead?.(state) ?? Infinity,
      options.pagesLeft?.() ?? Infinity,
    );
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
      options.onPage?.(content, page, verdict);
      if (verdict.warning !== undefined) options.onWarning(verdict.warning, page);
      if (verdict.reason !== undefined) {
        source.decided(content, { next: { stop: verdict.reason } });
        return verdict.reason;
      }
      const observation = source.observe(content, paginator.needs, page);
      const ended = source.ends?.(content, page);
      const next: Step =
        ended !== undefined
          ? { stop: ended }
          : limit !== undefined && page >= limit
            ? { stop: { code: 'limit', pages: limit } }
            : paginator.next(observation, current.step.state);
      source.decided(content, { observation, next });
      // the first page behind the border may well be that before it
      if ('request' in next && next.restarts === true) guardState = guard.initial;
      if (isEager && !('stop' in next)) {
        lookAhead(queue, next, page + 1, options, send, source.isLive(content) ? budget(next, page) : 1);
        await turn();
      }
      yield { page, content, ...('stop' in next ? { end: next.stop } : {}) };
      if ('stop' in next) return next.stop;
      if (!isEager) send(next, page + 1);
    }
  } finally {
    controller.abort();
  }
}

/** Lets a request that was just made reach the socket before the page is worked on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Makes sure that the next request is under way, and with a plan up to `most`. */
function lookAhead<T>(
  queue: Ahead<T>[],
  next: FirstStep,
  page: number,
  { paginator: { plan } }: PagesOptions<T>,
  send: (step: FirstStep, page: number) => void,
  most: number,
): void {
  const [planned] = queue;
  if (planned !== undefined && sameRequest(planned.step.request, next.request)) planned.step = next;
  else for (const { drop } of queue.splice(0)) drop();
  if (queue.length === 0) send(next, page);
  if (plan === undefined || queue.some(({ isLost }) => isLost)) return;
  for (let last = queue.at(-1); last !== undefined && queue.length < most; last = queue.at(-1))
    send(plan(last.step.state), page + queue.length);
}

/** Tells whether two requests are the same to the last literal, and to the order of their parameters. */
function sameRequest(a: JobRequest, b: JobRequest): boolean {
  return exactText(a) === exactText(b);
}

function exactText({ query, body, ...request }: JobRequest): string {
  return encodeExact(
    objectOf([...Object.entries(request), ['query', query ?? null], ['body', body ?? null]]),
  );
}
