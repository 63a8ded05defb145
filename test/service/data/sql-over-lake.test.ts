import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesBody, StorageClient } from '../../../src/storage/client/index.ts';
import { isOnPostgres } from '../database.ts';
import { freshStore, OVER, type FreshStore } from '../fresh-store.ts';
import { startService, type Reply, type Running } from '../harness.ts';
import { guardStore, type GuardedStore } from '../stores/tables/lake/guarded-store.ts';
import { EXTENSIONS } from '../stores/tables/lake/support.ts';
import { OF_STORES } from './sql-attacks.ts';

/** Here there is what the queries are after: a catalogue in a database, keys and files of a store, and its extensions. */
describe.runIf(isOnPostgres && EXTENSIONS !== undefined)(`queries over a lake, in ${OVER}`, () => {
  let store: FreshStore;
  let guard: GuardedStore;
  let api: Running;
  let client: StorageClient;
  let reader: Record<string, string>;
  beforeAll(async () => {
    store = await freshStore();
    guard = await guardStore(store.options.endpoint ?? '');
    api = await startService({
      objects: { ...store.options, endpoint: guard.url },
      tables: 'lake',
      ...(EXTENSIONS === undefined ? {} : { duckdbExtensions: EXTENSIONS }),
    });
    client = new StorageClient({ url: api.addresses.url, token: api.token });
    for (const [name, table, csv] of [
      ['main', 'users', 'id,name\n1,Ada\n2,Bob\n'],
      ['secret', 'keys', 'key\nHIDDEN\n'],
    ] as const) {
      const bucket = await client.buckets.create({ name });
      await makeTable(bucket.id, table, csv);
    }
    const { body } = await api.call('POST', 'tokens', {
      description: 'reader',
      bucketPermissions: { 'in.c-main': 'read' },
    });
    // The shape is that of the API.
    reader = { 'X-StorageApi-Token': (body as { token: string }).token };
  });
  afterAll(async () => {
    client.close();
    await api.stop();
    await guard.stop();
    await store.close();
  });

  const makeTable = async (bucket: string, name: string, csv: string): Promise<void> => {
    const { id } = await client.files.upload(bytesBody(csv), { name: `${name}.csv` });
    await client.tables.create(bucket, { name, dataFileId: id });
  };
  const ask = async (query: string): Promise<Reply> => await api.call('POST', 'sql', { query }, reader);

  test.each(OF_STORES)('%s', async (query) => {
    const { status, text } = await ask(query);
    expect([400, 404]).toContain(status);
    expect(text).not.toMatch(/HIDDEN|root:/);
    expect(text).not.toContain(store.options.credentials.secretAccessKey);
  });

  test('of a table whose files the store does not give out say so', async () => {
    // The engine may still have the files of one that was read before.
    await makeTable('in.c-main', 'fresh', 'id\n1\n');
    guard.refuse(/^(?:GET|HEAD) .*parquet/);
    try {
      const { status, body } = await ask('FROM "in.c-main".fresh');
      expect([status, body]).toMatchObject([400, { code: 'storage.tables.notAllowed' }]);
    } finally {
      guard.refuse(undefined);
    }
    expect((await ask('FROM "in.c-main".fresh')).status).toBe(200);
  });

  test('which do not read alone change nothing', async () => {
    const files = await store.list();
    expect(files.some((key) => key.endsWith('.parquet'))).toBe(true);
    for (const query of [
      `COPY (SELECT 1) TO 's3://${store.options.bucket}/x.parquet'`,
      'MERGE INTO "in.c-main".users USING (SELECT 1) ON true WHEN MATCHED THEN DELETE',
      "CALL ducklake_delete_orphaned_files('lake', cleanup_all => true)",
    ])
      expect((await ask(query)).status).toBe(400);
    const { body } = await ask('FROM "in.c-main".users ORDER BY id');
    expect(body).toMatchObject({
      rows: [
        ['1', 'Ada'],
        ['2', 'Bob'],
      ],
    });
    expect(await store.list()).toEqual(files);
  });
});
