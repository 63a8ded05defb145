import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

/** Details of answers that clients of the public API compare. */

let api: Running;
let client: ReturnType<typeof clientOf>;
beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main', stage: 'in' });
});
afterAll(async () => {
  await api.stop();
});

const TIME = '2020-01-02 03:04:05';

test.each([
  ['one behind the columns', `1,one,${TIME}\n2,two,${TIME}\n`, [TIME, TIME]],
  ['none in the file', '1,one\n2,two\n', undefined],
])('change times of a file without header or named columns: %s', async (_what, content, times) => {
  const name = `timed_${times === undefined ? 'not' : 'yes'}`;
  await client.create('in.c-main', name, 'id,name\n0,zero\n');
  const { id: dataFileId } = await client.upload(content);
  const options = { dataFileId, withoutHeaders: true, useTimestampFromDataFile: true };
  const job = await client.run('POST', `tables/in.c-main.${name}/import-async`, options);
  expect(job).toMatchObject({ status: 'success', results: { importedColumns: ['id', 'name'] } });
  const rows = await client.rowsOf(`in.c-main.${name}`, { includeInternalTimestamp: true });
  const cells = rows
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(`[${line}]`) as string[]);
  expect(cells.map(([a, b]) => [a, b])).toEqual([
    ['1', 'one'],
    ['2', 'two'],
  ]);
  if (times !== undefined) expect(cells.map((row) => row[2])).toEqual(times);
});

test('a file without header whose rows have other columns is refused', async () => {
  await client.create('in.c-main', 'wide', 'id,name\n0,zero\n');
  const { id: dataFileId } = await client.upload('1,one,x,y\n');
  const options = { dataFileId, withoutHeaders: true, useTimestampFromDataFile: true };
  const job = await client.run('POST', 'tables/in.c-main.wide/import-async', options);
  expect(job).toMatchObject({ status: 'error', error: { code: 'csvImport.invalidCsv' } });
});

test('what is asked for of a bucket is shown of its tables', async () => {
  await api.call('POST', 'buckets', { name: 'asked', stage: 'in' });
  await client.create('in.c-asked', 't', 'id\n1\n');
  const pairs = [{ key: 'k', value: 'v' }];
  await api.call('POST', 'tables/in.c-asked.t/metadata', {
    provider: 'tests',
    metadata: pairs,
    columnsMetadata: { id: pairs },
  });
  const tables = async (include: string): Promise<unknown> =>
    (await client.call<{ tables: unknown[] }>('GET', `buckets/in.c-asked${include}`)).body.tables[0];
  expect(await tables('')).not.toHaveProperty('metadata');
  expect(await tables('?include=metadata')).toMatchObject({ id: 'in.c-asked.t', metadata: pairs });
  expect(await tables('?include=metadata')).not.toHaveProperty('columns');
  expect(await tables('?include=columns,columnMetadata')).toMatchObject({
    columns: ['id'],
    columnMetadata: { id: pairs },
  });
});

describe('tokens', () => {
  test('show the buckets of the default branch, in whatever branch is asked', async () => {
    const job = await client.run('POST', 'dev-branches', { name: 'tokens' });
    const { id } = job.results as { id: number };
    await api.call('POST', `branch/${id}/buckets`, { name: 'own', stage: 'in' });
    const main = await client.call<{ bucketPermissions: object }>('GET', 'tokens/verify');
    const inBranch = await client.call<{ bucketPermissions: object }>('GET', `branch/${id}/tokens/verify`);
    expect(inBranch.body.bucketPermissions).toEqual(main.body.bucketPermissions);
    expect(main.body.bucketPermissions).toHaveProperty(['in.c-main'], 'manage');
    expect(main.body.bucketPermissions).not.toHaveProperty(['in.c-own']);
  });

  test('have the administrator for owner, and say that a secret is not shown again', async () => {
    const verified = await client.call<{
      admin: { id: number; name: string };
      adminOwner: object;
      owner: { features: string[] };
    }>('GET', 'tokens/verify');
    const { admin, adminOwner, owner } = verified.body;
    expect(adminOwner).toMatchObject({ id: admin.id, name: admin.name });
    expect(owner.features).toContain('hide-decrypted-token');
    const made = await client.call<{ id: string; token: string }>('POST', 'tokens', {
      description: 'hidden',
    });
    expect((await api.call('GET', `tokens/${made.body.id}`)).body).not.toHaveProperty('token');
    const refreshed = await client.call<{ token: string }>('POST', `tokens/${made.body.id}/refresh`);
    expect(refreshed.body.token).not.toBe(made.body.token);
    expect((await api.call('GET', `tokens/${made.body.id}`)).body).not.toHaveProperty('token');
  });

  test('are not deleted without an id', async () => {
    for (const path of ['tokens', 'tokens/'])
      expect(await api.call('DELETE', path)).toMatchObject({
        status: 404,
        body: { error: 'resource not found', code: 'notFound' },
      });
  });
});

test('an event of a branch has the name that the branch had', async () => {
  const job = await client.run('POST', 'dev-branches', { name: 'before' });
  const { id } = job.results as { id: number };
  await api.call('PUT', `dev-branches/${id}`, { name: 'after' });
  const { body } = await client.call<object[]>('GET', 'events?q=event:storage.devBranchUpdated');
  expect(body).toMatchObject([
    { objectId: String(id), objectName: 'before', params: { devBranchName: 'before' } },
  ]);
});

test('files are listed by whether they are public', async () => {
  const open = await client.upload('open', { name: 'open.txt' });
  const { body: made } = await client.call<{ id: number }>('POST', 'files/prepare', {
    name: 'p',
    isPublic: true,
  });
  const listed = async (query: string): Promise<number[]> =>
    (await client.call<{ id: number }[]>('GET', `files?${query}`)).body.map(({ id }) => id);
  expect(await listed('isPublic=1')).toEqual([made.id]);
  expect(await listed('isPublic=0')).toContain(open.id);
  expect(await listed('isPublic=0')).not.toContain(made.id);
  expect(await listed('limit=2')).toEqual([made.id, open.id]);
  expect(await api.call('GET', 'files?isPublic=999987')).toMatchObject({
    status: 400,
    body: {
      code: 'storage.validation',
      errors: [{ key: 'isPublic', message: 'This value should be of type boolean.' }],
    },
  });
});

test('a table in a bucket that is not there is told as a table, under the code of the bucket', async () => {
  const missing = 'The table "dummy" was not found in the bucket "in.c-dummy" in the project "1"';
  expect(await api.call('GET', 'tables/in.c-dummy.dummy')).toMatchObject({
    status: 404,
    body: { error: missing, code: 'storage.buckets.notFound' },
  });
});

test('a column without a name is one that is not valid', async () => {
  const columnNames = ['good', null, '', {}, 7];
  expect(await api.call('POST', 'validate/column-names', { columnNames })).toMatchObject({
    status: 422,
    body: {
      errors: [
        { key: 'columnNames[1]', message: 'This value should not be blank.' },
        { key: 'columnNames[2]', message: 'This value should not be blank.' },
        { key: 'columnNames[3]', message: 'This value should be of type string.' },
      ],
    },
  });
});

test('lists that are made are told as events', async () => {
  await api.call('GET', 'tables');
  await expect
    .poll(async () => (await api.call('GET', 'events?q=event:storage.tablesListed')).body)
    .toMatchObject([{ message: 'Listed tables' }]);
});
