// @module-tag thorough
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Kysely } from 'kysely';
import { PageCache } from '../../../src/service/http/lists/page-cache.ts';
import type { Meta } from '../../../src/service/stores/metadata/database.ts';
import { listTables, listTableTexts } from '../../../src/service/http/lists/tables.ts';
import { metaOf } from '../database.ts';
import { startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;
/** As another process over the same database has it. */
let meta: Meta;
beforeEach(async () => {
  api = await startService();
  client = clientOf(api);
  meta = await metaOf(api.dir);
});
afterEach(async () => {
  await meta.destroy();
  await api.stop();
});

const PARTS = ['buckets', 'columns', 'metadata', 'columnMetadata'];
const LIST = `tables?include=${PARTS.join(',')}`;

/**
 * The list, after it was compared with one of which nothing was kept, and with what another process gives: of all tables,
 * and of a bucket whose aliases stand for tables of another.
 */
async function listed(): Promise<string> {
  const { id: branchId } = await meta.selectFrom('branches').select('id').executeTakeFirstOrThrow();
  const view = { origin: api.addresses.url, include: PARTS };
  for (const bucketId of [undefined, 'in.c-b']) {
    const made: string[] = [];
    for await (const texts of listTableTexts(meta, { branchId, bucketId }, view)) made.push(...texts);
    const elsewhere: Buffer[] = [];
    for await (const page of listTables(meta, { branchId, bucketId }, view)) elsewhere.push(page);
    expect(`[${elsewhere.join(',')}]`).toBe(`[${made.join(',')}]`);
    if (bucketId === undefined) expect((await api.call('GET', LIST)).text).toBe(`[${made.join(',')}]`);
  }
  return (await api.call('GET', LIST)).text;
}

const item = (key: string, value: string) => ({ provider: 'p', metadata: [{ key, value }] });
const post = (path: string, body: object) => async () => await api.call('POST', path, body);
const metadataOf = async (path: string): Promise<string> =>
  ((await api.call('GET', path)).body as { id: string }[])[0]?.id ?? '';

test('a list is new after everything that is done with tables', async () => {
  const done: string[] = [];
  for (const name of ['a', 'b']) await api.call('POST', 'buckets', { name });
  let before = await listed();
  const after = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    await work();
    const now = await listed();
    if (now !== before) done.push(what);
    before = now;
  };
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    'a table': async () => await client.create('in.c-a', 't', 'x,y\n1,2\n'),
    'a typed table': async () =>
      await client.run('POST', 'buckets/in.c-a/tables-definition', {
        name: 'typed',
        primaryKeysNames: [],
        columns: [{ name: 'x', definition: { type: 'STRING' } }],
      }),
    'an alias': post('buckets/in.c-b/table-aliases', { sourceTable: 'in.c-a.t', name: 'alias' }),
    'an alias of it': post('buckets/in.c-b/table-aliases', { sourceTable: 'in.c-b.alias', name: 'again' }),
    'its name': async () => await api.call('PUT', 'tables/in.c-a.t', { displayName: 'shown' }),
    rows: async () => {
      const file = await client.upload('x,y\n3,4\n');
      await client.run('POST', 'tables/in.c-a.t/import-async', { dataFileId: file.id, incremental: 1 });
    },
    'a column': async () => await client.run('POST', 'tables/in.c-a.t/columns', { name: 'z' }),
    'a key': async () => await client.run('POST', 'tables/in.c-a.t/primary-key', { columns: ['x'] }),
    'no key': async () => await client.run('DELETE', 'tables/in.c-a.t/primary-key'),
    'no column': async () => await client.run('DELETE', 'tables/in.c-a.t/columns/z?async=1&force=true'),
    'fewer rows': async () =>
      await client.run('DELETE', 'tables/in.c-a.t/rows?whereColumn=x&whereValues[]=1'),
    'its metadata': post('tables/in.c-a.t/metadata', item('k', 'v')),
    'other metadata': post('tables/in.c-a.t/metadata', item('k', 'w')),
    'metadata of a column': post('columns/in.c-a.t.y/metadata', item('k', 'v')),
    'other metadata of a column': post('columns/in.c-a.t.y/metadata', item('k', 'w')),
    'no metadata': async () => {
      const id = await metadataOf('tables/in.c-a.t/metadata');
      await api.call('DELETE', `tables/in.c-a.t/metadata/${id}`);
    },
    'no metadata of a column': async () => {
      const id = await metadataOf('columns/in.c-a.t.y/metadata');
      await api.call('DELETE', `columns/in.c-a.t.y/metadata/${id}`);
    },
    'its bucket': async () => await api.call('PUT', 'buckets/in.c-a', { displayName: 'shown' }),
    'no table': async () => await client.run('DELETE', 'tables/in.c-a.t?async=1&force=true'),
    'the table again': async () => await client.create('in.c-a', 't', 'x,y\n'),
  };
  for (const [what, work] of Object.entries(steps)) await after(what, work);
  expect(done).toEqual(Object.keys(steps));
  // Without a stamp a table would be read again for each list.
  const tables = await meta.selectFrom('tables').select('id').orderBy('id').execute();
  const stamps = await meta.selectFrom('table_stamps').select('table_id').orderBy('table_id').execute();
  expect(stamps.map(({ table_id }) => table_id)).toEqual(tables.map(({ id }) => id));
  for (const name of ['a', 'b']) await client.run('DELETE', `buckets/in.c-${name}?async=1&force=true`);
  expect(await listed()).toBe('[]');
  // Nothing is left of what is gone.
  expect(await meta.selectFrom('table_stamps').selectAll().execute()).toEqual([]);
});

test('what is kept for one question is not given to another', async () => {
  await api.call('POST', 'buckets', { name: 'a' });
  await client.create('in.c-a', 't', 'x,y\n1,2\n');
  const { port } = new URL(api.addresses.url);
  for (let round = 0; round < 2; round++) {
    for (const include of ['columns', 'metadata', 'columns,metadata', 'metadata,columns']) {
      for (const host of ['127.0.0.1', 'localhost']) {
        const answer = await fetch(`http://${host}:${port}/v2/storage/tables?include=${include}`, {
          headers: { 'X-StorageApi-Token': api.token },
        });
        const [table] = (await answer.json()) as Record<string, unknown>[];
        expect(table?.['uri']).toBe(`http://${host}:${port}/v2/storage/tables/in.c-a.t`);
        for (const part of ['columns', 'metadata'])
          expect(Object.hasOwn(table ?? {}, part)).toBe(include.includes(part));
      }
    }
  }
});

test('a page is made once while it is made of the same, and the oldest go when there are too many', async () => {
  const kept = new PageCache(3500);
  let made = 0;
  const page = async (name: string, madeOf: string | undefined): Promise<string> => {
    const bytes = await kept.page({ name, madeOf }, async () => `${(made += 1)}`.padEnd(1000));
    return String(bytes).trim();
  };
  expect([await page('a', '1'), await page('b', '1'), await page('a', '1')]).toEqual(['1', '2', '1']);
  expect([await page('a', '2'), await page('a', '2')]).toEqual(['3', '3']);
  expect([await page('c', undefined), await page('c', undefined)]).toEqual(['4', '5']);
  expect([await page('d', '1'), await page('b', '1'), await page('a', '2')]).toEqual(['6', '2', '3']);
  // A fourth is too much: `d` was not asked for the longest.
  expect(await page('e', '1')).toBe('7');
  expect([await page('b', '1'), await page('a', '2'), await page('d', '1')]).toEqual(['2', '3', '8']);
});

type Value = number | string | null;

/** Rows of tables whose names and columns are known at run time only. */
const untyped = (): Kysely<Record<string, Record<string, Value>>> =>
  meta as unknown as Kysely<Record<string, Record<string, Value>>>;

/** Another value, which is as good as the old one. */
function changed(column: string, value: Value): Value {
  if (column === 'definition') return '{"type":"DATE"}';
  if (column === 'primary_key') return '["y"]';
  if (column === 'alias_source') return 'in.c-a.typed';
  if (column === 'alias_filter') return '{"column":"x","operator":"eq","values":["1"]}';
  if (value === null) return column === 'owner_id' ? 1 : '2031-01-01T00:00:00.000Z';
  if (/^is_|_auto_sync$/.test(column)) return value === 1 ? 0 : 1;
  if (typeof value === 'number') return value + 1;
  return /^\d{4}-/.test(value) ? value.replace('20', '21') : `${value}x`;
}

test('a list is new after any value of its rows was changed, past the service', async () => {
  for (const name of ['a', 'b']) await api.call('POST', 'buckets', { name });
  await client.create('in.c-a', 't', 'x,y\n1,2\n');
  await client.run('POST', 'buckets/in.c-a/tables-definition', {
    name: 'typed',
    primaryKeysNames: [],
    columns: [{ name: 'x', definition: { type: 'STRING' } }],
  });
  await api.call('POST', 'buckets/in.c-b/table-aliases', { sourceTable: 'in.c-a.t', name: 'alias' });
  for (const owner of ['tables/in.c-a.t', 'columns/in.c-a.t.y'])
    await api.call('POST', `${owner}/metadata`, { provider: 'p', metadata: [{ key: 'k', value: 'v' }] });
  const key = ['branch_id', 'id', 'table_id', 'bucket_id', 'scope', 'owner'];
  const rows = [
    ['tables', 'id', 'in.c-a.t'],
    ['tables', 'id', 'in.c-b.alias'],
    ['table_columns', 'table_id', 'in.c-a.typed'],
    ['metadata', 'owner', 'in.c-a.t'],
    ['metadata', 'owner', 'in.c-a.t.y'],
    ['buckets', 'id', 'in.c-a'],
  ] as const;
  const unseen: string[] = [];
  let before = await listed();
  for (const [name, idColumn, id] of rows) {
    const row = await untyped()
      .selectFrom(name)
      .selectAll()
      .where(idColumn, '=', id)
      .executeTakeFirstOrThrow();
    for (const [column, value] of Object.entries(row)) {
      if (key.includes(column)) continue;
      const change = { [column]: changed(column, value) };
      await untyped().updateTable(name).set(change).where(idColumn, '=', id).execute();
      const now = await listed();
      if (now === before) unseen.push(`${column} of ${id}`);
      before = now;
    }
    await untyped().updateTable(name).set(row).where(idColumn, '=', id).execute();
    before = await listed();
    if (name === 'buckets') continue; // a table is never without one
    await untyped().deleteFrom(name).where(idColumn, '=', id).execute();
    expect(await listed()).not.toBe(before);
    await untyped().insertInto(name).values(row).execute();
    expect(await listed()).toBe(before);
  }
  // An alias shows the times of the rows that it stands for.
  expect(unseen).toEqual([
    ...['revision', 'creator_id', 'creator_description'].map((column) => `${column} of in.c-a.t`),
    ...['revision', 'creator_id', 'creator_description'].map((column) => `${column} of in.c-b.alias`),
    ...['last_import', 'last_change'].map((column) => `${column} of in.c-b.alias`),
    'position of in.c-a.typed', // its only column
    ...['creator_id', 'creator_description'].map((column) => `${column} of in.c-a`),
  ]);
});
