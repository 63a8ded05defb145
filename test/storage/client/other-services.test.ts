import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { bytesBody, StorageClient, type Job } from '../../../src/storage/client/index.ts';
import { bodyOf, clientOf, failureOf, quickEnv, startServer, TOKEN } from './support.ts';

/** Answers to `METHOD path`; undefined cuts the connection. The argument is the number of earlier requests to it. */
type Routes = Readonly<Record<string, (count: number) => Answer | undefined>>;
interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is. */
  readonly body: unknown;
}

async function service(routes: Routes): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const url = await startServer((request, response) => {
    void bodyOf(request).then(() => {
      const at = (request.url ?? '').replace('/v2/storage/', '').replace(/\?.*/, '');
      const name = `${request.method} ${at}`;
      const count = seen.filter((each) => each === name).length;
      seen.push(name);
      const answer = routes[name]?.(count);
      return answer === undefined ? request.socket.destroy() : send(response, answer);
    });
  });
  return { url, seen };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Answer): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

const IMPORTED = { importedColumns: ['id'], totalRowsCount: 1, warnings: [] };
const job = (fields: object): object => ({
  id: 5,
  status: 'success',
  operationName: 'tableImport',
  operationParams: { source: { fileId: '7' } },
  createdTime: '2026-01-01T00:00:00+0000',
  tableId: 'in.c-a.b',
  results: IMPORTED,
  ...fields,
});
const HTML = { headers: { 'Content-Type': 'text/html' }, body: '<html><h1>502 Bad Gateway</h1></html>' };
const FILE = { body: { id: 7, created: '2025-01-01T00:00:00+0000' } };
const LOAD = 'POST tables/in.c-a.b/import-async';

/** The index of a service that knows no keys. */
const INDEX = { 'GET /v2/storage': () => ({ body: { services: [], features: [] } }) };
const renew = async (): Promise<number> => 8;

describe('a lost import', () => {
  test('is not taken for another one of the same file', async () => {
    const earlier = job({ id: 4, tableId: 'in.c-other.b', results: { importedColumns: ['other'] } });
    const { url, seen } = await service({
      ...INDEX,
      [LOAD]: (count) => (count === 0 ? undefined : { status: 202, body: job({}) }),
      'GET jobs': () => ({ body: [earlier] }),
      'GET files/7': () => FILE,
      'GET files/8': () => FILE,
      'DELETE files/7': () => ({ status: 204, body: '' }),
    });
    expect(await clientOf(url).tables.load('in.c-a.b', { dataFileId: 7 }, { renew })).toEqual(IMPORTED);
    expect(seen.filter((each) => each === LOAD)).toHaveLength(2);
  });

  test('is not taken for one that was answered before', async () => {
    const failed = job({ id: 4, status: 'error', error: { message: 'There is no such column' } });
    const { url } = await service({
      ...INDEX,
      [LOAD]: (count) => [{ body: failed }, undefined, { body: job({}) }][count],
      'GET jobs': () => ({ body: [failed] }),
      'GET files/7': () => FILE,
      'GET files/8': () => FILE,
      'DELETE files/7': () => ({ status: 204, body: '' }),
    });
    const { tables } = clientOf(url);
    expect((await failureOf(tables.load('in.c-a.b', { dataFileId: 7 }))).message).toContain('no such column');
    expect(await tables.load('in.c-a.b', { dataFileId: 7 }, { renew })).toEqual(IMPORTED);
  });

  test('is found in a list that is late', async () => {
    const { url, seen } = await service({
      ...INDEX,
      [LOAD]: () => ({ status: 500, body: { error: 'Internal' } }),
      'GET jobs': (count) => ({ body: count === 0 ? [] : [job({})] }),
      'GET jobs/5': () => ({ body: job({}) }),
    });
    expect(await clientOf(url).tables.load('in.c-a.b', { dataFileId: 7 })).toEqual(IMPORTED);
    expect(seen.filter((each) => each === LOAD)).toHaveLength(1);
  });

  test('of a table that is there when it is asked for again is found', async () => {
    const create = 'POST buckets/in.c-a/tables-async';
    const made = job({ operationName: 'tableCreate', tableId: null, results: { id: 'in.c-a.b', name: 'b' } });
    const { url, seen } = await service({
      ...INDEX,
      [create]: (count) =>
        count === 0
          ? undefined
          : { status: 400, body: { error: 'exists', code: 'storage.buckets.tableAlreadyExists' } },
      'GET jobs': (count) => ({ body: count < 2 ? [] : [made] }),
    });
    const { id } = await clientOf(url).tables.create('in.c-a', { name: 'b', dataFileId: 7 });
    expect(id).toBe('in.c-a.b');
    expect(seen.filter((each) => each === create)).toHaveLength(2);
  });

  test('is looked for when a proxy answered in its place', async () => {
    const { url, seen } = await service({
      ...INDEX,
      [LOAD]: () => HTML,
      'GET jobs': () => ({ body: [job({})] }),
      'GET jobs/5': () => ({ body: job({}) }),
    });
    expect(await clientOf(url).tables.load('in.c-a.b', { dataFileId: 7 })).toEqual(IMPORTED);
    expect(seen).toEqual([LOAD, 'GET /v2/storage', 'GET jobs']);
  });

  test('that begins before its file is deleted is waited for', async () => {
    const { url, seen } = await service({
      ...INDEX,
      [LOAD]: () => undefined,
      'DELETE files/7': () => ({ status: 204, body: '' }),
      'GET files/7': () => ({ status: 404, body: { error: 'gone' } }),
      'GET jobs': (count) => ({ body: count < 2 ? [] : [job({ status: 'processing' })] }),
      'GET jobs/5': () => ({ body: job({}) }),
    });
    expect(await clientOf(url).tables.load('in.c-a.b', { dataFileId: 7 }, { renew })).toEqual(IMPORTED);
    expect(seen.filter((each) => each === LOAD)).toHaveLength(1);
  });

  test('that lost its file on the way is asked for with another one', async () => {
    const failed = job({ status: 'error', error: { message: 'File not found' } });
    const { url, seen } = await service({
      ...INDEX,
      [LOAD]: (count) => (count === 0 ? undefined : { status: 202, body: job({ id: 6 }) }),
      'DELETE files/7': () => ({ status: 204, body: '' }),
      'GET jobs': (count) => ({ body: count < 2 ? [] : [failed] }),
      'GET files/7': () => FILE,
    });
    expect(await clientOf(url).tables.load('in.c-a.b', { dataFileId: 7 }, { renew })).toEqual(IMPORTED);
    expect(seen.filter((each) => each === LOAD)).toHaveLength(2);
  });

  test('is not looked for when the service has certainly not taken it', async () => {
    const { url, seen } = await service({ [LOAD]: () => ({ status: 503, body: { status: 'maintenance' } }) });
    const client = clientOf(url, { retry: { maxRetries: 2 } });
    expect((await failureOf(client.tables.load('in.c-a.b', { dataFileId: 7 }))).status).toBe(503);
    expect(seen).toEqual([LOAD, LOAD, LOAD]);
  });
});

async function waitFor(fields: object): Promise<Job> {
  const { url } = await service({ 'GET jobs/5': () => ({ body: job(fields) }) });
  return await clientOf(url).jobs.wait(5);
}

describe('jobs of other services', () => {
  test('succeed with an error that is null or empty', async () => {
    expect((await waitFor({ error: null })).status).toBe('success');
    expect((await waitFor({ error: '', results: [] })).results).toEqual([]);
  });

  test('fail without a word, or with a status of their own', async () => {
    const { message } = await failureOf(waitFor({ status: 'error', error: null }));
    expect(message).toBe('The storage job 5 (tableImport on in.c-a.b) failed: its status is error.');
    const broken = { status: 'broken', error: { message: 'It fell over', code: 'some.code' } };
    expect(await failureOf(waitFor(broken))).toMatchObject({ serviceCode: 'some.code' });
  });

  test('whose id is text are waited for', async () => {
    const { url } = await service({
      [LOAD]: () => ({ status: 202, body: job({ id: '5', status: 'waiting', results: null }) }),
      'GET jobs/5': (count) => ({ body: job({ id: '5', status: count < 3 ? 'processing' : 'success' }) }),
    });
    const { tables, jobs } = clientOf(url);
    const started = await tables.startLoad('in.c-a.b', { dataFileId: 7 });
    expect(started.id).toBe(5);
    expect((await jobs.wait(started.id)).results).toEqual(IMPORTED);
  });
});

describe('answers of other services', () => {
  test('have ids of either kind; the caller gets those of the types', async () => {
    const { url } = await service({
      'GET files': () => ({ body: [{ id: '17', name: 'a', more: 1 }] }),
      'GET dev-branches': () => ({ body: [{ id: '3', name: 'Main' }] }),
      'GET tokens/verify': () => ({ body: { id: 27978, description: '' } }),
      'GET branch/default/components/c/configs/9': () => ({ body: { id: 9, name: 'n', version: '4' } }),
      'POST tickets': () => ({ status: 201, body: { id: '123' } }),
    });
    const client = clientOf(url);
    expect(await client.files.list()).toEqual([{ id: 17, name: 'a', more: 1 }]);
    expect((await client.branches.list())[0]?.id).toBe(3);
    expect((await client.tokens.verify()).id).toBe('27978');
    expect(await client.configurations('c').detail('9')).toMatchObject({ id: '9', version: 4 });
    expect(await client.ticket()).toBe('123');
  });

  test('may be compressed, and begin with a byte order mark', async () => {
    const { url } = await service({
      'GET buckets': () => ({ headers: { 'Content-Encoding': 'gzip' }, body: gzipSync('[]') }),
      'GET tables': () => ({
        headers: { 'Content-Type': 'application/json; charset=utf-8' },
        body: '\uFEFF[]',
      }),
    });
    expect(await clientOf(url).buckets.list()).toEqual([]);
    expect(await clientOf(url).tables.list()).toEqual([]);
  });

  test('name the tables of a bucket by an address, which is no list', async () => {
    const bucket = { id: 'in.c-a', name: 'c-a', stage: 'in' };
    const { url } = await service({
      'GET buckets/in.c-a': () => ({ body: { ...bucket, tables: 'https://example.com/tables' } }),
    });
    expect(await clientOf(url).buckets.detail('in.c-a')).toEqual(bucket);
  });

  test.each([
    [429, 'storage.failed', 'Try again later'],
    [413, 'storage.unexpected', 'takes no body of that size'],
    [200, 'storage.unexpected', 'Check the address'],
  ])('are a page of HTML of something in between, with status %i', async (status, code, hint) => {
    const { url } = await service({ 'GET tables': () => ({ ...HTML, status }) });
    const error = await failureOf(clientOf(url, { retry: { maxRetries: 0 } }).tables.list());
    expect(error.code).toBe(code);
    expect(error.hint).toContain(hint);
  });

  test('with a list of fields that are wrong are told in lines, as many as are read', async () => {
    expect(await errorOfFields(2)).toBe(
      'The storage service answered GET tables with 400: Invalid request:\n  - f0: "Is\\u001b[2J\\nmissing."\n  - f1: "Is\\u001b[2J\\nmissing."',
    );
    const many = (await errorOfFields(5000)).split('\n');
    expect([many.length, many.at(-1)]).toEqual([22, '  and 4980 more']);
  });

  test('send on to another path of the same address', async () => {
    const { url } = await service({
      'GET tables': () => ({ status: 301, headers: { Location: '/login' }, body: '' }),
    });
    const error = await failureOf(clientOf(url).tables.list());
    expect(error.message).toBe(
      `${url} sends GET tables on to /login (status 301); the token is not taken along.`,
    );
  });

  test.each(['azure', 'gcp'])('keep files in an object store of %s, which is said', async (provider) => {
    const { url } = await service({
      'POST files/prepare': () => ({ status: 201, body: { id: 3, name: 'a', provider } }),
      'GET files/3': () => ({ body: { id: 3, name: 'a', provider, url: 'https://x', isSliced: false } }),
    });
    const { files } = clientOf(url);
    const told: number[] = [];
    const onPrepared = ({ id }: { id: number }): void => void told.push(id);
    const upload = await failureOf(files.upload(bytesBody('x'), { name: 'a', onPrepared }));
    expect(upload.message).toBe(`“a” cannot be written: the service keeps it with “${provider}”.`);
    expect(upload.hint).toContain('uploadByImporter');
    expect(told).toEqual([]);
    const read = await failureOf(files.slices(3).then(async () => (await files.read(3)).toArray()));
    expect(read.message).toBe(`“a” cannot be read: the service keeps it with “${provider}”.`);
  });
});

describe('a token', () => {
  test.each(['secret-one\nsecret-two', 'secret-ž-one', '"a secret" in quotes'])(
    'that no header can carry is not sent, and not shown: %j',
    (token) => {
      const make = (): StorageClient => new StorageClient({ url: 'http://127.0.0.1:1', token });
      expect(make).toThrow('signs in it that no token has');
      expect(make).not.toThrow(/secret/);
    },
  );

  test('may have a line end behind it', async () => {
    const url = await startServer((request, response) => {
      const isKnown = request.headers['x-storageapi-token'] === TOKEN;
      send(response, isKnown ? { body: [] } : { status: 401, body: { error: 'no' } });
    });
    expect(await clientOf(url, { token: `${TOKEN}\n` }).tables.list()).toEqual([]);
  });

  test('of a run with an odd id stays at home', () => {
    expect(() => clientOf('http://127.0.0.1:1', { runId: '1\n2' })).toThrow('The run id has signs');
  });
});

/** Never answers, and lets two minutes pass. */
const silent: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
    vi.advanceTimersByTime(119_999);
    expect(init?.signal?.aborted).toBe(false);
    vi.advanceTimersByTime(1);
  });

test('a service that says nothing is left after two minutes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { env, waits } = quickEnv();
  const client = clientOf('http://storage.invalid', { env, fetch: silent });
  const error = await failureOf(client.tables.list()).finally(() => vi.useRealTimers());
  expect(error.message).toBe('No answer in time from http://storage.invalid, for GET tables.');
  expect(waits).toEqual([1000, 2000]);
});

/** The message of an answer that lists fields that are wrong. */
async function errorOfFields(count: number): Promise<string> {
  const items = Array.from({ length: count }, (_, i) => ` - f${i}: "Is\u001b[2J\nmissing."`);
  const body = { error: ['Invalid request:', ...items].join('\n') };
  const { url } = await service({ 'GET tables': () => ({ status: 400, body }) });
  return (await failureOf(clientOf(url).tables.list())).message;
}
