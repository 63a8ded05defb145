import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/storage/server/context.ts';
import { FORM, startService, type Running } from './harness.ts';

let api: Running;
beforeAll(async () => {
  api = await startService({
    parts: [
      async (context) => {
        await addTable(context);
        return {};
      },
    ],
  });
});
afterAll(async () => {
  await api.stop();
});

/** A bucket and a table as the parts for tables write them down. */
async function addTable({ meta }: Context): Promise<void> {
  const { id: branch_id } = await meta.selectFrom('branches').select('id').executeTakeFirstOrThrow();
  const made = {
    creator_id: 1,
    creator_description: 't',
    created: '2026-11-21T00:00:00.000Z',
    last_change: null,
  };
  await meta
    .insertInto('buckets')
    .values({
      branch_id,
      id: 'in.c-main',
      stage: 'in',
      name: 'c-main',
      display_name: 'main',
      description: '',
      color: null,
      backend: 'x',
      updated: null,
      ...made,
    })
    .execute();
  await meta
    .insertInto('tables')
    .values({
      branch_id,
      id: 'in.c-main.users',
      bucket_id: 'in.c-main',
      name: 'users',
      display_name: 'users',
      primary_key: '[]',
      is_typed: 0,
      rows_count: 3,
      data_bytes: 1024,
      revision: 1,
      last_import: null,
      ...made,
    })
    .execute();
  await meta
    .insertInto('table_columns')
    .values(
      ['id', '2020'].map((name, position) => ({
        branch_id,
        table_id: 'in.c-main.users',
        name,
        position,
        definition: null,
        basetype: null,
      })),
    )
    .execute();
}

const table = 'tables/in.c-main.users/metadata';
const metadata = [{ key: 'k', value: 'v' }];

test('a table takes metadata of its columns along, by name or in lists', async () => {
  for (const columnsMetadata of [
    { id: [{ key: 'c', value: 'one' }] },
    [[{ columnName: 'id', key: 'c', value: 'one' }]],
  ]) {
    const { status, body } = await api.call('POST', table, { provider: 'p', metadata, columnsMetadata });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      metadata: [{ key: 'k', value: 'v', provider: 'p' }],
      columnsMetadata: { id: [{ key: 'c', value: 'one', provider: 'p' }] },
    });
  }
  expect((await api.call('GET', 'columns/in.c-main.users.id/metadata')).body).toMatchObject([{ key: 'c' }]);
});

test('the name of a column may be a number', async () => {
  const columnsMetadata = { 2020: [{ key: 'n', value: '2' }] };
  const { body } = await api.call('POST', table, { provider: 'p', columnsMetadata });
  expect(body).toMatchObject({ columnsMetadata: { 2020: [{ key: 'n', value: '2' }] } });
  expect((await api.call('GET', 'columns/in.c-main.users.2020/metadata')).text).toContain('"value":"2"');
});

test('a form is answered with a plain list', async () => {
  const form = 'provider=p&metadata[0][key]=k&metadata[0][value]=w';
  expect((await api.call('POST', table, form, FORM)).body).toMatchObject([{ key: 'k', value: 'w' }]);
});

test('the same key of another provider is another one', async () => {
  const path = 'buckets/in.c-main/metadata';
  await api.call('POST', path, { provider: 'p', metadata });
  expect((await api.call('POST', path, { provider: 'q', metadata })).body).toMatchObject([
    { provider: 'p' },
    { provider: 'q' },
  ]);
});

test('a provider is needed, and that of the service is not for others', async () => {
  const none = await api.call('POST', table, { metadata });
  expect([none.status, none.body]).toMatchObject([
    400,
    { code: 'storage.metadata.invalidProvider', error: 'Provider is required.' },
  ]);
  expect((await api.call('POST', table, { provider: 'storage', metadata })).status).toBe(403);
});

test('nothing is kept when a column does not exist', async () => {
  const body = { provider: 'fresh', metadata, columnsMetadata: { none: metadata } };
  expect((await api.call('POST', table, body)).body).toMatchObject({
    code: 'storage.metadata.invalidParameter',
  });
  expect((await api.call('GET', table)).text).not.toContain('fresh');
});

test('reading needs the permission to read, setting that to write', async () => {
  const made = await api.call('POST', 'tokens', { bucketPermissions: { 'in.c-main': 'read' } });
  const headers = { 'x-storageapi-token': (made.body as { token: string }).token };
  expect((await api.call('GET', table, undefined, headers)).status).toBe(200);
  expect((await api.call('POST', table, { provider: 'p', metadata }, headers)).status).toBe(403);
  const other = await api.call('POST', 'tokens', { bucketPermissions: { 'out.c-main': 'manage' } });
  const foreign = { 'x-storageapi-token': (other.body as { token: string }).token };
  expect((await api.call('GET', table, undefined, foreign)).status).toBe(403);
});

test('the size of the project is that of its tables', async () => {
  expect((await api.call('GET', 'tokens/verify')).body).toMatchObject({
    owner: { dataSizeBytes: 1024, rowsCount: 3 },
  });
});
