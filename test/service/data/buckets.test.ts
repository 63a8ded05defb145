import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyText, containing, startService, type Reply, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
});
afterAll(async () => {
  await api.stop();
});

const post = async (path: string, body: unknown = {}): Promise<Reply> => await api.call('POST', path, body);
const put = async (path: string, body: unknown): Promise<Reply> => await api.call('PUT', path, body);
const get = async (path: string): Promise<Reply> => await api.call('GET', path);

test('a backend that is none of those that there are is refused', async () => {
  expect(await post('buckets', { name: 'odd', backend: 'redshit' })).toMatchObject({
    status: 400,
    body: { code: 'storage.buckets.validation' },
  });
  expect((await post('buckets', { name: 'known', backend: 'redshift' })).body).toMatchObject({
    backend: 'redshift',
  });
});

test('the path of a bucket begins with a place that bears the id of the project', async () => {
  const { body: verified } = await client.call<{ owner: { id: number } }>('GET', 'tokens/verify');
  const { body } = await client.call<{ backendPath: string[]; databaseName: string }>('POST', 'buckets', {
    name: 'path',
  });
  expect(body.backendPath).toEqual([containing(String(verified.owner.id)), 'in.c-path']);
  expect(body.databaseName).toBe(body.backendPath[0]);
});

test('a color is set, kept, and taken away by null', async () => {
  await post('buckets', { name: 'colored', color: 'red' });
  expect((await put('buckets/in.c-colored', { displayName: 'shown' })).body).toMatchObject({ color: 'red' });
  expect((await put('buckets/in.c-colored', { color: null })).body).toMatchObject({
    color: null,
    displayName: 'shown',
  });
});

test('a bucket gets the administrator as its owner, by id or by address, and nobody else', async () => {
  const { body } = await client.call<{ adminOwner: { id: number; email: string } }>('GET', 'tokens/verify');
  const { id, email } = body.adminOwner;
  expect((await post('buckets', { name: 'owned' })).body).toMatchObject({ owner: null, updated: null });
  const owner = 'buckets/in.c-owned/owner';
  expect(await get(owner)).toMatchObject({ status: 404, body: { code: 'storage.bucket.ownerNotFound' } });
  expect((await put(owner, { email })).body).toMatchObject({
    id: 'in.c-owned',
    owner: { id, email },
    updated: anyText,
  });
  expect((await get(owner)).body).toMatchObject({ id, email });
  expect((await put(owner, { id })).status).toBe(200);
  expect(await put(owner, { id: id + 1 })).toMatchObject({
    status: 404,
    body: { code: 'storage.bucket.ownerNotFound' },
  });
  expect((await put(owner, {})).status).toBe(400);
});

test('metadata of a bucket say when it was updated', async () => {
  await post('buckets', { name: 'noted' });
  expect((await get('buckets/in.c-noted')).body).toMatchObject({ updated: null });
  const metadata = [{ key: 'KBC.description', value: 'text' }];
  await post('buckets/in.c-noted/metadata', { provider: 'user', metadata });
  expect((await get('buckets/in.c-noted')).body).toMatchObject({ updated: anyText });
});

test('names that clash are told with the table that has the name', async () => {
  await post('buckets', { name: 'names' });
  for (const name of ['first', 'second']) await client.create('in.c-names', name, 'id\n1\n');
  await put('tables/in.c-names.first', { displayName: 'shown' });
  expect((await put('tables/in.c-names.second', { displayName: 'shown' })).body).toMatchObject({
    code: 'storage.buckets.tableAlreadyExists',
    error: 'The table "first" in the bucket already has the same display name "shown".',
  });
});

test('an export of a table in a bucket that is not there complains of the table', async () => {
  expect(await post('tables/in.c-missing.table/export-async')).toMatchObject({
    status: 404,
    body: { code: 'storage.tables.notFound' },
  });
  expect((await get('tables/in.c-missing.table')).body).toMatchObject({ code: 'storage.buckets.notFound' });
});
