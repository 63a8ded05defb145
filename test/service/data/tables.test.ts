import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FORM, containing, startService, type Running } from '../harness.ts';
import { clientOf, type JobBody } from './client.ts';

const aNumber: unknown = expect.any(Number);

let api: Running;
let client: ReturnType<typeof clientOf>;
let tables = 0;

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main' });
});
afterAll(async () => {
  await api.stop();
});

const newName = (): string => `table_${++tables}`;
const USERS = 'id,name\n1,"Ann"\n2,"Bob ""B"""\n';

async function made(content = USERS, options: object = {}): Promise<string> {
  const name = newName();
  const job = await client.create('in.c-main', name, content, options);
  expect(job.error).toBeUndefined();
  return `in.c-main.${name}`;
}

async function load(table: string, content: string | Uint8Array, options: object = {}): Promise<JobBody> {
  const file = await client.upload(content);
  return await client.run('POST', `tables/${table}/import-async`, { dataFileId: file.id, ...options });
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();

describe('the worked requests', () => {
  test('prepare, upload, create, poll, export and download give the same rows', async () => {
    const file = await client.upload(USERS);
    const name = newName();
    const answer = await api.call(
      'POST',
      'branch/default/buckets/in.c-main/tables-async',
      new URLSearchParams({ dataFileId: String(file.id), name, delimiter: ',', enclosure: '"' }),
    );
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ status: 'waiting', operationName: 'tableCreate', results: null });
    const job = await client.finished(answer);
    expect(job).toMatchObject({
      status: 'success',
      results: { id: `in.c-main.${name}`, columns: ['id', 'name'], rowsCount: 2 },
    });
    expect(await client.rowsOf(`in.c-main.${name}`)).toBe('"1","Ann"\n"2","Bob ""B"""\n');
  });

  test('a small job is finished at the first poll', async () => {
    const table = await made();
    const { body } = await client.call<JobBody>('POST', `tables/${table}/export-async`, {});
    expect((await client.call<JobBody>('GET', `jobs/${body.id}`)).body.status).toBe('success');
  });

  test('the importer takes the bytes on the API and on its own port', async () => {
    for (const address of [api.addresses.url, api.addresses.parts['importer'] ?? '']) {
      const form = new FormData();
      form.set('tags[]', 'one');
      form.set('data', new Blob([USERS]), 'users.csv');
      const answer = await fetch(`${address}/upload-file`, {
        method: 'POST',
        headers: { 'X-StorageAPI-Token': api.token },
        body: form,
      });
      const file = (await answer.json()) as { id: number; url: string };
      expect(file).toMatchObject({
        name: 'users.csv',
        tags: ['one'],
        sizeBytes: USERS.length,
        isSliced: false,
      });
      expect(file).not.toHaveProperty('uploadParams');
      expect(await (await fetch(file.url)).text()).toBe(USERS);
    }
  });

  test('write-table loads the rows of a multipart body', async () => {
    const table = await made(USERS, { primaryKey: 'id' });
    const form = new FormData();
    form.set('data', new Blob(['id\tname\n2\tBea\n3\tCy\n']), 'more.tsv');
    form.set('tableId', table);
    form.set('incremental', '1');
    form.set('delimiter', '\\t');
    const answer = await fetch(`${api.addresses.url}/write-table`, {
      method: 'POST',
      headers: { 'X-StorageApi-Token': api.token },
      body: form,
    });
    const job = await client.finished({
      status: answer.status,
      headers: answer.headers,
      text: '',
      body: await answer.json(),
    });
    expect(job.status).toBe('success');
    expect(lines(await client.rowsOf(table))).toEqual(['"1","Ann"', '"2","Bea"', '"3","Cy"']);
  });

  test('the older operations carry the rows themselves', async () => {
    const name = newName();
    const created = await api.call('POST', 'buckets/in.c-main/tables', {
      name,
      dataString: USERS,
      primaryKey: 'id',
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ id: `in.c-main.${name}`, rowsCount: 2, primaryKey: ['id'] });
    const form = new FormData();
    form.set('incremental', '1');
    form.set('data', new Blob(['id,name\n9,Zoe\n']), 'data.csv');
    const loaded = await api.call('POST', `tables/in.c-main.${name}/import`, form);
    expect(loaded.status).toBe(200);
    expect(loaded.body).toMatchObject({
      importedColumns: ['id', 'name'],
      totalRowsCount: 3,
      warnings: [],
      transaction: null,
    });
    const failed = await api.call('POST', `tables/in.c-main.${name}/import`, { dataString: 'other\n1\n' });
    expect(failed.status).toBe(400);
    expect(failed.body).toMatchObject({ code: 'csvImport.columnsNotMatch' });
  });
});

test('two tables that are made at once under one name to show are one and an error', async () => {
  const jobs = await Promise.all(
    ['twin-a', 'twin-b'].map((name) => client.create('in.c-main', name, 'id\n1\n', { displayName: 'twin' })),
  );
  expect(jobs.map(({ status }) => status).toSorted()).toEqual(['error', 'success']);
});

describe('loading', () => {
  test('a full load replaces, an incremental one adds, and with a key puts rows in the place of others', async () => {
    const plain = await made();
    await load(plain, USERS, { incremental: true });
    expect(lines(await client.rowsOf(plain))).toHaveLength(4);
    await load(plain, 'id,name\n7,x\n');
    expect(await client.rowsOf(plain)).toBe('"7","x"\n');
    const keyed = await made(USERS, { primaryKey: 'id' });
    const job = await load(keyed, 'id,name\n2,old\n2,new\n3,c\n', { incremental: 'True' });
    expect(job.results).toEqual({
      transaction: null,
      importedColumns: ['id', 'name'],
      warnings: [],
      newColumns: [],
      totalRowsCount: 3,
      totalDataSizeBytes: aNumber,
      importedRowsCount: 3,
      importedFilesCount: 1,
    });
    expect(lines(await client.rowsOf(keyed))).toEqual(['"1","Ann"', '"2","new"', '"3","c"']);
  });

  test('columns come by name, are webalized and added; without a header they are named', async () => {
    const table = await made();
    const job = await load(table, 'name,id,currency €\nZ,9,5\n', { incremental: true });
    expect(job.results).toMatchObject({
      importedColumns: ['name', 'id', 'currency_EUR'],
      newColumns: ['currency_EUR'],
    });
    expect(lines(await client.rowsOf(table))).toEqual(['"1","Ann",""', '"2","Bob ""B""",""', '"9","Z","5"']);
    await load(table, '1,2,3\n', { columns: ['name', 'id', 'currency-EUR'] });
    expect(await client.rowsOf(table)).toBe('"2","1","3"\n');
    await load(table, '4,5,6\n', { withoutHeaders: true });
    expect(await client.rowsOf(table)).toBe('"4","5","6"\n');
  });

  test('gzip is told by its bytes, and a name that promises it must keep it', async () => {
    const table = await made();
    expect((await load(table, gzipSync(USERS))).status).toBe('success');
    const { body: file } = await client.call<{ id: number }>('POST', 'files/prepare', { name: 'x.csv.gz' });
    const plain = await client.upload(USERS, { name: 'plain.csv.gz' });
    const job = await client.run('POST', `tables/${table}/import-async`, { dataFileId: plain.id });
    expect(job.error?.message).toContain('is not gzip');
    const missing = await client.run('POST', `tables/${table}/import-async`, { dataFileId: file.id });
    expect(missing).toMatchObject({ status: 'error', error: { code: 'storage.fileNotUploaded' } });
  });

  test('slices are read in the order of the manifest, and have no header', async () => {
    const file = await client.uploadSliced(['3,c\n', gzipSync('1,a\n'), '2,b\n']);
    const name = newName();
    const job = await client.run('POST', 'buckets/in.c-main/tables-async', {
      name,
      dataFileId: file.id,
      columns: ['id', 'name'],
    });
    expect(job.error).toBeUndefined();
    expect(await client.rowsOf(`in.c-main.${name}`)).toBe('"3","c"\n"1","a"\n"2","b"\n');
  });

  test.each([
    ['no manifest', () => undefined, 'storage.manifestFileMissing'],
    [
      'a slice that is not there',
      (entries: { url: string }[]) => [...entries, { url: `${entries[0]?.url}x` }],
      'storage.importFileMissing',
    ],
    [
      'a slice of another file',
      () => [{ url: 's3://files/exp-15/1/files/other' }],
      'storage.unauthorizedAccess',
    ],
    [
      'a slice by a way around',
      (entries: { url: string }[]) => [{ url: `${entries[0]?.url}/../../other` }],
      'storage.unauthorizedAccess',
    ],
    [
      'a slice that no key can name',
      (entries: { url: string }[]) => [{ url: `${entries[0]?.url}\0` }],
      'storage.manifestFileInvalid',
    ],
    ['a manifest that is none', () => 7, 'storage.manifestFileInvalid'],
  ])('a sliced file with %s fails, and the table is as it was', async (_name, change, code) => {
    const table = await made();
    const file = await client.uploadSliced(['1,a\n'], change);
    const job = await client.run('POST', `tables/${table}/import-async`, { dataFileId: file.id });
    expect(job).toMatchObject({ status: 'error', error: { code }, results: null });
    expect(lines(await client.rowsOf(table))).toHaveLength(2);
  });

  test('an optional slice may be missing', async () => {
    const table = await made();
    const file = await client.uploadSliced(['8,h\n'], (entries) => [
      ...entries,
      { url: `${entries[0]?.url}x`, mandatory: false },
    ]);
    const path = `tables/${table}/import-async`;
    expect(await client.run('POST', path, { dataFileId: file.id })).toMatchObject({
      status: 'error',
      error: { code: 'csvImport.columnsNotMatch' },
    });
    const byPlace = { dataFileId: file.id, withoutHeaders: true };
    expect((await client.run('POST', path, byPlace)).status).toBe('success');
    expect(await client.rowsOf(table)).toBe('"8","h"\n');
  });

  test('missing columns are named in the error and in the results of the job', async () => {
    const table = await made();
    const job = await load(table, 'id\n1\n');
    expect(job).toMatchObject({
      status: 'error',
      results: { missingColumns: ['name'], expectedColumns: ['id', 'name'] },
      error: {
        code: 'csvImport.columnsNotMatch',
        message:
          'Some columns are missing in the csv file. Missing columns: name. Expected columns: id,name. Please check if the expected delimiter "," is used in the csv file.',
      },
    });
  });

  test('a ragged line fails with its number, and a failed creation leaves no table', async () => {
    const name = newName();
    const job = await client.create('in.c-main', name, 'a,b\n1,2\n3\n');
    expect(job.status).toBe('error');
    expect(job.error?.message).toMatch(/^Load error: Line 3 /);
    expect((await api.call('GET', `tables/in.c-main.${name}`)).status).toBe(404);
    expect((await client.create('in.c-main', name, 'a\n1\n')).status).toBe('success');
  });

  test.each([
    [{ name: 'a.b' }, 400, 'storage.tables.validation'],
    [{ name: '_x' }, 400, 'storage.tables.validation'],
    [{}, 400, 'storage.tables.validation'],
    [{ name: 'ok', primaryKey: ['id'] }, 400, 'storage.validation.primaryKey'],
    [{ name: 'ok', delimiter: ';;' }, 400, 'invalidCsv'],
    [{ name: 'ok', dataFileId: 999_999 }, 404, 'storage.files.notFound'],
    [{ name: 'ok', dataFileId: null }, 400, 'storage.validation'],
    [{ name: 'ok', dataWorkspaceId: 1 }, 501, 'notImplemented'],
  ])('a creation with %j is refused before a job is made', async (given, status, code) => {
    const file = await client.upload(USERS);
    const answer = await api.call('POST', 'buckets/in.c-main/tables-async', {
      dataFileId: file.id,
      ...given,
    });
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([status, code]);
  });

  test('one table of a name, whatever case decides elsewhere', async () => {
    const table = await made();
    const name = table.split('.')[2] ?? '';
    const file = await client.upload(USERS);
    const again = await api.call('POST', 'buckets/in.c-main/tables-async', { name, dataFileId: file.id });
    expect(again.body).toMatchObject({ code: 'storage.buckets.tableAlreadyExists' });
  });
});

describe('structure', () => {
  test('columns and keys are added and removed', async () => {
    const table = await made();
    expect((await client.run('POST', `tables/${table}/columns/`, { name: 'Ágé' })).status).toBe('success');
    expect((await client.run('POST', `tables/${table}/primary-key/`, { columns: ['id'] })).status).toBe(
      'success',
    );
    expect((await api.call('GET', `tables/${table}`)).body).toMatchObject({
      columns: ['id', 'name', 'Age'],
      primaryKey: ['id'],
    });
    expect((await api.call('DELETE', `tables/${table}/columns/id`)).body).toMatchObject({
      code: 'storage.tables.cannotDeletePrimaryKeyColumn',
    });
    expect((await client.run('DELETE', `tables/${table}/columns/Age?force=1`)).status).toBe('success');
    expect((await client.run('DELETE', `tables/${table}/primary-key/`)).status).toBe('success');
    expect((await client.run('DELETE', `tables/${table}/primary-key`)).status).toBe('success');
    expect((await api.call('GET', `tables/${table}`)).body).toMatchObject({
      columns: ['id', 'name'],
      primaryKey: [],
    });
  });

  test.each([
    ['columns', { name: 'ID' }, 'storage.tables.columnAlreadyExists'],
    ['columns', { name: '???' }, 'storage.tables.invalidColumnName'],
    ['primary-key', { columns: [] }, 'storage.validation.primaryKey'],
    ['primary-key', { columns: ['no'] }, 'storage.validation.primaryKey'],
  ])('%s with %j is refused', async (path, body, code) => {
    const table = await made();
    expect((await api.call('POST', `tables/${table}/${path}`, body)).body).toMatchObject({ code });
  });

  test('a key over rows that share it is a failed job', async () => {
    const table = await made('id\n1\n1\n');
    const job = await client.run('POST', `tables/${table}/primary-key`, { columns: ['id'] });
    expect(job).toMatchObject({
      status: 'error',
      error: { code: 'storage.tables.primaryKeyDuplicateValues' },
    });
  });

  test('rows are deleted by filters in the query or in the body, and not all by accident', async () => {
    const table = await made('id,kind\n1,a\n2,b\n3,a\n4,c\n');
    expect((await api.call('DELETE', `tables/${table}/rows`)).body).toMatchObject({
      code: 'storage.tables.validation.unintendedTruncation',
    });
    const query = 'whereFilters[0][column]=kind&whereFilters[0][values][0]=a';
    expect((await client.run('DELETE', `tables/${table}/rows?${query}`)).results).toEqual({ deletedRows: 2 });
    const body = { whereColumn: 'kind', whereValues: ['b'] };
    expect((await client.run('DELETE', `tables/${table}/rows`, body)).results).toEqual({ deletedRows: 1 });
    expect(await client.rowsOf(table)).toBe('"4","c"\n');
    expect(
      (await api.call('DELETE', `tables/${table}/rows?whereColumn=no&whereValues[]=1`)).body,
    ).toMatchObject({
      code: 'storage.tables.columnNotExists',
      error: 'Filter validation: Cannot filter by column "no", column does not exist',
    });
    expect((await api.call('DELETE', `tables/${table}/rows?whereColumn=kind`)).body).toMatchObject({
      code: 'validation.failed',
    });
    expect((await client.run('DELETE', `tables/${table}/rows?allowTruncate=1`)).results).toEqual({
      deletedRows: 1,
    });
  });

  test('a definition makes an empty table, and a typed one shows what it was told', async () => {
    const name = newName();
    const job = await client.run('POST', 'buckets/in.c-main/tables-definition', {
      name,
      primaryKeysNames: ['id'],
      columns: [
        { name: 'id', basetype: 'INTEGER' },
        { name: 'text', definition: { type: 'VARCHAR', length: '10' } },
      ],
    });
    expect(job.results).toMatchObject({
      isTyped: true,
      rowsCount: 0,
      definition: {
        primaryKeysNames: ['id'],
        columns: [
          { name: 'id', basetype: 'INTEGER', definition: null },
          { name: 'text', definition: { type: 'VARCHAR', length: '10' } },
        ],
      },
    });
    const load2 = await load(`in.c-main.${name}`, 'id,text\n1,x\n');
    expect(load2.status).toBe('success');
    const changed = await client.run('PUT', `tables/in.c-main.${name}/columns/id/definition`, {
      basetype: 'STRING',
    });
    expect(changed.status).toBe('success');
    expect((await api.call('GET', `tables/in.c-main.${name}`)).body).toMatchObject({
      definition: { columns: [{ basetype: 'STRING' }, {}] },
    });
  });

  test('a table shows the metadata of its bucket in it', async () => {
    const metadata = [{ key: 'k', value: 'v' }];
    await api.call('POST', 'buckets', { name: 'described' });
    await api.call('POST', 'buckets/in.c-described/metadata', { provider: 'p', metadata });
    await client.create('in.c-described', 'users', USERS);
    const { body } = await api.call('GET', 'tables/in.c-described.users');
    expect(body).toMatchObject({ bucket: { id: 'in.c-described', metadata } });
  });

  test('a table is renamed on display, and deleted now or by a job', async () => {
    const table = await made();
    expect((await api.call('PUT', `tables/${table}`, { displayName: 'Shown' })).body).toMatchObject({
      displayName: 'Shown',
    });
    expect((await api.call('DELETE', `tables/${table}`)).status).toBe(204);
    const answer = await api.call('GET', `tables/${table}`);
    expect(answer.body).toMatchObject({
      code: 'storage.tables.notFound',
      error: `The table "${table.split('.')[2]}" was not found in the bucket "in.c-main" in the project "1"`,
    });
    const other = await made();
    expect((await client.run('DELETE', `tables/${other}?async=1`)).status).toBe('success');
    expect((await api.call('GET', 'tables/in.c-none.x')).body).toMatchObject({
      code: 'storage.buckets.notFound',
    });
  });
});

const data = async (path: string): Promise<Response> =>
  await fetch(`${api.addresses.url}/v2/storage/tables/${path}`, {
    headers: { 'x-storageapi-token': api.token },
  });

const textPreview = (value: string, isTruncated: boolean): unknown => ({
  columns: ['text'],
  rows: [[{ columnName: 'text', value, isTruncated }]],
});

describe('export and preview', () => {
  const CONTENT = 'id,kind,n\n1,a,10\n2,b,9\n3,a,x\n4,,100\n';

  test.each<[object, string[]]>([
    [{ columns: 'n,id', limit: 1, orderBy: [{ column: 'id' }] }, ['"10","1"']],
    [{ whereFilters: [{ column: 'kind', values: ['a', ''] }], columns: ['id'] }, ['"1"', '"3"', '"4"']],
    [
      {
        whereFilters: [{ column: 'n', operator: 'gt', values: ['9'], dataType: 'INTEGER' }],
        columns: ['id'],
      },
      ['"1"', '"4"'],
    ],
    [
      { whereFilters: [{ column: 'kind', operator: 'ne', values: ['a'] }], columns: ['id'], gzip: true },
      ['"2"', '"4"'],
    ],
    [{ changedSince: '-1 hour', columns: ['id'] }, ['"1"', '"2"', '"3"', '"4"']],
    [{ changedUntil: '-1 hour', columns: ['id'] }, []],
  ])('an export of %j', async (options, expected) => {
    const table = await made(CONTENT);
    expect(lines(await client.rowsOf(table, options))).toEqual(expected);
  });

  test('the file of an export is sliced, encrypted, tagged, and kept for two days', async () => {
    const table = await made();
    const job = await client.run('POST', `tables/${table}/export-async`, { gzip: true });
    const { file } = job.results as { file: { id: number } };
    const { body } = await client.call<{ url: string }>('GET', `files/${file.id}`);
    expect(body).toMatchObject({
      name: `${table}.csv.gz`,
      isSliced: true,
      isEncrypted: true,
      tags: ['table-export'],
      maxAgeDays: 2,
      url: containing(`/exp-2/1/table-exports/in/c-main/${table.split('.')[2]}/`),
    });
    expect(job.metrics).toMatchObject({ outCompressed: true, outBytes: aNumber });
  });

  test('a job of an export lists its columns, however they were asked for', async () => {
    const table = await made();
    for (const [columns, list] of [
      ['name,id', ['name', 'id']],
      [['id'], ['id']],
      [undefined, []],
    ]) {
      const job = await api.call('POST', `tables/${table}/export-async`, { columns });
      expect(job.body).toMatchObject({ operationParams: { export: { columns: list } } });
    }
  });

  test('the same export of the same table is one file, until the table changes', async () => {
    const table = await made();
    const ask = async (options: object, runId: string) =>
      (await client.run('POST', `tables/${table}/export-async`, options, { 'X-KBC-RunId': runId }))
        .results as {
        file: { id: number };
        cacheHit: boolean;
      };
    const first = await ask({}, '1');
    expect(first.cacheHit).toBe(false);
    expect(await ask({ limit: null }, '2')).toEqual({ file: first.file, cacheHit: true });
    expect((await api.call('GET', `files/${first.file.id}`)).body).toMatchObject({
      runId: '1',
      runIds: ['1', '2'],
    });
    expect((await ask({ gzip: true }, '3')).cacheHit).toBe(false);
    await load(table, USERS);
    const second = await ask({}, '4');
    expect(second.cacheHit).toBe(false);
    await api.call('DELETE', `files/${second.file.id}`);
    expect((await ask({}, '5')).cacheHit).toBe(false);
  });

  test('an empty table has an export without slices', async () => {
    const table = await made('id\n');
    expect(await client.rowsOf(table)).toBe('');
  });

  test.each([
    [
      { whereFilters: 'text' },
      'storage.tables.validation',
      'Parameter "whereFilters" should be an array, but parameter contains:\n"text"',
    ],
    [
      { whereFilters: [{ column: 'id' }] },
      'storage.tables.validation',
      'Invalid request:\n - whereFilters[0][values]: "This field is missing."',
    ],
    [
      { whereFilters: [{ column: 'id', operator: 'in', values: ['1'] }] },
      'storage.tables.validation',
      'Invalid where operator in',
    ],
    [
      { orderBy: [{ column: 'id', order: 'UP' }] },
      'storage.tables.validation',
      'Invalid sort order UP. Available orders are [DESC|ASC]',
    ],
    [
      { whereFilters: [{ column: 'no', values: ['1'] }] },
      'storage.tables.validation.columnNotExists',
      containing('"no"'),
    ],
    [{ columns: ['no'] }, 'storage.tables.nonExistingColumns', containing('no')],
  ])('an export with %j is refused', async (body, code, error) => {
    const table = await made();
    expect((await api.call('POST', `tables/${table}/export-async`, body)).body).toMatchObject({
      code,
      error,
    });
  });

  test('a table is one file with a header, for whoever wants a plain one', async () => {
    const table = await made();
    const plain = await data(`${table}/data`);
    expect(await plain.text()).toBe('"id","name"\n"1","Ann"\n"2","Bob ""B"""\n');
    expect(plain.headers.get('content-disposition')).toBe(`attachment; filename="${table}.csv";`);
    expect(plain.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const some = 'columns=name&whereFilters[0][column]=id&whereFilters[0][values][]=1';
    const packed = await data(`${table}/data?gzip=1&${some}`);
    expect(packed.headers.get('content-disposition')).toContain(`${table}.csv.gz`);
    expect(gunzipSync(await packed.bytes()).toString()).toBe('"name"\n"Ann"\n');
    const empty = await made('id,name\n');
    expect(await (await data(`${empty}/data`)).text()).toBe('"id","name"\n');
    expect((await data(`${table}/data?columns=nope`)).status).toBe(400);
    expect((await data('in.c-main.nope/data')).status).toBe(404);
  });

  test('a preview gives as much of a long cell as is asked for', async () => {
    const long = 'x'.repeat(20_000);
    const table = await made(`text\n${long}\n`);
    const cellOf = async (query: string): Promise<unknown> =>
      (await api.call('GET', `tables/${table}/data-preview?format=json${query}`)).body;
    expect(await cellOf('')).toEqual(textPreview(long.slice(0, 16_384), true));
    expect(await cellOf('&cellLength=3')).toEqual(textPreview('xxx', true));
    expect(await cellOf('&cellLength=20000')).toEqual(textPreview(long, false));
    expect(await cellOf('&cellLength=9000000000000000')).toEqual(textPreview(long, false));
    // A sign may be two characters: none too many, and none is lost without a word.
    const signs = await made('text\n😀😀\n');
    const signsOf = async (cellLength: number): Promise<unknown> =>
      (await api.call('GET', `tables/${signs}/data-preview?format=json&cellLength=${cellLength}`)).body;
    expect(await signsOf(4)).toEqual(textPreview('😀😀', false));
    expect(await signsOf(3)).toEqual(textPreview('😀\uFFFD', true));
    expect(await signsOf(2)).toEqual(textPreview('😀', true));
    const accents = await made('text\na\u0301b\u0301\n');
    const accentsOf = async (cellLength: number): Promise<unknown> =>
      (await api.call('GET', `tables/${accents}/data-preview?format=json&cellLength=${cellLength}`)).body;
    expect(await accentsOf(4)).toEqual(textPreview('a\u0301b\u0301', false));
    expect(await accentsOf(1)).toEqual(textPreview('a', true));
  });

  test('a preview is CSV with a header, or JSON', async () => {
    const table = await made();
    const csv = await api.call('GET', `tables/${table}/data-preview?limit=0`);
    expect(csv.headers.get('content-type')).toBe('text/csv');
    expect(csv.text).toBe('"id","name"\n"1","Ann"\n"2","Bob ""B"""\n');
    const json = await api.call(
      'GET',
      `branch/default/tables/${table}/data-preview?format=json&columns=id&limit=1`,
    );
    expect(json.body).toEqual({
      columns: ['id'],
      rows: [[{ columnName: 'id', value: '1', isTruncated: false }]],
    });
    expect((await api.call('GET', `tables/${table}/data-preview?limit=1001`)).body).toMatchObject({
      code: 'storage.tables.validation',
      error: containing('1000'),
    });
    expect((await api.call('GET', `tables/${table}/data-preview?format=xml`)).body).toMatchObject({
      code: 'storage.tables.validation.invalidFormat',
    });
    const wide = await made(`${Array.from({ length: 130 }, (_, i) => `c${i}`).join(',')}\n`);
    expect((await api.call('GET', `tables/${wide}/data-preview`)).body).toMatchObject({
      code: 'storage.maxNumberOfColumnsExceed',
    });
    expect((await api.call('GET', `tables/${wide}/data-preview?columns=c7`)).text).toBe('"c7"\n');
  });
});

describe('jobs', () => {
  test('are listed, the newest first, and found by state', async () => {
    const table = await made();
    await client.run('POST', `tables/${table}/export-async`, {});
    const failed = await load(table, 'wrong\n1\n');
    const all = (await client.call<JobBody[]>('GET', 'jobs')).body;
    expect(all.length).toBeLessThanOrEqual(20);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => b - a));
    const errors = (await client.call<JobBody[]>('GET', 'jobs?storage_job_status[]=error&limit=100')).body;
    expect(errors.map(({ id }) => id)).toContain(failed.id);
    expect(new Set(errors.map(({ status }) => status))).toEqual(new Set(['error']));
    const others = (
      await client.call<JobBody[]>(
        'GET',
        'jobs?excluded_storage_job_status[]=error&created_time_from=2000-01-01 00:00:00',
      )
    ).body;
    expect(others.map(({ status }) => status)).not.toContain('error');
    expect((await client.call<JobBody[]>('GET', 'jobs?created_time_to=2000-01-01 00:00:00')).body).toEqual(
      [],
    );
    const loads = `jobs?operationName[]=tableImport&operationName[]=tableDrop&tableId=${table}`;
    expect((await client.call<JobBody[]>('GET', loads)).body.map(({ id }) => id)).toEqual([failed.id]);
  });

  test('of one table run one after another in the order they were asked for', async () => {
    const table = await made('id,v\n0,0\n', { primaryKey: 'id' });
    const files = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => client.upload(`id,v\n0,${n}\n`)));
    const answers = [];
    for (const { id } of files) {
      answers.push(
        await api.call('POST', `tables/${table}/import-async`, { dataFileId: id, incremental: true }),
      );
    }
    const jobs = await Promise.all(answers.map((answer) => client.finished(answer)));
    expect(jobs.map(({ status }) => status)).toEqual(jobs.map(() => 'success'));
    expect(await client.rowsOf(table)).toBe('"0","6"\n');
  });
});

test('what needs a workspace, or a definition of a whole table, is said not to be supported', async () => {
  const table = await made();
  const rows = await api.call('DELETE', `tables/${table}/rows`, {
    valuesByTableInWorkspace: { column: 'id' },
  });
  expect(rows.status).toBe(501);
  expect((await api.call('PUT', `tables/${table}/definition`, {})).status).toBe(501);
});

describe('forms', () => {
  test('of older clients are understood', async () => {
    const file = await client.upload(USERS);
    const name = newName();
    const body = `name=${name}&dataFileId=${file.id}&primaryKey=id%2Cname&delimiter=%2C&enclosure=%22&escapedBy=`;
    const job = await client.run('POST', 'buckets/in.c-main/tables-async', body, FORM);
    expect(job.results).toMatchObject({ primaryKey: ['id', 'name'] });
    const load2 = await client.upload('1;2\n');
    const form = `dataFileId=${load2.id}&incremental=0&columns=id,name&delimiter=%3B&withoutHeaders=0`;
    expect((await client.run('POST', `tables/in.c-main.${name}/import-async`, form, FORM)).status).toBe(
      'success',
    );
    expect(await client.rowsOf(`in.c-main.${name}`)).toBe('"1","2"\n');
  });
});
