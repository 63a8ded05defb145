// @module-tag thorough
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import * as http from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMPILE_CACHE } from '../../../cli/support.ts';
import type { DataContext } from '../../../../src/service/domain/data-context.ts';
import { route, type Route } from '../../../../src/service/http/route.ts';
import { runJob } from '../../../../src/service/http/enqueue-job.ts';
import { createQueue } from '../../../../src/service/stores/queue/queue.ts';
import type { ObjectStore } from '../../../../src/service/stores/objects/store.ts';
import { createService } from '../../../../src/service/start/service.ts';
import type { TableEngine } from '../../../../src/service/stores/tables/engine.ts';
import { clientOf, type JobBody } from '../../data/client.ts';
import { request, startService, type Running } from '../../harness.ts';
import { MAIN } from '../../../support/command.ts';

let dir: string;
const children: ChildProcess[] = [];
const sockets: Socket[] = [];
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'shutdown-'));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

interface Serving {
  readonly child: ChildProcess;
  readonly token: string;
  readonly addresses: Readonly<Record<string, string>>;
  /** stderr, one JSON object a line. */
  readonly log: string[];
}

async function serve(...options: string[]): Promise<Serving> {
  const ports = ['port', 's3-port', 'importer-port', 'health-port'].flatMap((name) => [`--${name}`, '0']);
  const args = ['serve', '--dir', dir, ...ports, '--log-format', 'json', '--log-level', 'debug', ...options];
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  children.push(child);
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const printed: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', value = ''] = line.split(/\s+/);
    printed[name] = value;
    if (name === 'token') break;
  }
  const { token = '', ...addresses } = printed;
  return { child, token, addresses, log };
}

/** Begins a request and sends a part of its body, in turns, for ever. */
async function slowUpload(address: string, head: string): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname).on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(`${head}\r\nHost: ${hostname}:${port}\r\nContent-Length: 1000000000\r\n\r\n`);
  const drip = setInterval(() => socket.write('x'), 50);
  socket.once('close', () => clearInterval(drip));
  socket.resume();
  return socket;
}

const status = async (url: string | undefined): Promise<number> => (await fetch(url ?? '')).status;

test('SIGTERM ends a busy process: unready first, requests end, uploads that hang are cut, and no job is lost', async () => {
  const { child, token, addresses, log } = await serve('--drain-seconds', '1');
  const api = addresses['api'] ?? '';
  const running: Pick<Running, 'addresses' | 'call'> = {
    addresses: { url: api, parts: addresses },
    call: async (method, place, body, headers) => await request(api, token, method, place, body, headers),
  };
  const client = clientOf(running as Running); // it needs nothing else of it
  await running.call('POST', 'buckets', { name: 'main' });
  const rows = Array.from({ length: 200_000 }, (_, n) => `${n},name ${n}`).join('\n');
  const file = await client.upload(`id,name\n${rows}\n`);
  const agent = new http.Agent({ keepAlive: true });
  const idle = http.request(`${api}/health`, { agent }).end();
  const [answer] = (await once(idle, 'response')) as [NodeJS.ReadableStream];
  answer.resume();
  await once(answer, 'end');
  const uploads = [
    await slowUpload(api, `POST /v2/storage/tokens HTTP/1.1\r\nX-StorageApi-Token: ${token}`),
    await slowUpload(
      addresses['importer'] ?? '',
      `POST /upload-file HTTP/1.1\r\nX-StorageApi-Token: ${token}`,
    ),
    await slowUpload(addresses['s3'] ?? '', 'PUT /files/x HTTP/1.1'),
  ];
  const jobs: JobBody[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const asked = { name, dataFileId: file.id };
    jobs.push((await client.call<JobBody>('POST', 'buckets/in.c-main/tables-async', asked)).body);
  }
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await expect.poll(async () => await status(`${addresses['health']}/ready`)).toBe(503);
  expect(await status(`${addresses['health']}/health`)).toBe(200);
  const late = await running.call('GET', 'tokens/verify', undefined, { 'x-request-id': 'while-draining' });
  expect(late.status).toBe(200);
  expect(late.headers.get('connection')).toBe('close');
  expect(await exited).toEqual([0, null]);
  expect(uploads.every((socket) => socket.destroyed || socket.readableEnded)).toBe(true);
  agent.destroy();

  expect(log.map((line) => (line.startsWith('{') ? (JSON.parse(line) as object) : {}))).toContainEqual(
    expect.objectContaining({
      requestId: 'while-draining',
      route: '/v2/storage/tokens/verify',
      level: 'debug',
    }),
  );
  // The process served the folder, whatever database the other tests use.
  const again = createService({ dir });
  const { url } = await again.start();
  for (const { id } of jobs) {
    const stateOf = async (): Promise<unknown> =>
      ((await request(url, token, 'GET', `jobs/${id}`, undefined)).body as JobBody).status;
    await expect.poll(stateOf).toBe('success');
  }
  await again.stop();
});

test('a second signal ends it at once', async () => {
  const { child, addresses, token } = await serve('--drain-seconds', '600');
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await expect.poll(async () => await status(`${addresses['api']}/ready`)).toBe(503);
  expect((await request(addresses['api'] ?? '', token, 'GET', 'tokens/verify', undefined)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exited).toEqual([143, null]);
});

test('a request that waits for its job is told so when the service stops', async () => {
  const began = Promise.withResolvers<void>();
  const stuck = route({
    method: 'POST',
    path: '/stuck',
    summary: 'Waits for a job that nobody does',
    tag: 'Test',
    handle: async () => await Promise.reject(new Error('replaced below')),
  });
  const service = await startService({
    dir,
    graceMs: 4000,
    parts: [
      (context) => {
        const waits: DataContext = {
          ...context,
          objects: {} as ObjectStore, // neither is asked for anything
          engine: {} as TableEngine,
          origin: () => '',
          queue: { ...createQueue(context.meta, context.env), wake: () => began.resolve() },
        };
        const handle: Route['handle'] = async (call) =>
          void (await runJob(waits, call, { operation: 'fileDelete', params: { id: 1 } }));
        return { routes: [{ ...stuck, handle }] };
      },
    ],
  });
  const answer = service.call('POST', 'stuck', {});
  await began.promise;
  const stopped = service.service.stop();
  const { status: code, body } = await answer;
  expect(code).toBe(503);
  expect(body).toMatchObject({ code: 'storage.jobs.unfinished' });
  await stopped;
});
