import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { silentLog, type Log } from '../../../src/lib/log.ts';
import { run, type FolderRunOptions } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';

const env = { ...systemEnv, now: () => Date.parse('2026-07-01T00:00:00Z'), sleep: async () => {} };

/** Six months of two pages each. It refuses what `isDown` says, and answers the earlier months last. */
async function calendar(): Promise<Api & { readonly asked: string[]; isDown: (line: string) => boolean }> {
  const asked: string[] = [];
  const state = { asked, isDown: (_line: string): boolean => false };
  const api = await startApi(({ url }, response) => {
    const line = `${url.searchParams.get('month')} ${url.searchParams.get('page') ?? 1}`;
    asked.push(line);
    if (state.isDown(line)) return response.writeHead(404).end('{}');
    const [month, page] = line.split(' ');
    const rows = page === '1' || page === '2' ? [{ id: `${month}-${page}`, at: env.now() }] : [];
    setTimeout(() => json(response, { data: rows }), 12 - Number(month?.slice(5)));
    return undefined;
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

const visits = {
  endpoint: 'visits',
  dataField: 'data',
  params: { month: { function: 'date', args: ['Y-m', { window: 'from' }] } },
  windows: { from: '2026-01-01', step: '1 month' },
};

function folderFor(api: Api, jobs: readonly object[] = [visits], concurrency = 1): string {
  return dataFolder(
    configOf(api, jobs, {
      api: {
        http: { concurrency },
        retryConfig: { maxRetries: 0 },
        pagination: { method: 'pagenum' },
      },
    }),
  );
}

const start = async (folder: string, options: Partial<FolderRunOptions> = {}): ReturnType<typeof run> =>
  await run({ dataFolder: folder, log: silentLog, env, ...options });
const idsOf = (folder: string): string[] =>
  [...(filesOf(folder)['out/tables/library.visits'] ?? '').matchAll(/"(2026-[\d-]+)"/g)].map(
    ([, id = '']) => id,
  );
const ALL = ['01', '02', '03', '04', '05', '06'].flatMap((month) => [`2026-${month}-1`, `2026-${month}-2`]);

describe('windows', () => {
  test.each([1, 4])('come in their order, with a concurrency of %i', async (concurrency) => {
    const api = await calendar();
    const folder = folderFor(api, [visits], concurrency);
    await start(folder);
    expect(idsOf(folder)).toEqual(ALL);
    expect(new Set(api.asked).size).toBe(api.asked.length);
  });

  test.each([1, 4])('go on where they were stopped, with a concurrency of %i', async (concurrency) => {
    const [api, whole] = [await calendar(), await calendar()];
    const [folder, undisturbed] = [
      folderFor(api, [visits], concurrency),
      folderFor(whole, [visits], concurrency),
    ];
    await start(undisturbed);
    api.isDown = (line) => line === '2026-04 2';
    await expect(start(folder)).rejects.toThrow('404');
    const before = [...api.asked];
    api.isDown = () => false;
    await start(folder);
    const after = api.asked.slice(before.length);
    expect(filesOf(folder)['out/tables/library.visits']).toBe(
      filesOf(undisturbed)['out/tables/library.visits'],
    );
    expect(after).not.toContain('2026-01 1');
    expect(after).not.toContain('2026-04 1');
    expect(after).toContain('2026-04 2');
  });

  test('stay those of the start of a run that goes on a day later', async () => {
    const api = await calendar();
    const folder = folderFor(api);
    api.isDown = (line) => line === '2026-06 1';
    await expect(start(folder)).rejects.toThrow('404');
    api.isDown = () => false;
    await start(folder, { env: { ...env, now: () => env.now() + 80_000_000 }, resume: { withinMs: 1e9 } });
    expect(api.asked.filter((line) => line.startsWith('2026-07'))).toEqual([]);
    expect(idsOf(folder)).toEqual(ALL);
  });

  test('stay the same where a function says their beginning', async () => {
    const api = await calendar();
    const since = { function: 'date', args: ['Y-m-d', { function: 'strtotime', args: ['-3 days'] }] };
    const days = {
      endpoint: 'visits',
      dataField: 'data',
      params: { month: { window: 'from' } },
      windows: { from: since, step: '1 day', format: 'Y-m-d' },
    };
    const folder = folderFor(api, [days]);
    api.isDown = (line) => line === '2026-06-30 1';
    await expect(start(folder)).rejects.toThrow('404');
    api.isDown = () => false;
    const before = api.asked.length;
    await start(folder, { env: { ...env, now: () => env.now() + 80_000_000 }, resume: { withinMs: 1e9 } });
    expect(api.asked.slice(before)[0]).toBe('2026-06-30 1');
    expect(api.asked.slice(before).some((line) => line.startsWith('2026-07'))).toBe(false);
  });

  test('are told one by one', async () => {
    const api = await calendar();
    const said: string[] = [];
    const add = (message: string): void => void said.push(message);
    const log: Log = { debug: () => {}, info: add, warn: add, error: add };
    await start(folderFor(api), { log });
    expect(said.filter((line) => line.includes('ended after')).map((line) => line.slice(0, 35))).toContain(
      '“visits” 2026-02-01 – 2026-03-01 en',
    );
  });

  test('a trial has so many pages of all of them, and is cut', async () => {
    const api = await calendar();
    const folder = folderFor(api);
    const { rows } = await start(folder, { limit: 4 });
    expect(api.asked).toEqual(['2026-01 1', '2026-01 2', '2026-01 3', '2026-02 1']);
    expect(rows[0]?.jobs[0]?.verdict).toBe('cut');
    expect(rows[0]?.jobs[0]?.runs).toBe(6);
  });

  test('that end with the limit are cut, too, when others are left', async () => {
    const api = await calendar();
    const { rows } = await start(folderFor(api), { limit: 3 });
    expect(api.asked).toEqual(['2026-01 1', '2026-01 2', '2026-01 3']);
    expect(rows[0]?.jobs[0]?.verdict).toBe('cut');
  });

  test('of a child are asked for by each row, in order', async () => {
    const api = await calendar();
    const years = { endpoint: 'visits', dataField: 'data', dataType: 'years', params: { month: 'x' } };
    const child = {
      ...visits,
      dataType: 'visits',
      placeholders: { id: 'id' },
      windows: { from: '2026-05-01', step: '1 month' },
    };
    const folder = folderFor(api, [{ ...years, children: [child] }], 3);
    await start(folder);
    const months = ['2026-05-1', '2026-05-2', '2026-06-1', '2026-06-2'];
    expect(idsOf(folder)).toEqual([...months, ...months]);
  });
});
