import { afterAll, beforeAll, expect, test } from 'vitest';
import { containing, startService, type Running } from '../harness.ts';
import { clientOf, type JobBody } from './client.ts';

/* Tables with types: what the API gives is what came, and queries compute with values. */

let api: Running;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { stage: 'in', name: 'main' });
});
afterAll(async () => {
  await api.stop();
});

const sql = async (query: string): Promise<unknown> => (await api.call('POST', 'sql', { query })).body;

async function load(table: string, content: string, options: object = {}): Promise<JobBody> {
  const file = await client.upload(content);
  return await client.run('POST', `tables/${table}/import-async`, { dataFileId: file.id, ...options });
}

async function define(
  name: string,
  columns: readonly object[],
  key: readonly string[] = [],
): Promise<string> {
  const body = { name, primaryKeysNames: key, columns };
  const job = await client.run('POST', 'buckets/in.c-main/tables-definition', body);
  expect(job.error).toBeUndefined();
  return `in.c-main.${name}`;
}

test('a query computes with the values of a typed table, without a cast', async () => {
  const table = await define('orders', [
    { name: 'id', basetype: 'INTEGER' },
    { name: 'price', definition: { type: 'NUMERIC', length: '38,9' } },
    { name: 'at', basetype: 'TIMESTAMP' },
    { name: 'paid', basetype: 'BOOLEAN' },
    { name: 'note', basetype: 'STRING' },
  ]);
  const rows = [
    'id,price,at,paid,note',
    '1,10.50,2024-01-31T23:30:00Z,true,x',
    '2,0.1,2024-02-01T00:30:00+01:00,false,',
    '3,,,,007',
  ];
  expect((await load(table, `${rows.join('\n')}\n`)).error).toBeUndefined();
  expect(
    await sql(
      `SELECT sum(price) AS price, count(*) FILTER (paid) AS paid, max("at") AS last, min(note) AS note FROM "in.c-main".orders`,
    ),
  ).toEqual({
    columns: [
      { name: 'price', type: 'DECIMAL(38,9)' },
      { name: 'paid', type: 'BIGINT' },
      { name: 'last', type: 'TIMESTAMP WITH TIME ZONE' },
      { name: 'note', type: 'VARCHAR' },
    ],
    hasMore: false,
    rows: [['10.600000000', '1', '2024-01-31 23:30:00+00', '']],
  });
  expect(await sql(`SELECT * FROM "in.c-main".orders WHERE price IS NULL`)).toMatchObject({
    rows: [['3', null, null, null, '007']],
  });
  const preview = await api.call('GET', `tables/${table}/data-preview`);
  expect(
    preview.text
      .trim()
      .split('\n')
      .map((line) => line.replaceAll('"', '')),
  ).toEqual(rows);
});

test('a load with another column keeps the definitions of the others, whatever signs they have', async () => {
  const definition = { type: 'VARCHAR', default: 'a\u0000b\uF8D00c\uF8D01"\\' };
  const table = await define('signs', [
    { name: 'id', definition },
    { name: 'n', basetype: 'INTEGER' },
  ]);
  for (const rows of ['id,n\n1,1\n', 'id,n,more\n2,2,x\n', 'id,n,more\n3,3,y\n'])
    expect((await load(table, rows, { incremental: true })).error).toBeUndefined();
  const { body } = await api.call('GET', `tables/${table}`);
  expect(body).toMatchObject({
    rowsCount: 3,
    columns: ['id', 'n', 'more'],
    definition: {
      columns: [{ name: 'id', definition }, { name: 'n', basetype: 'INTEGER' }, { name: 'more' }],
    },
  });
});

test('an alias has the types of its source, and its rows alone', async () => {
  const table = await define('source', [
    { name: 'id', basetype: 'INTEGER' },
    { name: 'kind', basetype: 'STRING' },
  ]);
  await load(table, 'id,kind\n1,a\n20,b\n3,a\n');
  await api.call('POST', 'buckets', { stage: 'out', name: 'main' });
  await api.call('POST', 'buckets/out.c-main/table-aliases', {
    name: 'some',
    sourceTable: table,
    aliasFilter: { column: 'kind', values: ['a'] },
  });
  expect(await sql(`SELECT sum(id) AS s, max(id) AS m FROM "out.c-main".some`)).toMatchObject({
    rows: [['4', '3']],
  });
});

test('a value that does not fit ends the load with its row, and a wider definition lets it in', async () => {
  const table = await define(
    'grown',
    [
      { name: 'id', basetype: 'INTEGER' },
      { name: 'v', basetype: 'INTEGER' },
    ],
    ['id'],
  );
  await load(table, 'id,v\n1,5\n');
  const add = { incremental: '1' };
  expect(await load(table, 'id,v\n2,6\n3,7.5\n', add)).toMatchObject({
    status: 'error',
    error: {
      code: 'csvImport.invalidValue',
      message: containing('row 2: the value "7.5" of the column "v"'),
    },
  });
  expect(await sql(`SELECT typeof(v) AS t, v FROM "in.c-main".grown`)).toMatchObject({
    rows: [['BIGINT', '5']],
  });
  await client.run('PUT', `tables/${table}/columns/v/definition`, { basetype: 'FLOAT' });
  expect((await load(table, 'id,v\n2,6\n3,7.5\n', add)).status).toBe('success');
  expect(await sql(`SELECT any_value(typeof(v)) AS t, sum(v) AS s FROM "in.c-main".grown`)).toMatchObject({
    rows: [['DOUBLE', '18.5']],
  });
  await client.run('PUT', `tables/${table}/columns/v/definition`, { basetype: 'STRING' });
  expect((await load(table, 'id,v\n1,five\n', add)).status).toBe('success');
  expect(await sql(`SELECT v FROM "in.c-main".grown ORDER BY id`)).toMatchObject({
    rows: [['five'], ['6'], ['7.5']],
  });
});
