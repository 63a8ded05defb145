import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { matching, startService, type Running } from '../harness.ts';
import { clientOf, type JobBody } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main' });
  await client.create('in.c-main', 'users', 'id,name\n1,a\n');
});
afterAll(async () => {
  await api.stop();
});

const TABLE = 'tables/in.c-main.users';

async function load(content: string, options: object): Promise<JobBody> {
  const file = await client.upload(content);
  return await client.run('POST', `${TABLE}/import-async`, {
    dataFileId: file.id,
    incremental: true,
    ...options,
  });
}

describe('what is no request is refused, not stumbled over', () => {
  test.each(['8000000000000', '200000 years', '-200000 years'])('the time %s', async (changedSince) => {
    const preview = await api.call(
      'GET',
      `${TABLE}/data-preview?changedSince=${encodeURIComponent(changedSince)}`,
    );
    expect([preview.status, preview.body]).toMatchObject([400, { code: 'storage.tables.validation' }]);
    expect((await api.call('POST', `${TABLE}/export-async`, { changedSince })).status).toBe(400);
    expect((await api.call('DELETE', `${TABLE}/rows`, { changedSince })).status).toBe(400);
  });

  test('an empty list in the place of a column', async () => {
    const answer = await api.call('POST', 'buckets/in.c-main/tables-definition', {
      name: 'x',
      columns: [[]],
    });
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error: 'Invalid request:\n - columns[0][name]: "This field is missing."' },
    ]);
  });

  test('more columns than a table may have', async () => {
    const file = await client.upload('1\n');
    const columns = Array.from({ length: 1201 }, (_, i) => `c${i}`);
    const answer = await api.call('POST', `${TABLE}/import-async`, { dataFileId: file.id, columns });
    expect(answer.body).toMatchObject({ code: 'storage.tables.validation.tooManyColumns' });
    const job = await client.create('in.c-main', 'wide', `${','.repeat(1_000_000)}\n`);
    expect(job.error).toMatchObject({
      code: 'storage.tables.validation.tooManyColumns',
      message: 'Load error: Line 1 (record 1): the header has 1000001 columns, the limit is 1200.',
    });
  });
});

test('an empty name among the columns keeps its place, and is refused', async () => {
  for (const columns of [['id', '', 'name'], 'id,,name']) {
    expect((await load('1,2,3\n', { columns })).error?.code).toBe(
      'storage.tables.validation.invalidColumnName',
    );
  }
  expect((await load('id,name\n5,x\n', { columns: [''] })).status).toBe('success');
});

test('an empty text in a form stands for no source', async () => {
  const file = await client.upload('id\n1\n');
  const body = new URLSearchParams({
    name: 'formed',
    dataFileId: String(file.id),
    snapshotId: '',
    dataUrl: '',
  });
  expect((await client.run('POST', 'buckets/in.c-main/tables-async', body)).status).toBe('success');
});

test('several tables of a new bucket are made at the same time', async () => {
  await api.call('POST', 'buckets', { name: 'fresh' });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const jobs = await Promise.all(names.map((name) => client.create('in.c-fresh', name, 'id\n1\n')));
  expect(jobs.map(({ error }) => error)).toEqual(names.map(() => undefined));
});

test('of two primary keys asked for at once, one is set', async () => {
  await client.create('in.c-main', 'keyed', 'a,b\n1,2\n');
  const path = 'tables/in.c-main.keyed/primary-key';
  const outcomes = await Promise.all(
    ['a', 'b'].map(async (column) => {
      const answer = await api.call('POST', path, { columns: [column] });
      if (answer.status !== 202) return (answer.body as { code: string }).code;
      return (await client.finished(answer)).error?.code ?? 'set';
    }),
  );
  expect(outcomes.toSorted()).toEqual(['set', 'storage.validation.primaryKey']);
});

test('a job shows all that it was asked for, also what goes without saying', async () => {
  const file = await client.upload('id,name\n1,a\n');
  const imported = await client.call('POST', `${TABLE}/import-async`, { dataFileId: file.id });
  expect(imported.body).toMatchObject({
    operationParams: {
      params: {
        incremental: false,
        source: [],
        withoutHeaders: false,
        columns: [],
        delimiter: ',',
        enclosure: '"',
        escapedBy: '',
      },
      source: { fileId: file.id, type: 'file' },
      queue: 'main_fast',
    },
  });
  const exported = await client.call('POST', `${TABLE}/export-async`, { limit: 5 });
  expect(exported.body).toMatchObject({
    operationParams: {
      export: {
        tableName: 'in.c-main.users',
        columns: [],
        limit: 5,
        changedSince: null,
        changedUntil: null,
        gzipOutput: false,
        format: 'rfc',
        whereFilters: [],
        fileType: 'csv',
      },
      queue: 'main_fast',
    },
  });
  const renamed = await client.call('PUT', `${TABLE}?async=1`, { displayName: 'Shown' });
  expect(renamed.body).toMatchObject({ operationName: 'tableUpdate', tableId: 'in.c-main.users' });
});

test('a table that nothing was loaded into has both its times', async () => {
  const job = await client.run('POST', 'buckets/in.c-main/tables-definition', {
    name: 'empty',
    columns: [{ name: 'id' }],
  });
  const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
  expect(job.results).toMatchObject({ isTyped: false, lastImportDate: time, lastChangeDate: time });
});
