import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
beforeAll(async () => {
  api = await startService();
  await api.call('POST', 'buckets', { name: 'main' });
  for (const name of ['users', 'others']) {
    const definition = { name, columns: [{ name: 'id' }] };
    await clientOf(api).run('POST', 'buckets/in.c-main/tables-definition', definition);
  }
});
afterAll(async () => await api.stop());

test('tables are found by the key, value and provider of one metadata', async () => {
  const item = { key: 'search.key', value: 'found' };
  await api.call('POST', 'tables/in.c-main.users/metadata', { provider: 'finder', metadata: [item] });
  await api.call('POST', 'tables/in.c-main.users/metadata', {
    provider: 'other',
    metadata: [{ key: 'search.key', value: 'else' }],
  });
  const found = async (query: string, headers = {}): Promise<unknown> =>
    (await api.call('GET', `search/tables?${query}`, undefined, headers)).body;
  for (const query of [
    'metadataKey=search.key',
    'metadataValue=found',
    'metadataProvider=finder',
    'metadataKey=search.key&metadataValue=else&metadataProvider=other&include=',
  ]) {
    expect(await found(query), query).toMatchObject([{ id: 'in.c-main.users', name: 'users' }]);
  }
  expect(await found('metadataKey=search.key&include=metadata,columns')).toMatchObject([
    { metadata: expect.arrayContaining([expect.objectContaining(item)]) as unknown, columns: ['id'] },
  ]);
  for (const query of ['metadataKey=none', 'metadataValue=found&metadataProvider=other']) {
    expect(await found(query), query).toEqual([]);
  }
  const { body } = await api.call('POST', 'tokens', { description: 'limited' });
  const limited = { 'x-storageapi-token': (body as { token: string }).token };
  expect(await found('metadataKey=search.key', limited)).toEqual([]);
  expect((await api.call('GET', 'search/tables?metadataKey=')).status).toBe(400);
  expect((await api.call('GET', 'search/tables?metadataKey=a&include=odd')).status).toBe(400);
});
