import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { silentLog, type Log } from '../../../src/lib/log.ts';
import { run, type FolderRunOptions } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';

const env = { ...systemEnv, now: () => Date.parse('2026-07-01T00:00:00Z'), sleep: async () => {} };

interface Shop extends Api {
  readonly asked: string[];
  rows: Record<string, unknown>[];
  isDown: (line: string) => boolean;
  /** Answers without a list. */
  isSilent: (line: string) => boolean;
}

/** Gives its rows in pages of two; `since` is inclusive, `newest` sorts them the other way. */
async function shop(rows: Shop['rows']): Promise<Shop> {
  const asked: string[] = [];
  const state = {
    asked,
    rows,
    isDown: (_line: string): boolean => false,
    isSilent: (_line: string): boolean => false,
  };
  const api = await startApi(({ url }, response) => {
    const line = `${url.pathname}${url.search}`;
    asked.push(line);
    if (state.isDown(line)) return response.writeHead(404).end('{}');
    if (url.pathname === '/shops') return json(response, { data: [{ id: 'N' }, { id: 'S' }] });
    if (state.isSilent(line)) return json(response, { data: null });
    const [since, until] = [url.searchParams.get('since'), url.searchParams.get('until')];
    const of = /^\/shops\/(\w)/.exec(url.pathname)?.[1];
    const found = state.rows
      .filter((row) => since === null || String(row['at']) >= since)
      .filter((row) => until === null || String(row['at']) < until)
      .filter((row) => of === undefined || row['shop'] === of);
    if (url.searchParams.has('newest')) found.reverse();
    const from = Number(url.searchParams.get('offset') ?? 0);
    return json(response, { data: found.slice(from, from + 2) });
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

const at = (day: number): string => `2026-06-${String(day).padStart(2, '0')}T00:00:00Z`;
const rowsOf = (...days: number[]): Shop['rows'] => days.map((day) => ({ id: day, at: at(day) }));

function folderFor(api: Api, job: object, more: object = {}): string {
  const orders = { id: 'orders', endpoint: 'orders', dataType: 'orders', dataField: 'data', ...job };
  return dataFolder(
    configOf(api, [orders], {
      api: { pagination: { method: 'offset', limit: 2 }, ...more },
      config: { incrementalOutput: true },
    }),
  );
}

const start = async (folder: string, options: Partial<FolderRunOptions> = {}): ReturnType<typeof run> =>
  await run({ dataFolder: folder, log: silentLog, env, ...options });
const stateOf = (folder: string): unknown =>
  (JSON.parse(readFileSync(path.join(folder, 'in', 'state.json'), 'utf8')) as Record<string, never>)[
    'incremental'
  ];
const idsOf = (folder: string): string[] =>
  [...(filesOf(folder)['out/tables/library.orders'] ?? '').matchAll(/^"(\d+)"/gm)].map(([, id = '']) => id);
const cursorOf = (folder: string): unknown =>
  (stateOf(folder) as { orders: { cursor: unknown } }).orders.cursor;

function lines(): { log: Log; text: () => string } {
  const all: string[] = [];
  const add = (message: string): void => void all.push(message);
  return { text: () => all.join('\n'), log: { debug: () => {}, info: add, warn: add, error: add } };
}

/** The rows and the log of a second run, whose job is written in another way. */
async function askedAgain(
  first: object,
  second: object,
): Promise<{ readonly again: readonly string[]; readonly text: string }> {
  const api = await shop(rowsOf(1, 2, 3));
  const folder = folderFor(api, first);
  await start(folder);
  const file = 'config.json';
  writeFileSync(path.join(folder, file), readFileSync(path.join(folderFor(api, second), file)));
  const { log, text } = lines();
  await start(folder, { log });
  return { again: idsOf(folder), text: text() };
}

describe('the state from the data', () => {
  test('is sent by the next run, and no row is missed that comes at its very moment', async () => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since' } });
    await start(folder);
    expect(idsOf(folder)).toEqual(['1', '2', '3']);
    expect(cursorOf(folder)).toBe(at(3));
    api.rows = [...api.rows, { id: 4, at: at(3) }, { id: 5, at: at(5) }];
    await start(folder);
    expect(idsOf(folder)).toEqual(['3', '4', '5']);
    expect(cursorOf(folder)).toBe(at(5));
    await start(folder);
    expect(idsOf(folder)).toEqual(['5']);
    expect(cursorOf(folder)).toBe(at(5));
  });

  test('does not move when the run fails, and what came is not asked for again', async () => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since' } });
    await start(folder);
    api.rows = rowsOf(3, 4, 5, 6);
    api.isDown = (line) => line.includes('offset=2');
    await expect(start(folder)).rejects.toThrow('404');
    expect(cursorOf(folder)).toBe(at(3));
    api.isDown = () => false;
    const before = api.asked.length;
    await start(folder);
    expect(api.asked.slice(before)).toHaveLength(2);
    expect(cursorOf(folder)).toBe(at(6));
    expect(idsOf(folder)).toEqual(['3', '4', '5', '6']);
  });

  test('drops what is older where the API cannot filter, also in what is written a second time', async () => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = folderFor(api, { incremental: { cursor: 'at' } });
    await start(folder);
    // a column that appears late lets the pages before be written again
    api.rows = [...rowsOf(1, 2, 3, 4, 5, 6), { id: 7, at: at(7), late: 'yes' }];
    await start(folder, { resetState: false });
    expect(idsOf(folder)).toEqual(['3', '4', '5', '6', '7']);
    expect(cursorOf(folder)).toBe(at(7));
  });

  test('is a time in the form that is given: others are kept, and do not move it', async () => {
    const api = await shop([
      { id: 1, at: '03.06.2026' },
      { id: 2, at: '07.06.2026 10:15:30.25' },
      { id: 3, at: '2026-06-09' },
      { id: 4, at: 4 },
      { id: 5, at: '08.06.2026 10:15:30.1234567' },
    ]);
    const cursorFormat = ['d.m.Y', 'd.m.Y H:i:s.u'];
    const folder = folderFor(api, { incremental: { cursor: 'at', cursorFormat } });
    const { log, text } = lines();
    await start(folder, { log });
    expect(text()).toContain(
      '“at” cannot be compared in 3 rows of “orders”, first “2026-06-09”: they are kept',
    );
    expect(cursorOf(folder)).toBe('2026-06-07T10:15:30.250000Z');
    await start(folder);
    expect(idsOf(folder)).toEqual(['2', '3', '4', '5']);
  });

  test.each([
    [{ cursorFormat: 'Y-m-d', as: 'number' }, 'A cursor with a format is a time'],
    [{ cursorFormat: 'updated' }, '“updated” is no format of a time'],
    [{ cursorFormat: ['Y-m-d', '\\T'] }, '“\\T” is no format of a time'],
  ])('refuses a form that cannot be read: %j', async (more, message) => {
    const api = await shop([]);
    const failing = start(folderFor(api, { incremental: { cursor: 'at', ...more } }));
    await expect(failing).rejects.toThrow(message);
  });

  test('ends a feed at the first page that is older', async () => {
    const api = await shop(rowsOf(1, 2, 3, 4, 5, 6, 7, 8));
    const folder = folderFor(api, {
      params: { newest: 1 },
      incremental: { cursor: 'at', order: 'descending' },
    });
    await start(folder);
    api.rows = [...api.rows, ...rowsOf(9)];
    const before = api.asked.length;
    const { rows } = await start(folder);
    expect(api.asked.length - before).toBe(2);
    expect(idsOf(folder)).toEqual(['9', '8']);
    expect(rows[0]?.jobs[0]?.verdict).toBe('complete');
    expect(cursorOf(folder)).toBe(at(9));
  });

  test('reads a feed to its end when it is not sorted as was said', async () => {
    const api = await shop(rowsOf(1, 2, 3, 4, 5));
    const folder = folderFor(api, { incremental: { cursor: 'at', order: 'descending' } });
    await start(folder);
    const { log, text } = lines();
    const before = api.asked.length;
    await start(folder, { log });
    expect(api.asked.length - before).toBe(3);
    expect(text()).toContain('The rows of “orders” are not in descending order of “at”');
  });

  test.each([
    ['none', undefined],
    ['ascending', at(3)],
  ])('of a job that is cut, sorted %s, is %s', async (order, wanted) => {
    const api = await shop(rowsOf(1, 2, 3, 4, 5, 6));
    const folder = folderFor(
      api,
      { incremental: { cursor: 'at', to: 'since', order } },
      { pagination: { method: 'offset', limit: 2, forceStop: { pages: 2 } } },
    );
    await start(folder);
    expect((stateOf(folder) as { orders?: { cursor: unknown } } | undefined)?.orders?.cursor).toBe(wanted);
    await start(folder);
    // nothing is missed by that: the next run begins at or before what was seen last
    expect(idsOf(folder)).toContain(wanted === undefined ? '1' : '4');
  });

  test('is not that of a trial, nor of a run that is played again', async () => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since' } });
    await start(folder);
    await start(folder, { replay: 'last' });
    expect(cursorOf(folder)).toBe(at(3));
    api.rows = rowsOf(3, 4, 5, 6, 7);
    await start(folder, { limit: 1 });
    expect(cursorOf(folder)).toBe(at(3));
  });

  test('never moves back', async () => {
    const api = await shop(rowsOf(5));
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since', lookback: '20 days' } });
    await start(folder);
    api.rows = rowsOf(1, 2);
    await start(folder);
    expect(cursorOf(folder)).toBe(at(5));
  });

  test('is not that of rows before the beginning, which are dropped', async () => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = folderFor(api, { incremental: { cursor: 'at', first: at(5) } });
    await start(folder);
    expect(idsOf(folder)).toEqual([]);
    api.rows = rowsOf(1, 2, 3, 4);
    await start(folder);
    expect(idsOf(folder)).toEqual([]);
    api.rows = rowsOf(1, 4, 5, 6);
    await start(folder);
    expect(idsOf(folder)).toEqual(['5', '6']);
    expect(cursorOf(folder)).toBe(at(6));
  });

  test('begins no earlier than notBefore, by its state or by the lookback', async () => {
    const api = await shop(rowsOf(5));
    const incremental = { cursor: 'at', to: 'since', lookback: '20 days' };
    const folder = folderFor(api, { incremental });
    await start(folder);
    for (const [notBefore, since] of [
      [at(3), at(3)],
      ['2026-06-03', at(3)],
      ['-10 days', '2026-06-21T00:00:00Z'],
      ['2020-01-01', '2026-05-16T00:00:00Z'],
    ] as const) {
      const config = path.join(folder, 'config.json');
      const text = readFileSync(config, 'utf8').replace(/,"notBefore":"[^"]*"/, '');
      writeFileSync(config, text.replace('"20 days"', `"20 days","notBefore":"${notBefore}"`));
      await start(folder);
      expect(api.asked.at(-1)).toBe(`/orders?since=${encodeURIComponent(since)}&limit=2&offset=0`);
    }
  });

  test('ends a feed at the first page whose last row is older', async () => {
    const api = await shop(rowsOf(1, 2, 3, 4));
    const folder = folderFor(api, {
      params: { newest: 1 },
      incremental: { cursor: 'at', order: 'descending' },
    });
    await start(folder);
    api.rows = rowsOf(1, 2, 3, 5);
    const before = api.asked.length;
    await start(folder);
    expect(api.asked.length - before).toBe(1);
    expect(idsOf(folder)).toEqual(['5']);
  });

  const ASKING = {
    params: { a: 1, b: 2 },
    where: { value: { row: 'id' }, is: 'above', than: 0 },
    incremental: { cursor: 'at' },
  };

  test.each<[string, object]>([
    [
      'the order of keys',
      {
        incremental: { cursor: 'at' },
        where: { than: 0, is: 'above', value: { row: 'id' } },
        params: { a: 1, b: 2 },
      },
    ],
    ['a note', { ...ASKING, _comment: 'of the shop' }],
    ['the default method', { ...ASKING, method: 'get' }],
    ['what is empty', { ...ASKING, query: {}, headers: [], body: '' }],
  ])('stays when nothing is asked differently: %s', async (_name, edited) => {
    const { again, text } = await askedAgain(ASKING, edited);
    expect(text).not.toContain('begins anew');
    expect(again).toEqual(['3']);
  });

  test.each<[string, object]>([
    ['parameters in another order', { ...ASKING, params: { b: 2, a: 1 } }],
    ['an empty body', { ...ASKING, body: {} }],
  ])('begins anew with %s', async (_name, edited) => {
    const { again, text } = await askedAgain(ASKING, edited);
    expect(text).toContain('asks for something else');
    expect(again).toEqual(['1', '2', '3']);
  });

  test('begins anew when the cursor is edited, and says so', async () => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since' } });
    await start(folder);
    const file = path.join(folder, 'config.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"cursor": ?"at"/, '"cursor": "id"'));
    const { log, text } = lines();
    await start(folder, { log });
    expect(text()).toContain('The settings that the state of “orders” comes from have changed');
    expect(idsOf(folder)).toEqual(['1', '2', '3']);
    expect(cursorOf(folder)).toBe(3);
  });

  test.each([
    ['a text', '"2026-06-01"'],
    ['a list', '["2026-06-01"]'],
    ['without a cursor', '{"curser": "2026-06-01"}'],
    ['with nothing for a cursor', '{"cursor": null}'],
    ['with parents that are a text', '{"parents": "N"}'],
  ])('that is damaged (%s) begins anew, and that is said', async (_what, damaged) => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since' } });
    mkdirSync(path.join(folder, 'in'), { recursive: true });
    writeFileSync(path.join(folder, 'in', 'state.json'), `{"incremental": {"orders": ${damaged}}}`);
    const { log, text } = lines();
    await start(folder, { log });
    expect(text()).toContain('The state of “orders” cannot be read');
    expect(idsOf(folder)).toEqual(['1', '2', '3']);
    expect(cursorOf(folder)).toBe(at(3));
  });

  test('stays when the cursor becomes another kind of value, and that is said', async () => {
    const api = await shop([{ id: 1, at: 100 }]);
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since' } });
    await start(folder);
    api.rows = [{ id: 2, at: '2026-06-01T00:00:00Z' }];
    const { log, text } = lines();
    await start(folder, { log });
    expect(text()).toContain('“at” has become another kind of value than the state of “orders”');
    expect(idsOf(folder)).toEqual(['2']);
    expect(cursorOf(folder)).toBe(100);
  });

  test('is one for each parent row', async () => {
    const api = await shop([
      { id: 1, shop: 'N', at: at(1) },
      { id: 2, shop: 'N', at: at(9) },
    ]);
    const orders = {
      id: 'orders',
      endpoint: 'shops/{id}/orders',
      dataType: 'orders',
      dataField: 'data',
      placeholders: { id: 'id' },
      incremental: { cursor: 'at', to: 'since' },
    };
    const shops = { id: 'shops', endpoint: 'shops', dataType: 'shops', children: [orders] };
    const folder = folderFor(api, shops);
    await start(folder);
    // what the other shop has is older than the state of the first
    api.rows = [...api.rows, { id: 3, shop: 'S', at: at(2) }];
    await start(folder);
    expect(idsOf(folder)).toEqual(['2', '3']);
    expect(stateOf(folder)).toMatchObject({
      'shops/orders': { parents: { N: { cursor: at(9) }, S: { cursor: at(2) } } },
    });
  });

  test('moves window by window, and goes on in the one that failed', async () => {
    const api = await shop(rowsOf(1, 9, 17, 25));
    const folder = folderFor(api, {
      params: { since: { window: 'from' }, until: { window: 'to' } },
      windows: { from: '2026-06-01', step: '8 days' },
      incremental: { cursor: 'at' },
    });
    api.isDown = (line) => line.includes('2026-06-17T00%3A00%3A00Z') && line.includes('since=2026-06-17');
    await expect(start(folder)).rejects.toThrow('404');
    api.isDown = () => false;
    const before = api.asked.length;
    await start(folder);
    expect(api.asked[before]).toContain('since=2026-06-17');
    expect(cursorOf(folder)).toBe(at(25));
    const again = api.asked.length;
    await start(folder);
    expect(api.asked[again]).toContain('since=2026-06-25T00%3A00%3A00Z');
    expect(api.asked.length - again).toBe(1);
  });

  test('stays before a window whose answer was skipped, whatever came behind it', async () => {
    const api = await shop(rowsOf(1, 9, 17, 25));
    const folder = folderFor(api, {
      params: { since: { window: 'from' }, until: { window: 'to' } },
      windows: { from: '2026-06-01', step: '8 days' },
      incremental: { keep: { window: 'to' } },
      reactions: [{ when: { status: 404 }, do: 'skip' }],
    });
    api.isDown = (line) => line.includes('since=2026-06-09');
    await start(folder);
    expect(cursorOf(folder)).toBe('2026-06-09T00:00:00.000Z');
    api.isDown = () => false;
    const before = api.asked.length;
    await start(folder);
    expect(api.asked[before]).toContain('since=2026-06-09');
    expect(cursorOf(folder)).toBe('2026-07-01T00:00:00.000Z');
  });

  test('stays before a window without a list, where an empty one was a list', async () => {
    const api = await shop(rowsOf(1, 17, 25));
    const folder = folderFor(api, {
      params: { since: { window: 'from' }, until: { window: 'to' } },
      windows: { from: '2026-06-01', step: '8 days' },
      incremental: { keep: { window: 'to' } },
    });
    api.isSilent = (line) => line.includes('since=2026-06-17');
    await start(folder);
    expect(cursorOf(folder)).toBe('2026-06-17T00:00:00.000Z');
    api.isSilent = () => false;
    await start(folder);
    expect(cursorOf(folder)).toBe('2026-07-01T00:00:00.000Z');
  });

  test('is the end of the period, also where the last window is widened to a whole day', async () => {
    const api = await shop(rowsOf(30));
    const folder = folderFor(api, {
      params: { since: { window: 'from' }, until: { window: 'to' } },
      windows: { from: '2026-06-30', format: 'Y-m-d' },
      incremental: { keep: { window: 'to' } },
    });
    await start(folder, { env: { ...env, now: () => Date.parse('2026-07-01T12:00:00Z') } });
    expect(cursorOf(folder)).toBe('2026-07-01T12:00:00.000Z');
    // what came in the afternoon is asked for, too
    await start(folder, { env: { ...env, now: () => Date.parse('2026-07-02T12:00:00Z') } });
    expect(api.asked.at(-1)).toContain('since=2026-07-01&until=2026-07-03');
  });
});

describe('rows at the very state, of which only new ones are written', () => {
  const incremental = { cursor: 'at', to: 'since', filter: true, equal: 'new' };

  test('are known again, whatever comes beside them, also in what is written a second time', async () => {
    const api = await shop([...rowsOf(1, 3), { id: 4, at: at(3), n: { x: [1.5] } }]);
    const folder = folderFor(api, { incremental });
    await start(folder);
    expect(idsOf(folder)).toEqual(['1', '3', '4']);
    api.rows = [...rowsOf(1, 3), { id: 4, at: at(3), n: { x: [2.5] } }, { id: 5, at: at(3) }];
    await start(folder);
    // a row that has changed is new
    expect(idsOf(folder)).toEqual(['4', '5']);
    // those of both runs are known now
    api.rows = [...api.rows, { id: 6, at: at(3) }, { id: 7, at: at(7), late: 'yes' }];
    await start(folder);
    expect(idsOf(folder)).toEqual(['6', '7']);
    const { orders } = stateOf(folder) as { orders: { cursor: unknown; rows: readonly string[] } };
    expect([orders.cursor, orders.rows.map((digest) => digest.length)]).toEqual([at(7), [16]]);
    api.rows = [{ id: 8, at: at(7) }];
    await start(folder);
    // the API gives one of them no longer, and it is not forgotten
    api.rows = [
      { id: 7, at: at(7), late: 'yes' },
      { id: 8, at: at(7) },
      { id: 9, at: at(7) },
    ];
    await start(folder);
    expect(idsOf(folder)).toEqual(['9']);
  });

  test('come again where a job that was cut goes back to them', async () => {
    const api = await shop([...rowsOf(1, 2), { id: 3, at: at(2) }, ...rowsOf(4, 5, 6)]);
    const folder = folderFor(
      api,
      { incremental: { ...incremental, order: 'ascending' } },
      { pagination: { method: 'offset', limit: 2, forceStop: { pages: 2 } } },
    );
    await start(folder);
    expect(cursorOf(folder)).toBe(at(2));
    await start(folder);
    expect(idsOf(folder)).toEqual(['2', '3', '4', '5']);
  });

  test.each([false, true])(
    'of another parent row are others, although they are the same: %j',
    async (perParent) => {
      const rows = new Map([['/shops/N/orders', [{ id: 1, at: at(1) }]]]);
      const api = await startApi(({ url: { pathname } }, response) =>
        json(response, pathname === '/shops' ? [{ id: 'N' }, { id: 'S' }] : (rows.get(pathname) ?? [])),
      );
      const orders = {
        id: 'orders',
        endpoint: 'shops/{id}/orders',
        placeholders: { id: 'id' },
        incremental: { cursor: 'at', equal: 'new', perParent },
      };
      const folder = folderFor(api, {
        id: 'shops',
        endpoint: 'shops',
        dataField: '.',
        children: [{ ...orders, dataType: 'lines' }],
      });
      const lineRows = (): number =>
        (filesOf(folder)['out/tables/library.lines'] ?? '')
          .split('\n')
          .filter((line) => line.startsWith('"1"')).length;
      await start(folder);
      expect(lineRows()).toBe(1);
      await start(folder);
      expect(lineRows()).toBe(0);
      rows.set('/shops/S/orders', [{ id: 1, at: at(1) }]);
      await start(folder);
      expect(lineRows()).toBe(1);
      expect(filesOf(folder)['out/tables/library.lines']).toContain('"S"');
    },
  );

  test('that were there before come in a period that is filled again', async () => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = folderFor(api, { incremental: { cursor: 'at', equal: 'new' } });
    await start(folder);
    await start(folder, { period: { from: Date.parse(at(3)), to: Date.parse(at(5)) } });
    expect(idsOf(folder)).toEqual(['3']);
  });

  test('need no lookback beside them', async () => {
    const api = await shop([]);
    const failing = start(folderFor(api, { incremental: { ...incremental, lookback: '1 day' } }));
    await expect(failing).rejects.toThrow('With a lookback no row is at the state');
  });
});

describe('a period that is filled again', () => {
  const june = { from: Date.parse('2026-06-02T00:00:00Z'), to: Date.parse('2026-06-04T00:00:00Z') };

  test('leaves the states as they are', async () => {
    const api = await shop(rowsOf(1, 2, 3, 4, 5));
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since' } });
    await start(folder);
    const before = readFileSync(path.join(folder, 'in', 'state.json'), 'utf8');
    await start(folder, { period: june, env: { ...env, now: () => env.now() + 1e6 } });
    expect(idsOf(folder)).toEqual(['2', '3']);
    expect(api.asked.at(-1)).toContain('since=2026-06-02T00%3A00%3A00Z');
    expect(JSON.parse(readFileSync(path.join(folder, 'in', 'state.json'), 'utf8'))).toEqual(
      JSON.parse(before),
    );
  });

  test('is that of the windows, and other jobs are left out', async () => {
    const api = await shop(rowsOf(1, 2, 3));
    const folder = dataFolder(
      configOf(
        api,
        [
          {
            endpoint: 'orders',
            dataType: 'orders',
            dataField: 'data',
            params: { since: { window: 'from' }, until: { window: 'to' } },
            windows: { from: '2020-01-01', step: '1 day', format: 'Y-m-d' },
          },
          { endpoint: 'shops', dataField: 'data' },
        ],
        { config: { incrementalOutput: true } },
      ),
    );
    const { log, text } = lines();
    await start(folder, { period: june, log });
    expect(api.asked).toEqual([
      '/orders?since=2026-06-02&until=2026-06-03',
      '/orders?since=2026-06-03&until=2026-06-04',
    ]);
    expect(text()).toContain('“shops” has neither windows nor a state from the data: it is left out');
  });

  test('does not go on with a run that was over another one, nor that with it', async () => {
    const api = await shop(rowsOf(1, 2, 3, 4, 5));
    const folder = folderFor(api, { incremental: { cursor: 'at', to: 'since', first: at(1) } });
    api.isDown = (line) => line.includes('offset=2');
    await expect(start(folder, { period: june })).rejects.toThrow('404');
    api.isDown = () => false;
    const { log, text } = lines();
    await start(folder, { log });
    expect(text()).toContain('A new run begins, and does not go on with');
    expect(idsOf(folder)).toEqual(['1', '2', '3', '4', '5']);
  });

  test('is refused where no job can be asked for it', async () => {
    const api = await shop([]);
    const folder = dataFolder(configOf(api, [{ endpoint: 'shops', dataField: 'data' }]));
    await expect(start(folder, { period: june })).rejects.toThrow('No job can be asked for a period again');
    expect(api.asked).toEqual([]);
  });
});

test('what is new in place of the whole table is warned of', async () => {
  const api = await shop(rowsOf(1));
  const job = {
    id: 'orders',
    endpoint: 'orders',
    dataField: 'data',
    incremental: { cursor: 'at', to: 'since' },
  };
  const folder = dataFolder(configOf(api, [job]));
  const { log, text } = lines();
  await start(folder, { log });
  expect(text()).toContain('without “incrementalOutput” each run puts that in place of the whole table');
});

test('with iterations, and with lists, each has its own state', async () => {
  const api = await shop([
    { id: 1, shop: 'N', at: at(9) },
    { id: 2, shop: 'S', at: at(1) },
  ]);
  const job = {
    id: 'orders',
    endpoint: 'shops/{shop}/orders',
    dataType: 'orders',
    dataField: 'data',
    over: { shop: ['N', 'S'] },
    incremental: { cursor: 'at', to: 'since' },
  };
  const folder = folderFor(api, job);
  await start(folder);
  expect(stateOf(folder)).toMatchObject({
    orders: { parents: { N: { cursor: at(9) }, S: { cursor: at(1) } } },
  });
  const { over: _over, ...each } = job;
  const config = configOf(api, [{ ...each, endpoint: 'orders', params: { shop: { attr: 'shop' } } }], {
    config: { incrementalOutput: true },
  }) as { parameters: Record<string, unknown> };
  const iterated = dataFolder({
    parameters: { ...config.parameters, iterations: [{ shop: 'N' }, { shop: 'S' }] },
  });
  await start(iterated);
  expect(Object.keys(stateOf(iterated) as object)).toHaveLength(2);
});

test('two jobs whose states would have one name are refused', async () => {
  const api = await shop([]);
  const job = { endpoint: 'orders', dataType: 'orders', incremental: { cursor: 'at', to: 'since' } };
  const folder = dataFolder(configOf(api, [job, { ...job, params: { a: 1 } }]));
  await expect(start(folder)).rejects.toThrow('The state of “orders” is that of two jobs');
});
