import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../src/lib/env.ts';
import { silentLog } from '../../src/lib/log.ts';
import { run, type FolderRunOptions, type RunResult } from '../../src/runner/run.ts';
import { noStorage, type Storage } from '../../src/runner/storage.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../cli/support.ts';

interface Shop extends Api {
  /** Most requests at the same time, of those that were answered. */
  readonly mostAtOnce: () => number;
  /** Paths that are answered with 404, from their second pages on, after so many milliseconds. */
  down: Readonly<Record<string, number>>;
}

/**
 * Pages of orders below each path, as many as its name ends with, answered after the times in turn; at first not before so
 * many are under way, which a busy machine sends late.
 */
async function shop(times: readonly number[] = [5], together = 1): Promise<Shop> {
  let count = 0;
  let [underWay, most] = [0, 0];
  // Requests as they come, and again as they are answered; one that the client takes back is not answered.
  const steps: URL[] = [];
  const own: { down: Readonly<Record<string, number>> } = { down: {} };
  const api = await startApi(({ url }, response) => {
    steps.push(url);
    const page = Number(url.searchParams.get('page'));
    const failsAfter = page > 1 ? own.down[url.pathname] : undefined;
    const pages = Number(/\d+$/.exec(url.pathname)?.[0]);
    most = Math.max(most, ++underWay);
    const ms = failsAfter ?? times[count++ % times.length];
    const answer = (tries: number): void => {
      if (most < together && tries > 0) return void setTimeout(answer, ms, tries - 1);
      underWay--;
      if (!response.destroyed) steps.push(url);
      if (failsAfter !== undefined) return json(response, {}, 404);
      const row = { id: `${url.pathname}-${page}`, list: [{ of: page }], [`x${pages}`]: true };
      return json(response, page > pages ? [] : [row]);
    };
    setTimeout(answer, ms, 100);
  });
  return Object.assign(own, { url: api.url, seen: api.seen, mostAtOnce: () => mostUnderWay(steps) });
}

function mostUnderWay(steps: readonly URL[]): number {
  const underWay = new Set<URL>();
  let most = 0;
  steps.forEach((request, i) => {
    if (underWay.delete(request) || !steps.includes(request, i + 1)) return;
    most = Math.max(most, underWay.add(request).size);
  });
  return most;
}

function row(id: string, more: object = {}): object {
  const job = { endpoint: id, dataType: 'orders' };
  return { id, configuration: { parameters: { config: { jobs: [job] } }, ...more } };
}

function folderFor(api: Api, rows: readonly object[], http: object = {}): string {
  const configuration = configOf(api, [], { api: { pagination: { method: 'pagenum' }, http } });
  return dataFolder({ configuration, rows });
}

/** A clock that stands still, so that states of two runs are equal. */
const env: Env = { ...systemEnv, now: () => 1_700_000_000_000 };

const start = async (
  folder: string,
  rowsAtOnce: number,
  options: Partial<FolderRunOptions> = {},
): Promise<RunResult> => await run({ dataFolder: folder, log: silentLog, env, rowsAtOnce, ...options });

/** Returns what a run leaves: the files of its output and its states, and what it tells. */
function left(folder: string, api: Api, result: RunResult): unknown {
  const files = Object.entries(filesOf(folder)).filter(([name]) => !name.includes('.gex/last'));
  const text = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll(folder, '').replaceAll(api.url, ''));
  return text({
    files: files.filter(([name]) => name !== 'config.json'),
    rows: result.rows,
    skipped: result.skipped,
  });
}

const outputs = (folder: string): object =>
  Object.fromEntries(Object.entries(filesOf(folder)).filter(([name]) => /\/(in|out[^/]*)\//.test(name)));

describe('rows beside each other', () => {
  test('leave what rows one after the other leave', async () => {
    const cases = fc.record({
      pages: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 }),
      times: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 5 }),
      atOnce: fc.integer({ min: 2, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ pages, times, atOnce }) => {
        const api = await shop(times);
        const rows = pages.map((count, i) => row(`r${i}-${count}`));
        const [one, several] = [folderFor(api, rows), folderFor(api, rows)];
        // twice, for the outputs that are set aside
        for (let turn = 0; turn < 2; turn++)
          expect(left(several, api, await start(several, atOnce))).toEqual(
            left(one, api, await start(one, 1)),
          );
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  test('run beside each other, and no more than that', async () => {
    const api = await shop([30], 3);
    const rows = Array.from({ length: 6 }, (_, i) => row(`r${i}-3`));
    const ids: unknown[] = [];
    const progress = { rowEnd: ({ id }: { id?: string }) => void ids.push(id) };
    await start(folderFor(api, rows), 3, { progress });
    expect(api.mostAtOnce()).toBe(3);
    expect(ids).toEqual(['r0-3', 'r1-3', 'r2-3', 'r3-3', 'r4-3', 'r5-3']);
  });

  test('count together for the limits of a host', async () => {
    const api = await shop([15], 2);
    const rows = Array.from({ length: 4 }, (_, i) => row(`r${i}-3`));
    await start(folderFor(api, rows, { concurrency: 2 }), 4);
    expect(api.mostAtOnce()).toBe(2);

    const paced = await shop([0]);
    const began = performance.now();
    await start(folderFor(paced, rows, { requestsPerSecond: 40 }), 4, { env: systemEnv });
    expect(performance.now() - began).toBeGreaterThan(15 * 25 - 5);

    const found = await shop([15]);
    const { limits } = await start(folderFor(found, rows, { concurrency: 'auto' }), 4, { env: systemEnv });
    expect(limits.map(({ origin }) => origin)).toEqual([found.url.slice(0, -1)]);
    // of all rows
    expect(limits[0]?.sent).toBeGreaterThanOrEqual(16);
  });

  test('take their pushes in their order, and a row that reads the storage runs alone', async () => {
    const api = await shop([20, 0, 5]);
    const steps: string[] = [];
    const storage: Storage = {
      ...noStorage,
      async pull(at) {
        steps.push(`pull ${at.row.id ?? ''}`);
        await Promise.resolve();
      },
      async push(at) {
        steps.push(`push ${at.row.id ?? ''}`);
        return await noStorage.push(at);
      },
    };
    const input = { storage: { input: { tables: [{ source: 'in.c-a.b', destination: 'b.csv' }] } } };
    const rows = [row('a4'), row('b1'), row('c1', input), row('d3'), row('e1')];
    await start(folderFor(api, rows), 4, { storage });
    expect(steps).toEqual([
      'pull a4',
      'pull b1',
      'push a4',
      'push b1',
      'pull c1',
      'push c1',
      'pull d3',
      'pull e1',
      'push d3',
      'push e1',
    ]);
  });
});

describe('a row beside others that fails', () => {
  test('ends those behind it without a trace, and lets those before it end', async () => {
    const api = await shop([10]);
    const rows = [row('a6'), row('b2'), row('c1'), row('d9')];
    const [one, several] = [folderFor(api, rows), folderFor(api, rows)];
    await start(one, 1);
    await start(several, 4);
    api.down = { '/b2': 10 };
    const failure = async (folder: string, atOnce: number): Promise<unknown> =>
      await start(folder, atOnce).catch((error: unknown) => error);
    const [first, second] = [await failure(one, 1), await failure(several, 4)];
    expect(second).toMatchObject({ message: (first as Error).message, where: { row: 'b2' } });
    expect(outputs(several)).toEqual(outputs(one));
    api.down = {};
    const before = api.seen.length;
    const went = await start(several, 4);
    expect(went.rows.map(({ id, rows: count }) => `${id ?? ''} ${count}`)).toEqual([
      'a6 12',
      'b2 4',
      'c1 2',
      'd9 18',
    ]);
    // what had come before the row failed is not asked for again
    const again = api.seen.slice(before).map((line) => line.slice('GET '.length));
    expect(again).not.toContain('/a6?page=1');
    expect(again).not.toContain('/b2?page=1');
    expect(again).not.toContain('/c1?page=1');
    expect(again).not.toContain('/d9?page=1');
    await start(one, 1);
    expect(outputs(several)).toEqual(outputs(one));
  });

  test('is the first in their order, whichever failed first', async () => {
    const api = await shop([1]);
    api.down = { '/b3': 150, '/c3': 1 };
    const folder = folderFor(api, [row('a3'), row('b3'), row('c3')]);
    await expect(start(folder, 3)).rejects.toMatchObject({ where: { row: 'b3' } });
  });
});

test('logins that rows share are refreshed once', async () => {
  let [refreshes, token] = [0, 'first'];
  const api = await startApi(({ url, headers }, response) => {
    if (url.pathname === '/token') {
      refreshes++;
      token = `token-${refreshes}`;
      return json(response, { access_token: token, refresh_token: `next-${refreshes}`, expires_in: 3600 });
    }
    if (headers.authorization !== `Bearer ${token}`) return json(response, {}, 401);
    json(response, [{ id: url.pathname }]);
  });
  const authentication = {
    type: 'oauth20.refreshToken',
    tokenUrl: `${api.url}token`,
    clientId: 'shop',
    '#clientSecret': 'open',
    '#refreshToken': 'zero',
  };
  const configuration = configOf(api, [], { api: { authentication } });
  const rows = ['a', 'b', 'c', 'd'].map((id) => row(id));
  const folder = dataFolder({ configuration, rows });
  await start(folder, 4, { env: systemEnv });
  expect(refreshes).toBe(1);
  expect(readFileSync(path.join(folder, 'in/logins.json'), 'utf8')).not.toContain('next-1');
}, 20_000);
