import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../src/service/domain/context.ts';
import { FORM, startService, type Running } from './harness.ts';

let api: Running;
afterEach(async () => {
  await meta.deleteFrom('metadata').execute();
});
let meta: Context['meta'];
beforeAll(async () => {
  api = await startService({
    parts: [
      async (context) => {
        meta = context.meta;
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
      owner_id: null,
      ...made,
    })
    .execute();
  await meta
    .insertInto('tables')
    .values(
      (['users', 'typed'] as const).map((name) => ({
        branch_id,
        id: `in.c-main.${name}`,
        bucket_id: 'in.c-main',
        name,
        display_name: name,
        primary_key: '[]',
        is_typed: name === 'typed' ? (1 as const) : (0 as const),
        rows_count: name === 'typed' ? 0 : 3,
        data_bytes: name === 'typed' ? 0 : 1024,
        revision: 1,
        alias_source: null,
        alias_filter: null,
        alias_auto_sync: 0 as const,
        last_import: null,
        ...made,
      })),
    )
    .execute();
  await meta
    .insertInto('table_columns')
    .values(
      [
        ['users', 'id'],
        ['users', '2020'],
        ['typed', 'id'],
      ].map(([table_name, name = ''], position) => ({
        branch_id,
        table_id: `in.c-main.${table_name}`,
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

const set = async (...values: readonly string[]) =>
  (
    await api.call('POST', 'columns/in.c-main.typed.id/metadata', {
      provider: 'twice',
      metadata: values.map((value) => ({ key: 'k', value })),
    })
  ).body as readonly { readonly id: string; readonly provider: string; readonly value: string }[];

test('of a key that is given twice the last value counts, and a known one keeps its id', async () => {
  const [first] = (await set('a', 'b')).filter(({ provider }) => provider === 'twice');
  expect(first?.value).toBe('b');
  const again = (await set('c')).filter(({ provider }) => provider === 'twice');
  expect(again).toMatchObject([{ id: first?.id, value: 'c' }]);
});

test('a provider is needed', async () => {
  const none = await api.call('POST', table, { metadata });
  expect([none.status, none.body]).toMatchObject([
    400,
    { code: 'storage.metadata.invalidProvider', error: 'Provider is required.' },
  ]);
});

test('the provider of the service may be used where it says nothing itself: for untyped tables', async () => {
  expect((await api.call('POST', table, { provider: 'storage', metadata })).status).toBe(201);
  const column = 'columns/in.c-main.users.id/metadata';
  expect((await api.call('POST', column, { provider: 'storage', metadata })).status).toBe(201);
  for (const path of [
    'buckets/in.c-main/metadata',
    'tables/in.c-main.typed/metadata',
    'columns/in.c-main.typed.id/metadata',
  ]) {
    const { status, body } = await api.call('POST', path, { provider: 'storage', metadata });
    expect([status, body]).toMatchObject([403, { code: 'storage.metadata.invalidProvider' }]);
  }
});

const TARGETS = [
  ['bucket', 'in.c-main'],
  ['table', 'in.c-main.users'],
  ['column', 'in.c-main.users.id'],
] as const;
const STRUCTURE = {
  code: 'storage.metadata.invalidStructure',
  error: "Invalid structure. Metadata must be provided as an array of objects with 'key' and 'value' members",
};
const KEY = { code: 'storage.metadata.invalidKey', error: 'Invalid Metadata Key (metadata[0][key])' };
const PARAMETER = {
  code: 'storage.metadata.invalidParameter',
  error: 'The metadata parameter must be an array.',
};

describe.each(TARGETS)('metadata of a %s', (kind, id) => {
  const path = `${kind}s/${id}/metadata`;

  test.each([
    [undefined, PARAMETER],
    ['a text', PARAMETER],
    [7, PARAMETER],
    [[], STRUCTURE],
    [['a text'], STRUCTURE],
    [[{ key: 'k' }], STRUCTURE],
    [[{ value: 'v' }], STRUCTURE],
    [{ key: 'k', value: 'v' }, STRUCTURE],
    [[{ key: 'k', value: {} }], STRUCTURE],
    [[{ key: '', value: 'v' }], KEY],
    [[{ key: 'magic % key', value: 'v' }], KEY],
    [[{ key: 'k'.repeat(256), value: 'v' }], KEY],
  ])('%j is refused', async (given, error) => {
    const { status, body } = await api.call('POST', path, { provider: 'p', metadata: given });
    expect([status, body]).toMatchObject([400, error]);
  });

  test.each(['odd % provider', 'p'.repeat(256), '', 7])('the provider %j is refused', async (provider) => {
    const { status, body } = await api.call('POST', path, { provider, metadata });
    expect([status, body]).toMatchObject([400, { code: 'storage.metadata.invalidProvider' }]);
  });

  test('an id that is not among it is named, and what is no id at all is refused', async () => {
    const other = TARGETS.find(([each]) => each !== kind) ?? TARGETS[0];
    const made = await api.call('POST', `${other[0]}s/${other[1]}/metadata`, { provider: 'q', metadata });
    const list = made.body as { metadata?: { id: string }[] } & { id: string }[];
    const foreign = (list.metadata ?? list)[0]?.id;
    for (const number of [foreign, '999999', '9'.repeat(20)]) {
      const { status, body } = await api.call('DELETE', `${path}/${number}`);
      const error = `Metadata "${number}" not found for ${kind} "${id}".`;
      expect([status, body]).toMatchObject([404, { code: 'storage.metadata.notFound', error }]);
    }
    const none = await api.call('DELETE', `${path}/abc`);
    expect([none.status, none.body]).toMatchObject([400, { code: 'APPLICATION_ERROR' }]);
  });
});

test('a table takes metadata of columns alone, beside an empty list too, and not nothing', async () => {
  const columnsMetadata = { id: metadata };
  for (const body of [{ columnsMetadata }, { columnsMetadata, metadata: [] }])
    expect((await api.call('POST', table, { provider: 'p', ...body })).status).toBe(201);
  const { status, body } = await api.call('POST', table, { provider: 'p', columnsMetadata: {} });
  expect([status, body]).toMatchObject([400, PARAMETER]);
});

test('a column that is not there has no metadata', async () => {
  const path = 'columns/in.c-main.users.gone/metadata';
  for (const answer of [
    await api.call('GET', path),
    await api.call('POST', path, { provider: 'p', metadata }),
    await api.call('DELETE', `${path}/1`),
  ]) {
    expect([answer.status, answer.body]).toMatchObject([404, { code: 'storage.columns.notFound' }]);
  }
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
  const other = await api.call('POST', 'tokens', { description: 'of no bucket' });
  const foreign = { 'x-storageapi-token': (other.body as { token: string }).token };
  expect((await api.call('GET', table, undefined, foreign)).status).toBe(403);
});

test('the size of the project is that of its tables', async () => {
  expect((await api.call('GET', 'tokens/verify')).body).toMatchObject({
    owner: { dataSizeBytes: 1024, rowsCount: 3 },
  });
});
