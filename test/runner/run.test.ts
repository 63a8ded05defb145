import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ExtractorError } from '../../src/lib/errors.ts';
import { silentLog, type Log } from '../../src/lib/log.ts';
import { run, type FolderRunOptions } from '../../src/runner/run.ts';
import { component, configOf, dataFolder, filesOf, json, put, startApi, type Api } from '../cli/support.ts';

/** An API of a library: every path gives one record that names it; `broken` is no JSON. */
const library = (): Promise<Api> =>
  startApi(({ url }, response) => {
    if (url.pathname === '/broken') response.end('<html>');
    else json(response, [{ id: 1, path: url.pathname, since: url.searchParams.get('since') ?? '' }]);
  });

function start(folder: string, options: Partial<FolderRunOptions> = {}): ReturnType<typeof run> {
  return run({ dataFolder: folder, log: silentLog, ...options });
}

async function failure(promise: Promise<unknown>): Promise<ExtractorError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ExtractorError) return error;
  throw new Error(`an error for people was expected, not ${String(error)}`);
}

function linesOf(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const add = (message: string): void => void lines.push(message);
  return { lines, log: { debug: () => {}, info: add, warn: add, error: add } };
}

const row = (id: string, endpoint: string, more: object = {}): object => ({
  id,
  configuration: { parameters: { config: { jobs: [{ endpoint, dataType: 'books' }] } } },
  ...more,
});

async function resource(rows: readonly object[], more: object = {}): Promise<{ api: Api; folder: string }> {
  const api = await library();
  const root = {
    parameters: {
      api: { baseUrl: api.url, retryConfig: { maxRetries: 0 } },
      config: { outputBucket: 'library' },
    },
  };
  return { api, folder: dataFolder({ configuration: root, rows, ...more }) };
}

describe('a configuration without rows', () => {
  test('writes tables, manifests and the state into out/, and leaves nothing else behind', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    const { rows } = await start(folder);
    expect(rows).toMatchObject([
      { out: path.join(folder, 'out'), rows: 1, tables: [{ name: 'library.books', rows: 1 }] },
    ]);
    const files = filesOf(folder);
    expect(Object.keys(files)).toEqual([
      'config.json',
      'in/state.json',
      'out/report.json',
      'out/state.json',
      'out/tables/library.books',
      'out/tables/library.books.manifest',
    ]);
    expect(files['out/tables/library.books']).toBe('"id","path","since"\n"1","/books",""\n');
    expect(files['in/state.json']).toBe(files['out/state.json']);
  });

  test('the state of a run is the input of the next one, and the last output is kept aside', async () => {
    const since = { function: 'concat', args: ['t', { time: 'previousStart' }] };
    const api = await library();
    const folder = dataFolder(configOf(api, [{ endpoint: 'books', params: { since } }]));
    const env = { now: () => 1_000_000, randomBytes: () => new Uint8Array(), sleep: async () => {} };
    await start(folder, { env });
    const first = filesOf(path.join(folder, 'out'));
    await start(folder, { env });
    expect(api.seen).toEqual(['GET /books?since=t0', 'GET /books?since=t1000']);
    expect(filesOf(path.join(folder, 'out.previous'))).toEqual(first);
    await start(folder, { env, resetState: true });
    expect(api.seen.at(-1)).toBe('GET /books?since=t0');
    await start(folder, { env, limit: 1 });
    expect(filesOf(folder)['in/state.json']).toContain('1000');
  });

  test('a clock that was set back does not move the state back', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    const env = { now: () => 1_000_000, randomBytes: () => new Uint8Array(), sleep: async () => {} };
    await start(folder, { env });
    await start(folder, { env: { ...env, now: () => 500_000 } });
    expect(filesOf(folder)['in/state.json']).toContain('"previousStart":1000}');
  });

  test('a run with a limit does not move the state on', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    const { log, lines } = linesOf();
    await start(folder, { limit: 1, log });
    expect(Object.keys(filesOf(folder))).not.toContain('in/state.json');
    expect(lines.join('\n')).toContain('A run with a limit is a trial');
  });

  test('a run that fails leaves no output, and the state as it was', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }, { endpoint: 'broken' }]));
    put(folder, 'in/state.json', '{"time":{"previousStart":5}}');
    put(folder, 'out/tables/old', 'x');
    await expect(start(folder)).rejects.toMatchObject({
      code: 'response.notJson',
      where: { job: 'broken', page: 1 },
    });
    expect(Object.keys(filesOf(folder))).toEqual(['config.json', 'in/state.json', 'out.previous/tables/old']);
    expect(filesOf(folder)['in/state.json']).toBe('{"time":{"previousStart":5}}');
  });

  test('what a killed run left behind is removed', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    put(folder, '.gex/run/work/bucket-0/half', 'x');
    put(folder, 'rows/gone/.gex/run/work/bucket-0/half', 'x');
    await start(folder);
    expect(Object.keys(filesOf(folder)).filter((name) => name.includes('.gex'))).toEqual([]);
  });

  test.for([
    ['wrapped', { component: { time: { previousStart: 7 } }, storage: {} }],
    ['bare', { time: { previousStart: 7 } }],
  ] as const)('a %s state in the configuration is used when there is no state file', async ([, state]) => {
    const api = await library();
    const inner = configOf(api, [{ endpoint: 'books', params: { since: { time: 'previousStart' } } }]);
    const folder = dataFolder({ configuration: inner, state });
    await start(folder);
    expect(api.seen).toEqual(['GET /books?since=7']);
    put(folder, 'in/state.json', '{}');
    await start(folder);
    expect(api.seen[1]).toBe('GET /books?since=0');
  });

  test.for([
    ['in/state.json', '[1, 2]', 'The state is not an object.'],
    ['in/state.json', '{"time": ', 'The state is not JSON.'],
    ['in/state.json', '', 'The state is not JSON.'],
    ['in/state.storage.json', '"x"', 'The state is not an object.'],
  ] as const)('%s with %s is refused, and begins no run anew', async ([file, text, message]) => {
    const api = await library();
    const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
    put(folder, file, text);
    const error = await failure(start(folder));
    expect(error).toMatchObject({
      code: 'config.invalid',
      message,
      where: { file: path.join(folder, file) },
    });
    expect(error.hint).toContain('--reset-state');
    expect(api.seen).toEqual([]);
    expect(filesOf(folder)[file]).toBe(text);
    await start(folder, { resetState: true });
    expect(filesOf(folder)['in/state.json']).toContain('previousStart');
  });

  test.for([
    [[1], 'The stored state is not an object.'],
    [{ component: 'x' }, 'The part “component” of the stored state is not an object.'],
    [{ component: {}, odd: 1 }, 'Invalid state: there is “odd” beside “component” and “storage”.'],
  ] as const)('the state %s of the configuration is refused, with its place', async ([state, message]) => {
    const { api, folder } = await resource([row('a', 'first'), row('b', 'second', { state })]);
    const error = await failure(start(folder, { rows: ['b'] }));
    expect(error).toMatchObject({ code: 'config.invalid', message });
    expect(error.where).toMatchObject({
      row: 'b',
      path: 'rows[1].state',
      file: expect.any(String) as unknown,
    });
    expect(api.seen).toEqual([]);
  });

  test.for([[{}], [[]], [null], [{ component: [], storage: {} }]] as const)(
    'the state %s is a first run',
    async ([state]) => {
      const { folder } = await resource([row('a', 'first', { state })]);
      expect(await start(folder)).toMatchObject({ rows: [{ id: 'a' }] });
    },
  );

  test('a later mistake shows the line of the configuration', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'broken' }]));
    const { where } = await failure(start(folder));
    const lines = readFileSync(path.join(folder, 'config.json'), 'utf8').split('\n');
    expect(lines[where.line ?? 0]).toContain('"endpoint": "broken"');
  });
});

describe('rows', () => {
  test('run in the order of rowsSortOrder, each in its own folder', async () => {
    const { api, folder } = await resource([row('a', 'first'), row('b', 'second'), row('c', 'third')], {
      rowsSortOrder: ['c', 'a'],
    });
    const { rows } = await start(folder);
    expect(api.seen).toEqual(['GET /third', 'GET /first', 'GET /second']);
    expect(rows.map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    expect(filesOf(folder)['rows/b/out/tables/library.books']).toContain('/second');
    expect(Object.keys(filesOf(folder)).filter((name) => name.startsWith('rows/a'))).toEqual([
      'rows/a/in/state.json',
      'rows/a/out/report.json',
      'rows/a/out/state.json',
      'rows/a/out/tables/library.books',
      'rows/a/out/tables/library.books.manifest',
    ]);
  });

  test('a disabled row is skipped with a line, and runs when it is named', async () => {
    const { api, folder } = await resource([row('a', 'first'), row('b', 'second', { isDisabled: true })]);
    const { log, lines } = linesOf();
    expect(await start(folder, { log })).toMatchObject({ skipped: ['b'], rows: [{ id: 'a' }] });
    expect(lines).toContain('Row “b” is disabled and is skipped');
    await start(folder, { rows: ['b'] });
    expect(api.seen).toEqual(['GET /first', 'GET /second']);
  });

  test('when all are disabled nothing runs, and that is no error', async () => {
    const { folder } = await resource([row('a', 'first', { isDisabled: true })]);
    expect(await start(folder)).toEqual({ rows: [], skipped: ['a'], limits: [] });
  });

  test('one that fails ends the run; the rows before it are complete, those behind it have not begun', async () => {
    const { api, folder } = await resource([row('a', 'first'), row('b', 'broken'), row('c', 'third')]);
    put(folder, 'rows/b/out/tables/old', 'x');
    const ended: (string | undefined)[] = [];
    const error = await failure(start(folder, { progress: { rowEnd: ({ id }) => ended.push(id) } }));
    expect(error).toMatchObject({ code: 'response.notJson', where: { row: 'b' } });
    expect(ended).toEqual(['a']);
    expect(api.seen).toEqual(['GET /first', 'GET /broken']);
    const names = Object.keys(filesOf(folder));
    expect(names).toContain('rows/a/in/state.json');
    expect(names.filter((name) => /^rows\/[bc]/.test(name))).toEqual(['rows/b/out.previous/tables/old']);
  });

  test('each has the state of its own last run', async () => {
    const { api, folder } = await resource([
      row('a', 'first', { state: { component: { time: { previousStart: 3 } } } }),
      row('b', 'second'),
    ]);
    put(folder, 'rows/b/in/state.json', '{"time":{"previousStart":4}}');
    const { rows } = await start(folder, {
      env: { now: () => 9000, randomBytes: () => new Uint8Array(), sleep: async () => {} },
    });
    expect(api.seen).toHaveLength(2);
    expect(rows.map(({ state }) => state)).toMatchObject([
      { time: { previousStart: 9 } },
      { time: { previousStart: 9 } },
    ]);
  });

  test('a row that is not there is refused, with a near miss', async () => {
    const { folder } = await resource([row('users', 'first')]);
    expect(await failure(start(folder, { rows: ['user'] }))).toMatchObject({
      message: 'There is no row “user”.',
      hint: 'Did you mean users?',
      where: { file: path.join(folder, 'config.json') },
    });
  });

  test('a mistake in a row that does not run is no hindrance', async () => {
    const { folder } = await resource([row('a', 'first'), row('b', '', { isDisabled: true })]);
    await expect(start(folder)).resolves.toMatchObject({ skipped: ['b'] });
    expect(await failure(start(folder, { rows: ['b'] }))).toMatchObject({ code: 'config.invalid' });
  });
});

describe('storage', () => {
  test('the row is filled before it runs and pushed behind it; its state moves on only then', async () => {
    const { folder } = await resource([row('a', 'first'), row('b', 'second')]);
    const steps: string[] = [];
    const storage: FolderRunOptions['storage'] = {
      name: () => 'steps',
      begin: async () => void steps.push('begin'),
      isPending: async () => false,
      pull: async ({ row: { id } }) => void steps.push(`pull ${id}`),
      seal: async ({ row: { id }, folder: { out } }) => void steps.push(`seal ${id} ${existsSync(out)}`),
      async push({ row: { id }, folder: { out, inState } }) {
        steps.push(`push ${id} ${Object.keys(filesOf(out)).length} ${existsSync(inState)}`);
        if (id === 'b') throw new ExtractorError('output.failed', 'the storage is away');
        return { pushed: { tables: [], files: [] }, remembered: undefined, movesState: true };
      },
      end: async ({ row: { id }, folder: { inState } }) =>
        void steps.push(`end ${id} ${existsSync(inState)}`),
    };
    await expect(start(folder, { storage })).rejects.toThrow('the storage is away');
    expect(steps.join(', ')).toBe(
      'begin, pull a, seal a false, push a 4 false, end a true, pull b, seal b false, push b 4 false',
    );
    expect(Object.keys(filesOf(folder)).filter((name) => name.includes('/in/'))).toEqual([
      'rows/a/in/state.json',
    ]);
  });
});

describe('secrets', () => {
  test('come from the environment, and all that are missing are named before anything runs', async () => {
    const api = await library();
    const jobs = [{ endpoint: 'books', params: { since: { attr: '#token' } } }];
    const folder = dataFolder(
      configOf(api, jobs, { config: { '#token': '$env:LIBRARY_TOKEN', '#other': '$env:LIBRARY_OTHER' } }),
    );
    const error = await failure(start(folder, { environment: {} }));
    expect(error.message).toContain('LIBRARY_TOKEN is not set');
    expect(error.message).toContain('LIBRARY_OTHER is not set');
    expect(api.seen).toEqual([]);
    await start(folder, { environment: { LIBRARY_TOKEN: 'swordfish', LIBRARY_OTHER: 'x' } });
    expect(api.seen).toEqual(['GET /books?since=swordfish']);
  });
});

test('an aborted run ends with run.interrupted', async () => {
  const controller = new AbortController();
  const api = await startApi(() => controller.abort());
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
  expect(await failure(start(folder, { signal: controller.signal }))).toMatchObject({
    code: 'run.interrupted',
  });
  expect(Object.keys(filesOf(folder))).toEqual(['config.json']);
});

test('the component entrypoint only warns of a state that is none', async () => {
  const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
  put(folder, 'in/state.json', '[1]');
  const { code, stdout, stderr } = await component(folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('is not an object and is ignored');
});

test('the component entrypoint reads the same folder without moving anything', async () => {
  const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
  put(folder, 'in/state.json', '{"a":1}');
  put(folder, 'out/files/kept', 'x');
  expect(await component(`${folder}/`)).toMatchObject({ code: 0, stderr: '' });
  const files = filesOf(folder);
  expect(files['in/state.json']).toBe('{"a":1}');
  expect(Object.keys(files)).toEqual(
    expect.arrayContaining(['out/files/kept', 'out/state.json', 'out/tables/library.books']),
  );
});
