// @module-tag thorough
import { once } from 'node:events';
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../../../src/lib/log.ts';
import { isOnPostgres } from '../database.ts';
import { anyText, containing, startService, type Running } from '../harness.ts';
import { answerAssumeRole, ROLE } from '../stores/objects/assume-role.ts';
import { listen, startEmbedded, textOf, type Embedded } from '../stores/objects/support.ts';
import { clientOf, type JobBody } from './client.ts';

/** Behaviour of the external store towards a request. */
type Mood = 'up' | 'failing' | 'gone' | 'silent' | 'refusing';
let mood: Mood = 'up';
/** True when the connection breaks in the middle of the next body. */
let isCut = false;
/** Requests that were answered badly. */
let asked = 0;

let embedded: Embedded;
let servers: Server[];
let api: Running;
let client: ReturnType<typeof clientOf>;
let logged: string[];

const TABLE = 'in.c-main.users';
const ROWS = 'id,name\n1,"Ann"\n';

beforeAll(async () => {
  embedded = await startEmbedded({ endpoint: () => endpoint });
  const store = createServer((request, response) => {
    if (mood !== 'up') return answerBadly(response);
    if (isCut && request.method === 'GET') cutBody(response);
    return void embedded.store.handler(request, response);
  });
  const sts = createServer((request, response) => {
    if (mood !== 'up') return answerBadly(response);
    return void answerAssumeRole(embedded.store, request).then((xml) => response.end(xml));
  });
  servers = [store, sts];
  const endpoint = await listen(store);
  const { accessKeyId, secretAccessKey } = embedded.store.keys.service;
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (_, fields) => logged.push(JSON.stringify(fields)),
  };
  api = await startService({
    log,
    objects: {
      endpoint,
      stsEndpoint: await listen(sts),
      region: 'us-east-1',
      bucket: embedded.store.bucket,
      credentials: { accessKeyId, secretAccessKey },
      roleArn: ROLE,
      idleMs: 150,
    },
  });
  client = clientOf({ ...api, addresses: { ...api.addresses, parts: { s3: endpoint } } });
  await api.call('POST', 'buckets', { name: 'main' });
  expect(await client.create('in.c-main', 'users', ROWS)).toMatchObject({ status: 'success' });
});
beforeEach(() => {
  mood = 'up';
  isCut = false;
  logged = [];
});
afterAll(async () => {
  await api.stop();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await embedded.close();
});

function answerBadly(response: ServerResponse): void {
  asked++;
  if (mood === 'gone') response.destroy();
  else if (mood === 'failing') response.writeHead(500).end(xml('InternalError'));
  else if (mood === 'refusing') response.writeHead(403).end(xml('InvalidAccessKeyId'));
}

const xml = (code: string): string =>
  `<Error><Code>${code}</Code><Message>At http://me:secret@store</Message></Error>`;

/** Promises all of the body, and sends the first bytes of it. */
function cutBody(response: ServerResponse): void {
  isCut = false;
  response.write = (chunk: string | Uint8Array) => {
    response.socket?.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
    response.socket?.write(chunk);
    response.socket?.end();
    return true;
  };
}

describe.each([
  ['gone', 'The object store cannot be reached.'],
  ['silent', 'The object store cannot be reached.'],
  ['failing', 'The object store cannot be used: it answered 500.'],
  ['refusing', 'The object store refuses this service. The log of the service says why.'],
] as const)('while the outside store is %s', (now, message) => {
  test('a request that needs it is answered with 503, and the log says why', async () => {
    mood = now;
    const answer = await api.call('POST', 'files/prepare', { name: 'a.csv', federationToken: true });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('10');
    expect(answer.body).toEqual({
      status: 'error',
      error: message,
      code: 'storage.objectStoreUnavailable',
      exceptionId: anyText,
      params: {},
    });
    const { exceptionId } = answer.body as { exceptionId: string };
    expect(logged).toEqual([containing(exceptionId)]);
    expect(logged[0]).toContain('caused by');
  });

  // Over PostgreSQL they wait for it, as is shown below.
  test.runIf(!isOnPostgres)('an import and an export end in an error', async () => {
    const file = await client.upload(ROWS);
    mood = now;
    const jobs: JobBody[] = await Promise.all([
      client.run('POST', `tables/${TABLE}/import-async`, { dataFileId: file.id }),
      client.run('POST', `tables/${TABLE}/export-async`, { limit: 1 }),
    ]);
    for (const { status, error } of jobs)
      expect({ status, error }).toMatchObject({
        status: 'error',
        error: { code: 'storage.objectStoreUnavailable', message },
      });
  });
});

test('the importer answers with 503 without the rest of a large file, and the connection goes on', async () => {
  mood = 'gone';
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (method: string, path: string, body: Uint8Array = new Uint8Array()) => {
    const headers = {
      'x-storageapi-token': api.token,
      'content-type': 'multipart/form-data; boundary=edge',
      'content-length': body.length,
    };
    const sent = request(api.addresses.url + path, { agent, method, headers });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage]; // the event gives the response
    return { status: response.statusCode, text: await textOf(response) };
  };
  const head = '--edge\r\nContent-Disposition: form-data; name="data"; filename="large.csv"\r\n\r\n';
  const body = [Buffer.from(head), Buffer.alloc(20 * 1024 * 1024, 'a'), Buffer.from('\r\n--edge--\r\n')];
  const answer = await ask('POST', '/upload-file', Buffer.concat(body));
  expect(answer.status).toBe(503);
  expect(answer.text).toContain('storage.objectStoreUnavailable');
  expect((await ask('GET', '/health')).status).toBe(200);
  agent.destroy();
});

test('a connection that breaks in the middle of a file leaves the table as it was', async () => {
  const file = await client.upload(ROWS + '2,"Bo"\n'.repeat(1000));
  isCut = true;
  const job = await client.run('POST', `tables/${TABLE}/import-async`, { dataFileId: file.id });
  expect(isCut).toBe(false);
  if (isOnPostgres) {
    // It is tried again, and each row is there once.
    expect(job).toMatchObject({ status: 'success', results: { importedRowsCount: 1001 } });
    expect((await client.rowsOf(TABLE)).split('\n')).toHaveLength(1002);
    return;
  }
  expect(job).toMatchObject({
    status: 'error',
    error: { code: 'storage.objectStoreUnavailable', message: 'The object store cannot be reached.' },
  });
  expect(await client.rowsOf(TABLE)).toBe('"1","Ann"\n');
});

test.runIf(isOnPostgres)('a job waits for the store, and is done when it is back', async () => {
  mood = 'gone';
  asked = 0;
  const reply = await api.call('POST', `tables/${TABLE}/export-async`, { limit: 7 });
  await expect.poll(() => asked).toBeGreaterThan(0);
  mood = 'up';
  expect(await client.finished(reply)).toMatchObject({ status: 'success' });
});

test.runIf(!isOnPostgres)('when the store is back, the same requests succeed', async () => {
  mood = 'gone';
  const path = `tables/${TABLE}/export-async`;
  expect(await client.run('POST', path, { limit: 5 })).toMatchObject({ status: 'error' });
  mood = 'up';
  expect(await client.run('POST', path, { limit: 5 })).toMatchObject({ status: 'success' });
});
