import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyNumber, containing, startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;
let master = '';

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  master = ((await api.call('GET', 'tokens/verify')).body as { id: string }).id;
});
afterAll(async () => {
  await api.stop();
});

type Event = Record<string, unknown>;
const events = async (query: string): Promise<Event[]> =>
  (await api.call('GET', `events?q=${encodeURIComponent(query)}`)).body as Event[];
const named = async (...ids: string[]): Promise<unknown[]> => {
  const found = await events(`component:storage AND objectId:(${ids.map((id) => `"${id}"`).join(' OR ')})`);
  return found.toReversed().map(({ event }) => event);
};

test('what is done to a bucket and its metadata is told, with who did it in which run', async () => {
  const runId = '77.5';
  await api.call('POST', 'buckets', { name: 'told' }, { 'X-KBC-RunId': runId });
  await api.call('PUT', 'buckets/in.c-told', { displayName: 'shown' });
  const body = { provider: 'p', metadata: [{ key: 'k', value: 'v' }] };
  const set = await api.call('POST', 'buckets/in.c-told/metadata', body);
  const [{ id = '' } = {}] = set.body as { id?: string }[];
  await api.call('DELETE', `buckets/in.c-told/metadata/${id}`);
  await api.call('DELETE', 'buckets/in.c-told');
  expect(await named('in.c-told')).toEqual([
    'storage.bucketCreated',
    'storage.bucketUpdated',
    'storage.bucketMetadataSet',
    'storage.bucketMetadataDeleted',
    'storage.bucketDeleted',
  ]);
  const all = (await api.call('GET', 'buckets/in.c-told/events')).body as Event[];
  expect(all).toHaveLength(5);
  expect(all.at(-1)).toMatchObject({
    event: 'storage.bucketCreated',
    component: 'storage',
    type: 'info',
    message: containing('in.c-told'),
    objectType: 'bucket',
    objectId: 'in.c-told',
    objectName: 'c-told',
    runId,
    params: { displayName: 'told' },
    token: { id: Number(master), name: 'Master token' },
  });
  expect(all[2]).toMatchObject({ params: body });
  expect(all[3]).toMatchObject({ params: { displayName: 'shown' } });
});

test('nothing is told of what was refused', async () => {
  expect((await api.call('POST', 'buckets', { name: 'once' })).status).toBe(201);
  expect((await api.call('POST', 'buckets', { name: 'once' })).status).toBe(400);
  expect((await api.call('DELETE', 'buckets/in.c-once/metadata/1')).status).toBe(404);
  expect(await named('in.c-once')).toEqual(['storage.bucketCreated']);
});

test('jobs of tables tell when they are finished, and a load also when it failed', async () => {
  await api.call('POST', 'buckets', { name: 'jobs' });
  await client.create('in.c-jobs', 'users', 'id,name\n1,a\n');
  const table = 'in.c-jobs.users';
  const load = async (content: string, headers = {}): Promise<void> => {
    const { id } = await client.upload(content);
    await client.run('POST', `tables/${table}/import-async`, { dataFileId: id }, headers);
  };
  await load('id,name\n1,a\n2,b\n', { 'X-KBC-RunId': '8.1' });
  await load('id\n1\n');
  await client.run('POST', `tables/${table}/export-async`, {});
  await client.run('POST', `tables/${table}/columns`, { name: 'more' });
  await client.run('POST', `tables/${table}/primary-key`, { columns: ['id'] });
  await client.run('DELETE', `tables/${table}/primary-key`);
  await client.run('DELETE', `tables/${table}/columns/more`);
  await client.run('DELETE', `tables/${table}/rows?allowTruncate=1`);
  await api.call('PUT', `tables/${table}`, { displayName: 'people' });
  await api.call('POST', `tables/${table}/metadata`, { provider: 'p', metadata: [{ key: 'k', value: 'v' }] });
  await api.call('DELETE', `tables/${table}`);
  expect(await named(table)).toEqual([
    'storage.tableCreated',
    'storage.tableImportDone',
    'storage.tableImportError',
    'storage.tableExported',
    'storage.tableColumnAdded',
    'storage.tablePrimaryKeyAdded',
    'storage.tablePrimaryKeyDeleted',
    'storage.tableColumnDeleted',
    'storage.tableRowsDeleted',
    'storage.tableUpdated',
    'storage.tableMetadataSet',
    'storage.tableDeleted',
  ]);
  const [done] = await events(`event:storage.tableImportDone AND objectId:${table}`);
  expect(done).toMatchObject({
    runId: '8.1',
    objectType: 'table',
    objectName: 'users',
    params: { source: { fileId: anyNumber, type: 'file' } },
    results: { importedColumns: ['id', 'name'], totalRowsCount: 2 },
  });
  const [failed] = await events('event:storage.tableImportError');
  expect(failed).toMatchObject({ type: 'error', results: { code: 'csvImport.columnsNotMatch' } });
});

test('lists of tables and buckets are told as well, in their order among the others', async () => {
  const { uuid } = (await api.call('POST', 'events', { component: 'c', message: 'begin' })).body as Event;
  const since = async (): Promise<unknown[]> =>
    ((await api.call('GET', `events?sinceId=${String(uuid)}`)).body as Event[]).map(({ event }) => event);
  await api.call('GET', 'buckets', undefined, { 'X-KBC-RunId': '9' });
  await api.call('GET', 'tables', undefined, { 'X-KBC-RunId': '9' });
  expect(await since()).toEqual(['storage.tablesListed', 'storage.bucketsListed']);
  await api.call('GET', 'tables?include=');
  await api.call('POST', 'events', { component: 'c', message: 'end' });
  expect(await since()).toEqual([
    'ext.c.',
    'storage.tablesListed',
    'storage.tablesListed',
    'storage.bucketsListed',
  ]);
  expect(await events(`event:storage.tablesListed AND token.id:${master} AND runId:9`)).toHaveLength(1);
});

test('tokens tell what became of them, and never what they are', async () => {
  const made = (await api.call('POST', 'tokens', { description: 'told' })).body as {
    id: string;
    token: string;
  };
  await api.call('PUT', `tokens/${made.id}`, { description: 'told again' });
  const fresh = (await api.call('POST', `tokens/${made.id}/refresh`)).body as { token: string };
  await api.call('POST', `tokens/${made.id}/share`, { recipientEmail: 'ann@example.com' });
  await api.call('DELETE', `tokens/${made.id}`, undefined, { 'x-storageapi-token': fresh.token });
  expect(await named(made.id)).toEqual([
    'storage.tokenCreated',
    'storage.tokenUpdated',
    'storage.tokenRefreshed',
    'storage.tokenShared',
    'storage.tokenDeleted',
  ]);
  const { text, body } = await api.call('GET', `tokens/${made.id}/events`);
  expect(body).toHaveLength(5);
  for (const { token } of [made, fresh]) expect(text).not.toContain(token.split('-')[2]);
});

test('branches tell of themselves in the one they were made from', async () => {
  const { results } = await client.run('POST', 'dev-branches', { name: 'told branch' });
  const { id } = results as { id: number };
  await api.call('PUT', `dev-branches/${id}`, { description: 'new' });
  await client.run('DELETE', `dev-branches/${id}`);
  expect(await named(String(id))).toEqual([
    'storage.devBranchCreated',
    'storage.devBranchUpdated',
    'storage.devBranchDeleted',
  ]);
  expect(await events(`event:storage.devBranch* AND objectName:"told branch"`)).toHaveLength(3);
});

test('configurations tell of every version, and of nothing when there is none', async () => {
  const configs = 'components/wr-db/configs';
  const one = `${configs}/told-1`;
  await api.call('POST', configs, { name: 'first', configurationId: 'told-1' });
  await api.call('PUT', one, { name: 'second' });
  await api.call('PUT', one, { name: 'second' });
  await api.call('PUT', `${one}/state`, { state: { a: 1 } });
  await api.call('POST', `${one}/versions/1/rollback`);
  const copy = (await api.call('POST', `${one}/versions/1/create`, { name: 'copy' })).body as { id: string };
  await api.call('POST', `${one}/metadata`, { metadata: [{ key: 'k', value: 'v' }] });
  await api.call('DELETE', one);
  await api.call('POST', `${one}/restore`);
  await api.call('DELETE', one);
  await api.call('DELETE', one);
  expect(await named('told-1')).toEqual([
    'storage.componentConfigurationCreated',
    'storage.componentConfigurationChanged',
    'storage.componentConfigurationRolledBack',
    'storage.componentConfigurationMetadataSet',
    'storage.componentConfigurationDeleted',
    'storage.componentConfigurationRestored',
    'storage.componentConfigurationDeleted',
    'storage.componentConfigurationPurged',
  ]);
  expect(await named(copy.id)).toEqual(['storage.componentConfigurationCopied']);
  expect((await events('event:storage.componentConfigurationChanged AND objectId:told-1'))[0]).toMatchObject({
    message: 'Changed component configuration "second" (wr-db)',
    configurationId: 'told-1',
    objectType: 'componentConfiguration',
    objectName: 'second',
    params: { component: 'wr-db', configurationId: 'told-1', name: 'second', version: 2 },
  });
});

test('rows of configurations tell of theirs', async () => {
  const rows = 'components/wr-db/configs/told-rows/rows';
  await api.call('POST', 'components/wr-db/configs', { name: 'n', configurationId: 'told-rows' });
  await api.call('POST', rows, { rowId: 'told-row', name: 'a' });
  await api.call('PUT', `${rows}/told-row`, { name: 'b' });
  await api.call('POST', `${rows}/told-row/versions/1/rollback`);
  const copy = (await api.call('POST', `${rows}/told-row/versions/1/create`)).body as { id: string };
  await api.call('DELETE', `${rows}/told-row`);
  expect(await named('told-row')).toEqual([
    'storage.componentConfigurationRowCreated',
    'storage.componentConfigurationRowChanged',
    'storage.componentConfigurationRowRolledBack',
    'storage.componentConfigurationRowDeleted',
  ]);
  expect(await events(`objectType:componentConfigurationRow AND objectId:"${copy.id}"`)).toMatchObject([
    { event: 'storage.componentConfigurationRowCopied', configurationId: 'told-rows' },
  ]);
});
