import { describe, expect, test } from 'vitest';
import type { StorageClient } from '../../../../src/storage/client/index.ts';
import { anyText } from '../../../service/harness.ts';
import { failureOf, isIn, manifestIn, pull, textIn, useStorage } from './support.ts';

const USERS = 'id,name,status\n1,"Ann ""A""",on\n2,"Bo\nB",off\n3,Cy,on\n';
const storage = useStorage();

const pair = (key: string, value: string): object => ({ key, value, provider: 'user', timestamp: anyText });

describe('input tables', () => {
  test('a table becomes CSV with a header, with everything about it in the manifest', async () => {
    const client = storage.client();
    const id = await storage.table(USERS, { primaryKey: ['id'] });
    const set = [{ key: 'KBC.description', value: 'All users' }];
    await client.tables.metadata(id).set([...set, { key: 'color', value: 'red' }], 'user');
    await client.tables.columnMetadata(id, 'name').set([{ key: 'color', value: 'blue' }], 'user');
    const folder = await storage.folder();

    const inputs = await pull(client, folder, { tables: [{ source: id, destination: 'users.csv' }] });

    expect(inputs).toEqual({ state: undefined, processed: [], tables: 1, files: 0 });
    expect(textIn(folder, 'tables/users.csv')).toBe(
      '"id","name","status"\n"1","Ann ""A""","on"\n"2","Bo\nB","off"\n"3","Cy","on"\n',
    );
    expect(manifestIn(folder, 'tables/users.csv')).toEqual({
      id,
      uri: `http://storage.invalid/v2/storage/tables/${id}`,
      name: 'users',
      primary_key: ['id'],
      distribution_key: [],
      created: anyText,
      last_change_date: anyText,
      last_import_date: anyText,
      columns: ['id', 'name', 'status'],
      metadata: [pair('KBC.description', 'All users'), pair('color', 'red')],
      column_metadata: { id: [], name: [pair('color', 'blue')], status: [] },
      description: 'All users',
    });
    expect(isIn(folder, '.pulling')).toBe(false);
  });

  test('without a destination the file is called as the table; columns, filter and limit choose', async () => {
    const client = storage.client();
    const id = await storage.table(USERS);
    const folder = await storage.folder();

    await pull(client, folder, {
      tables: [
        { source: id, columns: ['name', 'id'], where_column: 'status', where_values: ['on'] },
        {
          source: id,
          destination: 'not',
          where_column: 'status',
          where_operator: 'ne',
          where_values: ['on'],
        },
        { source: id, destination: 'some', limit: '1', column_types: [{ source: 'id', type: 'VARCHAR' }] },
      ],
    });

    expect(textIn(folder, `tables/${id}`)).toBe('"name","id"\n"Ann ""A""","1"\n"Cy","3"\n');
    expect(manifestIn(folder, `tables/${id}`)).toMatchObject({ columns: ['name', 'id'] });
    expect(textIn(folder, 'tables/not')).toBe('"id","name","status"\n"2","Bo\nB","off"\n');
    expect(textIn(folder, 'tables/some')).toBe('"id"\n"1"\n');
  });

  test('a table without rows is a header', async () => {
    const client = storage.client();
    const id = await storage.table('id,name\n');
    const folder = await storage.folder();
    await pull(client, folder, { tables: [{ source: id, destination: 'empty' }] });
    expect(textIn(folder, 'tables/empty')).toBe('"id","name"\n');
  });

  test('without compression, within one machine, it is the same', async () => {
    const client = storage.client();
    const id = await storage.table(USERS);
    const folder = await storage.folder();
    const connection = { client, address: 'here', project: '1', isLocal: true };
    await pull(client, folder, { tables: [{ source: id, destination: 'users' }] }, { connection });
    expect(textIn(folder, 'tables/users')).toContain('"1","Ann ""A""","on"\n');
  });

  test('columns with types are described in the manifest', async () => {
    const client = storage.client();
    const { id: bucket } = await client.buckets.create({ name: storage.unique('typed') });
    const definition = { type: 'NUMBER', length: '38,0', nullable: false };
    const { id } = await client.tables.define(bucket, {
      name: 'users',
      primaryKey: ['id'],
      columns: [
        { name: 'id', definition },
        { name: 'name', basetype: 'STRING' },
      ],
    });
    await client.tables
      .columnMetadata(id, 'name')
      .set([{ key: 'KBC.description', value: 'Full name' }], 'user');
    const folder = await storage.folder();
    await pull(client, folder, { tables: [{ source: id, columns: ['name', 'id'] }] });
    const { backend } = await client.buckets.detail(bucket);
    expect(manifestIn(folder, `tables/${id}`)).toMatchObject({
      columns: ['name', 'id'],
      schema: [
        {
          name: 'name',
          data_type: { base: { type: 'STRING' } },
          nullable: true,
          primary_key: false,
          description: 'Full name',
          metadata: { 'KBC.description': 'Full name' },
        },
        {
          name: 'id',
          data_type: { [backend]: { type: 'NUMBER', length: '38,0' } },
          nullable: false,
          primary_key: true,
        },
      ],
    });
  });
});

describe('what the storage keeps', () => {
  test('the exported file is deleted; one that was there before is left to others, and made again when it goes', async () => {
    const client = storage.client();
    const id = await storage.table('id\n1\n');
    const mapping = { tables: [{ source: id, destination: 'users' }] };
    const folder = await storage.folder();
    const isExported = async (fileId: number): Promise<boolean> =>
      (await client.files.list({ tags: ['table-export'] })).some((file) => file.id === fileId);

    await pull(client, folder, mapping);
    expect(
      (await client.files.list({ tags: ['table-export'] })).filter(({ name }) => name.includes(id)),
    ).toEqual([]);

    const { fileId } = await client.tables.export(id, { columns: ['id'], gzip: true });
    await pull(client, folder, mapping);
    expect(await isExported(fileId)).toBe(true);

    const losing = new Proxy(client, {
      get: (target, key: keyof StorageClient) =>
        key === 'files'
          ? {
              ...target.files,
              downloadTo: async (file: number, ...rest: [string, object]) => {
                if (file === fileId) await target.files.delete(file).catch(() => {});
                return await target.files.downloadTo(file, ...rest);
              },
            }
          : target[key],
    });
    await pull(losing, folder, mapping);
    expect(textIn(folder, 'tables/users')).toBe('"id"\n"1"\n');
    expect(await isExported(fileId)).toBe(false);
  });
});

describe('in a development branch', () => {
  test('the branch bucket comes first, then the branch, then production', async () => {
    const production = storage.client();
    const { id: branchId } = await production.branches.create({ name: storage.unique('branch') });
    const branch = storage.client({ branch: branchId });
    const name = storage.unique('main');
    const id = await storage.table('where\nproduction\n', { bucket: name });
    const folder = await storage.folder();
    const fetched = async (): Promise<string | undefined> => {
      const mapping = { tables: [{ source: id, destination: 'where' }] };
      await pull(branch, folder, mapping, { branch: String(branchId), production });
      return textIn(folder, 'tables/where').split('\n')[1];
    };
    expect(await fetched()).toBe('"production"');
    await storage.table('where\nbranch\n', { client: branch, bucket: name });
    expect(await fetched()).toBe('"branch"');
    await storage.table('where\nbranch bucket\n', { client: production, bucket: `${branchId}-${name}` });
    expect(await fetched()).toBe('"branch bucket"');
    const error = await failureOf(
      pull(branch, folder, { tables: [{ source: `${id}x` }] }, { branch: String(branchId), production }),
    );
    expect(error.hint).toBe(`Did you mean “${id}”?`);
  });
});
