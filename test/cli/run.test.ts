import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  configOf,
  dataFolder,
  filesOf,
  gex,
  gexHere,
  json,
  put,
  startApi,
  startGex,
  type Api,
} from './support.ts';
import { MAIN } from '../support/command.ts';

const library = (): Promise<Api> =>
  startApi(({ url }, response) => {
    const page = Number(url.searchParams.get('page') ?? 1);
    if (url.pathname === '/login') json(response, { token: 'login-answer' });
    else if (url.pathname === '/broken') response.end('<html>');
    else json(response, page > 3 ? [] : [{ id: page * 2 - 1 }, { id: page * 2 }]);
  });

const row = (id: string, endpoint: string): object => ({
  id,
  configuration: { parameters: { config: { jobs: [{ endpoint }] } } },
});

const paged = { pagination: { method: 'pagenum', firstPageParams: true } };

describe.concurrent('gex run', () => {
  test('prints the tables on stdout, and how it went on stderr', async ({ expect }) => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }], { api: paged }));
    const { code, stdout, stderr } = await gex('run', '--storage', 'none', '--data', folder);
    const file = path.join(folder, 'out/tables/library.books');
    // Relative to a checkout that lies beside the folder.
    expect(
      [file, path.relative('', file)].map(
        (shown) => `table          rows  file\nlibrary.books     6  ${shown}\n`,
      ),
    ).toContain(stdout);
    expect(stderr).toMatch(
      /^\S+Z INFO “books” ended after 4 pages, 6 rows, [\d,]+ rows?\/s, 59 B: .*\{"job":"books","pages":4,"rows":6,"bytes":59,"ms":\d+\}\n$/,
    );
    expect(code).toBe(0);
  });

  test('--json prints the result for scripts, --log-format json the log', async ({ expect }) => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    const { stdout, stderr } = await gex(
      'run',
      '--storage=none',
      `--data=${folder}`,
      '--json',
      '--log-format',
      'json',
    );
    expect(JSON.parse(stdout)).toEqual({
      status: 'success',
      rows: [
        {
          out: path.join(folder, 'out'),
          rows: 2,
          jobs: [expect.objectContaining({ job: 'books', verdict: 'ended', rows: 2 })],
          tables: [{ name: 'library.books', rows: 2, file: path.join(folder, 'out/tables/library.books') }],
        },
      ],
    });
    expect(JSON.parse(stderr)).toMatchObject({
      level: 'info',
      job: 'books',
      pages: 1,
      rows: 2,
    });
  });

  test('--json tells the error and the rows that are complete', { tags: 'thorough' }, async ({ expect }) => {
    const { parameters } = configOf(await library(), []) as { parameters: object };
    const folder = dataFolder({
      configuration: { parameters },
      rows: [row('a', 'books'), row('b', 'broken')],
    });
    const { code, stdout, stderr } = await gex('run', '--storage', 'none', '--data', folder, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'error',
      rows: [{ id: 'a', rows: 2 }],
      error: { code: 'response.notJson', where: { row: 'b', job: 'broken' } },
    });
    expect(stderr).toContain('error: The response is not JSON');
  });

  test('--limit ends each job after so many pages', { tags: 'thorough' }, async ({ expect }) => {
    const api = await library();
    const folder = dataFolder(configOf(api, [{ endpoint: 'books' }], { api: paged }));
    const { stderr } = await gex('run', '--storage', 'none', '--data', folder, '--limit', '2');
    expect(api.seen).toEqual(['GET /books?page=1', 'GET /books?page=2']);
    expect(stderr).toContain('the limit of 2 pages is reached');
  });

  test('--row and --reset-state choose and begin anew', async ({ expect }) => {
    const { parameters } = configOf(await library(), [{ endpoint: 'books' }]) as { parameters: object };
    const folder = dataFolder({
      configuration: { parameters },
      rows: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
    });
    const { code, stdout, stderr } = await gex(
      'run',
      '--storage=none',
      '--data',
      folder,
      '--row',
      'c',
      '--row',
      'a',
      '--reset-state',
    );
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(/\s+/).slice(0, 3).join(' '))).toEqual([
      'row table rows',
      'a library.books 2',
      'c library.books 2',
      '',
    ]);
    expect(stderr).toContain('The state is reset');
  });

  test('--dry-run shows the first requests, without secrets, and sends and writes nothing', async ({
    expect,
  }) => {
    const api = await library();
    const folder = dataFolder(
      configOf(
        api,
        [
          {
            endpoint: 'books',
            params: { lang: 'en' },
            children: [{ endpoint: 'books/{id}/loans', placeholders: { id: 'id' }, params: { of: '{id}' } }],
          },
          { endpoint: 'search', method: 'POST', params: { key: { attr: '#key' }, text: 'a' } },
        ],
        { api: paged, config: { '#key': 'swordfish', http: { headers: { 'X-Key': 'swordfish' } } } },
      ),
    );
    const { code, stdout } = await gex('run', '--storage', 'none', '--data', folder, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain(`GET ${api.url}books?lang=en&page=1\n  X-Key: ***\n`);
    expect(stdout).toContain(
      'child books/{id}/loans (parameters.config.jobs[0].children[0]), for each row\n    GET books/{id}/loans\n    parameters {"of":"{id}"}',
    );
    expect(stdout).toContain(`POST ${api.url}search\n`);
    expect(stdout).toContain('{"key":"***","text":"a","page":1}');
    expect(stdout).not.toContain('swordfish');
    expect(api.seen).toEqual([]);
    expect(Object.keys(filesOf(folder))).toEqual(['config.json']);
  });

  test('--dry-run shows a login and does not send it', async ({ expect }) => {
    const api = await library();
    const authentication = {
      type: 'login',
      loginRequest: { endpoint: 'login', method: 'POST', params: { password: { attr: '#password' } } },
      apiRequest: { headers: { 'X-Token': { response: 'token' } } },
    };
    const folder = dataFolder(
      configOf(api, [{ endpoint: 'books' }], {
        api: { authentication },
        config: { '#password': 'swordfish' },
      }),
    );
    const { stdout } = await gex('run', '--storage', 'none', '--data', folder, '--dry-run');
    expect(stdout).toContain(`login first:\n  POST ${api.url}login\n`.replaceAll('\n', '\n  ').trimEnd());
    expect(stdout).toContain('then, with what the login answers:');
    expect(stdout).toContain(`GET ${api.url}books`);
    expect(stdout).not.toContain('swordfish');
    expect(api.seen).toEqual([]);
  });

  test('secrets never show, not even in a detailed log', async ({ expect }) => {
    const config = {
      '#key': 'swordfish',
      http: { headers: { 'X-Plain': { function: 'concat', args: ['a ', { attr: '#key' }] } } },
    };
    const folder = dataFolder(
      configOf(await library(), [{ endpoint: 'broken', params: { q: { attr: '#key' } } }], { config }),
    );
    const { code, stdout, stderr } = await gex(
      'run',
      '--storage',
      'none',
      '--data',
      folder,
      '--log-level',
      'debug',
    );
    expect(code).toBe(1);
    expect(stderr).toContain('DEBUG GET');
    expect(stderr).toContain('/broken?q=***');
    expect(stdout + stderr).not.toContain('swordfish');
  });

  test(
    'a warning about the configuration is given once, and with --strict it ends the run',
    { tags: 'thorough' },
    async ({ expect }) => {
      const api = await library();
      const folder = dataFolder(configOf(api, [{ endpoint: 'books', datatype: 'x' }]));
      const lax = await gex('run', '--storage', 'none', '--data', folder);
      expect(lax.code).toBe(0);
      expect(lax.stderr.match(/`datatype` is no known key/g)).toHaveLength(1);
      expect(lax.stderr).toContain('Did you mean `dataType`?');
      const strict = await gex('run', '--storage', 'none', '--data', folder, '--strict');
      expect(strict.code).toBe(1);
      expect(strict.stderr).toMatch(/config\.json:\d+:\d+ error parameters\.config\.jobs\[0\]\.datatype/);
      expect(api.seen).toHaveLength(1);
    },
  );

  test('a reader that goes away early is no error', async ({ expect }) => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    const { spawn } = await import('node:child_process');
    const child = spawn(process.execPath, [MAIN, 'run', '--storage', 'none', '--data', folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(stderr).not.toContain('EPIPE');
    expect(code).toBe(0);
  });
});

test('a second run over the same folder is told who is running', async () => {
  const { promise: waiting, resolve: arrived } = Promise.withResolvers<void>();
  const api = await startApi(() => arrived());
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
  const first = startGex(['run', '--storage', 'none', '--data', folder]);
  await waiting;
  const second = await gex('run', '--storage', 'none', '--data', folder);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain(`Process ${first.pid} on`);
  expect(second.stderr).toContain('gex run --storage none --data');
  first.kill('SIGTERM');
  expect((await first.ended).code).toBe(143);
});

test('a state that is ahead of the clock is told and kept, and an error with --strict', async () => {
  const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
  const previousStart = Math.floor(Date.now() / 1000) + 300;
  const state = JSON.stringify({ time: { previousStart } });
  put(folder, 'in/state.json', state);
  const strict = await gexHere('run', '--data', folder, '--storage', 'none', '--strict');
  expect(strict).toMatchObject({ code: 1 });
  expect(strict.stderr).toContain('ahead of the clock');
  expect(api.seen).toHaveLength(0);
  const { code, stderr } = await gexHere('run', '--data', folder, '--storage', 'none');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toContain('what came since the true time of that run stays unasked: to ask for it');
  const kept = JSON.parse(filesOf(path.join(folder, 'in'))['state.json'] ?? '') as object;
  expect(kept).toMatchObject({ time: { previousStart } });
});
