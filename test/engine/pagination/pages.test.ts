import { expect, test } from 'vitest';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import { encodeExact, isNumber, numberOf, objectOf, type Json } from '../../../src/lib/json/index.ts';
import { createGuard } from '../../../src/engine/pagination/index.ts';
import { pages, type PageSource, type PagesOptions } from '../../../src/engine/pagination/pages.ts';
import { turn } from '../../../src/lib/turn.ts';
import type { FirstStep, Paginator } from '../../../src/engine/pagination/paginator.ts';

/** Asks for page after page; the parameter has a name that plain objects would move to the front. */
function request(page: number): JobRequest {
  return { endpoint: 'users', method: 'GET', headers: {}, params: objectOf([['0', page]]) };
}

const numberIn = (state: Json): number => (isNumber(state) ? numberOf(state) : 0);
const step = (page: number): FirstStep => ({ request: request(page), state: page });

/** Gives the numbers asked for as pages, a moment later. */
function numbers(onFetch: (page: Json) => void): PageSource<Json> {
  return {
    fetch: async ({ params }) => {
      const page = params instanceof Map ? (params.get('0') ?? null) : null;
      onFetch(page);
      await turn();
      return page;
    },
    observe: (_content, _needs, page) => ({
      page,
      status: 200,
      url: '',
      values: [],
      read: [],
      met: [],
      headers: {},
      rows: 1,
      bytes: 1,
      now: 0,
    }),
    digests: (content) => ({
      request: encodeExact(content),
      body: encodeExact(content),
      rows: encodeExact(content),
      count: 1,
      describe: () => encodeExact(content),
    }),
    isLive: () => true,
    decided: () => undefined,
  };
}

function optionsOf(paginator: Paginator, source: PageSource<Json>): PagesOptions<Json> {
  return {
    paginator,
    source,
    guard: createGuard({}),
    signal: new AbortController().signal,
    now: 0,
    concurrency: 1,
    hasChildren: false,
    onWarning: () => undefined,
  };
}

/** Returns the pages that were asked for, and those that came of it. */
async function asked(
  paginator: Paginator,
  limit: number | undefined,
): Promise<{ sent: Json[]; got: Json[] }> {
  const sent: Json[] = [];
  const source = numbers((page) => sent.push(page));
  const got: Json[] = [];
  const run = pages({ ...optionsOf(paginator, source), limit, concurrency: 8 });
  for await (const { content } of run) got.push(content);
  return { sent, got };
}

/** Runs two pages, and returns what happened in its order; a request leaves when those who asked for it have ended. */
async function happened(
  more: Partial<PagesOptions<Json>>,
  next: Paginator['next'] = ({ page }) => (page === 2 ? { stop: { code: 'noRows' } } : step(page + 1)),
): Promise<string[]> {
  const events: string[] = [];
  const paginator: Paginator = { needs: {}, first: () => step(1), next };
  const source = numbers((page) => process.nextTick(() => events.push(`sent ${encodeExact(page)}`)));
  const run = pages({
    ...optionsOf(paginator, source),
    ready: async () => void events.push('ready'),
    onPage: (_, page) => events.push(`seen ${page}`),
    ...more,
  });
  try {
    for await (const { page } of run) events.push(`used ${page}`);
  } catch (error) {
    events.push(String(error));
  }
  return events;
}

test('a limit of pages is the limit of requests, however many may be under way', async () => {
  const paginator: Paginator = {
    needs: {},
    first: () => step(1),
    next: (_page, state) => step(numberIn(state) + 1),
    plan: (state) => step(numberIn(state) + 1),
  };
  expect(await asked(paginator, 2)).toEqual({ sent: [1, 2], got: [1, 2] });
});

test('a planned request that differs only below an integer-like name is not taken for the one that is due', async () => {
  const paginator: Paginator = {
    needs: {},
    first: () => step(1),
    next: ({ page }, state) => (page === 3 ? { stop: { code: 'noRows' } } : step(numberIn(state) + 10)),
    plan: (state) => step(numberIn(state) + 1),
  };
  expect((await asked(paginator, undefined)).got).toEqual([1, 11, 21]);
});

test('a planned page that has come and is not wanted ends no other request', async () => {
  const paginator: Paginator = {
    needs: {},
    first: () => step(1),
    next: ({ page }, state) => (page === 4 ? { stop: { code: 'noRows' } } : step(numberIn(state) + 10)),
    plan: (state) => step(numberIn(state) + 1),
  };
  const given = numbers(() => undefined);
  const aborted: number[] = [];
  const source: PageSource<Json> = {
    ...given,
    fetch: async (asked, number, signal) => {
      if (signal.aborted) aborted.push(number);
      const page = await given.fetch(asked, number, signal);
      // those that are due take longer than those that are planned
      for (let i = 0; i < 3 && numberIn(page) % 10 === 1; i++) await turn();
      signal.throwIfAborted();
      return page;
    },
  };
  const got: Json[] = [];
  for await (const { content } of pages({ ...optionsOf(paginator, source), concurrency: 3 }))
    got.push(content);
  expect([got, aborted]).toEqual([[1, 11, 21, 31], []]);
});

test('what the next request does not need is done when that has left', async () => {
  const events = ['sent 1', 'sent 2', 'ready', 'seen 1', 'used 1', 'ready', 'seen 2', 'used 2'];
  expect(await happened({})).toEqual(events);
});

test('a page is seen before the next request where that may end the job, or waits for what is done with the page', async () => {
  const events = ['sent 1', 'ready', 'seen 1', 'sent 2', 'used 1', 'ready', 'seen 2', 'used 2'];
  expect(await happened({ isDecisive: () => true })).toEqual(events);
  expect(await happened({ hasChildren: true })).toEqual([
    'sent 1',
    'ready',
    'seen 1',
    'used 1',
    'sent 2',
    'ready',
    'seen 2',
    'used 2',
  ]);
});

function refuse(): never {
  throw new Error('no such parameter');
}

test('a page is seen also where it leads to no decision', async () => {
  expect(await happened({}, refuse)).toEqual(['sent 1', 'ready', 'seen 1', 'Error: no such parameter']);
});
