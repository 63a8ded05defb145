import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { run, type FolderRunOptions } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const iso = (ms: number): string => new Date(ms).toISOString();

interface Clocked extends Api {
  /** The clock of the API. */
  now: number;
  /** So much its header is older. */
  staleMs: number;
  headers: Record<string, string>;
  /** When its rows were made. */
  readonly rows: number[];
}

/** Gives the rows that were made since a time, and says what time it is. */
async function clocked(): Promise<Clocked> {
  const state = { now: NOON, staleMs: 0, headers: {}, rows: [NOON - 1000] };
  const api = await startApi(({ url }, response) => {
    const { now, staleMs, headers, rows } = state;
    const [since, until] = ['since', 'until'].map((name) => Number(url.searchParams.get(name) ?? Number.NaN));
    for (const [name, value] of Object.entries({
      Date: new Date(now - staleMs).toUTCString(),
      ...headers,
    }))
      response.setHeader(name, value);
    const wanted = rows.filter((at) => !(at < Number(since) * 1000) && !(at >= Number(until) * 1000));
    return json(
      response,
      wanted.map((at) => ({ id: rows.indexOf(at), at: iso(at) })),
    );
  });
  return Object.assign(state, api);
}

const byStart = {
  id: 'orders',
  endpoint: 'orders',
  dataType: 'orders',
  dataField: '.',
  params: { since: { time: 'previousStart' } },
};
const byWindows = {
  ...byStart,
  params: { since: { window: 'fromTime' }, until: { window: 'toTime' } },
  windows: { from: '2026-02-01', step: '7 days', format: 'Y-m-d\\TH:i:s\\Z' },
  incremental: { keep: { window: 'to' } },
};

interface Ran {
  readonly ids: readonly string[];
  readonly warnings: readonly string[];
  readonly state: Record<string, unknown>;
}

/** @param clock of this machine */
async function ran(
  folder: string,
  clock: number | { readonly now: number },
  options: Partial<FolderRunOptions> = {},
): Promise<Ran> {
  const warnings: string[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    warn: (text: string) => void warnings.push(text),
    error: () => {},
  };
  const now = (): number => (typeof clock === 'number' ? clock : clock.now);
  const env = { ...systemEnv, now, sleep: async () => {} };
  const { rows } = await run({ dataFolder: folder, log, env, ...options });
  const table = filesOf(folder)['out/tables/library.orders'] ?? '';
  return {
    ids: [...table.matchAll(/^"(\d+)"/gm)].map(([, id = '']) => id),
    warnings: warnings.filter((text) => text.includes('clock')),
    state: rows[0]?.state as Record<string, unknown>,
  };
}

const folderOf = (api: Api, job: object, config: object = {}): string =>
  dataFolder(configOf(api, [job], { config: { incrementalOutput: true, ...config } }));
const startOf = ({ state }: Ran): unknown => (state['time'] as { previousStart: unknown }).previousStart;

describe('a clock that was ahead for one run', () => {
  test.each([
    ['the time of the last run', byStart],
    ['windows that end with the run', byWindows],
  ])('loses no rows by %s, and the run says so', async (_name, job) => {
    const api = await clocked();
    const folder = folderOf(api, job);
    const first = await ran(folder, NOON + 3 * DAY);
    expect(first.ids).toEqual(['0']);
    expect(first.warnings).toEqual([
      'The clock of this machine is 2 days ahead of that of the API: it was 2026-03-04T12:00:00Z here when the API said 2026-03-01T12:00:00Z. ' +
        'The state is kept by the clock of the API; but what is asked for by time may be wrong: set the clock right',
    ]);
    for (let hour = 1; hour <= 20; hour++) api.rows.push(NOON + hour * HOUR);
    api.now = NOON + 4 * DAY;
    const second = await ran(folder, api.now);
    expect(second.ids).toEqual(Array.from({ length: 20 }, (_, i) => String(i + 1)));
    expect(second.warnings).toEqual([]);
    expect((await ran(folder, api.now + HOUR)).ids).toEqual([]);
  });

  test('keeps the state by the clock of the API', async () => {
    const api = await clocked();
    expect(startOf(await ran(folderOf(api, byStart), NOON + 3 * DAY))).toBe(NOON / 1000);
    const { state } = await ran(folderOf(api, byWindows), NOON + 3 * DAY);
    expect(state['incremental']).toMatchObject({ orders: { cursor: iso(NOON) } });
  });

  test('does not move the state to a row of the API’s future', async () => {
    const api = await clocked();
    api.rows.push(NOON + 400 * DAY);
    const job = { ...byStart, params: {}, incremental: { cursor: 'at', to: 'from' } };
    const { state, ids } = await ran(folderOf(api, job), NOON + 500 * DAY);
    expect(ids).toEqual(['0', '1']);
    expect(state['incremental']).toMatchObject({ orders: { cursor: iso(NOON - 1000) } });
  });

  test('is the same when the run is played again, whatever the clock is then', async () => {
    const api = await clocked();
    const folder = folderOf(api, byWindows);
    const record = path.join(folder, 'run.gexr');
    const { state } = await ran(folder, NOON + 3 * DAY, { record });
    const again = await ran(folder, NOON + 900 * DAY, { replay: record });
    expect(again.state).toEqual(state);
    expect(again.warnings.join()).toContain('it was 2026-03-04T12:00:00Z here when the API said');
  });

  test('counts when the run that was stopped goes on with a clock that is right', async () => {
    const api = await clocked();
    const folder = folderOf(api, { ...byStart, params: {} }, {});
    const config = JSON.parse(readFileSync(path.join(folder, 'config.json'), 'utf8')) as {
      parameters: { config: { jobs: object[] } };
    };
    config.parameters.config.jobs.push({ endpoint: 'more', dataField: '.' });
    const two = dataFolder(config);
    const controller = new AbortController();
    const stopped = ran(two, NOON + HOUR, {
      signal: controller.signal,
      progress: { page: () => controller.abort(new Error('stopped')) },
    });
    await expect(stopped).rejects.toThrow();
    api.now = NOON + 60_000;
    const { state } = await ran(two, api.now);
    expect(startOf({ state, ids: [], warnings: [] })).toBe(NOON / 1000);
  });
});

describe('a clock that is not ahead', () => {
  test('and a right one leave the state at the start of the run, without a word', async () => {
    const api = await clocked();
    const right = await ran(folderOf(api, byStart), NOON + 1900);
    expect([startOf(right), right.warnings]).toEqual([NOON / 1000 + 1, []]);
    const late = await ran(folderOf(api, byStart), NOON - 4 * 60_000);
    expect([startOf(late), late.warnings]).toEqual([NOON / 1000 - 240, []]);
  });

  test('some minutes are too little for a warning, and are no reason to lose rows', async () => {
    const api = await clocked();
    const { state, warnings, ids } = await ran(folderOf(api, byStart), NOON + 4 * 60_000);
    expect([startOf({ state, warnings, ids }), warnings]).toEqual([NOON / 1000, []]);
  });

  test('behind the API it is said, and the state is that of the clock', async () => {
    const api = await clocked();
    const behind = await ran(folderOf(api, byStart), NOON - 3 * HOUR);
    expect(startOf(behind)).toBe(NOON / 1000 - 3 * 3600);
    expect(behind.warnings).toEqual([
      'The clock of this machine is 3 hours behind that of the API: it was 2026-03-01T09:00:00Z here when the API said 2026-03-01T12:00:00Z. What is asked for by time may be wrong: set the clock right',
    ]);
  });

  test.each([0, 1])('is not that of one answer with an old date: %i', async (old) => {
    const api = await clocked();
    let answers = 0;
    Object.defineProperty(api, 'staleMs', { get: () => (answers++ === old ? 5 * HOUR : 0) });
    const folder = dataFolder(configOf(api, [byStart, { endpoint: 'more', dataField: '.' }]));
    const { state, ids } = await ran(folder, NOON);
    expect([startOf({ state, ids, warnings: [] }), answers]).toEqual([NOON / 1000, 2]);
  });

  test.each([
    ['an answer that a cache kept for hours', 5 * HOUR, { Age: '18000' }],
    ['a server without a clock', NOON - 1000, {}],
    ['a header that is no date', 0, { Date: 'yesterday' }],
  ])('is no reason for a warning: %s', async (_name, staleMs, headers) => {
    const api = Object.assign(await clocked(), { staleMs, headers });
    const { warnings, state, ids } = await ran(folderOf(api, byStart), NOON);
    expect([startOf({ warnings, state, ids }), warnings]).toEqual([NOON / 1000, []]);
  });

  test('is no reason for a warning: an answer that took half an hour', async () => {
    const api = await clocked();
    const clock = {
      get now(): number {
        return api.seen.length === 0 ? NOON - 15 * 60_000 : NOON + 15 * 60_000;
      },
    };
    const { warnings, state, ids } = await ran(folderOf(api, byStart), clock);
    expect([startOf({ warnings, state, ids }), warnings]).toEqual([NOON / 1000 - 900, []]);
  });

  test('is no reason for a warning: an answer of the own cache', async () => {
    const api = await clocked();
    const config = configOf(api, [{ ...byStart, params: {} }]) as { parameters: object };
    const folder = dataFolder({ parameters: { ...config.parameters, cache: true } });
    await ran(folder, NOON);
    const { warnings, state, ids } = await ran(folder, NOON + 3 * DAY);
    expect(api.seen).toHaveLength(1);
    expect([startOf({ warnings, state, ids }), warnings]).toEqual([(NOON + 3 * DAY) / 1000, []]);
  });
});
