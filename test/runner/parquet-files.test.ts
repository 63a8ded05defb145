import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, test } from 'vitest';
import { convertParquet } from '../../src/runner/parquet-files.ts';
import { cellsOf } from '../support/workbook.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'parquet-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { signal } = new AbortController();

async function parquet(name: string, ...queries: readonly string[]): Promise<string[]> {
  const database = await DuckDBInstance.create(':memory:');
  const connection = await database.connect();
  const files = queries.map((_, i) => path.join(folder, `${name}-${i}.parquet`));
  for (const [i, file] of files.entries())
    await connection.run(`COPY (${queries[i]}) TO '${file}' (FORMAT parquet)`);
  connection.closeSync();
  database.closeSync();
  return files;
}

test('a workbook has each type as what a spreadsheet computes with', async () => {
  const values = {
    tiny: ['-7::TINYINT', ':-7'],
    big: ['9007199254740993::BIGINT', "'9007199254740993"],
    unsigned: ['42::UBIGINT', ':42'],
    price: ['1.50::DECIMAL(38,9)', ':1.5'],
    whole: ['100::DECIMAL(10,2)', ':100'],
    part: ['0.1::DOUBLE', ':0.1'],
    lost: ["'nan'::DOUBLE", "'nan"],
    ok: ['true', 'b:1'],
    day: ["DATE '2024-02-29'", '2:45351'],
    at: ["TIMESTAMP '2024-02-29 12:00:00'", '3:45351.5'],
    moment: ["TIMESTAMPTZ '2024-02-29 12:00:00+12'", '3:45351'],
    note: ["'=1+1'", "'=1+1"],
    mark: ["chr(65279) || 'a'", "'\uFEFFa"],
    list: ['[1, 2]', "'[1, 2]"],
  };
  const columns = Object.entries(values).map(([name, [sql]]) => `${sql} AS ${name}`);
  const files = await parquet('types', `SELECT ${columns.join(', ')}`);
  const target = path.join(folder, 'types.xlsx');
  await convertParquet(files, target, 'xlsx', signal);
  const [, row = {}] = await cellsOf(target);
  expect(Object.values(row)).toEqual(Object.values(values).map(([, cell]) => cell));
});

test('files are one after another, and nothing is left when one cannot be read', async () => {
  const files = await parquet(
    'parts',
    'SELECT i FROM range(3000) t(i)',
    'SELECT 3000 + i AS i FROM range(2) t(i)',
  );
  const target = path.join(folder, 'parts.jsonl');
  await convertParquet(files, target, 'jsonl', signal);
  const lines = Array.from({ length: 3002 }, (_, i) => `{"i":${i}}\n`);
  expect(readFileSync(target, 'utf8')).toBe(lines.join(''));
  const before = readdirSync(folder).toSorted();
  for (const format of ['jsonl', 'parquet', 'xlsx'] as const)
    await expect(
      convertParquet([path.join(folder, 'none.parquet')], path.join(folder, 'no'), format, signal),
    ).rejects.toMatchObject({ code: 'output.failed' });
  expect(readdirSync(folder).toSorted()).toEqual(before);
});
