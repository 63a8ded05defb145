// @module-tag thorough
import { CompiledQuery } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { dataPart } from '../../../src/service/start/data.ts';
import type { Meta } from '../../../src/service/stores/metadata/database.ts';
import { isOnPostgres } from '../database.ts';
import { anyText, startService, type Running } from '../harness.ts';
import { clientOf, type JobBody } from './client.ts';

/* The metadata is told that its file may not grow: it then answers as on a full disk, and really is out of room. */

let api: Running;
let client: ReturnType<typeof clientOf>;
let meta: Meta;

const TABLE = 'in.c-main.users';
const CONFIG = 'components/ex-generic-v2/configs/shop';
const FULL = {
  status: 'error',
  error: 'The disk of the service is full; nothing was changed. Free some space and try again.',
  code: 'storage.diskFull',
  exceptionId: anyText,
  params: {},
};

beforeAll(async () => {
  if (isOnPostgres) return;
  api = await startService({
    parts: [
      (context, options) => {
        meta = context.meta;
        return dataPart(context, options);
      },
    ],
  });
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main' });
  await client.create('in.c-main', 'users', 'id,name\n1,"Ann"\n', { primaryKey: 'id' });
  await api.call('POST', 'components/ex-generic-v2/configs', { name: 'Shop', configurationId: 'shop' });
});
afterEach(async () => {
  if (!isOnPostgres) await free();
});
afterAll(async () => {
  if (!isOnPostgres) await api.stop();
});

const limit = (pages: number) => meta.executeQuery(CompiledQuery.raw(`PRAGMA max_page_count = ${pages}`));
const free = () => limit(1_000_000);
/** A limit below the size of the file means its size. */
async function fill(): Promise<void> {
  await limit(1);
  // Fill the rest of the existing pages.
  for (let i = 0; i < 100; i++) {
    const { status } = await change(`rest ${i}`);
    if (status === 507) return;
  }
  throw new Error('It did not become full.');
}
const change = (name: string) =>
  api.call('PUT', CONFIG, { configuration: { name, text: 'x'.repeat(20_000) } });

const LONG_FILTER = { whereFilters: [{ column: 'id', values: ['x'.repeat(20_000)] }] };

// A limit of the pages of SQLite; that of a disk under PostgreSQL is in `database/`.
const ofFolder = test.runIf(!isOnPostgres);

ofFolder(
  'requests are answered with 507, what was kept is there, and all goes on when there is room',
  async () => {
    await fill();
    const { body: before } = await client.call<{ version: number }>('GET', CONFIG);
    const refused = [
      await change('refused'),
      await api.call('POST', 'files/prepare', { name: 'x'.repeat(5000), federationToken: true }),
      await api.call('POST', `tables/${TABLE}/export-async`, LONG_FILTER),
    ];
    for (const { status, body } of refused) expect({ status, body }).toEqual({ status: 507, body: FULL });
    expect((await api.call('GET', CONFIG)).body).toEqual(before);
    expect((await api.call('GET', `tables/${TABLE}/data-preview`)).text).toBe('"id","name"\n"1","Ann"\n');
    await free();
    expect((await change('kept')).status).toBe(200);
    expect((await api.call('GET', CONFIG)).body).toMatchObject({
      version: before.version + 1,
      configuration: { name: 'kept' },
    });
  },
);

ofFolder('an import that meets a full disk ends as it should when there is room', async () => {
  const wide = 'in.c-main.wide';
  await client.create('in.c-main', 'wide', 'id\n1\n');
  // Columns of the table are rows of the metadata.
  const names = Array.from({ length: 500 }, (_, i) => `column_${i}_${'x'.repeat(40)}`);
  const file = await client.upload(`id,${names.join(',')}\n1${',"y"'.repeat(500)}\n`);
  const asked = await client.call<JobBody>('POST', `tables/${wide}/import-async`, { dataFileId: file.id });
  await limit(1);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await free();
  expect(await client.finished(asked)).toMatchObject({ status: 'success' });
  const { body } = await client.call<{ columns: string[] }>('GET', `tables/${wide}`);
  expect(body.columns).toHaveLength(501);
});
