// @module-tag thorough
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { databaseOf, forgetDatabase, isOnPostgres } from './database.ts';
import { freshStore, OVER } from './fresh-store.ts';
import { request } from './harness.ts';
import { serveProcess } from './serve-process.ts';

/** A receiver that writes down what comes, and when. */
async function receiver() {
  const got: { readonly event: string; readonly at: number }[] = [];
  const server = createServer((asked, response) => {
    let text = '';
    asked.on('data', (chunk) => (text += String(chunk)));
    asked.on('end', () => {
      got.push({ event: (JSON.parse(text) as { event: string }).event, at: Date.now() });
      response.end();
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
