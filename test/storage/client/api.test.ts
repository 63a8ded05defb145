import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { silentLog, type Log } from '../../../src/lib/log.ts';
import { StorageClient, type Job } from '../../../src/storage/client/index.ts';
import { bodyOf, clientOf, closedAddress, failureOf, quickEnv, startServer, TOKEN } from './support.ts';

const JOB: Job = {
  id: 5,
  status: 'waiting',
  url: '',
  tableId: 'in.c-a.b',
  operationName: 'tableImport',
  operationParams: { source: { fileId: '7' } },
  createdTime: '',
  startTime: null,
  endTime: null,
  runId: null,
  results: null,
  creatorToken: { id: '1', description: '' },
  metrics: {
    inCompressed: false,
    inBytes: 0,
    inBytesUncompressed: 0,
    outCompressed: false,
    outBytes: 0,
    outBytesUncompressed: 0,
  },
};
const IMPORTED = { importedColumns: ['id'], totalRowsCount: 1, warnings: [] };

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, unknown>;
  readonly body: unknown;
}
/** `cut` takes the request and closes the connection. */
type Answer =
  | 'cut'
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown };

/** Index of a service without support for keys. */
const INDEX: Answer = { body: { services: [], features: [] } };

/** A service that gives these answers, one after the other, the last one for ever. */
async function scripted(...answers: readonly Answer[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const url = await startServer((request, response) => {
    void bodyOf(request).then((body) => {
      const answer = answers[Math.min(seen.length, answers.length - 1)] ?? 'cut';
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      if (answer === 'cut') return request.socket.destroy();
      const { status = 200, headers = {}, body: reply = {} } = answer;
      const isText = typeof reply === 'string';
      response.writeHead(status, { 'Content-Type': isText ? 'text/html' : 'application/json', ...headers });
      return response.end(isText ? reply : JSON.stringify(reply));
    });
  });
  return { url, seen };
}

const busy = { status: 503, body: { status: 'maintenance', reason: 'We are moving house' } };
const LIST = { body: [] };

describe('requests', () => {
  test('carry the token, the run and the branch', async () => {
    const { url, seen } = await scripted(LIST);
    await clientOf(`${url}/v2/storage/`, { branch: 12, runId: '7.8' }).tables.list({
      include: ['columns', 'metadata'],
    });
    expect(seen).toMatchObject([
      {
        method: 'GET',
        url: '/v2/storage/branch/12/tables?include=columns%2Cmetadata',
        headers: { 'x-storageapi-token': TOKEN, 'x-kbc-runid': '7.8', accept: 'application/json' },
      },
    ]);
  });

  test('go to the default branch where the path has to name one, and to none where it must not', async () => {
    const { url, seen } = await scripted(LIST);
    const client = clientOf(url, {});
    await client.configurations('a.b').list({ isDeleted: true });
    await client.jobs.list({ limit: 3, storage_job_status: ['error'] });
    expect(seen.map((each) => each.url)).toEqual([
      '/v2/storage/branch/default/components/a.b/configs?isDeleted=1',
      '/v2/storage/jobs?limit=3&storage_job_status%5B0%5D=error',
    ]);
  });
});

const create = async (url: string) => await clientOf(url).configurations('c').create({ name: 'n' });

describe('what may pass is tried again', () => {
  test.each([408, 409, 423, 429, 500, 502, 503, 504, 520])('status %i', async (status) => {
    const { url, seen } = await scripted({ status, body: { error: 'later' } }, LIST);
    expect(await clientOf(url).tables.list()).toEqual([]);
    expect(seen).toHaveLength(2);
  });

  test('a cut connection', async () => {
    const { url, seen } = await scripted('cut', 'cut', LIST);
    expect(await clientOf(url).tables.list()).toEqual([]);
    expect(seen).toHaveLength(3);
  });

  test('after the time that the service names, else after 1, 2, 4 … seconds', async () => {
    const { url } = await scripted(busy, { ...busy, headers: { 'Retry-After': '17' } }, busy, LIST);
    const { env, waits } = quickEnv();
    await clientOf(url, { env }).tables.list();
    expect(waits).toEqual([1000, 17_000, 4000]);
  });

  test('until the retries are used up; then the message is the last one', async () => {
    const { url, seen } = await scripted(busy);
    const error = await failureOf(clientOf(url, { retry: { maxRetries: 2 } }).tables.list());
    expect(error).toMatchObject({ code: 'storage.failed', status: 503, audience: 'application' });
    expect(error.message).toBe('The storage service answered GET tables with 503: We are moving house');
    expect(seen).toHaveLength(3);
  });

  test.each([400, 401, 403, 404, 422, 501])('but not status %i', async (status) => {
    const { url, seen } = await scripted({ status, body: { error: 'no', code: 'some.code' } });
    expect(await failureOf(clientOf(url).tables.list())).toMatchObject({ status, serviceCode: 'some.code' });
    expect(seen).toHaveLength(1);
  });

  test('and a repeated creation or deletion that had succeeded is a success', async () => {
    const exists = { status: 400, body: { error: 'There is one', code: 'storage.buckets.alreadyExists' } };
    const bucket = { id: 'in.c-a', name: 'c-a', stage: 'in' };
    const created = await scripted('cut', exists, { body: bucket });
    expect(await clientOf(created.url).buckets.create({ name: 'a' })).toEqual(bucket);
    expect(created.seen.at(-1)?.url).toBe('/v2/storage/buckets/in.c-a');
    const gone = { status: 404, body: { error: 'None', code: 'storage.files.notFound' } };
    const deleted = await scripted('cut', gone);
    await clientOf(deleted.url).files.delete(4);
    expect((await failureOf(clientOf((await scripted(gone)).url).files.delete(4))).code).toBe(
      'storage.notFound',
    );
    expect(
      (await failureOf(clientOf((await scripted(exists)).url).buckets.create({ name: 'a' }))).serviceCode,
    ).toBe('storage.buckets.alreadyExists');
  });

  test('what would be done twice is sent again only when it was not taken', async () => {
    const taken = await scripted('cut', INDEX, { body: { id: '1', name: 'n', version: 1 } });
    expect((await failureOf(create(taken.url))).code).toBe('storage.unreachable');
    expect(taken.seen.map(({ method }) => method)).toEqual(['POST', 'GET']);
    const refused = await scripted(busy, { body: { id: '1', name: 'n', version: 1 } });
    expect((await create(refused.url)).id).toBe('1');
  });

  test('or when the service does it once under its key', async () => {
    const knows = { body: { services: [], features: ['idempotency-key'] } };
    const { url, seen } = await scripted('cut', knows, 'cut', { body: { id: '1', name: 'n', version: 1 } });
    expect((await create(url)).id).toBe('1');
    const keys = seen
      .filter(({ method }) => method === 'POST')
      .map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(String(keys[0])).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('an import whose answer is lost', () => {
  const done = { ...JOB, status: 'success' as const, results: IMPORTED };

  test('is found by its file, and not asked for twice', async () => {
    const other = { ...JOB, id: 6, operationParams: { source: { fileId: 8 } } };
    const { url, seen } = await scripted('cut', INDEX, { body: [other, JOB] }, { body: done });
    expect(await clientOf(url).tables.load('in.c-a.b', { dataFileId: 7, incremental: true })).toEqual(
      IMPORTED,
    );
    expect(seen.map(({ method, url: at }) => `${method} ${at}`)).toEqual([
      'POST /v2/storage/tables/in.c-a.b/import-async',
      'GET /v2/storage?exclude=components',
      'GET /v2/storage/jobs?limit=100&offset=0',
      'GET /v2/storage/jobs/5',
    ]);
  });

  test('is asked for again when the service has no such job, with another file', async () => {
    const { url, seen } = await scripted(
      { status: 502, body: 'bad' },
      INDEX,
      LIST,
      LIST,
      { status: 204 },
      LIST,
      { body: done },
    );
    const { env, waits } = quickEnv();
    const load = { dataFileId: 7, incremental: true };
    expect(await clientOf(url, { env }).tables.load('in.c-a.b', load, { renew: async () => 8 })).toEqual(
      IMPORTED,
    );
    expect(seen.map(({ method, url: at }) => `${method} ${at.replace(/\?.*/, '')}`)).toEqual([
      'POST /v2/storage/tables/in.c-a.b/import-async',
      'GET /v2/storage',
      'GET /v2/storage/jobs',
      'GET /v2/storage/jobs',
      'DELETE /v2/storage/files/7',
      'GET /v2/storage/jobs',
      'POST /v2/storage/tables/in.c-a.b/import-async',
    ]);
    expect(seen.at(-1)?.body).toEqual({ dataFileId: 8, incremental: true });
    expect(waits).toEqual([1000, 2000]);
  });

  test('is not asked for again when the content cannot be sent anew', async () => {
    const { url, seen } = await scripted('cut', INDEX, LIST);
    const error = await failureOf(clientOf(url).tables.load('in.c-a.b', { dataFileId: 7 }));
    expect(error.code).toBe('storage.unsure');
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('is asked for again under its key by a service that knows keys', async () => {
    const knows = { body: { services: [], features: ['idempotency-key'] } };
    const { url, seen } = await scripted('cut', knows, { body: done });
    expect(
      await clientOf(url).tables.load('in.c-a.b', { dataFileId: 7 }, { key: (id) => `load of ${id}` }),
    ).toEqual(IMPORTED);
    const posts = seen.filter(({ method }) => method === 'POST');
    expect(posts.map(({ headers }) => headers['idempotency-key'])).toEqual(['load of 7', 'load of 7']);
  });
});

describe('the rows of a table', () => {
  test('are exported with the columns of the header', async () => {
    const table = { id: 'in.c-a.b', name: 'b', columns: ['id', 'name'] };
    const { url, seen } = await scripted({ body: table }, { status: 400, body: { error: 'enough' } });
    await failureOf(clientOf(url).tables.read('in.c-a.b', { limit: 1 }));
    expect(seen[1]?.body).toEqual({ limit: 1, columns: ['id', 'name'], gzip: true });
  });

  test('have no header made up when the service names no columns', async () => {
    const { url } = await scripted({ body: { id: 'in.c-a.b', name: 'b' } });
    const error = await failureOf(clientOf(url).tables.read('in.c-a.b'));
    expect(error.message).toBe('The storage service does not say which columns in.c-a.b has.');
  });
});

describe('jobs', () => {
  test('are looked at at once, then ever more rarely', async () => {
    const { url, seen } = await scripted(
      ...Array.from({ length: 11 }, () => ({ body: { ...JOB, status: 'processing' } })),
      { body: { ...JOB, status: 'success' } },
    );
    const { env, waits } = quickEnv();
    const polled: string[] = [];
    await clientOf(url, { env }).jobs.wait(JOB, { onPoll: ({ status }) => polled.push(status) });
    expect(waits).toEqual([50, 63, 79, 99, 124, 155, 194, 243, 304, 380, 475]);
    expect(seen).toHaveLength(12);
    expect(polled.at(-1)).toBe('success');
  });

  test.each([
    [
      'an object',
      { code: 'csvImport.columnsNotMatch', message: 'Some columns are missing' },
      'csvImport.columnsNotMatch',
    ],
    ['text', 'Some columns are missing', ''],
  ])('fail with their own message, given as %s', async (_, error, serviceCode) => {
    const { url } = await scripted({ body: { ...JOB, status: 'error', error } });
    const failure = await failureOf(clientOf(url).jobs.wait(5));
    expect(failure).toMatchObject({ code: 'storage.jobFailed', serviceCode, details: { jobId: 5 } });
    expect(failure.message).toBe(
      'The storage job 5 (tableImport on in.c-a.b) failed: Some columns are missing',
    );
  });

  test('that fail in the answer that makes them are not asked for again', async () => {
    const { url, seen } = await scripted({
      status: 202,
      body: { status: 'error', error: 'No such file', url: '' },
    });
    const failure = await failureOf(clientOf(url).tables.load('in.c-a.b', { dataFileId: 7 }));
    expect(failure.message).toContain('failed: No such file');
    expect(seen).toHaveLength(1);
  });

  test('without an id are followed by their address, in this service only', async () => {
    const { url, seen } = await scripted({ body: { status: 'anything else' } });
    const plain = { ...JOB, id: undefined } as unknown as Job; // as the core of the protocol has it
    await clientOf(url).jobs.wait({ ...plain, url: `${url}//v2/storage/jobs/9` });
    expect(seen.map((each) => each.url)).toEqual(['/v2/storage/jobs/9']);
    const elsewhere = { ...plain, url: 'http://127.0.0.1:1/v2/storage/jobs/9' };
    expect((await failureOf(clientOf(url).jobs.wait(elsewhere))).code).toBe('storage.unexpected');
  });

  test('are waited for no longer than told', async () => {
    const { url } = await scripted({ body: { ...JOB, status: 'processing' } });
    const { env } = quickEnv();
    let nowMs = 0;
    const clock = { ...env, now: () => (nowMs += 400) };
    const error = await failureOf(clientOf(url, { env: clock }).jobs.wait(5, { timeoutMs: 2000 }));
    expect(error).toMatchObject({ code: 'storage.jobLate', details: { jobId: 5 } });
  });

  test('are no longer waited for when the signal says so', async () => {
    const { url } = await scripted({ body: { ...JOB, status: 'processing' } });
    const stop = new AbortController();
    const reason = new Error('enough');
    const work = clientOf(url).jobs.wait(5, { signal: stop.signal, onPoll: () => stop.abort(reason) });
    await expect(work).rejects.toBe(reason);
    const client = clientOf(url, { signal: AbortSignal.abort(reason) });
    await expect(client.tables.list()).rejects.toBe(reason);
  });
});

describe('what is no storage service', () => {
  test('a page of HTML', async () => {
    const { url } = await scripted({ body: '<!doctype html><title>Log in</title>' });
    const error = await failureOf(clientOf(url).tokens.verify());
    expect(error.code).toBe('storage.unexpected');
    expect(error.message).toContain('with a page of HTML (status 200)');
    expect(error.hint).toContain('Check the address');
  });

  test('a page of HTML with status 404', async () => {
    const { url } = await scripted({ status: 404, body: '<html>not here</html>' });
    expect((await failureOf(clientOf(url).tokens.verify())).code).toBe('storage.unexpected');
  });

  test.each([[[]], [{ nothing: 1 }], ['null'], [{ id: {}, description: 'wrong type' }]])(
    'other JSON: %j',
    async (body) => {
      const { url } = await scripted({ body, headers: { 'Content-Type': 'application/json' } });
      expect((await failureOf(clientOf(url).tokens.verify())).code).toBe('storage.unexpected');
    },
  );

  test('a redirect does not get the token', async () => {
    const other = await scripted(LIST);
    const { url } = await scripted({
      status: 302,
      headers: { Location: `${other.url}/login?token=${TOKEN}` },
    });
    const error = await failureOf(clientOf(url).tables.list());
    expect(error.code).toBe('storage.unexpected');
    expect(error.hint).toContain(other.url);
    expect(other.seen).toEqual([]);
  });

  test('an address where nobody is, after three attempts', async () => {
    const { env, waits } = quickEnv();
    const url = await closedAddress();
    const error = await failureOf(clientOf(url, { env }).tables.list());
    expect(error.code).toBe('storage.unreachable');
    expect(error.message).toBe(`No connection to ${url} (ECONNREFUSED), for GET tables.`);
    expect(waits).toEqual([1000, 2000]);
  });

  test.each(['', 'storage.example.com', 'ftp://storage.example.com'])('no URL: “%s”', (url) => {
    expect(() => new StorageClient({ url, token: TOKEN })).toThrow('is no URL');
  });

  test('no token', () => {
    expect(() => new StorageClient({ url: 'http://127.0.0.1:1', token: ' ' })).toThrow('no token');
  });
});

describe('secrets', () => {
  test('never reach a message or a log', async () => {
    const lines: string[] = [];
    const note = (message: string, fields?: unknown) => lines.push(message + JSON.stringify(fields));
    const log: Log = { ...silentLog, debug: note, info: note, warn: note, error: note };
    const { url } = await scripted(busy, { status: 403, body: { error: `The token ${TOKEN} may not` } });
    const error = await failureOf(clientOf(url, { log }).tables.list());
    expect(error.message).toContain('The token *** may not');
    expect(lines).toHaveLength(1);
    expect(JSON.stringify([lines, error, error.message, error.details])).not.toContain(TOKEN);
  });
});

describe('loading', () => {
  test('the client is imported from the package by its own name', () => {
    const script = `import { StorageClient } from 'generic-extractor/storage'; console.log(typeof StorageClient)`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'function\n', stderr: '' });
  });

  test('the SDK of the object store is loaded by the first transfer only', () => {
    const index = fileURLToPath(new URL('../../../src/storage/client/index.ts', import.meta.url));
    const script = `
      import { StorageClient } from ${JSON.stringify(path.resolve(index))};
      import { registerHooks } from 'node:module';
      new StorageClient({ url: 'http://127.0.0.1:1', token: 'token' });
      const loaded = [];
      registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
      await import('@aws-sdk/client-s3');
      console.log(loaded.some((url) => url.includes('@aws-sdk/client-s3')));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(stdout.trim(), stderr).toBe('true');
  });
});

test('waits before what may change something, and does not send what is not to be', async () => {
  const { url, seen } = await scripted({ body: [] });
  let count = 0;
  const beforeChange = async (): Promise<void> => {
    if (++count > 1) throw new Error('not now');
  };
  const client = clientOf(url, { beforeChange });
  await client.buckets.list();
  await client.branches.list();
  expect([count, seen.length]).toEqual([0, 2]);
  await client.buckets.delete('in.c-a').catch(() => {});
  expect([count, seen.length]).toEqual([1, 3]);
  await expect(client.buckets.delete('in.c-a')).rejects.toThrow('not now');
  await expect(client.tables.deleteRows('in.c-a.b', {})).rejects.toThrow('not now');
  expect([count, seen.length]).toEqual([3, 3]);
});
