import { chmodSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, test, type ExpectStatic } from 'vitest';
import {
  configOf,
  dataFolder,
  filesOf,
  gex,
  json,
  put,
  startApi,
  startGex,
  type Api,
  type Ended,
} from './support.ts';

/** An API where all goes wrong, each path in its own way. */
const broken = (): Promise<Api> =>
  startApi(({ url }, response) => {
    const [, kind, status] = url.pathname.split('/');
    if (kind === 'status') response.writeHead(Number(status), { 'Retry-After': '0' }).end('{"error":"no"}');
    else if (kind === 'html') response.end('<!doctype html><p>Please log in');
    else if (kind === 'scalar') json(response, 42);
    else if (kind === 'change') json(response, [{ author: 'A' }, { author: { name: 'B' } }]);
    else if (kind === 'many')
      json(
        response,
        Array.from({ length: 3000 }, (_, id) => ({ id, text: 'x'.repeat(100), tags: [id] })),
      );
    else if (kind !== 'hangs') json(response, [{ id: 1 }]);
  });

/** Runs one job after a good one: nothing of either may be left. */
async function runJob(
  job: object,
  api: object = {},
): Promise<Ended & { folder: string; seen: readonly string[] }> {
  const server = await broken();
  const folder = dataFolder(configOf(server, [{ endpoint: 'good' }, job], { api }));
  return { ...(await gex('run', '--storage', 'none', '--data', folder)), folder, seen: server.seen };
}

const nothingWritten = (expect: ExpectStatic, folder: string): void =>
  expect(Object.keys(filesOf(folder))).toEqual(['config.json']);

describe.concurrent('a configuration that cannot be used', () => {
  test('is missing', async ({ expect }) => {
    const folder = dataFolder();
    const { code, stderr, stdout } = await gex('run', '--storage', 'none', '--data', folder);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`error: There is no ${path.join(folder, 'config.json')}.`);
    expect(stderr).toContain('--data');
  });

  test('is not JSON: line and column', async ({ expect }) => {
    const folder = dataFolder('{\n  "parameters": {\n    "api": {"baseUrl": "http://x/",}\n  }\n}');
    const { code, stderr } = await gex('run', '--storage', 'none', '--data', folder);
    expect(code).toBe(2);
    expect(stderr).toContain('config.json:3:');
    expect(stderr).toContain('Remove the comma');
  });

  test('breaks the schema: everything at once, with the place', async ({ expect }) => {
    const folder = dataFolder(
      configOf('ftp://x/', [{ endpont: 'books' }, { endpoint: 'a', method: 'GTE' }], {
        api: { pagination: { method: 'ofset' } },
      }),
    );
    const { code, stderr } = await gex('run', '--storage', 'none', '--data', folder);
    expect(code).toBe(1);
    expect(stderr).toContain('The configuration has 4 mistakes:');
    for (const text of ['api.baseUrl:', 'jobs[0].endpoint:', 'Did you mean “GET”?', 'Did you mean “offset”?'])
      expect(stderr).toContain(text);
    expect(stderr.match(/config\.json:\d+:\d+ error/g)).toHaveLength(4);
    nothingWritten(expect, folder);
  });
});

describe.concurrent('an API that cannot be used', () => {
  test('has no address', async ({ expect }) => {
    const folder = dataFolder(configOf('http://nowhere.invalid/', [{ endpoint: 'books' }]));
    const { code, stderr } = await gex('run', '--storage', 'none', '--data', folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/There is no address for http:\/\/nowhere\.invalid .*job books, page 1/);
    expect(stderr).toContain('Check the host name');
    nothingWritten(expect, folder);
  });

  test('does not listen', async ({ expect }) => {
    const folder = dataFolder(configOf('http://127.0.0.1:1/', [{ endpoint: 'books' }]));
    const { code, stderr } = await gex('run', '--storage', 'none', '--data', folder);
    expect({ code, refused: stderr.includes('ECONNREFUSED') }).toEqual({ code: 1, refused: true });
  });

  test.for([
    [{ endpoint: 'status/404' }, 'The API answered 404 Not Found', 'ignoreErrors'],
    [{ endpoint: 'html/' }, 'The response is not JSON', 'page for people'],
    [{ endpoint: 'scalar/' }, 'a single value, not a list of rows', 'dataField'],
    [{ endpoint: 'change/', dataType: 'books' }, 'Type change in “books.author”', 'responseFilter'],
  ] as const)('answers %j', async ([job, message, hint], { expect }) => {
    const { code, stderr, folder, seen } = await runJob(job);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(stderr).toMatch(/config\.json:\d+:\d+, parameters\.config\.jobs\[1\], job .*, page 1/);
    expect(seen).toHaveLength(2);
    nothingWritten(expect, folder);
  });

  test('answers 503 until the retries are used up', async ({ expect }) => {
    const { code, stderr, seen, folder } = await runJob(
      { endpoint: 'status/503' },
      { retryConfig: { maxRetries: 1 } },
    );
    expect(code).toBe(1);
    expect(stderr).toContain('The API answered 503');
    expect(seen.filter((line) => line.endsWith('503'))).toHaveLength(2);
    nothingWritten(expect, folder);
  });
});

const isRoot = process.getuid?.() === 0;

describe.concurrent('a place that cannot be written', () => {
  test('is a folder without permission', async ({ expect, onTestFinished }) => {
    const folder = dataFolder(configOf(await broken(), [{ endpoint: 'good' }]));
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
    // root may write anywhere, so the run is somebody else's
    const { code, stderr } = await startGex(
      ['run', '--storage', 'none', '--data', folder],
      isRoot ? { uid: 65_534, gid: 65_534 } : {},
    ).ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`“${path.join(folder, '.gex')}” could not be written`);
    expect(stderr).toContain('check the permissions');
  });

  test('has a file where a folder should be', async ({ expect }) => {
    const folder = dataFolder(configOf(await broken(), [{ endpoint: 'good' }]));
    put(folder, '.gex', 'a file');
    const { code, stderr } = await gex('run', '--storage', 'none', '--data', folder);
    expect({ code, told: stderr.includes('could not be written') }).toEqual({ code: 1, told: true });
  });

  test.skipIf(!isRoot)(
    'is a full disk (only root can mount a small one)',
    { tags: 'thorough' },
    async ({ expect, onTestFinished }) => {
      const folder = dataFolder();
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'none', folder]);
      expect(mounted.status).toBe(0);
      onTestFinished(() => void spawnSync('umount', ['-l', folder]));
      put(folder, 'config.json', JSON.stringify(configOf(await broken(), [{ endpoint: 'many/' }])));
      const { code, stderr } = await gex('run', '--storage', 'none', '--data', folder);
      expect(code).toBe(1);
      expect(stderr).toContain('The disk is full: free some space and run again: it goes on where it was.');
      nothingWritten(expect, folder);
    },
  );
});

/** Sends the signals while the second job waits for its answer. */
async function interrupt(...signals: NodeJS.Signals[]): Promise<Ended & { folder: string }> {
  const { promise: waiting, resolve: arrived } = Promise.withResolvers<void>();
  const api = await startApi(({ url }, response) => {
    if (url.pathname === '/hangs') arrived();
    else json(response, [{ id: 1 }]);
  });
  const folder = dataFolder(configOf(api, [{ endpoint: 'good' }, { endpoint: 'hangs' }]));
  const running = startGex(['run', '--storage', 'none', '--data', folder]);
  await waiting;
  for (const signal of signals) running.kill(signal);
  return { ...(await running.ended), folder };
}

describe.concurrent('a run that is interrupted', () => {
  test('by Ctrl-C ends with 130 and leaves nothing', async ({ expect }) => {
    const { code, stderr, folder } = await interrupt('SIGINT');
    expect(code).toBe(130);
    expect(stderr).toContain('error: The run was interrupted.');
    nothingWritten(expect, folder);
  });

  test(
    'by SIGKILL has nothing under a final name, and the next run succeeds',
    { tags: 'thorough' },
    async ({ expect }) => {
      const { signal, folder } = await interrupt('SIGKILL');
      expect(signal).toBe('SIGKILL');
      const left = Object.keys(filesOf(folder));
      expect(left.filter((name) => name !== 'config.json' && !name.startsWith('.gex/'))).toEqual([]);
      expect(left).toContain('.gex/run.lock');
      const api = await broken();
      put(folder, 'config.json', JSON.stringify(configOf(api, [{ endpoint: 'good' }])));
      expect(await gex('run', '--storage', 'none', '--data', folder)).toMatchObject({ code: 0 });
      expect(Object.keys(filesOf(folder)).filter((name) => name.startsWith('.gex'))).toEqual([]);
    },
  );
});
