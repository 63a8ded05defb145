import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { bytesBody, StorageClient } from '../../src/storage/client/index.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from './database.ts';
import { freshStore, OVER, type FreshStore } from './fresh-store.ts';
import { matching } from './harness.ts';
import { serveProcess } from './serve-process.ts';

const DAY_MS = 86_400_000;
const TEXT = 'id\n1\n';

function clientOf(served: { readonly url: string }, token: string): StorageClient {
  const client = new StorageClient({ url: served.url, token });
  onTestFinished(() => client.close());
  return client;
}

describe.runIf(isOnPostgres)(`processes whose clocks are wrong, in ${OVER}`, () => {
  let name: string;
  let url: string;
  let store: FreshStore;
  beforeEach(async () => {
    name = randomUUID();
    ({ url } = (await databaseOf(name)) ?? { url: '' });
    store = await freshStore();
  });
  afterEach(async () => {
    await store.close();
    await forgetDatabase(name);
  });

  const serve = async (aheadMs: number, ...more: string[]) =>
    await serveProcess(
      ['--database', url, ...store.named(), ...more],
      { ...store.keys, GEX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
      { aheadMs },
    );

  /** Does upkeep as if it had never been done, and waits for its end. */
  async function upkeepIsDone(): Promise<void> {
    const database = new Client({ connectionString: url });
    await database.connect();
    try {
      await database.query("delete from gex.counters where name <> 'id'");
      const looked = "select from gex.counters where name like '%unknown objects%'";
      await expect.poll(async () => (await database.query(looked)).rowCount, { timeout: 60_000 }).toBe(1);
    } finally {
      await database.end();
    }
  }

  test('a worker that is 16 days ahead deletes nothing, is not ready, and says so', async () => {
    const api = await serve(0, '--role=api');
    const client = clientOf(api, api.token);
    const { id } = await client.files.upload(bytesBody(TEXT), { name: 'kept.csv' });
    const worker = await serve(16 * DAY_MS, '--role=worker');
    expect(await worker.ready()).toMatchObject({
      status: 'unready',
      reasons: [{ check: 'clock', message: matching(/^The clock of this process is 16 days ahead of /) }],
    });
    expect(worker.said()).toContain('16 days ahead of that of the database');
    await upkeepIsDone();
    expect((await client.files.detail(id)).name).toBe('kept.csv');
    expect(await text(await client.files.read(id))).toBe(TEXT);
    expect(await api.ready()).toMatchObject({ status: 'ready' });
  }, 120_000);

  test.each([16 * DAY_MS, -16 * DAY_MS])(
    'an API process that is %d ms ahead gives keys, addresses and tokens that are good, and as long as they should',
    async (aheadMs) => {
      const right = await serve(0, '--role=api,worker');
      const wrong = await serve(aheadMs, '--role=api');
      const made = await fetch(`${wrong.url}/v2/storage/tokens`, {
        method: 'POST',
        headers: { 'X-StorageApi-Token': right.token, 'Content-Type': 'application/json' },
        body: JSON.stringify({ description: 'short', expiresIn: 3600, canManageBuckets: true }),
      });
      const { token = '', expires = '' } = (await made.json()) as { token?: string; expires?: string };
      expect(Math.abs(Date.parse(expires) - Date.now() - 3_600_000)).toBeLessThan(60_000);
      // Made by the one, and used with the other.
      for (const [one, other] of [
        [wrong, right],
        [right, wrong],
      ] as const) {
        const { id } = await clientOf(one, token).files.upload(bytesBody(TEXT), { name: 'x.csv' });
        const file = await clientOf(other, right.token).files.detail(id);
        expect(Math.abs(Date.parse(file.created) - Date.now())).toBeLessThan(60_000);
        const answer = await fetch(file.url);
        expect([answer.status, await answer.text()]).toEqual([200, TEXT]);
      }
      expect(await wrong.ready()).toMatchObject({ status: 'unready' });
    },
    120_000,
  );
});
