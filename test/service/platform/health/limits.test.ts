// @module-tag thorough
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../../../src/lib/env.ts';
import { StorageClient } from '../../../../src/storage/client/index.ts';
import { createRateLimit } from '../../../../src/service/http/limits/rate-limit.ts';
import { route } from '../../../../src/service/http/route.ts';
import { containing, startService, type Reply, type Running } from '../../harness.ts';

const running: Running[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
});

async function start(options: Parameters<typeof startService>[0] = {}): Promise<Running> {
  const service = await startService(options);
  running.push(service);
  return service;
}

/** A clock that stands still until it is told to go on. */
function stoppedClock(): { readonly env: Env; readonly pass: (ms: number) => void } {
  let now = systemEnv.now();
  return { env: { ...systemEnv, now: () => now }, pass: (ms) => void (now += ms) };
}

const verify = async (service: Running, token?: string): Promise<Reply> =>
  await service.call(
    'GET',
    'tokens/verify',
    undefined,
    token === undefined ? {} : { 'x-storageapi-token': token },
  );

async function newToken(service: Running): Promise<string> {
  const { body } = await service.call('POST', 'tokens', { description: 'x', bucketPermissions: {} });
  return (body as { token: string }).token;
}

test('a token may send a burst, is told when it may go on, and takes nothing from others', async () => {
  const { env, pass } = stoppedClock();
  const service = await start({ env, requestsPerMinute: 6 });
  const [one, other] = [await newToken(service), await newToken(service)];
  for (let n = 0; n < 6; n++) expect((await verify(service, one)).status).toBe(200);
  const refused = await verify(service, one);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(refused.body).toMatchObject({
    code: 'storage.tooManyRequests',
    error: containing('with this token: 6 a minute are allowed'),
  });
  expect((await verify(service, other)).status).toBe(200);
  pass(9000);
  expect((await verify(service, one)).headers.get('retry-after')).toBe('1');
  pass(1000);
  expect((await verify(service, one)).status).toBe(200);
  expect((await verify(service, one)).status).toBe(429);
  pass(60_000);
  for (let n = 0; n < 6; n++) expect((await verify(service, one)).status).toBe(200);
});

test('without a token an address is counted, and probes never are', async () => {
  const service = await start({ env: stoppedClock().env, requestsPerMinute: 2 });
  const index = async (): Promise<number> => (await fetch(`${service.addresses.url}/v2/storage`)).status;
  expect([await index(), await index(), await index()]).toEqual([200, 200, 429]);
  for (let n = 0; n < 5; n++) {
    expect((await fetch(`${service.addresses.url}/health`)).status).toBe(200);
    expect((await fetch(`${service.addresses.url}/ready`)).status).toBe(200);
  }
  const noToken = { 'x-storageapi-token': '' };
  expect((await service.call('GET', 'tables', undefined, noToken)).status).toBe(429);
});

test('an address with wrong tokens is not listened to for a while, and tokens that were right before are', async () => {
  const { env, pass } = stoppedClock();
  const service = await start({ env });
  const [known, unknown] = [await newToken(service), await newToken(service)];
  expect((await verify(service, known)).status).toBe(200);
  const statuses = new Set<number>();
  for (let n = 0; n < 600; n++) statuses.add((await verify(service, `1-1-${n}`)).status);
  expect([...statuses]).toEqual([401]);
  expect((await verify(service, '1-1-more')).status).toBe(429);
  expect((await verify(service, unknown)).headers.get('retry-after')).toBe('1');
  expect((await verify(service, known)).status).toBe(200);
  pass(100);
  expect((await verify(service, unknown)).status).toBe(200);
});

test('more requests than can be answered at the same time are told to come again, and probes are answered', async () => {
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const slow = route({
    method: 'GET',
    path: '/slow',
    summary: 'Waits',
    tag: 'Test',
    handle: async () => {
      asked.resolve();
      await release.promise;
      return 'done';
    },
  });
  const service = await start({ healthPort: 0, maxRequests: 1, parts: [() => ({ routes: [slow] })] });
  const answer = service.call('GET', 'slow');
  await asked.promise;
  const refused = await verify(service);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.body).toMatchObject({ code: 'storage.busy' });
  expect((await fetch(`${service.addresses.url}/ready`)).status).toBe(200);
  release.resolve();
  expect((await answer).body).toBe('done');
  await expect.poll(async () => (await verify(service)).status).toBe(200);
  const metrics = await (await fetch(`${service.addresses.parts['health']}/metrics`)).text();
  expect(metrics).toMatch(/^gex_http_requests_refused_total\{reason="busy"\} [1-9]/m);
});

test('more connections than there is room for are closed', async () => {
  const service = await start({ maxRequests: 1, parts: [] });
  const { hostname, port } = new URL(service.addresses.url);
  const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname).on('error', () => {}));
  await Promise.any(sockets.map((socket) => once(socket, 'close')));
  for (const socket of sockets) socket.destroy();
});

test('the storage client waits as long as it is told, and gets everything', async () => {
  const { env, pass } = stoppedClock();
  const service = await start({ env, requestsPerMinute: 60 });
  const waits: number[] = [];
  const client = new StorageClient({
    url: service.addresses.url,
    token: await newToken(service),
    env: {
      ...systemEnv,
      sleep: async (waitMs) => {
        waits.push(waitMs);
        pass(waitMs);
        await Promise.resolve();
      },
    },
  });
  for (let n = 0; n < 70; n++) expect(await client.tokens.verify()).toMatchObject({ description: 'x' });
  expect(waits).toHaveLength(10);
  for (const wait of waits) expect(wait).toBe(1000);
});

test('keys that are silent are forgotten first, and nobody gets more for it', () => {
  const limit = createRateLimit(2);
  const wait = (key: string, now: number): number => limit.take(key, now);
  expect([wait('busy', 0), wait('busy', 0), wait('busy', 0)]).toEqual([0, 0, 30_000]);
  for (let n = 0; n < 9999; n++) wait(`key ${n}`, -90_000);
  expect(wait('new', 0)).toBe(0);
  expect(wait('busy', 0)).toBe(30_000);
});
