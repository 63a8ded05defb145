import type { JobRequest } from '../http/message.ts';
import type { Json } from '../json/index.ts';
import type { Guard } from './page-guard.ts';
import type { FirstStep, Needs, Observation, Paginator, Step } from './paginator.ts';

/** Gets pages and says what is seen of them. The loop knows nothing else about a page. */
export interface PageSource<T> {
  /** Asks for one page. Rejected when it cannot be had; the loop then ends with that error. */
  fetch(request: JobRequest, signal: AbortSignal): Promise<T>;
  observe(content: T, needs: Needs, page: number): Observation;
  digests(content: T): PageDigests;
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
  /** False keeps the next request back until the page was used, so that children come first. */
  readonly isEager: boolean;
  readonly onWarning: (message: string, page: number) => void;
}

/** One page that is to be written, and where the job stands behind it. */
export interface PageStep<T> {
  /** From 1. */
  readonly page: number;
  readonly content: T;
  readonly position: Position;
}

/** Where a job stands behind a page: JSON. */
export interface Position {
  readonly page: number;
  /** State of the paginator for the next page; absent when there is none. */
  readonly paginator?: Json;
  readonly guard: Json;
}

/** A request that was sent before its turn. */
interface Ahead<T> {
  readonly step: FirstStep;
  readonly page: Promise<T>;
}

/**
 * Runs one job from page to page and gives the pages that are to be written, in order. Returns why it ended.
 *
 * The next request leaves as soon as a page has arrived and before that page is used, so that waiting and work
 * overlap; a paginator with `plan` has up to `concurrency` requests under way, and what was asked for in vain
 * is dropped.
 */
export async function* pages<T>(options: PagesOptions<T>): AsyncGenerator<PageStep<T>, string> {
  const { paginator, guard, source, limit } = options;
  const controller = new AbortController();
  const signal = AbortSignal.any([options.signal, controller.signal]);
  const send = (step: FirstStep): Ahead<T> => {
    const page = source.fetch(step.request, signal);
    page.catch(() => undefined); // its turn may never come; when it does, the error is thrown there
    return { step, page };
  };
  const queue: Ahead<T>[] = [send(paginator.first(options.now))];
  let guardState = guard.initial;
  try {
    for (let page = 1; ; page++) {
      const current = queue.shift();
      if (current === undefined) return 'no further request';
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
      if (verdict.warning !== undefined) options.onWarning(verdict.warning, page);
      if (verdict.verdict === 'stop') return verdict.reason ?? 'the response repeats';
      const observation = source.observe(content, paginator.needs, page);
      const next: Step =
        limit !== undefined && page >= limit
          ? { stop: `the limit of ${limit} ${limit === 1 ? 'page' : 'pages'} is reached` }
          : paginator.next(observation, current.step.state);
      const eager = options.isEager && !('stop' in next);
      if (eager) {
        lookAhead(queue, next, options, send);
        await turn();
      }
      yield { page, content, position: positionOf(page, next, guardState) };
      if ('stop' in next) return next.stop;
      if (!eager) queue.push(send(next));
    }
  } finally {
    controller.abort();
  }
}

/** Lets a request that was just made reach the socket before the page is worked on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Makes sure that the next request is under way, and with a plan those behind it. */
function lookAhead<T>(
  queue: Ahead<T>[],
  next: FirstStep,
  options: PagesOptions<T>,
  send: (step: FirstStep) => Ahead<T>,
): void {
  const planned = queue[0];
  if (planned !== undefined && !sameRequest(planned.step.request, next.request)) queue.length = 0;
  else if (planned !== undefined) queue[0] = { ...planned, step: next };
  if (queue.length === 0) queue.push(send(next));
  const { plan } = options.paginator;
  if (plan === undefined) return;
  for (
    let last = queue.at(-1);
    last !== undefined && queue.length < options.concurrency;
    last = queue.at(-1)
  ) {
    queue.push(send(plan(last.step.state)));
  }
}

function sameRequest(a: JobRequest, b: JobRequest): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function positionOf(page: number, next: Step, guard: Json): Position {
  return 'stop' in next ? { page, guard } : { page, guard, paginator: next.state };
}
