import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;
beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
});
afterAll(async () => await api.stop());

test(
  'a branch is deleted with its configurations, buckets, tables and files, and the default one keeps its own',
  { tags: 'thorough' },
  async () => {
    const made = await client.run('POST', 'dev-branches', { name: 'Full' });
    const { id } = made.results as { id: number };
    const branch = `branch/${id}`;
    const columns = [{ name: 'id' }, { name: 'name' }];
    for (const place of ['branch/default', branch]) {
      await api.call('POST', `${place}/buckets`, { name: 'main' });
      const table = await client.run('POST', `${place}/buckets/in.c-main/tables-definition`, {
        name: 't',
        columns,
      });
      expect(table.status).toBe('success');
    }
    await api.call('POST', `${branch}/components/wr-db/configs`, { name: 'only here', configurationId: 'x' });
    const { body } = await api.call('POST', `${branch}/files/prepare`, {
      name: 'kept.csv',
      isPermanent: true,
    });
    const file = `files/${(body as { id: number }).id}`;
    expect((await api.call('GET', file)).status).toBe(200);

    const job = await client.run('DELETE', `dev-branches/${id}`);
    expect(job).toMatchObject({ status: 'success', operationName: 'devBranchDelete' });
    expect((await api.call('GET', `${branch}/buckets`)).status).toBe(404);
    expect((await api.call('GET', file)).status).toBe(404);
    const found = async (query: string): Promise<unknown> =>
      ((await api.call('GET', `global-search?query=${query}`)).body as { all: number }).all;
    expect(await found('only here')).toBe(0);
    expect(await found('in.c-main')).toBe(2);
    expect((await api.call('GET', 'tables/in.c-main.t')).status).toBe(200);
  },
);

test('the deletion of a branch that is gone, or of the default one, is refused at once', async () => {
  const missing = await api.call('DELETE', 'dev-branches/77');
  expect(missing.body).toMatchObject({ code: 'notFound', error: 'Branch id:"77" was not found.' });
  const main = await api.call('DELETE', 'dev-branches/default');
  expect([main.status, main.body]).toMatchObject([400, { error: 'Cannot delete Main branch' }]);
});
