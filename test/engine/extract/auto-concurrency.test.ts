// @module-tag thorough
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Send } from '../../../src/engine/shared/message.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';
import { noFiles, VirtualClock } from '../http/virtual-clock.ts';

interface Shelves {
  /** Rows of each page of shelves. */
  readonly pages: readonly number[];
  /** Books on a shelf by its number, repeated. */
  readonly books: readonly number[];
  /** Milliseconds of the answers, one after another, repeated. */
  readonly times: readonly number[];
  /** More at once are refused; 0 for none. */
  readonly atOnce: number;
  /** Which answers fail once, so that they are asked for again. */
  readonly fails: number;
}

/** Pages of shelves, with pages of books below each. */
async function library({ pages, books, times, atOnce, fails }: Shelves): Promise<Api> {
  let [underWay, count] = [0, 0];
  const failed = new Set<string>();
  const api = await startApi(({ url }, response) => {
    if (atOnce > 0 && underWay >= atOnce) {
      response.writeHead(429, { 'retry-after': '0.05' }).end();
      return;
    }
    underWay++;
    response.once('close', () => underWay--);
    const number = count++;
    const key = url.pathname + url.search;
    const isFailing = fails > 0 && number % fails === fails - 1 && !failed.has(key);
    if (isFailing) failed.add(key);
    setTimeout(
      () => {
        if (isFailing) return json(response, {}, 429);
        const page = Number(url.searchParams.get('page') ?? 1);
        const [, , shelf] = url.pathname.split('/');
        const from = pages.slice(0, page - 1).reduce((sum, n) => sum + n, 0);
        if (shelf === undefined)
          return json(
            response,
            Array.from({ length: pages[page - 1] ?? 0 }, (_, i) => ({ id: from + i, tags: [i, 'a'] })),
          );
        const left = (books[Number(shelf) % books.length] ?? 0) - (page - 1) * 2;
        json(
          response,
          Array.from({ length: Math.max(0, Math.min(2, left)) }, (_, i) => ({
            title: `${shelf}-${page}-${i}`,
            [`x${i}`]: page,
          })),
        );
      },
      times[number % times.length],
    );
  });
  return api;
}

function report(folder: string, { url }: Api): string {
  return readFileSync(path.join(folder, 'out/report.json'), 'utf8').replaceAll(url, '');
}

const CHILD = { endpoint: 'shelves/{id}', dataType: 'books', placeholders: { id: 'id' } };

function folderOf(api: Api, concurrency: number | 'auto'): string {
  return dataFolder(
    configOf(api, [{ endpoint: 'shelves', children: [CHILD] }], {
      api: { pagination: { method: 'pagenum' }, retryConfig: { maxRetries: 3 }, http: { concurrency } },
    }),
  );
}

const shelves = fc.record({
  pages: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 }),
  books: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 4 }),
  times: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 9 }),
  atOnce: fc.constantFrom(0, 1, 3, 6),
  fails: fc.constantFrom(0, 0, 7),
});

test('tables and reports are those of one request at a time, whatever is asked for at once', async () => {
  await fc.assert(
    fc.asyncProperty(shelves, async (given) => {
      const api = await library({ ...given, fails: 0 });
      const harsh = await library(given);
      const [one, auto] = [folderOf(api, 1), folderOf(harsh, 'auto')];
      await run({ dataFolder: one, log: silentLog });
      await run({ dataFolder: auto, log: silentLog });
      expect(filesOf(path.join(auto, 'out/tables'))).toEqual(filesOf(path.join(one, 'out/tables')));
      expect(report(auto, harsh)).toBe(report(one, api));
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 120_000);

test.each([
  [16, 6600],
  [Infinity, 3400],
])(
  'a thousand children of 100 ms each are nearly as fast as an API allows that takes %s at once',
  async (atOnce, best) => {
    const child = { ...CHILD, scroller: 'none' };
    const pagination = {
      method: 'multiple',
      default: 'pages',
      scrollers: { pages: { method: 'pagenum' }, none: {} },
    };
    const config = configOf('http://h/', [{ endpoint: 'shelves', children: [child] }], {
      api: { pagination, http: { concurrency: 'auto' } },
    });
    const folder = dataFolder(config);
    // the first run finds out what the API takes, the next one begins with it
    for (let turn = 1; turn <= 2; turn++) {
      const clock = new VirtualClock();
      let [underWay, refused] = [0, 0];
      const bottom: Send = async ({ url }) => {
        const isRefused = underWay >= atOnce;
        if (isRefused) refused++;
        else underWay++;
        await clock.sleep(isRefused ? 5 : 100);
        if (!isRefused) underWay--;
        const { pathname, searchParams } = new URL(url);
        const page = Number(searchParams.get('page') ?? 1);
        const rows =
          pathname !== '/shelves'
            ? [{ title: pathname }]
            : page > 10
              ? []
              : Array.from({ length: 100 }, (_, i) => ({ id: (page - 1) * 100 + i }));
        const body = Buffer.from(JSON.stringify(isRefused ? {} : rows));
        return { url, status: isRefused ? 429 : 200, headers: { 'content-type': 'application/json' }, body };
      };
      await clock.until(run({ dataFolder: folder, log: silentLog, env: clock, bottom }), noFiles);
      expect(clock.passed()).toBeLessThan(1.15 * best);
      expect(refused).toBeLessThan(20);
      expect(filesOf(path.join(folder, 'out/tables'))['library.books']?.split('\n')).toHaveLength(1002);
    }
    const file = readFileSync(path.join(folder, '.gex/limits.json'), 'utf8');
    expect(JSON.parse(file)).toMatchObject({ limits: [{ origin: 'http://h', limit: Math.min(32, atOnce) }] });
  },
  120_000,
);

test('the next run begins at three quarters of what the last one reached', async () => {
  const api = await library({ pages: [200], books: [1], times: [20], atOnce: 0, fails: 0 });
  const folder = folderOf(api, 'auto');
  await run({ dataFolder: folder, log: silentLog });
  const read = (): { limit: number; changes: { from: number }[] }[] =>
    (JSON.parse(readFileSync(path.join(folder, '.gex/limits.json'), 'utf8')) as { limits: never }).limits; // as it is written
  // 32 at the most; a busy machine is a slow API, and may be given fewer
  const reached = read()[0]?.limit ?? 0;
  expect(reached).toBeGreaterThan(4);
  await run({ dataFolder: folder, log: silentLog });
  expect(read()[0]?.changes[0]?.from).toBe(Math.max(4, Math.floor(reached * 0.75)));
});

test('children of a page each are not asked for pages that they do not have', async () => {
  const api = await library({ pages: [60, 60], books: [1], times: [5], atOnce: 0, fails: 0 });
  const [one, auto] = [folderOf(api, 1), folderOf(api, 'auto')];
  await run({ dataFolder: one, log: silentLog });
  const needed = api.seen.length;
  await run({ dataFolder: auto, log: silentLog });
  expect(api.seen.length - needed).toBeLessThan(1.05 * needed);
});

test('windows are asked for beside each other, and their tables are those of one at a time', async () => {
  let [underWay, most] = [0, 0];
  const api = await startApi(({ url }, response) => {
    most = Math.max(most, ++underWay);
    response.once('close', () => underWay--);
    const day = Number(url.searchParams.get('from')?.slice(-2));
    const page = Number(url.searchParams.get('page'));
    setTimeout(
      () => json(response, page > day % 4 ? [] : [{ day, page, [`x${day % 3}`]: [day] }]),
      (day * 7 + page) % 13,
    );
  });
  const windows = { from: '2026-01-01', to: '2026-01-29', step: '1 day', format: 'Y-m-d' };
  const folders = ([1, 4, 'auto'] as const).map((concurrency) =>
    dataFolder(
      configOf(api, [{ endpoint: 'days', dataType: 'days', params: { from: { window: 'from' } }, windows }], {
        api: { pagination: { method: 'pagenum' }, http: { concurrency } },
      }),
    ),
  );
  const tables: unknown[] = [];
  for (const folder of folders) {
    await run({ dataFolder: folder, log: silentLog });
    tables.push([filesOf(path.join(folder, 'out/tables')), report(folder, api)]);
  }
  expect(tables[1]).toEqual(tables[0]);
  expect(tables[2]).toEqual(tables[0]);
  expect(most).toBeGreaterThan(4);
});
