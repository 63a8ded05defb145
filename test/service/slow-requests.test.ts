// @module-tag thorough
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { guardSlowBodies } from '../../src/service/platform/connections/slow-body-guard.ts';
import { inSlices } from '../../src/service/http/slices.ts';
import { createS3Server } from '../../src/service/stores/objects/s3/server.ts';
import { clientOf, type FileBody } from './data/client.ts';
import { startService, type Running } from './harness.ts';
import { errorCode, listen, textOf } from './stores/objects/support.ts';

const LOOK_MS = 60_000;
const errors: string[] = [];
const log = { ...silentLog, error: (text: string) => void errors.push(text) };

let api: Running;
beforeEach(async () => {
  errors.length = 0;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  api = await startService({ log });
});
afterEach(async () => {
  await api.stop();
  vi.useRealTimers();
});

/** Sends the beginning of a request, and lets the service take it in. */
async function begin(address: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(text);
  await settled();
  return socket;
}

/** Waits until sent bytes have arrived, even if the machine was too busy to run this process before the timer ended. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Minutes pass until there is an answer. */
async function looks(answer: Promise<unknown>, between: () => void = () => undefined): Promise<void> {
  const state = { isThere: false };
  void answer.finally(() => (state.isThere = true));
  while (!state.isThere) {
    await settled();
    vi.advanceTimersByTime(LOOK_MS);
    await settled();
    if (!state.isThere) between();
  }
}

const head = (token: string, length: number): string =>
  'POST /v2/storage/buckets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n' +
  `X-StorageApi-Token: ${token}\r\nContent-Length: ${length}\r\n\r\n`;

describe('a body that hardly comes', () => {
  test('is refused by the API', async () => {
    const socket = await begin(api.addresses.url, `${head(api.token, 1000)}{"name":`);
    const answer = textOf(socket);
    await looks(answer, () => socket.write('"'));
    expect(await answer).toMatch(/^HTTP\/1.1 408 [^]*came too slowly/);
    expect(errors).toEqual([]);
  });

  test('is refused by the object store, and nothing of it stays', async () => {
    const client = clientOf(api);
    const { body: file } = await client.call<FileBody>('POST', 'files/prepare', {
      name: 'slow',
      federationToken: true,
    });
    const { bucket: Bucket, key: Key, credentials } = file.uploadParams;
    const s3 = client.s3(credentials, file.region);
    const Body = new Readable({ read: () => undefined });
    Body.push('first');
    const sent = errorCode(s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: 1000 })));
    await looks(sent);
    expect(await sent).toMatch(/RequestTimeout|ECONNRESET|EPIPE/);
    s3.destroy();
    expect(errors).toEqual([]);
  });

  test('is taken when it comes slowly, but comes', async () => {
    const name = 'slow';
    const padding = ' '.repeat(70_000);
    const socket = await begin(api.addresses.url, head(api.token, 3 * padding.length + 15));
    const answer = textOf(socket);
    for (let look = 0; look < 3; look++) {
      socket.write(padding);
      await settled();
      vi.advanceTimersByTime(LOOK_MS);
    }
    socket.write(`{"name":"${name}"}`);
    expect(await answer).toMatch(/^HTTP\/1.1 20/);
  });
});

test('a body that the service itself is slow to take is not ended', async () => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.on('end', () => response.end('taken'));
    void gate.then(() => request.resume());
  });
  guardSlowBodies(server);
  const socket = await begin(
    await listen(server),
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\r\nfirst`,
  );
  const answer = textOf(socket);
  for (let look = 0; look < 4; look++) vi.advanceTimersByTime(LOOK_MS);
  letGo();
  socket.write('other');
  expect(await answer).toContain('taken');
  server.close();
});

describe('a long answer', () => {
  const TEXT = 'x'.repeat(25_000_000);
  let socket: Socket;
  let server: Server;
  afterEach(() => void server.close());
  beforeEach(async () => {
    server = createServer((_request, response) => void inSlices([Buffer.from(TEXT)]).pipe(response));
    guardSlowBodies(server);
    const { hostname, port } = new URL(await listen(server));
    socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await settled();
    await settled();
  });

  /** Reads so much of it, or all that there is. */
  const take = async (wanted: number): Promise<number> => {
    let bytes = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    if (socket.closed) return 0;
    const onData = (chunk: Buffer) => void ((bytes += chunk.length) >= wanted && resolve());
    socket.on('data', onData).once('close', resolve).resume();
    await promise;
    socket.pause().off('data', onData);
    await settled();
    return bytes;
  };

  test('is given to the end to a client that takes it slowly', async () => {
    let bytes = 0;
    for (let look = 0; look < 4; look++) {
      bytes += await take(4_000_000);
      vi.advanceTimersByTime(LOOK_MS);
    }
    bytes += await take(Infinity);
    expect(bytes).toBeGreaterThan(TEXT.length);
  });

  test('is cut for a client that takes nothing of it', async () => {
    for (let look = 0; look < 3; look++) {
      vi.advanceTimersByTime(LOOK_MS);
      await settled();
    }
    expect(await take(Infinity)).toBeLessThan(TEXT.length);
  });
});

test('headers have twenty seconds at the object store', async () => {
  const server = createS3Server(async () => undefined);
  expect(server.headersTimeout).toBe(20_000);
  const socket = await begin(await listen(server), 'nonsense\r\n\r\n');
  expect(await textOf(socket)).toMatch(/^HTTP\/1.1 400 [^]*<Code>InvalidRequest<\/Code>/);
  server.close();
});

/** Few rows: it is their bytes that are too many. */
const LONG_ROW = `${'x'.repeat(9999)}\n`;

test('a file that unpacks to very much is refused while it is unpacked', async () => {
  const client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main' });
  const packed = gzipSync(Buffer.concat([Buffer.from('id\n'), Buffer.alloc(100_000_000, LONG_ROW)]));
  expect(packed.length).toBeLessThan(200_000);
  const job = await client.create('in.c-main', 'bomb', packed);
  expect(job.error).toMatchObject({ code: 'csvImport.invalidCsv' });
  expect(job.error?.message).toContain('unpacks to more than 500 times its size');
});
