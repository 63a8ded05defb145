import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isOnPostgres } from '../../database.ts';
import { proxyTo, type Proxy } from './proxy.ts';
import { ask, share, type Shared } from './shared.ts';

describe.runIf(isOnPostgres)('a database that goes away and comes back', () => {
  let shared: Shared;
  let proxy: Proxy;
  let url: string;
  let token: string;
  beforeEach(async () => {
    shared = await share();
    const { database = { url: '' } } = shared.options;
    proxy = await proxyTo(database.url);
    const { addresses } = await shared.start({ database: { ...database, url: proxy.url } });
    url = addresses.url;
    token = addresses.masterToken ?? '';
    await ask(url, token, 'POST', 'components/ex-generic-v2/configs', {
      name: 'Shop',
      configurationId: 'shop',
    });
  });
  afterEach(async () => await shared.stop());

  const CONFIG = 'components/ex-generic-v2/configs/shop';

  test('is told of with 503, and worked with again without a restart', async () => {
    await proxy.cut();
    const refused = await ask(url, token, 'GET', CONFIG);
    expect(refused).toMatchObject({ status: 503, body: { code: 'storage.databaseUnavailable' } });
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(JSON.stringify(refused.body)).not.toContain('127.0.0.1');
    await proxy.mend();
    await expect.poll(async () => (await ask(url, token, 'GET', CONFIG)).status).toBe(200);
    expect((await ask(url, token, 'PUT', CONFIG, { name: 'again' })).body).toMatchObject({ version: 2 });
  });

  test('loses nothing that was acknowledged, and does nothing twice under a key', async () => {
    const acknowledged: number[] = [];
    const over = new AbortController();
    const client = async (name: number): Promise<void> => {
      for (let n = 0; !over.signal.aborted || n === 0; n++) {
        const key = { 'Idempotency-Key': `${name}-${n}` };
        const body = { configuration: { name, n } };
        for (;;) {
          const answer = await ask(url, token, 'PUT', CONFIG, body, key);
          if (answer.status === 200) {
            acknowledged.push((answer.body as { version: number }).version);
            break;
          }
          // Also what was done while the connection was lost is answered with what came of it.
          expect(answer.status).toBe(503);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };
    const clients = [1, 2, 3, 4].map(client);
    for (let round = 0; round < 4; round++) {
      const before = acknowledged.length;
      await expect.poll(() => acknowledged.length).toBeGreaterThan(before + 5);
      await proxy.cut();
      await proxy.mend();
    }
    over.abort();
    await Promise.all(clients);
    const { body } = await ask(url, token, 'GET', `${CONFIG}/versions?limit=5000`);
    const versions = (body as { version: number }[]).map(({ version }) => version).toReversed();
    // Each change made one version: none was lost, none was made twice, and there is no gap.
    expect(versions).toEqual(Array.from({ length: acknowledged.length + 1 }, (_, n) => n + 1));
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    expect(versions).toEqual(expect.arrayContaining(acknowledged));
  });

  test('lets a job that was asked for end', async () => {
    await ask(url, token, 'POST', 'buckets', { name: 'main' });
    const { body } = await ask(url, token, 'DELETE', 'buckets/in.c-main?async=1');
    await proxy.cut();
    await proxy.mend();
    const job = async (): Promise<unknown> =>
      (await ask(url, token, 'GET', `jobs/${(body as { id: number }).id}`)).body;
    await expect.poll(job, { timeout: 100_000 }).toMatchObject({ status: 'success' });
  });

  test('takes nothing back of a job whose end it has kept, when only its answer to that was lost', async () => {
    await ask(url, token, 'POST', 'buckets', { name: 'main' });
    const table = { name: 'shops', columns: [{ name: 'id' }] };
    const job = async (path: string, body: unknown): Promise<Done> => {
      const { id } = (await ask(url, token, 'POST', path, body)).body as Done;
      let done: Done | undefined;
      const isOver = async (): Promise<boolean> => {
        done = (await ask(url, token, 'GET', `jobs/${id}`)).body as Done;
        return ['error', 'success'].includes(done.status);
      };
      await expect.poll(isOver).toBe(true);
      return done ?? { id, status: '' };
    };
    await job('buckets/in.c-main/tables-definition', table);
    const isLost = proxy.loseCommitOf('storage.tableExported');
    const { status, results } = await job('tables/in.c-main.shops/export-async', {});
    expect([isLost(), status]).toEqual([true, 'success']);
    const taken = await fetch(`${url}/v2/storage/files/${results?.file.id}/content`, {
      headers: { 'X-StorageApi-Token': token },
    });
    expect([taken.status, await taken.text()]).toEqual([200, '']);
  });
});

interface Done {
  readonly id: number;
  readonly status: string;
  readonly results?: { readonly file: { readonly id: number } };
}
