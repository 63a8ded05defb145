import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../src/lib/env.ts';
import { ExtractorError } from '../../src/lib/errors.ts';
import { silentLog, type Log } from '../../src/lib/log.ts';
import { run, type FolderRunOptions } from '../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, put, startApi, type Api } from '../cli/support.ts';

const BEGUN = Date.parse('2026-03-01T12:00:00Z');

/** A clock that stands until it is moved. */
function clock(): Env & { skip(ms: number): void } {
  let now = BEGUN;
  return {
    now: () => now,
    randomBytes: (count) => systemEnv.randomBytes(count),
    sleep: async () => {},
    skip: (ms) => void (now += ms),
  };
}

/** An API of 6 pages of 2 shelves, each with books in two pages. It refuses what `isDown` says. */
interface Library extends Api {
  /** The lines of what it answered. */
  readonly answered: string[];
  isDown: (line: string) => boolean;
  status: number;
}
async function library(): Promise<Library> {
  const answered: string[] = [];
  const state = { answered, isDown: (_line: string): boolean => false, status: 404 };
  const api = await startApi(({ method, url }, response) => {
    const line = `${method} ${url.pathname}${url.search}`;
    if (state.isDown(line)) return response.writeHead(state.status).end('<html>');
    answered.push(line);
    const page = Number(url.searchParams.get('page') ?? 1);
    const shelf = /^\/shelves\/(\d+)/.exec(url.pathname)?.[1];
    if (shelf !== undefined) {
      const rows = page > 2 ? [] : [{ id: `${shelf}-${page}`, since: url.searchParams.get('at') ?? '' }];
      return json(response, { data: rows });
    }
    const ids = page > 6 ? [] : [page * 2 - 1, page * 2];
    return json(response, { data: ids.map((id) => ({ id, ...(id === 11 ? { late: 'yes' } : {}) })) });
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

const userData = { loaded: { function: 'date', args: ['Y-m-d H:i:s'] } };
const books = {
  endpoint: 'shelves/{id}/books',
  dataType: 'books',
  dataField: 'data',
  placeholders: { id: 'id' },
  userData,
  params: { at: { function: 'date', args: ['H:i:s'] } },
};
const shelves = { endpoint: 'shelves', dataType: 'shelves', dataField: 'data', userData, children: [books] };

function folderFor(api: Api, concurrency = 1): string {
  return dataFolder(
    configOf(api, [shelves], {
      api: {
        http: { concurrency },
        retryConfig: { maxRetries: 0 },
        pagination: { method: 'pagenum' },
      },
    }),
  );
}

function start(folder: string, options: Partial<FolderRunOptions> = {}): ReturnType<typeof run> {
  return run({ dataFolder: folder, log: silentLog, ...options });
}

function lines(): { log: Log; text: () => string } {
  const all: string[] = [];
  const add = (message: string): void => void all.push(message);
  return { text: () => all.join('\n'), log: { debug: () => {}, info: add, warn: add, error: add } };
}

async function failure(promise: Promise<unknown>): Promise<ExtractorError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ExtractorError) return error;
  throw new Error(`an error for people was expected, not ${String(error)}`);
}

const HOUR = 3_600_000;

/** Starts a run that the API fails at a request. */
async function stopAt(
  wanted: string,
  folder: string,
  api: Library,
  options: Partial<FolderRunOptions> = {},
): Promise<ExtractorError> {
  let isOver = false;
  api.isDown = (line) => (isOver ||= line.startsWith(wanted));
  const error = await failure(start(folder, options));
  api.isDown = () => false;
  return error;
}

describe('a run that was stopped', () => {
  test.for([1, 4])('goes on where it was and asks for nothing again, concurrency %i', async (concurrency) => {
    const api = await library();
    const whole = folderFor(api, concurrency);
    const folder = folderFor(api, concurrency);
    await start(whole, { env: clock() });
    const undisturbed = [...api.answered];
    const env = clock();
    const stops = ['GET /shelves/3/books', 'GET /shelves/8/books', 'GET /shelves/12/books'];
    for (const wanted of stops) {
      expect((await stopAt(wanted, folder, api, { env })).message).toContain('404');
      expect(Object.keys(filesOf(folder))).toEqual(['config.json']);
    }
    const { log, text } = lines();
    await start(folder, { env, log });
    expect(text()).toMatch(/Going on after page [67] of “shelves”, begun at 2026-03-01 12:00:00 UTC/);
    const inParts = api.answered.slice(undisturbed.length);
    const repeated = inParts.length - new Set(inParts).size;
    expect(repeated).toBeLessThanOrEqual(stops.length * concurrency);
    // what is asked for ahead in vain depends on the moment
    if (concurrency === 1) expect([...new Set(inParts)].toSorted()).toEqual(undisturbed.toSorted());
    expect(filesOf(folder)).toEqual({ ...filesOf(whole), 'config.json': filesOf(folder)['config.json'] });
  });

  test('has the times of its beginning in its state, its requests and its columns', async () => {
    const api = await library();
    const folder = folderFor(api);
    const env = clock();
    await stopAt('GET /shelves/4/books', folder, api, { env });
    env.skip(2 * HOUR);
    const before = api.seen.length;
    await start(folder, { env });
    expect(api.seen[before]).toBe('GET /shelves/4/books?at=14%3A00%3A00&page=1');
    const files = filesOf(folder);
    const books = (files['out/tables/library.books'] ?? '').split('\n');
    expect(books[1]).toContain('"1-1","12:00:00","2026-03-01 12:00:00"');
    expect(books.find((line) => line.startsWith('"4-1"'))).toContain('"14:00:00","2026-03-01 14:00:00"');
    expect(files['out/tables/library.shelves']).not.toContain('14:00');
    expect(JSON.parse(files['in/state.json'] ?? '')).toMatchObject({ time: { previousStart: BEGUN / 1000 } });
  });

  test('asks again for an answer that it could not use', async () => {
    const api = await library();
    const folder = folderFor(api);
    api.isDown = (line) => line.startsWith('GET /shelves?page=3');
    api.status = 200;
    expect((await failure(start(folder))).code).toBe('response.notJson');
    api.isDown = () => false;
    const before = api.seen.length;
    await stopAt('GET /shelves?page=5', folder, api);
    expect(api.seen[before]).toBe('GET /shelves?page=3');
    const again = api.seen.length;
    await start(folder);
    expect(api.seen[again]).toBe('GET /shelves?page=5');
  });

  test('goes on twice behind an end that was not whole', async () => {
    const api = await library();
    const folder = folderFor(api);
    await stopAt('GET /shelves?page=4', folder, api);
    const file = path.join(folder, '.gex', 'unfinished.recording');
    truncateSync(file, statSync(file).size - 10);
    await stopAt('GET /shelves?page=5', folder, api);
    const before = api.seen.length;
    await start(folder);
    expect(api.seen[before]).toBe('GET /shelves?page=5');
  });

  test('an API that refuses to go on: the message offers to begin the job or all anew, and both do', async () => {
    const api = await library();
    const folder = folderFor(api);
    await stopAt('GET /shelves?page=4', folder, api, { env: clock() });
    api.isDown = (line) => line === 'GET /shelves?page=4';
    api.status = 410;
    const error = await failure(start(folder, { env: clock() }));
    expect(error.code).toBe('run.refused');
    expect(error.message).toContain(
      'to go on after page 3 of “shelves”, and the API refused that. The API answered 410 Gone',
    );
    expect(error.hint).toContain('--restart-job shelves, or all with --restart');
    api.isDown = () => false;
    const before = api.seen.length;
    await expect(start(folder, { env: clock(), resume: { restart: ['books'] } })).rejects.toThrow(
      'no answers of a job “books”',
    );
    await start(folder, { env: clock(), resume: { restart: ['shelves'] } });
    expect(api.seen[before]).toBe('GET /shelves?page=1');
  });

  test('begins anew when it is asked to', async () => {
    const api = await library();
    const folder = folderFor(api);
    await stopAt('GET /shelves?page=4', folder, api);
    const before = api.seen.length;
    const { log, text } = lines();
    await start(folder, { resume: { restart: true }, log });
    expect(api.seen[before]).toBe('GET /shelves?page=1');
    expect(text()).toContain('A new run begins, and does not go on with the run that was begun at');
  });

  test('is not gone on with after a day, or when configuration, state or version are others', async () => {
    const api = await library();
    const folder = folderFor(api);
    const env = clock();
    const config = path.join(folder, 'config.json');
    const text = readFileSync(config, 'utf8');
    const begunAnew = async (change: () => void): Promise<string> => {
      await stopAt('GET /shelves?page=4', folder, api, { env });
      change();
      const before = api.seen.length;
      const log = lines();
      await stopAt('GET /shelves?page=2', folder, api, { env, log: log.log });
      expect(api.seen[before]).toBe('GET /shelves?page=1');
      await start(folder, { env, resume: false });
      writeFileSync(config, text);
      return log.text();
    };
    expect(await begunAnew(() => env.skip(25 * HOUR))).toContain('its last answer is 25 hours old');
    expect(
      await begunAnew(() =>
        put(folder, 'config.json', text.replace('"dataField": "data"', '"dataField": "data", "id": "s"')),
      ),
    ).toContain('the configuration has changed since, first at “parameters.config.jobs[0]');
    expect(await begunAnew(() => put(folder, 'in/state.json', '{"time":{"previousStart":7}}'))).toContain(
      'the state has changed since',
    );
  });

  test('an end of the recording that is not whole is cut off, and a damaged beginning is said to be so', async () => {
    const api = await library();
    const folder = folderFor(api);
    const file = path.join(folder, '.gex', 'unfinished.recording');
    await stopAt('GET /shelves?page=4', folder, api);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length - 500));
    const first = lines();
    await stopAt('GET /shelves?page=5', folder, api, { log: first.log });
    expect(first.text()).toContain('The end of the recording was not whole');
    writeFileSync(file, Buffer.concat([Buffer.from('x'), readFileSync(file)]));
    const second = lines();
    await start(folder, { log: second.log });
    expect(second.text()).toContain('cannot be read: it is damaged, or of another version. A new run begins');
  });

  test('a trial leaves it alone', async () => {
    const api = await library();
    const folder = folderFor(api);
    await stopAt('GET /shelves?page=4', folder, api);
    await start(folder, { limit: 1 });
    const before = api.seen.length;
    await start(folder);
    expect(api.seen[before]).toBe('GET /shelves?page=4');
  });

  test('leaves nothing to go on with when that is not wanted', async () => {
    const api = await library();
    const folder = folderFor(api);
    await stopAt('GET /shelves?page=4', folder, api, { resume: false });
    expect(existsSync(path.join(folder, '.gex'))).toBe(false);
    await start(folder, { resume: false });
    expect(existsSync(path.join(folder, '.gex'))).toBe(false);
  });

  test('in a container that keeps its folder goes on, and leaves no recording in the end', async () => {
    const api = await library();
    const folder = folderFor(api);
    const env = clock();
    await stopAt('GET /shelves?page=4', folder, api, { manner: 'component', env });
    const before = api.seen.length;
    await start(folder, { manner: 'component', env });
    expect(api.seen[before]).toBe('GET /shelves?page=4');
    expect(existsSync(path.join(folder, '.gex'))).toBe(false);
  });
});

describe('a recording', () => {
  test('holds no secret, and nobody else may read it', async () => {
    const api = await startApi(({ url }, response) =>
      url.pathname === '/login'
        ? json(response, { token: 'from-the-login' })
        : response.setHeader('Set-Cookie', 'session=from-a-cookie') && json(response, [{ id: 1 }]),
    );
    const folder = dataFolder(
      configOf(
        api,
        [
          {
            endpoint: 'books',
            method: 'POST',
            params: { key: { attr: '#key' }, password: 'in-the-open' },
            headers: { 'X-Key': { attr: '#key' } },
          },
        ],
        {
          api: {
            authentication: {
              type: 'login',
              format: 'json',
              loginRequest: { endpoint: 'login' },
              apiRequest: { headers: { 'X-Token': 'token' }, query: { token: 'token' } },
            },
          },
          config: { '#key': 'of-the-configuration' },
        },
      ),
    );
    await start(folder);
    const file = path.join(folder, '.gex', 'last.recording');
    const text = readFileSync(file, 'latin1');
    expect(text).toContain('"status":200');
    for (const secret of ['from-the-login', 'from-a-cookie', 'of-the-configuration', 'in-the-open'])
      expect(text).not.toContain(secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
