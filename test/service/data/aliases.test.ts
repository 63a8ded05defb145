import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type Reply, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;
let number = 0;
let source = '';
let alias = '';

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main' });
  await api.call('POST', 'buckets', { name: 'shown', stage: 'out' });
});
afterAll(async () => {
  await api.stop();
});

const PEOPLE = 'id,name,city\n1,Ann,Brno\n2,Bo,Praha\n3,Cy,Brno\n';

beforeEach(async () => {
  const name = `people_${++number}`;
  source = `in.c-main.${name}`;
  alias = `out.c-shown.${name}`;
  const job = await client.create('in.c-main', name, PEOPLE, { primaryKey: 'id' });
  expect(job.error).toBeUndefined();
});

const make = async (options: object = {}): Promise<Reply> =>
  await api.call('POST', 'buckets/out.c-shown/table-aliases', { sourceTable: source, ...options });
const get = async (path: string): Promise<unknown> => (await api.call('GET', path)).body;
const preview = async (table: string, query = ''): Promise<string> =>
  (await api.call('GET', `tables/${table}/data-preview${query}`)).text;
const load = async (content: string, options: object = {}): Promise<string> => {
  const { id } = await client.upload(content);
  return (await client.run('POST', `tables/${source}/import-async`, { dataFileId: id, ...options })).status;
};

const refused = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const answer = await api.call(method, `tables/${alias}${path}`, body);
  expect(answer.status, path).toBe(400);
  return (answer.body as { code: string }).code;
};

describe('a whole table under another name', () => {
  test('is made, shown, listed, read and exported', async () => {
    const made = await make();
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      id: alias,
      isAlias: true,
      columns: ['id', 'name', 'city'],
      primaryKey: ['id'],
      rowsCount: null,
      dataSizeBytes: null,
      aliasColumnsAutoSync: true,
      sourceTable: { id: source },
      bucket: { id: 'out.c-shown' },
    });
    expect(made.body).not.toHaveProperty('aliasFilter');
    expect(await get(`tables/${alias}`)).toEqual(made.body);
    const { lastImportDate } = (await get(`tables/${source}`)) as { lastImportDate: string };
    expect(made.body).toMatchObject({ lastImportDate });
    expect(await get('buckets/out.c-shown/tables?include=columns')).toContainEqual(
      expect.objectContaining({ id: alias, isAlias: true, columns: ['id', 'name', 'city'] }),
    );
    expect(await preview(alias)).toBe(await preview(source));
    expect(await client.rowsOf(alias)).toBe(await client.rowsOf(source));
    expect(await get('buckets/out.c-shown')).toMatchObject({ rowsCount: 0 });
  });

  test('shows what the source has, also when an export was kept', async () => {
    await make({ name: 'fresh' });
    const before = await client.rowsOf('out.c-shown.fresh');
    expect(await load('id,name,city\n9,New,Ostrava\n')).toBe('success');
    expect(before).toContain('Ann');
    expect(await client.rowsOf('out.c-shown.fresh')).toBe('"9","New","Ostrava"\n');
  });

  test('may stand for an alias', async () => {
    await make({ aliasFilter: { column: 'city', values: ['Brno'] } });
    const body = { sourceTable: alias, name: `${alias.split('.')[2]}_again`, aliasColumns: ['id'] };
    const { body: made } = await api.call('POST', 'buckets/in.c-main/table-aliases', body);
    expect(made).toMatchObject({ sourceTable: { id: alias, isAlias: true }, columns: ['id'] });
    expect(await preview((made as { id: string }).id)).toBe('"id"\n"1"\n"3"\n');
  });

  test.each([
    [{ sourceTable: 'in.c-main.missing' }, 404, 'storage.tables.notFound'],
    [{ sourceTable: '' }, 400, 'storage.tables.validation'],
    [{ name: 'a.b' }, 400, 'storage.tables.validation'],
    [{ aliasColumns: ['nothing'] }, 400, 'storage.tables.nonExistingColumns'],
    [{ aliasFilter: { column: 'nothing', values: ['x'] } }, 400, 'storage.tables.columnNotExists'],
    [{ aliasFilter: { column: 'city', operator: 'gt', values: ['x'] } }, 400, 'storage.tables.validation'],
    [{ aliasFilter: { column: 'city' } }, 400, 'storage.tables.validation'],
  ])('is refused with %j', async (options, status, code) => {
    expect(await make(options)).toMatchObject({ status, body: { code } });
  });

  test('needs a free name, and rights to both sides', async () => {
    await make();
    expect((await make()).body).toMatchObject({ code: 'storage.buckets.tableAlreadyExists' });
    const rights = { bucketPermissions: { 'out.c-shown': 'write' } };
    const { body } = await client.call<{ token: string }>('POST', 'tokens', rights);
    const as = { 'x-storageapi-token': body.token };
    const wanted = { sourceTable: source, name: 'other' };
    expect((await api.call('POST', 'buckets/out.c-shown/table-aliases', wanted, as)).status).toBe(403);
    expect((await api.call('GET', `tables/${alias}/data-preview`, undefined, as)).status).toBe(200);
    expect((await api.call('DELETE', `tables/${alias}/alias-filter`, undefined, as)).status).toBe(403);
  });
});

describe('some rows', () => {
  test('by a filter that is set, changed and taken away', async () => {
    const made = await make({ aliasFilter: { column: 'city', operator: 'eq', values: ['Brno'] } });
    expect(made.body).toMatchObject({ aliasFilter: { column: 'city', operator: 'eq', values: ['Brno'] } });
    expect(await preview(alias, '?columns=id')).toBe('"id"\n"1"\n"3"\n');
    expect(await preview(alias, '?columns=id&whereColumn=name&whereValues[]=Cy')).toBe('"id"\n"3"\n');
    expect(await preview(alias, '?columns=id&fulltextSearch=Praha')).toBe('"id"\n');
    expect(await client.rowsOf(alias)).toBe('"1","Ann","Brno"\n"3","Cy","Brno"\n');
    const path = `tables/${alias}/alias-filter`;
    const changed = await api.call('POST', path, { column: 'city', operator: 'ne', values: ['Brno'] });
    expect(changed).toMatchObject({ status: 200, body: { aliasFilter: { operator: 'ne' } } });
    expect(await client.rowsOf(alias)).toBe('"2","Bo","Praha"\n');
    expect((await api.call('POST', path, {})).status).toBe(400);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect(await preview(alias, '?columns=id')).toBe('"id"\n"1"\n"2"\n"3"\n');
    expect(
      (await api.call('POST', `tables/${source}/alias-filter`, { column: 'id', values: ['1'] })).body,
    ).toMatchObject({ code: 'storage.tables.notAlias' });
  });
});

describe('columns', () => {
  test('of its own leave out the others, in every way to look', async () => {
    const made = await make({ aliasColumns: ['name', 'id'] });
    expect(made.body).toMatchObject({
      columns: ['name', 'id'],
      primaryKey: ['id'],
      aliasColumnsAutoSync: false,
    });
    expect(await preview(alias)).toBe('"name","id"\n"Ann","1"\n"Bo","2"\n"Cy","3"\n');
    expect(await preview(alias, '?fulltextSearch=Praha')).toBe('"name","id"\n');
    for (const query of [
      'columns=city',
      'whereColumn=city&whereValues[]=Brno',
      'orderBy[0][column]=city&orderBy[0][order]=ASC',
    ])
      expect((await api.call('GET', `tables/${alias}/data-preview?${query}`)).status, query).toBe(400);
  });

  test('follow the source, until they are told not to, and again', async () => {
    await make();
    const columns = async (): Promise<unknown> =>
      ((await get(`tables/${alias}`)) as { columns: string[] }).columns;
    await client.run('POST', `tables/${source}/columns`, { name: 'added' });
    expect(await columns()).toEqual(['id', 'name', 'city', 'added']);
    expect(await load('id,name,city,added,more\n1,Ann,Brno,,x\n')).toBe('success');
    expect(await columns()).toEqual(['id', 'name', 'city', 'added', 'more']);
    const sync = `tables/${alias}/alias-columns-auto-sync`;
    expect((await api.call('DELETE', sync)).status).toBe(204);
    await client.run('POST', `tables/${source}/columns`, { name: 'late' });
    expect(await columns()).not.toContain('late');
    expect(await preview(alias)).not.toContain('late');
    expect((await api.call('POST', sync)).status).toBe(200);
    expect(await columns()).toEqual(['id', 'name', 'city', 'added', 'more', 'late']);
    await client.run('DELETE', `tables/${source}/columns/late`);
    expect(await columns()).not.toContain('late');
    await client.run('DELETE', `tables/${source}/primary-key`);
    expect(await get(`tables/${alias}`)).toMatchObject({ primaryKey: [] });
  });

  test('that an alias uses stay in the source unless forced', async () => {
    await make({ aliasColumns: ['id', 'name'] });
    await make({ name: `${alias.split('.')[2]}_brno`, aliasFilter: { column: 'city', values: ['Brno'] } });
    for (const column of ['name', 'city'])
      expect(await api.call('DELETE', `tables/${source}/columns/${column}`)).toMatchObject({
        status: 400,
        body: { code: 'storage.tables.cannotDeleteReferencedColumn' },
      });
    await client.run('DELETE', `tables/${source}/columns/name?force=1`);
    expect(await get(`tables/${alias}`)).toMatchObject({ columns: ['id'] });
    // By another column it would show other rows.
    expect(await api.call('DELETE', `tables/${source}/columns/city?force=1`)).toMatchObject({ status: 400 });
    expect(await preview(`${alias}_brno`, '?columns=id')).toBe('"id"\n"1"\n"3"\n');
  });
});

describe('what an alias protects, and is protected from', () => {
  test('nothing is written through it', async () => {
    await make();
    const { id } = await client.upload(PEOPLE);
    expect(await refused('POST', '/import-async', { dataFileId: id })).toBe('aliasImportNotAllowed');
    expect(await refused('POST', '/import', { dataString: 'id\n1\n' })).toBe('aliasImportNotAllowed');
    expect(await refused('POST', '/primary-key', { columns: ['name'] })).toBe(
      'storage.tables.cannotChangeAlias',
    );
    expect(await refused('DELETE', '/primary-key')).toBe('storage.tables.cannotChangeAlias');
    expect(await refused('DELETE', '/rows?allowTruncate=1')).toBe('storage.tables.cannotChangeAlias');
    expect(await refused('POST', '/columns', { name: 'new' })).toBe('storage.tables.cannotChangeAlias');
    expect(await preview(source)).toContain('Ann');
  });

  test('its source is deleted after it, or with it when forced', async () => {
    await make();
    expect(await api.call('DELETE', `tables/${source}`)).toMatchObject({
      status: 400,
      body: { code: 'tables.cannotDeletedTableWithAliases' },
    });
    expect((await api.call('DELETE', `tables/${alias}`)).status).toBe(204);
    expect(await preview(source)).toContain('Ann');
    await make();
    expect((await api.call('DELETE', `tables/${source}?force=1`)).status).toBe(204);
    expect((await api.call('GET', `tables/${alias}`)).status).toBe(404);
  });

  test('a bucket that is deleted by force takes aliases of its tables along', async () => {
    await api.call('POST', 'buckets', { name: 'gone' });
    await client.create('in.c-gone', 'rows', PEOPLE);
    await api.call('POST', 'buckets/out.c-shown/table-aliases', { sourceTable: 'in.c-gone.rows' });
    expect((await api.call('DELETE', 'buckets/in.c-gone?force=1')).status).toBe(204);
    expect((await api.call('GET', 'tables/out.c-shown.rows')).status).toBe(404);
  });
});
