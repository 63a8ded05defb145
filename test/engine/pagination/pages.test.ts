import { expect, test } from 'vitest';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import { encodeExact, isNumber, numberOf, objectOf, type Json } from '../../../src/lib/json/index.ts';
import { createGuard } from '../../../src/engine/pagination/index.ts';
import { pages, type PageSource } from '../../../src/engine/pagination/pages.ts';
import type { FirstStep, Paginator } from '../../../src/engine/pagination/paginator.ts';

/** Asks for page after page; the parameter has a name that plain objects would move to the front. */
function request(page: number): JobRequest {
  return { endpoint: 'users', method: 'GET', headers: {}, params: objectOf([['0', page]]) };
}

const numberIn = (state: Json): number => (isNumber(state) ? numberOf(state) : 0);
const step = (page: number): FirstStep => ({ request: request(page), state: page });

/** Gives the numbers asked for, as pages. */
async function asked(
  paginator: Paginator,
  limit: number | undefined,
): Promise<{ sent: Json[]; got: Json[] }> {
  const sent: Json[] = [];
  const source: PageSource<Json> = {
    fetch: async ({ params }) => {
      const page = params instanceof Map ? (params.get('0') ?? null) : null;
      sent.push(page);
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
  const options = { paginator, source, guard: createGuard({}), signal: new AbortController().signal };
  const got: Json[] = [];
  const run = pages({
    ...options,
    now: 0,
    limit,
    concurrency: 8,
    hasChildren: false,
    onWarning: () => undefined,
  });
  for await (const { content } of run) got.push(content);
  return { sent, got };
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
