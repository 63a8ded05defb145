import path from 'node:path';
import { expect, test } from 'vitest';
import { objectOf, type Json } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { PAGINATION_METHODS, type PaginationMethod } from '../../../src/engine/pagination/index.ts';
import { run, type FolderRunOptions } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Answer, type Api } from '../../cli/support.ts';

interface Shelf {
  readonly api: Api;
  readonly folder: string;
  readonly state: { isDown: boolean; unanswered: number };
  /** Runs, and gives what was asked for. */
  readonly run: (options?: Partial<FolderRunOptions>) => Promise<readonly string[]>;
  readonly rows: () => string;
}

/** An API of pages of two rows, and a second job behind it, which fails while it is down. */
async function shelf(pagination: object, answer: Answer): Promise<Shelf> {
  const state = { isDown: false, unanswered: 0 };
  const api = await startApi((request, response) => {
    if (request.url.pathname === '/pages') {
      state.unanswered++;
      response.on('close', () => state.unanswered--);
      return answer(request, response);
    }
    // It answers when nothing of the first job is under way any more.
    const end = (): unknown =>
      state.unanswered > 0
        ? setTimeout(end, 5)
        : json(response, state.isDown ? {} : [{ id: 1 }], state.isDown ? 400 : 200);
    return void end();
  });
  const jobs = [{ endpoint: 'pages' }, { endpoint: 'behind', scroller: 'none' }];
  const scrollers = { scrollers: { pages: pagination, none: {} }, default: 'pages', method: 'multiple' };
  const folder = dataFolder(
    configOf(api, jobs, { api: { pagination: scrollers, http: { concurrency: 4 } } }),
  );
  return {
    api,
    folder,
    state,
    async run(options = {}) {
      const before = api.seen.length;
      await run({ dataFolder: folder, log: silentLog, ...options }).catch((error: unknown) => {
        if (!state.isDown) throw error;
      });
      return api.seen.slice(before);
    },
    rows: () => filesOf(path.join(folder, 'out/tables'))['library.pages'] ?? '',
  };
}

/** Rows of a page; the pages behind it are not answered. */
const pagesUpTo =
  (last: number): Answer =>
  ({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    if (page <= last) json(response, [{ id: page * 2 - 1 }, ...(page < last ? [{ id: page * 2 }] : [])]);
  };

test('a count of rows goes on from page to page, whatever was asked for ahead', async () => {
  const { run, rows } = await shelf(
    { method: 'pagenum', limit: 2, limitStop: { count: 6 } },
    pagesUpTo(1000),
  );
  await run();
  expect(rows()).toBe('"id"\n"1"\n"2"\n"3"\n"4"\n"5"\n"6"\n');
});

test('a forced end is the end of requests, too', async () => {
  const { run } = await shelf({ method: 'pagenum', limit: 2, forceStop: { pages: 2 } }, pagesUpTo(1000));
  expect(await run()).toEqual(['GET /pages?page=1&limit=2', 'GET /pages?page=2&limit=2', 'GET /behind']);
});

test('what was asked for in vain ends with its job, and is not asked for again by a run that goes on', async () => {
  const { run, rows, state } = await shelf({ method: 'pagenum', limit: 2 }, pagesUpTo(3));
  state.isDown = true;
  expect((await run()).filter((line) => /page=[123]&/.test(line))).toHaveLength(3);
  state.isDown = false;
  expect(await run()).toEqual(['GET /behind']);
  expect(rows()).toBe('"id"\n"1"\n"2"\n"3"\n"4"\n"5"\n');
});

const behind = (state: Json, step: number): number => (typeof state === 'number' ? state : 0) + step;

/** A method whose plan is wrong: pages 1, 11 and 21, where it plans 1, 2, 3. */
const jumping: PaginationMethod = {
  method: 'jumping',
  options: { type: 'object', properties: {} },
  create(_options, { endpoint }, { at }) {
    const request = { endpoint, method: 'GET', headers: {} } as const;
    const pageAt = (page: number) => ({
      request: { ...request, params: objectOf([['page', page]]) },
      state: page,
    });
    return {
      needs: {},
      traits: { kind: 'count', at },
      first: () => pageAt(1),
      next: ({ page }, state) => (page === 3 ? { stop: { code: 'noRows' } } : pageAt(behind(state, 10))),
      plan: (state) => pageAt(behind(state, 1)),
    };
  },
};

test('an answer that was planned, and not what follows, is never used: not in a run, nor when it goes on', async () => {
  const { api, run, rows, state } = await shelf({ method: 'jumping' }, ({ url }, response) =>
    json(response, [{ id: url.searchParams.get('page') }]),
  );
  const methods = [...PAGINATION_METHODS, jumping];
  state.isDown = true;
  await run({ methods });
  // what was given up while it was sent arrives before what is asked for now
  for (let turn = 0; turn < 3; turn++) await fetch(`${api.url}pages`, { method: 'HEAD' });
  state.isDown = false;
  expect(await run({ methods })).toEqual(['GET /behind']);
  expect(rows()).toBe('"id"\n"1"\n"11"\n"21"\n');
});
