import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../../src/lib/env.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';

const BEGUN = Date.parse('2026-03-01T12:00:00Z');

/** A clock that goes on by waiting alone, and remembers how long each wait was. */
function clock(): Env & { readonly waits: number[] } {
  let now = BEGUN;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    randomBytes: (count) => systemEnv.randomBytes(count),
    sleep: async (waitMs) => {
      waits.push(waitMs);
      now += waitMs;
    },
  };
}

/** An API that is done with an export after so many polls; each poll gives a new address, which may be refused. */
interface Exporter extends Api {
  polls: number;
  /** Answers instead of the usual ones, by what is asked for. */
  readonly instead: Map<string, { status: number; body?: unknown }>;
}

async function exporter(donePolls: number): Promise<Exporter> {
  const state = { polls: 0, instead: new Map<string, { status: number; body?: unknown }>() };
  let created = 0;
  const api: Api = await startApi(({ method, url }, response) => {
    const line = `${method} ${url.pathname}`;
    const other = state.instead.get(line);
    if (other !== undefined) return json(response, other.body ?? { error: 'down' }, other.status);
    if (line === 'POST /exports') return json(response, { id: ++created });
    if (url.pathname.startsWith('/files/')) {
      response.writeHead(200, { 'Content-Type': 'text/csv' }).end('id,name\n1,a\n2,b\n');
      return;
    }
    const isDone = ++state.polls >= donePolls;
    return json(
      response,
      isDone ? { state: 'done', url: `${api.url}files/${state.polls}` } : { state: 'running' },
    );
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

const job = {
  endpoint: 'exports',
  method: 'POST',
  dataType: 'orders',
  // what is asked for goes by the moment of the first run: another moment would make it another request
  params: { at: { function: 'date', args: ['H:i:s'] } },
  export: {
    poll: {
      endpoint: 'exports/{id}',
      placeholders: { id: { created: 'id' } },
      until: { value: 'state', is: 'equals', than: 'done' },
      failWhen: { value: 'state', is: 'equals', than: 'failed' },
    },
    download: { from: 'url' },
  },
};

function folderFor(api: Api, changes: object = {}): string {
  return dataFolder(configOf(api, [{ ...job, ...changes }]));
}

const orders = (folder: string): string | undefined =>
  filesOf(path.join(folder, 'out/tables'))['library.orders'];
const TABLE = '"id","name"\n"1","a"\n"2","b"\n';

describe('an export', () => {
  test('is polled with pauses that grow', async () => {
    const api = await exporter(9);
    const env = clock();
    const folder = folderFor(api);
    await run({ dataFolder: folder, log: silentLog, env });
    expect(env.waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1000));
    expect(orders(folder)).toBe(TABLE);
  });

  test('is not created again when the run goes on, and polls go on where they were', async () => {
    const api = await exporter(4);
    const env = clock();
    const folder = folderFor(api);
    api.instead.set('GET /exports/1', { status: 404 });
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow('404');
    api.instead.clear();
    api.polls = 2;
    await run({ dataFolder: folder, log: silentLog, env });
    const asked = api.seen.map((line) => line.replace(/files.*/, 'file'));
    expect(asked).toEqual([
      'POST /exports',
      'GET /exports/1',
      'GET /exports/1',
      'GET /exports/1',
      'GET /file',
    ]);
    expect(orders(folder)).toBe(TABLE);
  });

  test('whose address has expired since is asked for its address once more', async () => {
    const api = await exporter(1);
    const folder = folderFor(api);
    const env = clock();
    api.instead.set('GET /files/1', { status: 403 });
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow('403');
    await run({ dataFolder: folder, log: silentLog, env });
    expect(api.seen).toEqual([
      'POST /exports',
      'GET /exports/1',
      'GET /files/1',
      'GET /files/1',
      'GET /exports/1',
      'GET /files/2',
    ]);
    expect(orders(folder)).toBe(TABLE);
  });

  test('that failed is created anew by the next run', async () => {
    const api = await exporter(1);
    const folder = folderFor(api);
    const env = clock();
    api.instead.set('GET /exports/1', { status: 200, body: { state: 'failed' } });
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow(
      'could not make the export of “orders” (state is “failed”)',
    );
    await run({ dataFolder: folder, log: silentLog, env });
    expect(api.seen).toEqual([
      'POST /exports',
      'GET /exports/1',
      'POST /exports',
      'GET /exports/2',
      'GET /files/1',
    ]);
    expect(orders(folder)).toBe(TABLE);
  });

  test('that is late is waited for once more by the next run', async () => {
    const api = await exporter(5);
    const poll = { ...job.export.poll, every: 60, deadline: '3 minutes' };
    const folder = folderFor(api, { export: { ...job.export, poll } });
    const env = clock();
    await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow(
      'not ready within 180 seconds, after 4 polls: state is “running”',
    );
    expect(api.polls).toBe(4);
    await run({ dataFolder: folder, log: silentLog, env });
    expect(api.seen.filter((line) => line === 'POST /exports')).toHaveLength(1);
    expect(api.polls).toBe(5);
    expect(orders(folder)).toBe(TABLE);
  });

  test('is played again from its recording, without waiting', async () => {
    const api = await exporter(3);
    const folder = folderFor(api);
    await run({ dataFolder: folder, log: silentLog, env: clock() });
    const asked = api.seen.length;
    const env = clock();
    await run({ dataFolder: folder, log: silentLog, env, replay: 'last' });
    expect(api.seen).toHaveLength(asked);
    expect(env.waits).toEqual([]);
    expect(orders(folder)).toBe(TABLE);
  });

  test('waits as long as the answer says', async () => {
    let polls = 0;
    const api = await startApi(({ url }, response) => {
      if (url.pathname === '/exports') return json(response, { id: 1 });
      if (url.pathname === '/file')
        return response.writeHead(200, { 'Content-Type': 'text/csv' }).end('id\n1\n');
      response.setHeader('Retry-After', '7');
      return json(response, ++polls < 3 ? { state: 'running' } : { state: 'done', url: `${api.url}file` });
    });
    const env = clock();
    await run({ dataFolder: folderFor(api), log: silentLog, env });
    expect(env.waits).toEqual([7000, 7000]);
  });
});

describe('exports of children', () => {
  test('are under way at once with concurrency, and their rows stand in order', async () => {
    const events: string[] = [];
    const api = await startApi(({ method, url }, response) => {
      const [, shop = '', what = ''] = /^\/shops\/(\w)\/(\w+)/.exec(url.pathname) ?? [];
      if (url.pathname === '/shops') return json(response, [{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
      events.push(`${shop} ${method === 'POST' ? 'create' : what}`);
      if (method === 'POST') return json(response, {});
      // the first export is done only after the second was begun
      if (what === 'state') return json(response, { done: shop !== 'a' || events.includes('b create') });
      return response.writeHead(200, { 'Content-Type': 'text/csv' }).end(`of\n${shop}\n`);
    });
    const child = {
      endpoint: 'shops/{shop}/file',
      dataType: 'sales',
      placeholders: { shop: 'id' },
      export: {
        create: { endpoint: 'shops/{shop}/export', method: 'POST' },
        poll: { endpoint: 'shops/{shop}/state', until: { value: 'done', is: 'true' }, every: 0.01 },
      },
    };
    const jobs = [{ endpoint: 'shops', dataType: 'shops', children: [child] }];
    const folder = dataFolder(configOf(api, jobs, { api: { http: { concurrency: 2 } } }));
    await run({ dataFolder: folder, log: silentLog });
    expect(events.indexOf('b create')).toBeLessThan(events.indexOf('a file'));
    expect(filesOf(path.join(folder, 'out/tables'))['library.sales']).toBe(
      '"of","parent_id"\n"a","a"\n"b","b"\n"c","c"\n',
    );
  });

  test('with --limit, the pages of all files count, and the verdict says that it was cut', async () => {
    const api = await startApi(({ url }, response) => {
      if (url.pathname === '/exports') return json(response, { files: ['f/1', 'f/2', 'f/3'] });
      return response.writeHead(200, { 'Content-Type': 'text/csv' }).end(`id\n${url.pathname.slice(-1)}\n`);
    });
    const exporting = { download: { from: 'files' } };
    const folder = dataFolder(
      configOf(api, [{ endpoint: 'exports', dataType: 'orders', export: exporting }]),
    );
    const done = await run({ dataFolder: folder, log: silentLog, limit: 2 });
    expect(orders(folder)).toBe('"id"\n"1"\n"2"\n');
    expect(done.rows.flatMap(({ jobs }) => jobs.map(({ verdict }) => verdict))).toEqual(['cut']);
    await run({ dataFolder: folder, log: silentLog });
    expect(orders(folder)).toBe('"id"\n"1"\n"2"\n"3"\n');
  });
});

describe('what is wrong with an export is said before anything is asked for', () => {
  test.each([
    [{ poll: { endpoint: 'x' } }, 'until'],
    [{ poll: { endpoint: 'x', until: { value: 'a', is: 'equal', than: 1 } } }, 'Did you mean “equals”?'],
    [{ poll: { ...job.export.poll, every: 'often' } }, 'A time is expected here, not “often”'],
    [{ pol: {} }, 'Did you mean “poll”?'],
    [{ download: { form: 'url' } }, '“endpoint” is missing'],
    [{ address: { endpoint: 'x' } }, 'neither how it is asked for nor how it is waited for'],
  ])('%j', async (settings, message) => {
    const folder = folderFor({ url: 'http://127.0.0.1:9/', seen: [] }, { export: settings });
    const error: unknown = await run({ dataFolder: folder, log: silentLog, env: clock() }).catch(
      (caught: unknown) => caught,
    );
    const { message: text, hint } = error as { message: string; hint?: string }; // the runner throws nothing else
    expect(`${text} ${hint ?? ''}`).toContain(message);
  });
});

const files =
  (...paths: readonly string[]) =>
  async (said: object): Promise<string> => {
    const api: Api = await startApi(({ url }, response) => {
      if (url.pathname === '/exports') return json(response, { id: 1, next: '/exports/1' }, 202);
      if (url.pathname === '/exports/1')
        return json(response, {
          id: 1,
          state: 'done',
          url: paths.map((file) => `${api.url}${file}`),
          ...said,
        });
      if (url.pathname === '/none') return response.writeHead(204).end();
      if (url.pathname === '/empty') return response.writeHead(200, { 'Content-Type': 'text/csv' }).end();
      const from = Number(/\d+/.exec(url.pathname)?.[0]);
      return response
        .writeHead(200, { 'Content-Type': 'text/csv' })
        .end(`id,name\n${from},a\n${from + 1},b\n`);
    });
    const { rows } = await run({ dataFolder: folderFor(api), log: silentLog, env: clock() });
    const report = rows[0]?.jobs[0];
    const codes = report?.doubtful.flatMap(({ doubts }) => doubts.map(({ code }) => code)) ?? [];
    return [report?.verdict, ...codes].join(' ');
  };

describe('what is said of an export', () => {
  const two = files('files/1', 'files/3');

  test.each<[string, object, string]>([
    ['nothing', {}, 'complete'],
    ['as many rows as there are', { recordCount: 4, rows: 4, total_rows: 4 }, 'complete'],
    ['more rows than there are', { recordCount: 5 }, 'doubtful totalAbove'],
    ['other things', { objectCount: 9, total_count: 9, numberRecordsProcessed: 9 }, 'complete'],
    ['more rows than there are, further down', { file: { rowCount: 5 } }, 'doubtful totalAbove'],
    ['steps', { progress: { done: 9, total: 9 }, total: 9, total_files: 9 }, 'complete'],
    ['an error', { errors: [{ message: 'shard 4' }] }, 'doubtful error'],
    ['no error', { errors: [], error: null, has_errors: false, code: 500 }, 'complete'],
    ['a part', { partial: true }, 'doubtful partial'],
    ['further files', { next_url: '/exports/1?page=2' }, 'doubtful nextPage'],
    ['that it was cut', { truncated: true }, 'doubtful moreFlag'],
    ['no more', { truncated: false, next_url: null, partial: false }, 'complete'],
  ])('by the API: %s', async (_what, said, verdict) => {
    expect(await two(said)).toBe(verdict);
  });

  test.each<[string, object, string]>([
    ['nothing', {}, 'ended'],
    ['rows', { rowCount: 5 }, 'doubtful totalAbove'],
    ['records', { records: { total: 5 } }, 'doubtful totalAbove'],
    ['objects', { objectCount: '5' }, 'doubtful totalAbove'],
    ['records that were processed', { numberRecordsProcessed: 5 }, 'doubtful totalAbove'],
    ['a total', { total_count: 5 }, 'doubtful totalAbove'],
    ['rows with separators', { numRows: '1,023' }, 'doubtful totalAbove'],
    ['no rows', { rowCount: 0, objectCount: 0 }, 'ended'],
    ['files, bytes and failures', { file_count: 1, total_size: 9, records_failed: 3, count: 1 }, 'ended'],
    ['steps', { progress: { total: 9 }, total: 9 }, 'ended'],
  ])('of an empty file: %s', async (_what, said, verdict) => {
    expect(await files('empty')(said)).toBe(verdict);
    expect(await files('none')(said)).toBe(verdict);
  });

  test('a file that comes twice is a doubt', async () => {
    expect(await files('files/1', 'files/3', 'files/1')({})).toBe('doubtful samePage');
  });
});
