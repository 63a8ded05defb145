// @module-tag thorough
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type Reply, type Running } from '../harness.ts';
import { clientOf } from './client.ts';

/** Requests of public API clients on aliases, in sequence, each with a table of its own. */

let api: Running;
let client: ReturnType<typeof clientOf>;
let number = 0;
let source = '';
let alias = '';

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'tests', stage: 'in' });
  await api.call('POST', 'buckets', { name: 'tests', stage: 'out' });
});
afterAll(async () => {
  await api.stop();
});

const USERS = [
  'id,name,city,sex',
  '1,martin,PRG,male',
  '2,klara,PRG,female',
  '3,ondra,VAN,male',
  '4,miro,BRA,male',
  '5,hidden,,male',
].join('\n');

beforeEach(async () => {
  const name = `users_${++number}`;
  source = `in.c-tests.${name}`;
  alias = `out.c-tests.${name}`;
  const job = await client.create('in.c-tests', name, USERS, { primaryKey: 'id' });
  expect(job.error).toBeUndefined();
});

interface Shown {
  readonly id: string;
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  readonly lastImportDate: string;
  readonly lastChangeDate: string;
  readonly aliasColumnsAutoSync: boolean;
  readonly sourceTable: Record<string, unknown>;
}

const make = async (options: object = {}, bucket = 'out.c-tests'): Promise<Reply> =>
  await api.call('POST', `buckets/${bucket}/table-aliases`, { sourceTable: source, ...options });
const detail = async (table: string): Promise<Shown> =>
  (await client.call<Shown>('GET', `tables/${table}`)).body;
const columnsOf = async (table: string): Promise<readonly string[]> => (await detail(table)).columns;
const ids = async (table: string, query = ''): Promise<string[]> => {
  const { text } = await api.call('GET', `tables/${table}/data-preview?columns=id${query}`);
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as string);
};
const codeOf = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const reply = await api.call(method, path, body);
  return [reply.status, (reply.body as { code?: string }).code];
};
const work = async (method: string, path: string, body?: unknown): Promise<unknown> =>
  (await client.run(method, path, body)).status;
const sourceIn = async (include: string): Promise<Record<string, unknown>> => {
  const { body } = await client.call<Shown[]>('GET', `tables?include=${include}`);
  return body.find(({ id }) => id === alias)?.sourceTable ?? {};
};
const REFERENCED = [400, 'storage.tables.cannotDeleteReferencedColumn'];

describe('a simple alias', () => {
  test('has the columns, the key and the times of its source', async () => {
    await make();
    const [own, shown] = [await detail(source), await detail(alias)];
    for (const field of ['columns', 'primaryKey', 'lastImportDate', 'lastChangeDate'] as const)
      expect(shown[field]).toEqual(own[field]);
    expect(shown).toMatchObject({ isAlias: true, aliasColumnsAutoSync: true });
  });

  test('names its source with its project', async () => {
    await make();
    const verified = await client.call<{ owner: { id: number; name: string } }>('GET', 'tokens/verify');
    const { id, name } = verified.body.owner;
    expect((await detail(alias)).sourceTable).toMatchObject({ id: source, project: { id, name } });
  });

  test('has the rows of its source', async () => {
    await make();
    expect(await ids(alias)).toEqual(await ids(source));
    expect(await client.rowsOf(alias)).toBe(await client.rowsOf(source));
  });

  test('has the name of its source unless one is given', async () => {
    expect((await make()).body).toMatchObject({ id: alias });
    expect((await make({ name: `own_${number}` })).body).toMatchObject({ id: `out.c-tests.own_${number}` });
  });

  test('may be beside its source', async () => {
    expect((await make({ name: `beside_${number}` }, 'in.c-tests')).status).toBe(201);
  });

  test('has a name that differs from others in more than case', async () => {
    await make();
    const name = alias.split('.')[2]?.toUpperCase();
    expect((await make({ name })).body).toMatchObject({ code: 'storage.buckets.tableAlreadyExists' });
    expect((await make({ name: source.split('.')[2]?.toUpperCase() }, 'in.c-tests')).status).toBe(400);
  });

  test('takes over the times of a later load', async () => {
    await make();
    const { id } = await client.upload(`${USERS}\n6,new,PRG,male`);
    expect(await work('POST', `tables/${source}/import-async`, { dataFileId: id })).toBe('success');
    expect(await ids(alias)).toContain('6');
    expect((await detail(alias)).lastImportDate).toBe((await detail(source)).lastImportDate);
  });

  test('is in lists of tables, and named as one', async () => {
    await make();
    const { body } = await client.call<Shown[]>('GET', 'buckets/out.c-tests/tables');
    expect(body.find(({ id }) => id === alias)).toMatchObject({ isAlias: true, sourceTable: { id: source } });
  });

  test('goes without its source', async () => {
    await make();
    expect((await api.call('DELETE', `tables/${alias}`)).status).toBe(204);
    expect((await detail(source)).id).toBe(source);
  });

  test('is the only thing that is wanted of a source that is not there', async () => {
    const wanted = { sourceTable: 'in.c-tests.nothing', name: 'nothing' };
    expect(await codeOf('POST', 'buckets/out.c-tests/table-aliases', wanted)).toEqual([
      404,
      'storage.tables.notFound',
    ]);
  });
});

describe('a source', () => {
  test('is not deleted while it has aliases', async () => {
    await make();
    expect(await codeOf('DELETE', `tables/${source}`)).toEqual([400, 'tables.cannotDeletedTableWithAliases']);
  });

  test('is deleted by force, with its aliases', async () => {
    await make();
    expect((await api.call('DELETE', `tables/${source}?force=1`)).status).toBe(204);
    expect((await api.call('GET', `tables/${alias}`)).status).toBe(404);
  });

  test('shows its metadata and that of its columns in its aliases', async () => {
    await make();
    await api.call('POST', `tables/${source}/metadata`, {
      provider: 'tests',
      metadata: [{ key: 'table', value: 't' }],
      columnsMetadata: { id: [{ key: 'column', value: 'c' }] },
    });
    expect((await detail(alias)).sourceTable).toMatchObject({
      metadata: [{ key: 'table', value: 't', provider: 'tests' }],
      columnMetadata: { id: [{ key: 'column', value: 'c', provider: 'tests' }] },
    });
  });

  test('shows them in lists where they are asked for', async () => {
    await make();
    expect(await sourceIn('metadata,columnMetadata')).not.toHaveProperty('columnMetadata');
    expect(await sourceIn('sourceMetadata,sourceColumnMetadata')).toMatchObject({
      metadata: [],
      columnMetadata: [],
    });
    const items = [{ key: 'column', value: 'c' }];
    await api.call('POST', `columns/${source}.city/metadata`, { provider: 'tests', metadata: items });
    // Also of a list that is kept.
    expect(await sourceIn('sourceMetadata,sourceColumnMetadata')).toMatchObject({
      columnMetadata: { city: items },
    });
  });

  test('shows no metadata of columns that the alias leaves out', async () => {
    await make({ aliasColumns: ['id'] });
    const metadata = [{ key: 'k', value: 'v' }];
    for (const column of ['id', 'sex'])
      await api.call('POST', `columns/${source}.${column}/metadata`, { provider: 'tests', metadata });
    expect(Object.keys((await detail(alias)).sourceTable['columnMetadata'] as object)).toEqual(['id']);
  });
});

describe('nothing is written through an alias', () => {
  test.each([
    ['POST', '/import', { dataString: 'id\n1\n' }, 'aliasImportNotAllowed'],
    ['DELETE', '/rows?allowTruncate=1', undefined, 'storage.tables.cannotChangeAlias'],
    ['POST', '/primary-key', { columns: ['name'] }, 'storage.tables.cannotChangeAlias'],
    ['DELETE', '/primary-key', undefined, 'storage.tables.cannotChangeAlias'],
  ] as const)('%s %s', async (method, path, body, code) => {
    await make();
    expect(await codeOf(method, `tables/${alias}${path}`, body)).toEqual([400, code]);
    expect(await ids(source)).toHaveLength(5);
  });
});

describe('columns that follow the source', () => {
  test('are added and removed there', async () => {
    await make();
    expect(await work('POST', `tables/${source}/columns`, { name: 'created' })).toBe('success');
    expect(await columnsOf(alias)).toEqual(['id', 'name', 'city', 'sex', 'created']);
    expect(await work('DELETE', `tables/${source}/columns/name`)).toBe('success');
    expect(await columnsOf(alias)).toEqual(['id', 'city', 'sex', 'created']);
  });

  test('are neither added nor removed through the alias', async () => {
    await make();
    await work('POST', `tables/${source}/columns`, { name: 'created' });
    for (const [method, path, body] of [
      ['DELETE', `tables/${alias}/columns/name`, undefined],
      ['POST', `tables/${alias}/columns`, { name: 'more' }],
    ] as const)
      expect((await api.call(method, path, body)).status).toBe(400);
    expect(await columnsOf(alias)).toEqual(await columnsOf(source));
  });

  test('stop to follow, and begin again', async () => {
    await make();
    expect((await api.call('DELETE', `tables/${alias}/alias-columns-auto-sync`)).status).toBe(204);
    expect((await detail(alias)).aliasColumnsAutoSync).toBe(false);
    await work('POST', `tables/${source}/columns`, { name: 'created' });
    expect(await columnsOf(alias)).not.toContain('created');
    expect((await api.call('POST', `tables/${alias}/alias-columns-auto-sync`)).body).toMatchObject({
      aliasColumnsAutoSync: true,
      columns: ['id', 'name', 'city', 'sex', 'created'],
    });
  });
});

describe('columns of its own', () => {
  test('are those that were named', async () => {
    expect((await make({ aliasColumns: ['id', 'city'] })).body).toMatchObject({
      columns: ['id', 'city'],
      aliasColumnsAutoSync: false,
    });
    expect((await api.call('GET', `tables/${alias}/data-preview`)).text.split('\n')[0]).toBe('"id","city"');
  });

  test('are added from the source through the alias', async () => {
    await make({ aliasColumns: ['id'] });
    expect(await work('POST', `tables/${alias}/columns`, { name: 'name' })).toBe('success');
    expect(await columnsOf(alias)).toEqual(['id', 'name']);
    expect(await columnsOf(source)).toEqual(['id', 'name', 'city', 'sex']);
  });

  test('are not added when the source has none of them, or the alias has them', async () => {
    await make({ aliasColumns: ['id'] });
    const path = `tables/${alias}/columns`;
    expect(await codeOf('POST', path, { name: 'none' })).toEqual([400, 'storage.tables.columnNotExists']);
    expect(await codeOf('POST', path, { name: 'id' })).toEqual([400, 'storage.tables.columnAlreadyExists']);
  });

  test('are added only by who may read the source', async () => {
    await make({ aliasColumns: ['id'] });
    const rights = { bucketPermissions: { 'out.c-tests': 'write' } };
    const { body } = await client.call<{ token: string }>('POST', 'tokens', rights);
    const as = { 'x-storageapi-token': body.token };
    expect((await api.call('POST', `tables/${alias}/columns`, { name: 'name' }, as)).status).toBe(403);
    expect(await columnsOf(alias)).toEqual(['id']);
  });

  test('are taken away through the alias, and stay in the source', async () => {
    await make({ aliasColumns: ['id', 'name', 'city'] });
    expect(await work('DELETE', `tables/${alias}/columns/name`)).toBe('success');
    expect(await columnsOf(alias)).toEqual(['id', 'city']);
    expect(await columnsOf(source)).toContain('name');
    expect(await client.rowsOf(alias)).toContain('"1","PRG"');
  });

  test('are taken away when they follow no longer', async () => {
    await make();
    await api.call('DELETE', `tables/${alias}/alias-columns-auto-sync`);
    expect(await work('DELETE', `tables/${alias}/columns/name`)).toBe('success');
    expect(await columnsOf(alias)).toEqual(['id', 'city', 'sex']);
    await api.call('POST', `tables/${alias}/alias-columns-auto-sync`);
    expect(await columnsOf(alias)).toEqual(['id', 'name', 'city', 'sex']);
  });

  test('are never all taken away', async () => {
    await make({ aliasColumns: ['name'] });
    expect(await codeOf('DELETE', `tables/${alias}/columns/name`)).toEqual([
      400,
      'storage.tables.cannotDeleteLastColumn',
    ]);
  });

  test('with the key they have the key, and without it none', async () => {
    await make({ aliasColumns: ['id', 'name'] });
    expect((await detail(alias)).primaryKey).toEqual(['id']);
    await work('DELETE', `tables/${alias}/columns/id`);
    expect((await detail(alias)).primaryKey).toEqual([]);
    await work('POST', `tables/${alias}/columns`, { name: 'id' });
    expect(await detail(alias)).toMatchObject({ columns: ['name', 'id'], primaryKey: ['id'] });
  });

  test('stay in the source, unless they are taken from the alias before', async () => {
    await make({ aliasColumns: ['id', 'name'] });
    expect(await codeOf('DELETE', `tables/${source}/columns/name`)).toEqual(REFERENCED);
    await work('DELETE', `tables/${alias}/columns/name`);
    expect(await work('DELETE', `tables/${source}/columns/name`)).toBe('success');
  });

  test('go with those of the source that are deleted by force', async () => {
    await make({ aliasColumns: ['id', 'name'] });
    expect(await work('DELETE', `tables/${source}/columns/name?force=1`)).toBe('success');
    expect(await columnsOf(alias)).toEqual(['id']);
  });
});

describe('a filter', () => {
  test.each([
    [{ column: 'city', values: ['PRG'] }, ['1', '2']],
    [{ column: 'city', operator: 'eq', values: ['PRG'] }, ['1', '2']],
    [{ column: 'city', operator: 'ne', values: ['PRG'] }, ['3', '4', '5']],
    [{ column: 'city', values: ['PRG', 'VAN'] }, ['1', '2', '3']],
    [{ column: 'city', operator: 'ne', values: ['PRG', 'VAN'] }, ['4', '5']],
    [{ column: 'city', values: [''] }, ['5']],
    [{ column: 'city', operator: 'ne', values: [''] }, ['1', '2', '3', '4']],
  ])('%j', async (aliasFilter, expected) => {
    expect((await make({ aliasFilter })).body).toMatchObject({ aliasFilter });
    expect(await ids(alias)).toEqual(expected);
  });

  test('works by a column that is not shown', async () => {
    await make({ aliasColumns: ['id', 'name'], aliasFilter: { column: 'city', values: ['VAN'] } });
    expect((await api.call('GET', `tables/${alias}/data-preview`)).text).toBe('"id","name"\n"3","ondra"\n');
    expect(await client.rowsOf(alias)).toBe('"3","ondra"\n');
  });

  test('is narrowed by that of a query, and never widened', async () => {
    await make({ aliasFilter: { column: 'city', values: ['PRG'] } });
    expect(await ids(alias, '&whereColumn=sex&whereValues[]=male')).toEqual(['1']);
    expect(await ids(alias, '&whereColumn=city&whereValues[]=VAN')).toEqual([]);
  });

  test('is set, changed and removed', async () => {
    await make();
    const path = `tables/${alias}/alias-filter`;
    await api.call('POST', path, { column: 'city', values: ['PRG'] });
    expect(await ids(alias)).toEqual(['1', '2']);
    await api.call('POST', path, { column: 'city', values: ['VAN'] });
    expect(await ids(alias)).toEqual(['3']);
    await api.call('DELETE', path);
    expect(await ids(alias)).toHaveLength(5);
    expect(await detail(alias)).not.toHaveProperty('aliasFilter');
  });

  test('keeps its column in the source, also from force', async () => {
    await make({ aliasFilter: { column: 'city', values: ['PRG'] } });
    for (const query of ['', '?force=1'])
      expect(await codeOf('DELETE', `tables/${source}/columns/city${query}`)).toEqual(REFERENCED);
    expect(await ids(alias)).toEqual(['1', '2']);
  });

  test('keeps its column when it is one of the key, too', async () => {
    await make({ aliasFilter: { column: 'id', values: ['1'] } });
    expect(await codeOf('DELETE', `tables/${source}/columns/id`)).toEqual(REFERENCED);
  });

  test('keeps its column in the alias', async () => {
    await make({ aliasFilter: { column: 'city', values: ['PRG'] } });
    await api.call('DELETE', `tables/${alias}/alias-columns-auto-sync`);
    for (const query of ['', '?force=1'])
      expect(await codeOf('DELETE', `tables/${alias}/columns/city${query}`)).toEqual(REFERENCED);
    await api.call('DELETE', `tables/${alias}/alias-filter`);
    expect(await work('DELETE', `tables/${alias}/columns/city`)).toBe('success');
  });

  test('by a column of the key keeps the key, until it is removed', async () => {
    await make({ aliasFilter: { column: 'id', values: ['1'] } });
    const refused = [400, 'storage.tables.cannotRemoveReferencedColumnFromPrimaryKey'];
    expect(await codeOf('DELETE', `tables/${source}/primary-key`)).toEqual(refused);
    expect((await detail(source)).primaryKey).toEqual(['id']);
    await api.call('DELETE', `tables/${alias}/alias-filter`);
    expect(await work('DELETE', `tables/${source}/primary-key`)).toBe('success');
    expect((await detail(alias)).primaryKey).toEqual([]);
  });

  test('by another column does not keep the key', async () => {
    await make({ aliasFilter: { column: 'city', values: ['PRG'] } });
    expect(await work('DELETE', `tables/${source}/primary-key`)).toBe('success');
  });

  test('by a column that is not there is refused', async () => {
    await make();
    const filter = { column: 'nothing', values: ['x'] };
    expect(await codeOf('POST', `tables/${alias}/alias-filter`, filter)).toEqual([
      400,
      'storage.tables.columnNotExists',
    ]);
  });
});

const again = async (options: object = {}): Promise<string> => {
  const name = `again_${number}`;
  const wanted = { sourceTable: alias, name, ...options };
  expect((await api.call('POST', 'buckets/in.c-tests/table-aliases', wanted)).status).toBe(201);
  return `in.c-tests.${name}`;
};

describe('an alias of an alias', () => {
  test('has what the alias has', async () => {
    await make({ aliasFilter: { column: 'city', values: ['PRG'] } });
    const second = await again({ aliasFilter: { column: 'sex', values: ['male'] } });
    expect(await ids(second)).toEqual(['1']);
    expect((await detail(second)).sourceTable).toMatchObject({ id: alias, isAlias: true });
  });

  test('follows columns through it', async () => {
    await make();
    const second = await again();
    await work('POST', `tables/${source}/columns`, { name: 'created' });
    expect(await columnsOf(second)).toContain('created');
    await api.call('DELETE', `tables/${alias}/alias-columns-auto-sync`);
    await work('DELETE', `tables/${alias}/columns/created`);
    expect(await columnsOf(second)).not.toContain('created');
  });

  test('keeps columns and keys that it needs, in both', async () => {
    await make();
    const second = await again({ aliasFilter: { column: 'id', values: ['1'] } });
    expect(await codeOf('DELETE', `tables/${source}/columns/id?force=1`)).toEqual(REFERENCED);
    const key = [400, 'storage.tables.cannotRemoveReferencedColumnFromPrimaryKey'];
    expect(await codeOf('DELETE', `tables/${source}/primary-key`)).toEqual(key);
    await api.call('DELETE', `tables/${alias}/alias-columns-auto-sync`);
    expect(await codeOf('DELETE', `tables/${alias}/columns/id`)).toEqual(REFERENCED);
    expect(await ids(second)).toEqual(['1']);
  });

  test('keeps the alias, as an alias keeps its source', async () => {
    await make();
    await again();
    expect(await codeOf('DELETE', `tables/${alias}`)).toEqual([400, 'tables.cannotDeletedTableWithAliases']);
  });
});
