import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { configOf, dataFolder, startApi, startGex } from './support.ts';

const BODY =
  '[{"id":1,"price":12345678901234567.25,"paid":false,"day":"2024-02-29","at":"2024-02-29T10:00:00+0100","text":"a,\\n\\"b\\"","lines":[{"n":1.5}]},' +
  '{"id":9007199254740993,"price":2,"paid":null,"day":null,"at":null,"text":"","lines":[]}]';

async function ran(
  format: string,
  more: readonly string[] = [],
): Promise<{ folder: string; code: number | null; stdout: string; stderr: string }> {
  const api = await startApi((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(BODY);
  });
  const folder = dataFolder(configOf(api, [{ endpoint: 'orders', types: true }]));
  const args = ['run', '--data', folder, '--format', format, ...more];
  // Times do not depend on the zone of the machine.
  const env = { ...process.env, TZ: 'Asia/Tokyo' };
  const { code, stdout, stderr } = await startGex(args, { env }).ended;
  return { folder: `${folder}/out/tables`, code, stdout, stderr };
}

async function query(sql: string): Promise<unknown[][]> {
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRows();
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}

describe('gex run --format', () => {
  test('parquet leaves typed files beside the manifests', async () => {
    const { folder, code, stdout, stderr } = await ran('parquet', ['--storage', 'none']);
    expect(stderr).not.toContain('ERROR');
    expect(code).toBe(0);
    expect(stdout).toContain('library.orders.parquet');
    expect(readdirSync(folder).toSorted()).toEqual([
      'library.orders.manifest',
      'library.orders.parquet',
      'library.orders_lines.manifest',
      'library.orders_lines.parquet',
    ]);
    const file = `'${folder}/library.orders.parquet'`;
    expect(
      (await query(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${file})`)).map((row) =>
        row.join(' '),
      ),
    ).toEqual([
      'id BIGINT',
      'price DECIMAL(38,9)',
      'paid BOOLEAN',
      'day DATE',
      'at TIMESTAMP WITH TIME ZONE',
      'text VARCHAR',
      'lines VARCHAR',
    ]);
    const rows = await query(
      `SELECT id::VARCHAR, price::VARCHAR, paid::VARCHAR, day::VARCHAR, epoch_us("at")::VARCHAR, text FROM ${file}`,
    );
    expect(rows).toEqual([
      ['1', '12345678901234567.250000000', 'false', '2024-02-29', '1709197200000000', 'a,\n"b"'],
      ['9007199254740993', '2.000000000', null, null, null, ''],
    ]);
    expect(await query(`SELECT n FROM '${folder}/library.orders_lines.parquet'`)).toEqual([[1.5]]);
  });

  test('jsonl leaves lines of JSON', async () => {
    const { folder, code } = await ran('jsonl', ['--storage', 'none']);
    expect(code).toBe(0);
    const [first = '', second = ''] = readFileSync(`${folder}/library.orders.jsonl`, 'utf8').split('\n');
    expect(first).toMatch(/^\{"id":1,"price":12345678901234567\.25\d*,"paid":false,"day":"2024-02-29"/);
    expect(first).toContain('"at":"2024-02-29 09:00:00+00"');
    expect(second).toContain('"id":9007199254740993');
    expect(JSON.parse(second)).toMatchObject({ paid: null, day: null, text: '' });
    expect(existsSync(`${folder}/library.orders`)).toBe(false);
  });

  test('parquet has a folder for each day of a column, in the tables that have it', async () => {
    const { folder, code, stdout } = await ran('parquet', ['--storage', 'none', '--partition-by', 'at']);
    expect(code).toBe(0);
    expect(stdout).toContain('library.orders.parquet');
    const days = ['at_date=2024-02-29', 'at_date=__HIVE_DEFAULT_PARTITION__'];
    expect(readdirSync(`${folder}/library.orders.parquet`).toSorted()).toEqual(days);
    const rows = await query(
      `SELECT id::VARCHAR, at_date::VARCHAR, text FROM read_parquet('${folder}/library.orders.parquet/*/*.parquet', hive_partitioning = true) ORDER BY id`,
    );
    expect(rows).toEqual([
      ['1', '2024-02-29', 'a,\n"b"'],
      ['9007199254740993', null, ''],
    ]);
    expect(await query(`SELECT n FROM '${folder}/library.orders_lines.parquet'`)).toEqual([[1.5]]);
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([]);
  });

  test('of a column that is none of days parts nothing, and says so', async () => {
    const more = ['--storage', 'none', '--partition-by', 'text'];
    const { folder, code, stderr } = await ran('parquet', more);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('No table has a column text of days or times'),
    ]);
    expect(await query(`SELECT count(*)::INT FROM '${folder}/library.orders.parquet'`)).toEqual([[2]]);
    const lines = await ran('jsonl', more);
    expect([lines.code, lines.stderr]).toEqual([1, expect.stringContaining('goes with --format parquet')]);
  });

  test('is refused where tables are pushed', async () => {
    const { code, stderr, folder } = await ran('parquet');
    expect(code).toBe(1);
    expect(stderr).toContain('--format parquet is for runs that push nothing');
    expect(existsSync(folder)).toBe(false);
  });
});
