import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinedParquet } from '../../../src/service/stores/tables/parquet/join.ts';
import { cellsOf } from '../../support/workbook.ts';
import { startService, type Running } from '../harness.ts';
import { clientOf, type FileBody, type JobBody } from './client.ts';
import { readSlices } from './slices.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'parquet-test-'));
let api: Running;
let client: ReturnType<typeof clientOf>;
let duckdb: DuckDBConnection;
let files = 0;

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main' });
  duckdb = await (await DuckDBInstance.create(':memory:')).connect();
  await duckdb.run("SET TimeZone = 'UTC'");
});
afterAll(async () => {
  duckdb.closeSync();
  await api.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a query as Parquet. */
async function parquet(query: string, options = ''): Promise<Buffer> {
  const file = path.join(folder, `${++files}.parquet`);
  await duckdb.run(`COPY (${query}) TO '${file}' (FORMAT parquet${options})`);
  return readFileSync(file);
}

const all = async (sql: string): Promise<unknown[][]> => (await duckdb.runAndReadAll(sql)).getRowsJson();

async function readParquet(bytes: Uint8Array): Promise<{ types: unknown[]; rows: unknown[] }> {
  const file = path.join(folder, `${++files}.parquet`);
  writeFileSync(file, bytes);
  return {
    types: (await all(`DESCRIBE SELECT * FROM '${file}'`)).map(
      ([name, type]) => `${String(name)} ${String(type)}`,
    ),
    rows: await all(`SELECT * FROM '${file}'`),
  };
}

async function exported(table: string, options: object = {}): Promise<readonly Buffer[]> {
  const asked = { fileType: 'parquet', ...options };
  const job = await client.run('POST', `tables/${table}/export-async`, asked);
  if (job.status !== 'success') throw new Error(job.error?.message);
  const { id } = (job.results as { file: { id: number } }).file;
  const { body: file } = await client.call<FileBody>('GET', `files/${id}?federationToken=1`);
  expect(file).toMatchObject({ name: `${table}.${asked.fileType}`, isSliced: true });
  return await readSlices(file);
}

/** Downloads a table as one file. */
async function downloaded(table: string, query: string): Promise<{ headers: Headers; bytes: Buffer }> {
  const headers = { 'X-StorageApi-Token': api.token };
  const answer = await fetch(`${api.addresses.url}/v2/storage/tables/${table}/data?${query}`, { headers });
  return { headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function cellsIn(bytes: Uint8Array): Promise<unknown> {
  const file = path.join(folder, `${++files}.xlsx`);
  writeFileSync(file, bytes);
  return await cellsOf(file);
}

async function importInto(
  table: string,
  bytes: Uint8Array,
  options: object = {},
  name = 'rows.parquet',
): Promise<JobBody> {
  const file = await client.upload(bytes, { name });
  return await client.run('POST', `tables/${table}/import-async`, { dataFileId: file.id, ...options });
}

async function makeOf(bytes: Uint8Array, name: string, options: object = {}): Promise<JobBody> {
  const { id } = await client.upload(bytes, { name: 'any name' });
  return await client.run('POST', 'buckets/in.c-main/tables-async', { name, dataFileId: id, ...options });
}

/** Returns the definitions of the columns of a table, with their lengths. */
async function definitionsOf(table: string): Promise<Record<string, string>> {
  const { body } = await api.call('GET', `tables/${table}`);
  const { columns } = (
    body as { definition: { columns: { name: string; definition: { type: string; length?: string } }[] } }
  ).definition;
  return Object.fromEntries(
    columns.map(({ name, definition: { type, length } }) => [
      name,
      length === undefined ? type : `${type} ${length}`,
    ]),
  );
}

async function makeOfSlices(name: string, slices: readonly Uint8Array[]): Promise<JobBody> {
  const { id } = await client.uploadSliced(slices);
  return await client.run('POST', 'buckets/in.c-main/tables-async', { name, dataFileId: id });
}

async function* inTurn(slices: readonly Buffer[]): AsyncGenerator<AsyncIterable<Uint8Array>> {
  for (const slice of slices) yield Readable.from([slice]) as AsyncIterable<Buffer>; // a stream of what it is made of
}

const COLUMNS = [
  { name: 'id', definition: { type: 'BIGINT' } },
  { name: 'price', definition: { type: 'DECIMAL', length: '38,9' } },
  { name: 'at', definition: { type: 'TIMESTAMP' } },
  { name: 'ok', definition: { type: 'BOOLEAN' } },
  { name: 'note', definition: { type: 'STRING' } },
];

async function typed(name: string, csv?: string): Promise<string> {
  const path = 'buckets/in.c-main/tables-definition';
  const made = await client.run('POST', path, { name, primaryKeysNames: ['id'], columns: COLUMNS });
  expect(made.error).toBeUndefined();
  const table = `in.c-main.${name}`;
  if (csv === undefined) return table;
  const file = await client.upload(csv);
  const job = await client.run('POST', `tables/${table}/import-async`, { dataFileId: file.id });
  expect(job.error).toBeUndefined();
  return table;
}

describe('exports', () => {
  const CSV =
    'id,price,at,ok,note\n1,1.5,2024-02-29 10:00:00,true,"a ""q"",\nb"\n2,,,,\n3,-7,2024-03-01,false,ž\n';

  test('have the types of the table, its rows in their order, and null for what is empty', async () => {
    const [bytes, ...more] = await exported(await typed('orders', CSV));
    expect(more).toEqual([]);
    expect(await readParquet(bytes ?? Buffer.of())).toEqual({
      types: ['id BIGINT', 'price DECIMAL(38,9)', 'at TIMESTAMP', 'ok BOOLEAN', 'note VARCHAR'],
      rows: [
        ['1', '1.500000000', '2024-02-29 10:00:00', true, 'a "q",\nb'],
        ['2', null, null, null, ''],
        ['3', '-7.000000000', '2024-03-01 00:00:00', false, 'ž'],
      ],
    });
  });

  test('know the words of databases for types, and take times with an offset to UTC', async () => {
    const columns = ['SMALLINT', 'DOUBLE PRECISION', 'TIMESTAMP_TZ', 'DATETIME', 'VARCHAR'].map(
      (type, i) => ({
        name: `c${i}`,
        definition: { type },
      }),
    );
    await client.run('POST', 'buckets/in.c-main/tables-definition', { name: 'words', columns });
    const times = '2024-02-29T12:00:00+02:00';
    const { id } = await client.upload(`c0,c1,c2,c3,c4\n1,1.5,${times},${times},x\n`);
    const job = await client.run('POST', 'tables/in.c-main.words/import-async', { dataFileId: id });
    expect(job.error).toBeUndefined();
    const [bytes] = await exported('in.c-main.words');
    expect(await readParquet(bytes ?? Buffer.of())).toEqual({
      types: ['c0 BIGINT', 'c1 DOUBLE', 'c2 TIMESTAMP WITH TIME ZONE', 'c3 TIMESTAMP', 'c4 VARCHAR'],
      rows: [['1', 1.5, '2024-02-29 10:00:00+00', '2024-02-29 10:00:00', 'x']],
    });
  });

  test('are filtered as any export, and found again', async () => {
    const table = await typed('filtered', CSV);
    const options = {
      columns: ['note', 'id'],
      whereFilters: [{ column: 'id', operator: 'ne', values: ['2'] }],
      includeInternalTimestamp: true,
      gzip: true,
    };
    const [bytes] = await exported(table, options);
    const { types, rows } = await readParquet(bytes ?? Buffer.of());
    expect(types).toEqual(['note VARCHAR', 'id BIGINT', '_timestamp TIMESTAMP']);
    const at: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(rows).toEqual([
      ['a "q",\nb', '1', at],
      ['ž', '3', at],
    ]);
    const again = await client.run('POST', `tables/${table}/export-async`, {
      fileType: 'parquet',
      ...options,
    });
    expect(again.results).toMatchObject({ cacheHit: true });
    expect(await client.rowsOf(table, { columns: ['id'] })).toBe('"1"\n"2"\n"3"\n');
  });

  test('are one file for people', async () => {
    const table = await typed('people', CSV);
    const { headers, bytes } = await downloaded(table, 'fileType=parquet&gzip=1');
    expect(headers.get('content-disposition')).toContain(`${table}.parquet`);
    expect(await readParquet(bytes)).toMatchObject({ types: { length: 5 }, rows: { length: 3 } });
  });

  test('are lines of JSON and workbooks with the types of the table, one slice each', async () => {
    const table = await typed('formats', CSV);
    const lines = [
      '{"id":1,"price":1.500000000,"at":"2024-02-29 10:00:00","ok":true,"note":"a \\"q\\",\\nb"}',
      '{"id":2,"price":null,"at":null,"ok":null,"note":""}',
      '{"id":3,"price":-7.000000000,"at":"2024-03-01 00:00:00","ok":false,"note":"ž"}',
    ];
    const cells = [
      { A1: "'id", B1: "'price", C1: "'at", D1: "'ok", E1: "'note" },
      {
        A2: ':1',
        B2: ':1.5',
        C2: `3:${Date.parse('2024-02-29T10:00:00Z') / 86_400_000 + 25_569}`,
        D2: 'b:1',
        E2: '\'a "q",\nb',
      },
      { A3: ':2' },
      { A4: ':3', B4: ':-7', C4: '3:45352', D4: 'b:0', E4: "'ž" },
    ];
    for (let turn = 0; turn < 2; turn++) {
      const [text, ...more] = await exported(table, { fileType: 'jsonl', gzip: true });
      expect([text?.toString().trimEnd().split('\n'), more]).toEqual([lines, []]);
      const [workbook, ...others] = await exported(table, { fileType: 'xlsx', gzip: true });
      expect([await cellsIn(workbook ?? Buffer.of()), others]).toEqual([cells, []]);
    }
    const json = await downloaded(table, 'fileType=jsonl&columns=id&gzip=1');
    expect(json.headers.get('content-type')).toBe('application/x-ndjson');
    expect(json.headers.get('content-disposition')).toContain(`${table}.jsonl`);
    expect(json.bytes.toString()).toBe('{"id":1}\n{"id":2}\n{"id":3}\n');
    const sheet = await downloaded(table, 'fileType=xlsx&columns=id&limit=1');
    expect(sheet.headers.get('content-type')).toMatch(/spreadsheetml/);
    expect(await cellsIn(sheet.bytes)).toEqual([{ A1: "'id" }, { A2: ':1' }]);
  });

  test('of an empty table have the names of its columns, where a file has any', async () => {
    const table = await typed('empty_formats');
    expect((await exported(table, { fileType: 'jsonl' })).map(String)).toEqual(['']);
    const [workbook] = await exported(table, { fileType: 'xlsx', columns: ['id'] });
    expect(await cellsIn(workbook ?? Buffer.of())).toEqual([{ A1: "'id" }]);
  });

  test('of a text that a cell of a workbook cannot hold fail, and say which', async () => {
    const long = 'x'.repeat(32_768);
    const table = await typed('long_text', `id,price,at,ok,note\n1,,,,${'x'.repeat(32_767)}\n2,,,,${long}\n`);
    const job = await client.run('POST', `tables/${table}/export-async`, { fileType: 'xlsx' });
    expect(job).toMatchObject({
      status: 'error',
      error: {
        code: 'storage.tables.export.unfit',
        message:
          'Row 2: the value of the column "note" has 32,768 characters, and a cell of a workbook holds 32,767. Leave the column out, or take another format.',
      },
    });
    const without = await exported(table, { fileType: 'xlsx', columns: ['id'] });
    expect(await cellsIn(without[0] ?? Buffer.of())).toEqual([{ A1: "'id" }, { A2: ':1' }, { A3: ':2' }]);
    const [lines] = await exported(table, { fileType: 'jsonl' });
    expect(lines?.toString()).toContain(long);
  });

  test('of several slices are joined to one file, in their order', async () => {
    const slices = [
      await parquet('SELECT i AS id FROM range(200000) t(i)'),
      await parquet('SELECT i AS id FROM range(200000, 300000) t(i)'),
    ];
    const joined: Uint8Array[] = [];
    for await (const bytes of joinedParquet(inTurn(slices))) joined.push(bytes);
    const { rows } = await readParquet(Buffer.concat(joined));
    expect(rows).toEqual(Array.from({ length: 300_000 }, (_, i) => [String(i)]));
  });

  test('of an empty table are a file with its columns', async () => {
    const [bytes] = await exported(await typed('nothing'));
    expect(await readParquet(bytes ?? Buffer.of())).toMatchObject({ rows: [], types: { length: 5 } });
  });

  test('of a value that does not fit its type fail, and say which', async () => {
    const table = await typed('odd');
    const define = async (definition: object): Promise<void> => {
      const job = await client.run('PUT', `tables/${table}/columns/price/definition`, { definition });
      expect(job.error).toBeUndefined();
    };
    // A definition that is true with the next load only.
    await define({ type: 'STRING' });
    const { id } = await client.upload('id,price,at,ok,note\n1,cheap,,,\n');
    await client.run('POST', `tables/${table}/import-async`, { dataFileId: id });
    await define({ type: 'DECIMAL', length: '38,9' });
    const job = await client.run('POST', `tables/${table}/export-async`, { fileType: 'parquet' });
    expect(job.error).toMatchObject({
      code: 'storage.tables.export.typeMismatch',
      message: expect.stringMatching(/"cheap"/) as string,
    });
    expect(job.error?.message).not.toMatch(/tmp|gex-parquet/);
  });
});

describe('imports', () => {
  test('make a table of what a file has, with its types', async () => {
    const query = `SELECT * FROM (VALUES
      (1::BIGINT, 1.50::DECIMAL(10,2), DATE '2024-02-29', TIMESTAMPTZ '2024-02-29 10:00:00+02', true, 'a "q",\nb', 'bytes'::BLOB, 0.1::DOUBLE),
      (2, NULL, NULL, NULL, NULL, '', NULL, NULL)) AS t(id, price, day, "at", ok, note, raw, part)`;
    const job = await makeOf(await parquet(query), 'of_parquet', { primaryKey: 'id', delimiter: ';' });
    expect(job.error).toBeUndefined();
    expect(job.results).toMatchObject({
      columns: ['id', 'price', 'day', 'at', 'ok', 'note', 'raw', 'part'],
      isTyped: true,
    });
    expect(await client.rowsOf('in.c-main.of_parquet')).toBe(
      '"1","1.5","2024-02-29","2024-02-29T08:00:00Z","true","a ""q"",\nb","bytes","0.1"\n"2","","","","","","",""\n',
    );
    expect(await definitionsOf('in.c-main.of_parquet')).toEqual({
      id: 'INTEGER',
      price: 'NUMERIC 10,2',
      day: 'DATE',
      at: 'TIMESTAMPTZ',
      ok: 'BOOLEAN',
      note: 'STRING',
      raw: 'STRING',
      part: 'FLOAT',
    });
    const [bytes] = await exported('in.c-main.of_parquet');
    const back = await readParquet(bytes ?? Buffer.of());
    expect(back.types).toEqual([
      'id BIGINT',
      'price DECIMAL(10,2)',
      'day DATE',
      'at TIMESTAMP WITH TIME ZONE',
      'ok BOOLEAN',
      'note VARCHAR',
      'raw VARCHAR',
      'part DOUBLE',
    ]);
  });

  test.each([
    ['TINYINT', '-128', 'INTEGER', 'BIGINT'],
    ['UINTEGER', '4294967295', 'INTEGER', 'BIGINT'],
    ['UBIGINT', '18446744073709551615', 'NUMERIC 20,0', 'DECIMAL(38,9)'],
    ['DECIMAL(38,0)', '12345678901234567890123456789', 'NUMERIC 38,0', 'DECIMAL(38,9)'],
    ['DECIMAL(38,20)', '1.00000000000000000001', 'NUMERIC 38,20', 'VARCHAR'],
    ['FLOAT', '0.1', 'FLOAT', 'DOUBLE'],
    ['DOUBLE', '1e300', 'FLOAT', 'DOUBLE', '1e+300'],
    ['TIMESTAMP', '2024-02-29T10:00:00.5', 'TIMESTAMP', 'TIMESTAMP', '2024-02-29T10:00:00.500'],
    ['TIMESTAMP_NS', '2024-02-29T10:00:00.123456789', 'TIMESTAMP', 'TIMESTAMP'],
    ['TIME', '10:00:00', 'STRING', 'VARCHAR'],
    ['UUID', '6c31a3a8-7a3c-4f0e-9d57-0d8a3a3b7f10', 'STRING', 'VARCHAR'],
    ['INTEGER[]', '[1, NULL]', 'JSON', 'VARCHAR', '[1,null]'],
    ['JSON', '{"a": 1}', 'JSON', 'VARCHAR'],
  ])('keep a value of %s, %s, as %s', async (type, value, definition, stored, text = value) => {
    const name = `kept_${type.replaceAll(/\W+/g, '_')}`;
    const job = await makeOf(await parquet(`SELECT 1 AS id, CAST('${value}' AS ${type}) AS v`), name);
    expect(job.error).toBeUndefined();
    const table = `in.c-main.${name}`;
    expect(await client.rowsOf(table, { columns: ['v'] })).toBe(`"${text.replaceAll('"', '""')}"\n`);
    expect(await definitionsOf(table)).toMatchObject({ v: definition });
    const query = `SELECT typeof(v) FROM "in.c-main".${name}`;
    const answer = await api.call('POST', 'sql', { query });
    expect(answer.body).toMatchObject({ rows: [[stored]] });
  });

  test('of a number that is none are told what to do, which then works', async () => {
    const file = await parquet("SELECT 1 AS id, 0.5::DOUBLE AS v UNION ALL SELECT 2, 'nan'::DOUBLE");
    const job = await makeOf(file, 'numbers');
    expect(job.error).toMatchObject({
      code: 'csvImport.invalidValue',
      message: expect.stringMatching(
        /row 2: the value "nan" of the column "v".* as STRING, and load/,
      ) as string,
    });
    expect((await api.call('GET', 'tables/in.c-main.numbers')).status).toBe(404);
    const columns = [
      { name: 'id', basetype: 'INTEGER' },
      { name: 'v', basetype: 'STRING' },
    ];
    await client.run('POST', 'buckets/in.c-main/tables-definition', { name: 'numbers', columns });
    expect((await importInto('in.c-main.numbers', file)).error).toBeUndefined();
    expect(await client.rowsOf('in.c-main.numbers')).toBe('"1","0.5"\n"2","nan"\n');
  });

  test('of bytes that are no text are refused, and say so', async () => {
    const job = await makeOf(await parquet("SELECT 'a' AS note, '\\xFF\\xFE'::BLOB AS raw"), 'raw_bytes');
    expect(job.error?.message).toMatch(
      /bytes that are no text in UTF-8 \("raw"\)\. Write them as hexadecimal/,
    );
    expect((await api.call('GET', 'tables/in.c-main.raw_bytes')).status).toBe(404);
  });

  test('bring the time of change of their rows', async () => {
    const query = "SELECT 1 AS id, TIMESTAMP '2020-02-29 10:00:00' AS _timestamp";
    const table = await typed('changed_at');
    const file = await parquet(
      query.replace('AS id,', 'AS id, 1 AS price, NULL AS at, NULL AS ok, NULL AS note,'),
    );
    const job = await importInto(table, file, { useTimestampFromDataFile: true });
    expect(job.error).toBeUndefined();
    expect(await client.rowsOf(table, { columns: ['id'], includeInternalTimestamp: true })).toBe(
      '"1","2020-02-29 10:00:00"\n',
    );
  });

  test('replace, or are merged by the key; columns are found by name, and new ones added', async () => {
    const table = await typed('merged');
    const first = await parquet(
      `SELECT 'n' || i AS note, true AS ok, NULL::TIMESTAMP AS at, i AS price, i AS id FROM range(3) t(i)`,
    );
    expect(await importInto(table, first)).toMatchObject({
      status: 'success',
      results: { importedRowsCount: 3 },
    });
    const second = await parquet(
      `SELECT 2 AS id, 'new' AS note, false AS ok, NULL::TIMESTAMP AS at, 9 AS price, 7 AS more`,
    );
    const merged = await importInto(table, second, { incremental: true });
    expect(merged).toMatchObject({ status: 'success', results: { newColumns: ['more'], totalRowsCount: 3 } });
    expect(await client.rowsOf(table, { columns: ['id', 'note', 'more'], orderBy: [{ column: 'id' }] })).toBe(
      '"0","n0",""\n"1","n1",""\n"2","new","7"\n',
    );
    expect(await definitionsOf(table)).toMatchObject({ id: 'BIGINT', more: 'INTEGER' });
    const sum = await api.call('POST', 'sql', { query: 'SELECT sum(more) FROM "in.c-main".merged' });
    expect(sum.body).toMatchObject({ rows: [['7']] });
  });

  test('of a sliced file take all of its slices, and nothing when one of them is of another kind', async () => {
    const a = await parquet('SELECT i AS id, i * 2 AS v FROM range(5000) t(i)', ', ROW_GROUP_SIZE 2048');
    const b = await parquet('SELECT i AS id, i * 2 AS v FROM range(5000, 5003) t(i)');
    const other = await parquet('SELECT 1 AS id, 2 AS w');
    expect(await makeOfSlices('sliced', [a, b])).toMatchObject({
      status: 'success',
      results: { rowsCount: 5003 },
    });
    for (const [name, slice] of [
      ['columns', other],
      ['csv', Buffer.from('1,2\n')],
    ] as const) {
      const job = await makeOfSlices(`sliced_${name}`, [a, slice]);
      expect(job.error?.message).toMatch(/slice 2 of the Parquet file has other columns/);
      expect((await api.call('GET', `tables/in.c-main.sliced_${name}`)).status).toBe(404);
    }
  });

  test('nested values are JSON', async () => {
    const file = await parquet(
      `SELECT 1 AS id, {'a': [1, 2], 'b': 'x"y'} AS s, ['p', NULL] AS l, MAP {'k': 1} AS m`,
    );
    await makeOf(file, 'nested');
    expect(await definitionsOf('in.c-main.nested')).toMatchObject({ s: 'JSON', l: 'JSON', m: 'JSON' });
    expect(await client.rowsOf('in.c-main.nested')).toBe(
      '"1","{""a"":[1,2],""b"":""x\\""y""}","[""p"",null]","{""k"":1}"\n',
    );
  });

  test('nested values that are no numbers of JSON are refused, with what to do', async () => {
    const well = await parquet(
      `SELECT 1 AS id, {'a': 'NaN', 'b': [0.5::DOUBLE, NULL], '"Infinity\\': '\\"NaN'} AS v`,
    );
    await makeOf(well, 'nested_numbers');
    expect(await client.rowsOf('in.c-main.nested_numbers')).toContain('NaN');
    for (const value of [
      `['nan'::DOUBLE]`,
      `{'a': '-inf'::FLOAT}`,
      `MAP {'NaN': [0.1::DOUBLE, 'inf'::DOUBLE]}`,
    ]) {
      const file = await parquet(`SELECT 1 AS id, ${value} AS v`);
      const { error } = await importInto('in.c-main.nested_numbers', file);
      expect(error?.message).toContain('NaN or an infinite number, which JSON has not');
      expect(await client.rowsOf('in.c-main.nested_numbers')).toContain('0.5');
    }
  });

  test('a CSV whose first column is called like the mark of Parquet is a CSV', async () => {
    const job = await client.create('in.c-main', 'par1', 'PAR1,b\n1,2\n');
    expect(job.results).toMatchObject({ columns: ['PAR1', 'b'] });
  });

  test('hostile files leave the table as it was, each with a message', async () => {
    const table = await typed('kept', 'id,price,at,ok,note\n1,1,,,\n');
    const rows =
      "SELECT i AS id, i AS price, NULL AS at, NULL AS ok, 'n' || i AS note FROM range(60000) t(i)";
    const whole = await parquet(rows, ', ROW_GROUP_SIZE 10240');
    const damaged = Buffer.from(whole);
    damaged.fill(0xaa, whole.length / 2, whole.length / 2 + 4096);
    const secret = Buffer.concat([Buffer.from('PARE'), whole.subarray(4, -4), Buffer.from('PARE')]);
    const many = await parquet(`SELECT ${Array.from({ length: 10_000 }, (_, i) => `1 AS c${i}`).join(', ')}`);
    // Written under another name of the same length, since the writer allows no such two.
    const other = await parquet('SELECT 1 AS "Id", 2 AS "\u00a7"');
    const twin = Buffer.from(other.toString('latin1').replaceAll('\u00c2\u00a7', 'id'), 'latin1');
    const cases: [Uint8Array, RegExp, string?][] = [
      [whole.subarray(0, whole.length - 100), /is cut/],
      [whole.subarray(0, whole.length - 100), /is cut/, 'data.csv'],
      [whole.subarray(0, 3), /no Parquet/],
      [damaged, /cannot be read/],
      [secret, /encrypted/, 'data'],
      [many, /10000 columns/],
      [Buffer.from('id,price\n1,2\n'), /no Parquet/],
      [Buffer.from('x'), /Send it as it is/, 'rows.parquet.gz'],
      [twin, /"Id" and "id"/],
      [
        await parquet('SELECT 1 AS price'),
        /in the Parquet file\. Missing columns: id,at,ok,note\. Expected columns: [\w,]+\.$/,
      ],
    ];
    for (const [bytes, message, name] of cases) {
      const job = await importInto(table, bytes, {}, name);
      expect([job.status, job.error?.message]).toEqual(['error', expect.stringMatching(message)]);
      expect(job.error?.message).not.toMatch(/gex-parquet|internalError/);
    }
    expect(await client.rowsOf(table, { columns: ['id', 'price'] })).toBe('"1","1"\n');
  });

  test('many rows of few bytes are read in bounded memory', async () => {
    const bomb = await parquet("SELECT repeat('x', 100) AS a, 1 AS b FROM range(200000)");
    expect(bomb.length).toBeLessThan(100_000);
    const job = await makeOf(bomb, 'bomb');
    expect(job).toMatchObject({ status: 'success', results: { rowsCount: 200_000 } });
  });
});
