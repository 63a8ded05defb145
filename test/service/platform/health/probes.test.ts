import { afterEach, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import type { Meta } from '../../../../src/service/stores/metadata/database.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { createReadiness, Unready } from '../../../../src/service/platform/health/readiness.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { containing, startService, type Running } from '../../harness.ts';

const running: Running[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
});

async function start(options: Parameters<typeof startService>[0] = {}): Promise<Running> {
  const service = await startService(options);
  running.push(service);
  return service;
}

const NO_TOKEN = { 'x-storageapi-token': '' };

/** Requests a probe without a token. */
async function probe(url: string | undefined, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`);
  return { status: response.status, text: await response.text() };
}

test('a service that has started is alive and ready, also on the port of the probes', async () => {
  const { addresses } = await start({ healthPort: 0 });
  for (const url of [addresses.url, addresses.parts['health']]) {
    expect(await probe(url, '/health')).toEqual({ status: 200, text: '{"status":"ok"}' });
    expect(await probe(url, '/ready')).toEqual({ status: 200, text: '{"status":"ready"}' });
  }
});

test('the port of the probes has nothing else, and they have their own methods', async () => {
  const url = (await start({ healthPort: 0 })).addresses.parts['health'];
  expect((await probe(url, '/v2/storage')).status).toBe(404);
  expect((await fetch(`${url}/ready?verbose`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${url}/ready`, { method: 'POST' })).status).toBe(405);
});

test('metrics are for a master token on the address of the API, and for everybody on the port of the probes', async () => {
  const service = await start({ healthPort: 0 });
  const reader = await service.call('POST', 'tokens', { description: 'reader', bucketPermissions: {} });
  const { token } = reader.body as { token: string };
  const asked = async (headers: Record<string, string>): Promise<number> =>
    (await service.call('GET', '/metrics', undefined, headers)).status;
  expect(await asked(NO_TOKEN)).toBe(401);
  expect(await asked({ 'x-storageapi-token': 'wrong' })).toBe(401);
  expect(await asked({ 'x-storageapi-token': token })).toBe(403);
  expect(await asked({})).toBe(200);
  expect(await asked({ ...NO_TOKEN, Authorization: `Bearer ${service.token}` })).toBe(200);
  const open = await probe(service.addresses.parts['health'], '/metrics');
  expect(open.status).toBe(200);
  expect(open.text).toContain('gex_ready 1');
});

test('a process is alive without its database, and not ready, and says so once in its log', async () => {
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (text, fields) => void lines.push(text + JSON.stringify(fields)) };
  const opened: { meta?: Meta } = {};
  const service = await start({
    healthPort: 0,
    log,
    parts: [
      ({ meta }) => {
        opened.meta = meta;
        return {};
      },
    ],
  });
  await opened.meta?.destroy();
  for (const url of [service.addresses.url, service.addresses.parts['health']]) {
    expect((await probe(url, '/health')).status).toBe(200);
    const { status, text } = await probe(url, '/ready');
    expect(status).toBe(503);
    expect(JSON.parse(text)).toEqual({
      status: 'unready',
      reasons: [{ check: 'database', message: 'It cannot be used. The log of the service says why.' }],
    });
  }
  const metrics = await probe(service.addresses.parts['health'], '/metrics');
  expect(metrics.text).toContain('gex_ready 0');
  expect(metrics.text).not.toContain('gex_jobs{');
  expect(lines).toEqual([containing('The service is not ready{"failed":[{"check":"database"')]);
  running.pop();
  await service.stop().catch(() => undefined);
});

test('tables of the database that are older than the program are named', async () => {
  const service = await start({
    parts: [
      ({ meta }) => ({
        start: async () => {
          await meta
            .withTables<{ kysely_migration: { name: string } }>()
            .deleteFrom('kysely_migration')
            .execute();
        },
      }),
    ],
  });
  expect((await probe(service.addresses.url, '/ready')).text).toMatch(
    /Its tables are older than this program: .*0001-schema/,
  );
});

test('an object store that does not answer makes it unready', async () => {
  const service = await start({
    parts: [() => ({ checks: [{ name: 'object store', check: () => Promise.reject(new Error('secret')) }] })],
  });
  const { status, text } = await probe(service.addresses.url, '/ready');
  expect(status).toBe(503);
  expect(text).toContain('"check":"object store"');
  expect(text).not.toContain('secret');
});

test('a store that the process can do without for a while leaves it ready, and is told of', async () => {
  const store = { name: 'object store', isBearable: true, check: () => Promise.reject(new Unready('Away.')) };
  const { addresses } = await start({ healthPort: 0, parts: [() => ({ checks: [store] })] });
  const { status, text } = await probe(addresses.url, '/ready');
  const reasons = [{ check: 'object store', message: 'Away.' }];
  expect({ status, body: JSON.parse(text) as unknown }).toEqual({
    status: 200,
    body: { status: 'degraded', reasons },
  });
  expect((await probe(addresses.parts['health'], '/metrics')).text).toContain('gex_ready 1');
});

test('it is unready while it starts and while it stops, and closes connections then', async () => {
  const drain = Promise.withResolvers<void>();
  const drained = Promise.withResolvers<void>();
  let whileStarting: Promise<{ status: number; text: string }> | undefined;
  const service = await start({
    healthPort: 0,
    drainMs: 12_345,
    env: {
      ...systemEnv,
      sleep: async (waitMs, signal) => {
        if (waitMs !== 12_345) return await systemEnv.sleep(waitMs, signal);
        drained.resolve();
        await drain.promise;
      },
    },
    parts: [
      () => ({
        start: async (url) => {
          whileStarting = probe(url, '/ready');
          await whileStarting;
        },
      }),
    ],
  });
  expect(await whileStarting).toMatchObject({ status: 503, text: containing('starting') });
  expect((await service.call('GET', 'tokens/verify')).headers.get('connection')).not.toBe('close');
  const stopped = service.service.stop();
  await drained.promise;
  for (const url of [service.addresses.url, service.addresses.parts['health']]) {
    expect((await probe(url, '/health')).status).toBe(200);
    expect(await probe(url, '/ready')).toMatchObject({ status: 503, text: containing('stopping') });
  }
  const answer = await service.call('GET', 'tokens/verify');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('connection')).toBe('close');
  drain.resolve();
  await stopped;
  await expect(fetch(`${service.addresses.parts['health']}/health`)).rejects.toThrow('fetch failed');
});

test('probes that come together are answered by one look, one that hangs is not waited for, and better times are seen', async () => {
  let now = 1_000_000;
  let looks = 0;
  const never = Promise.withResolvers<void>();
  let isHanging = false;
  const env = { ...systemEnv, now: () => now, sleep: async () => await Promise.resolve() };
  const readiness = createReadiness(env, silentLog);
  readiness.add([
    {
      name: 'x',
      check: async () => {
        looks += 1;
        if (isHanging) await never.promise;
        throw new Unready('Not yet.');
      },
    },
  ]);
  readiness.started();
  const [first, second] = await Promise.all([readiness.condition(), readiness.condition()]);
  expect(first.reasons).toEqual([{ check: 'x', message: 'Not yet.' }]);
  expect(second).toBe(first);
  expect(looks).toBe(1);
  now += 2001;
  isHanging = true;
  expect((await readiness.condition()).reasons).toEqual([
    { check: 'x', message: 'It did not answer within 3 seconds.' },
  ]);
  expect((await readiness.condition()).reasons).toHaveLength(1);
  expect(looks).toBe(2);
});
