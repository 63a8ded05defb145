// @module-tag thorough
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { databaseOf, forgetDatabase, isOnPostgres } from './database.ts';
import { freshStore, OVER } from './fresh-store.ts';
import { request } from './harness.ts';
import { serveProcess, type Served } from './serve-process.ts';

interface Got {
  readonly id: string;
  readonly event: string;
  readonly text: string;
  readonly signature: unknown;
  readonly at: number;
}

/** A receiver that writes down what comes, and when, and answers all but the first so many. */
async function receiver(unanswered = 0) {
  const got: Got[] = [];
  const server = createServer((asked, response) => {
    let text = '';
    asked.on('data', (chunk) => (text += String(chunk)));
    asked.on('end', () => {
      const { id, event } = JSON.parse(text) as Got;
      got.push({ id, event, text, signature: asked.headers['x-gex-signature'], at: Date.now() });
      if (got.length > unanswered) response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** Returns what starts processes over one place: a folder, or a database with a store. */
async function placeOfProcesses() {
  const name = randomUUID();
  const keys = { GEX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
  const database = await databaseOf(name);
  if (database === undefined) {
    const dir = await mkdtemp(path.join(tmpdir(), 'alerts-'));
    onTestFinished(async () => await rm(dir, { recursive: true, force: true, maxRetries: 5 }));
    return async (...more: string[]) => await serveProcess(['--dir', dir, ...more], keys);
  }
  const store = await freshStore();
  onTestFinished(async () => {
    await store.close();
    await forgetDatabase(name);
  });
  return async (...more: string[]) =>
    await serveProcess(['--database', database.url, ...store.named(), ...more], { ...store.keys, ...keys });
}

test('a message whose receiver has it when the process is killed comes again with its id, and no other does', async () => {
  const serve = await placeOfProcesses();
  const first = await serve('--runs=1');
  const api = createServer((_asked, response) => response.writeHead(404).end('{}'));
  api.listen(0, '127.0.0.1');
  await new Promise((resolve) => api.once('listening', resolve));
  onTestFinished(() => void api.close());
  const hook = await receiver(1);
  const call = async ({ url }: Served, method: string, at: string, body?: object) =>
    (await request(url, first.token, method, at, body)).body;
  const { id, secret = '' } = (await call(first, 'POST', 'alerts', { name: 'ops', url: hook.url })) as {
    id: string;
    secret?: string;
  };
  const component = 'ex-generic-v2';
  await call(first, 'POST', `components/${component}/configs`, {
    configurationId: 'a',
    name: 'a',
    configuration: {
      parameters: {
        api: { baseUrl: `http://127.0.0.1:${(api.address() as AddressInfo).port}/` },
        config: { jobs: [{ endpoint: 'books' }] },
      },
    },
  });
  await call(first, 'POST', 'runs', { component, configuration: 'a' });
  const comes = async (count: number) =>
    await expect.poll(() => hook.got.length, { timeout: 120_000, interval: 50 }).toBe(count);
  await comes(1);
  // It was sent, and nobody has written that down.
  first.kill();
  const second = await serve('--runs=1');
  await comes(2);
  await expect
    .poll(async () => await call(second, 'GET', `alerts/${id}/messages`), { timeout: 60_000 })
    .toMatchObject([{ status: 'sent', attempts: 1, event: 'failed' }]);
  const [once, again] = hook.got;
  expect(again).toEqual({ ...once, at: again?.at });
  expect(again?.signature).toBe(
    `sha256=${createHmac('sha256', secret)
      .update(again?.text ?? '')
      .digest('hex')}`,
  );
  expect(await call(second, 'GET', `alerts/${id}`)).toMatchObject({ wrong: [{ configuration: 'a' }] });
  expect(hook.got).toHaveLength(2);
}, 300_000);

describe.runIf(isOnPostgres)(`several processes look at alerts, in ${OVER}`, () => {
  test('a late source is told of once and within a minute, though their clocks are apart', async () => {
    const name = randomUUID();
    const { url } = (await databaseOf(name)) ?? { url: '' };
    const store = await freshStore();
    onTestFinished(async () => {
      await store.close();
      await forgetDatabase(name);
    });
    const serve = async (aheadMs: number, role: string) =>
      await serveProcess(
        ['--database', url, ...store.named(), `--role=${role}`],
        { ...store.keys, GEX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
        { aheadMs },
      );
    const api = await serve(0, 'api,worker');
    await serve(50_000, 'worker');
    await serve(-50_000, 'worker');
    const hook = await receiver();
    const call = async (path: string, body: object) => {
      const made = await request(api.url, api.token, 'POST', path, body);
      expect(made.status).toBe(201);
    };
    await call('alerts', { name: 'late', url: hook.url, kinds: ['late'], lateMinutes: 1 });
    await call('components/ex-generic-v2/configs', { configurationId: 'a', name: 'a', configuration: {} });
    const begun = Date.now();
    await call('components/ex-generic-v2/configs/a/schedules', { cron: '0 5 31 12 *' });
    await expect.poll(() => hook.got.length, { timeout: 140_000, interval: 500 }).toBe(1);
    const [late] = hook.got;
    expect(late?.event).toBe('late');
    const lateMs = (late?.at ?? 0) - begun - 60_000;
    expect(lateMs).toBeGreaterThanOrEqual(-1000);
    expect(lateMs).toBeLessThan(60_000);
    // Each of the others looks again, and has nothing more to tell.
    await new Promise((resolve) => setTimeout(resolve, 35_000));
    expect(hook.got).toHaveLength(1);
  }, 300_000);
});
