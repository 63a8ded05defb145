import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../src/lib/env.ts';
import { silentLog, type Log } from '../../src/lib/log.ts';
import type { RowPlace } from '../../src/runner/row-place.ts';
import type { Storage } from '../../src/runner/storage.ts';
import { run, type FolderRunOptions } from '../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, put, startApi, startGex, type Api } from '../cli/support.ts';

interface Library extends Api {
  isDown: boolean;
}

/** An API of `first`, `second` and `third`, each of two pages; the second one may be down behind its first page. */
async function library(): Promise<Library> {
  const state = { isDown: false };
  const api = await startApi(({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    if (state.isDown && url.pathname === '/second' && page === 2) return json(response, {}, 404);
    json(response, page > 2 ? [] : [{ id: `${url.pathname}-${page}`, since: url.searchParams.get('since') }]);
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

function row(endpoint: string, more: object = {}): object {
  const params = { since: { time: 'previousStart' } };
  const job = { endpoint, dataType: 'books', params, ...more };
  return { id: endpoint, configuration: { parameters: { config: { jobs: [job] } } } };
}

const ROWS = [row('first'), row('second'), row('third')];

function folderFor(api: Api, rows: readonly object[] = ROWS): string {
  const configuration = configOf(api, [], { api: { pagination: { method: 'pagenum' } } });
  const folder = dataFolder({ configuration, rows });
  for (const id of ['first', 'second', 'third'])
    put(folder, `rows/${id}/in/state.json`, '{"time":{"previousStart":7}}');
  return folder;
}

const start = (folder: string, options: Partial<FolderRunOptions> = {}): ReturnType<typeof run> =>
  run({ dataFolder: folder, log: silentLog, ...options });

async function stopped(folder: string, api: Library, options: Partial<FolderRunOptions> = {}): Promise<void> {
  api.isDown = true;
  await expect(start(folder, options)).rejects.toThrow('404');
  api.isDown = false;
}

function lines(): { log: Log; text: () => string } {
  const all: string[] = [];
  const add = (message: string): void => void all.push(message);
  return { text: () => all.join('\n'), log: { debug: () => {}, info: add, warn: add, error: add } };
}

/** Returns the requests that a run makes. */
async function asked(api: Library, work: () => Promise<unknown>): Promise<string> {
  const before = api.seen.length;
  await work();
  return api.seen
    .slice(before)
    .map((line) => line.replace(/^GET \/|since=\d+&|\?/g, ''))
    .join(' ');
}

const SECOND_AND_THIRD = 'secondpage=2 secondpage=3 thirdpage=1 thirdpage=2 thirdpage=3';
const ALL = `firstpage=1 firstpage=2 firstpage=3 secondpage=1 ${SECOND_AND_THIRD}`;

describe('a run over several rows that was stopped', () => {
  test.for(['command', 'component'] as const)(
    'does not run the rows again that had ended, as %s',
    async (manner) => {
      const api = await library();
      const folder = folderFor(api);
      await stopped(folder, api, { manner });
      const before = filesOf(path.join(folder, 'rows', 'first', 'out'));
      const { log, text } = lines();
      let rows: unknown;
      const again = await asked(api, async () => ({ rows } = await start(folder, { manner, log })));
      expect(again).toBe(SECOND_AND_THIRD);
      expect(filesOf(path.join(folder, 'rows', 'first', 'out'))).toEqual(before);
      expect(text()).toMatch(/This row had ended in the run that was begun at .* it is not run again/);
      expect(rows).toMatchObject(
        ['first', 'second', 'third'].map((id) => ({
          id,
          rows: 2,
          tables: [{ name: 'library.books', rows: 2 }],
          jobs: [{ verdict: 'ended' }],
        })),
      );
      expect(Object.keys(filesOf(folder)).filter((name) => name.includes('.gex'))).toEqual([]);
      expect(await asked(api, async () => await start(folder, { manner }))).toBe(ALL);
    },
  );

  test('runs them again when it is asked to, or when they are others', { tags: 'thorough' }, async () => {
    const api = await library();
    const folder = folderFor(api);
    const whole = async (options: Partial<FolderRunOptions>, message?: string): Promise<void> => {
      const { log, text } = lines();
      expect(await asked(api, async () => await start(folder, { ...options, log }))).toMatch(
        /^firstpage=1 firstpage=2 firstpage=3 second/,
      );
      if (message !== undefined) expect(text()).toContain(message);
    };
    await stopped(folder, api);
    await whole({ resume: { restart: true } });
    await stopped(folder, api);
    await whole({ resume: false });
    await stopped(folder, api);
    await whole({ resetState: true });
    await stopped(folder, api);
    await whole({ resume: { withinMs: -1 } }, 'and runs again: that is');
    await stopped(folder, api);
    rmSync(path.join(folder, 'rows', 'first', 'out'), { recursive: true });
    await whole({});
    await stopped(folder, api);
    put(folder, 'rows/first/in/state.json', '{}');
    await whole({}, 'and runs again: the state has changed since');
    await stopped(folder, api);
    writeFileSync(path.join(folder, 'rows', 'first', '.gex', 'ended.json'), '{"run": "');
    await whole({});
    await stopped(folder, api);
    const text = readFileSync(path.join(folder, 'config.json'), 'utf8');
    writeFileSync(path.join(folder, 'config.json'), text.replace('"dataType": "books"', '"dataType": "b"'));
    await whole({}, 'and runs again: the configuration has changed since');
  });

  test('a change of a row that had not ended leaves those alone that had', async () => {
    const api = await library();
    const folder = folderFor(api);
    await stopped(folder, api);
    const text = readFileSync(path.join(folder, 'config.json'), 'utf8');
    writeFileSync(
      path.join(folder, 'config.json'),
      text.replace('"endpoint": "second"', '"endpoint": "2nd"'),
    );
    const again = await asked(api, async () => await start(folder));
    expect(again).toBe('2ndpage=1 2ndpage=2 2ndpage=3 thirdpage=1 thirdpage=2 thirdpage=3');
  });

  test('one of the rows, and a trial, run when they are asked for', async () => {
    const api = await library();
    const folder = folderFor(api);
    await stopped(folder, api);
    const one = await asked(api, async () => await start(folder, { rows: ['first'] }));
    expect(one).toBe('firstpage=1 firstpage=2 firstpage=3');
    await start(folder, { limit: 1 });
    const all = await asked(api, async () => await start(folder));
    expect(all).toContain('firstpage=3');
  });

  test('pushes nothing twice, and lists all rows in the end', { tags: 'thorough' }, async () => {
    const api = await library();
    const folder = folderFor(api);
    api.isDown = true;
    const args = ['run', '--data', folder, '--json'];
    expect((await startGex(args).ended).code).not.toBe(0);
    api.isDown = false;
    let ended = { stdout: '', code: -1 as number | null };
    const again = await asked(api, async () => (ended = await startGex(args).ended));
    expect(again).toBe(SECOND_AND_THIRD);
    expect(ended.code).toBe(0);
    const { rows } = JSON.parse(ended.stdout) as {
      rows: { id: string; tables: { destination: string }[] }[];
    };
    expect(rows.map(({ id, tables }) => [id, tables[0]?.destination])).toEqual(
      ['first', 'second', 'third'].map((id) => [id, 'in.c-library.books']),
    );
    expect(existsSync(path.join(folder, '.gex', 'rows.json'))).toBe(false);
  });
});

/** A job that fills a period again, which moves no state. */
const PERIOD = { params: { since: { window: 'from' } }, windows: { from: '2026-01-01', format: 'Y-m-d' } };
const JUNE = { from: Date.parse('2026-06-01T00:00:00Z'), to: Date.parse('2026-06-02T00:00:00Z') };

/** A storage whose pushes fail as long as it is down. What is pushed is told by its row. */
function pushedTo(): Storage & { isDown: boolean; readonly pushes: (string | undefined)[] } {
  const pending = new Set<string | undefined>();
  const state = { isDown: false, pushes: [] as (string | undefined)[] };
  return Object.assign(state, {
    name: () => 'a storage',
    begin: async () => {},
    isPending: async ({ row: { id } }: RowPlace) => pending.has(id),
    pull: async () => {},
    seal: async ({ row: { id } }: RowPlace) => void pending.add(id),
    push: async ({ row: { id } }: RowPlace) => {
      if (state.isDown) throw new Error('the storage is down');
      state.pushes.push(id);
      return { pushed: { tables: [], files: [] }, remembered: undefined, movesState: true };
    },
    end: async ({ row: { id } }: RowPlace) => void pending.delete(id),
  });
}

describe('a run with a name', () => {
  const ONE = 'firstpage=1 firstpage=2 firstpage=3';

  test('is not run again when all of it had ended, whatever was edited since', async () => {
    const api = await library();
    const folder = folderFor(api, [row('first')]);
    await start(folder, { id: 'a' });
    const later: Env = { ...systemEnv, now: () => Date.now() + 100 * 86_400_000 };
    const text = readFileSync(path.join(folder, 'config.json'), 'utf8');
    writeFileSync(path.join(folder, 'config.json'), text.replace('"dataType": "books"', '"dataType": "b"'));
    const { log, text: said } = lines();
    expect(await asked(api, async () => await start(folder, { id: 'a', env: later, log }))).toBe('');
    expect(said()).toContain('This row had ended');
    expect(await asked(api, async () => await start(folder, { id: 'b' }))).toBe(ONE);
    expect(await asked(api, async () => await start(folder))).toBe(ONE);
  });

  test('of several rows goes on with one of another name, where that was stopped', async () => {
    const api = await library();
    const folder = folderFor(api);
    await stopped(folder, api, { id: 'a' });
    expect(await asked(api, async () => await start(folder, { id: 'b' }))).toBe(SECOND_AND_THIRD);
    expect(await asked(api, async () => await start(folder, { id: 'b' }))).toBe('');
  });

  test.for([{}, PERIOD])('pushes what was not pushed, and no more: %o', async (more) => {
    const api = await library();
    const folder = folderFor(api, [row('first', more)]);
    const storage = pushedTo();
    const options = { id: 'a', storage, ...('windows' in more ? { period: JUNE } : {}) };
    await start(folder, { ...options, id: 'before' });
    storage.isDown = true;
    await expect(start(folder, options)).rejects.toThrow('the storage is down');
    storage.isDown = false;
    expect(await asked(api, async () => await start(folder, options))).toBe('');
    expect(await asked(api, async () => await start(folder, options))).toBe('');
    expect(storage.pushes).toEqual(['first', 'first']);
  });
});

test('a row whose state stays is pushed once, when the run was stopped in its push', async () => {
  const api = await library();
  const folder = folderFor(api, [row('first', PERIOD), row('third', PERIOD)]);
  const storage = pushedTo();
  await start(folder, { storage, period: JUNE }); // the state has all that it is to have
  storage.isDown = true;
  await expect(start(folder, { storage, period: JUNE })).rejects.toThrow('the storage is down');
  storage.isDown = false;
  await start(folder, { storage, period: JUNE });
  expect(storage.pushes.slice(2)).toEqual(['first', 'third']);
});
