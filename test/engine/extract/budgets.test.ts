import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi } from '../../cli/support.ts';

interface Pages {
  /** Number of pages with two rows each; the pages behind them are empty. */
  readonly pages?: number;
  /** Beside the rows. */
  readonly more?: object;
  readonly headers?: Record<string, string>;
  /** Each row has a child. */
  readonly children?: boolean;
  readonly limit?: number;
}

/** Pages that were asked for, in order, the most that were under way at once, and the tables. */
async function asked(
  pagination: object,
  { pages = 1000, more = {}, headers = {}, children = false, limit }: Pages,
  concurrency = 4,
): Promise<{ pages: readonly number[]; most: number; tables: object; message: string }> {
  const seen: number[] = [];
  let [underWay, most] = [0, 0];
  const api = await startApi(({ url }, response) => {
    if (url.pathname !== '/books') return json(response, { data: [{ of: url.pathname }] });
    const query = url.searchParams;
    const page = query.has('offset') ? Number(query.get('offset')) / 2 + 1 : Number(query.get('page'));
    seen.push(page);
    most = Math.max(most, ++underWay);
    const answer = (): void => {
      underWay--;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      json(response, { ...more, data: page > pages ? [] : [{ id: page * 2 }, { id: page * 2 + 1 }] });
    };
    // Long enough for those that are asked for ahead to meet.
    if (concurrency > 1) setTimeout(answer, 60);
    else answer();
  });
  const child = { endpoint: 'books/{id}', placeholders: { id: 'id' }, dataField: 'data', scroller: 'none' };
  const job = { endpoint: 'books', dataField: 'data', ...(children ? { children: [child] } : {}) };
  const scrollers = { scrollers: { own: pagination, none: {} }, default: 'own', method: 'multiple' };
  const folder = dataFolder(configOf(api, [job], { api: { pagination: scrollers, http: { concurrency } } }));
  let message = '';
  await run({ dataFolder: folder, log: silentLog, limit, storage: undefined }).catch((error: unknown) => {
    message = String(error);
  });
  const tables = Object.fromEntries(
    Object.entries(filesOf(folder)).filter(([name]) => name.startsWith('out/tables')),
  );
  return { pages: seen.toSorted((a, b) => a - b), most, tables, message };
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);
const total = { more: { meta: { total: 20 } } };

describe('pages are asked for ahead, and none beyond', () => {
  test.each<[string, object, Pages, number]>([
    ['forceStop.pages', { method: 'pagenum', forceStop: { pages: 10 } }, {}, 10],
    ['limitStop.count', { method: 'pagenum', limitStop: { count: 20 } }, {}, 10],
    ['limitStop.count', { method: 'offset', limit: 2, limitStop: { count: 19 } }, {}, 10],
    ['limitStop.field', { method: 'pagenum', limitStop: { field: 'meta.total' } }, total, 10],
    ['--limit', { method: 'pagenum' }, { limit: 10 }, 10],
    [
      'forceStop.pages, with children',
      { method: 'pagenum', forceStop: { pages: 10 } },
      { children: true },
      10,
    ],
    // the page behind the last one, by which these methods end, is asked for when its turn comes
    ['a total in the answer', { method: 'pagenum' }, { ...total, pages: 10 }, 11],
    ['a total in the answer', { method: 'offset', limit: 2 }, { ...total, pages: 10 }, 11],
    ['a total in a header', { method: 'pagenum' }, { headers: { 'X-Total-Count': '20' }, pages: 10 }, 11],
    ['a number of pages', { method: 'pagenum' }, { more: { total_pages: 10 }, pages: 10 }, 11],
  ])('%s: %j', async (_, pagination, api, last) => {
    const ahead = await asked(pagination, api);
    expect(ahead.pages).toEqual(upTo(last));
    expect(ahead.most).toBe(4);
    const { tables } = await asked(pagination, api, 1);
    expect(ahead.tables).toEqual(tables);
  });

  test('maxPages: the page that is too many is asked for alone, and is an error as before', async () => {
    const { pages, most, message } = await asked({ method: 'pagenum', maxPages: 9 }, {});
    expect([pages, most]).toEqual([upTo(10), 4]);
    expect(message).toContain('more than 9 pages');
  });

  test.each([
    ['that counts the rows of the page', { meta: { total: 2 } }],
    ['that is wrong', { meta: { total: 3 } }],
  ])('a total %s does not slow a job down for long', async (_, more) => {
    const { most } = await asked({ method: 'pagenum' }, { more, pages: 20 });
    expect(most).toBe(4);
  });
});

test('after a failure nothing is sent any more', async () => {
  const seen: string[] = [];
  const [failed, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const api = await startApi(({ url }, response) => {
    const shelf = /shelves\/(\d+)/.exec(url.pathname)?.[1];
    if (shelf === undefined)
      return json(
        response,
        Array.from({ length: 30 }, (_, i) => ({ id: i })),
      );
    const page = url.searchParams.get('page');
    seen.push(`${shelf}/${page}`);
    if (shelf === '9') response.once('finish', failed.resolve);
    if (shelf === '8' && page === '3') gone.resolve();
    // shelf 9 fails while the one before it, and those behind it, wait for their answers
    const turn = shelf === '8' ? failed.promise : Number(shelf) > 9 ? gone.promise : Promise.resolve();
    void turn.then(() => json(response, [{ page }], shelf === '9' ? 400 : 200));
  });
  const child = { endpoint: 'shelves/{id}', placeholders: { id: 'id' } };
  const pagination = { method: 'pagenum', forceStop: { pages: 6 } };
  const folder = dataFolder(
    configOf(api, [{ endpoint: 'shelves', children: [child] }], {
      api: { pagination, http: { concurrency: 4 } },
    }),
  );
  await expect(run({ dataFolder: folder, log: silentLog })).rejects.toThrow('400');
  expect(seen.filter((asked) => Number(asked.split('/')[0]) > 9 && !asked.endsWith('/1'))).toEqual([]);
  // shelf 8, which comes before, goes on to its last page
  expect(seen).toContain('8/6');
});
