// @module-tag thorough
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvText } from '../../src/lib/csv/write.ts';
import { configOf, dataFolder, gexHere, startApi, type Api } from '../cli/support.ts';
import { EXTENSIONS } from './stores/tables/lake/support.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from './database.ts';

/* Values at the limits of types, from the JSON of an API through run and push to exports: every engine gives the same. */

interface Column {
  /** JSON of the values. */
  readonly json: readonly string[];
  /** Type in SQL and in a file of Parquet, where it is another one. */
  readonly type: string;
  /** Texts that the API gives, where they are not those of the JSON. */
  readonly texts?: readonly string[];
  /** Values in SQL, where they are not the texts. */
  readonly values?: readonly string[];
}

const TEXT = 'VARCHAR';
const MOMENT = 'TIMESTAMP WITH TIME ZONE';
const DECIMAL = 'DECIMAL(38,9)';

const COLUMNS: Readonly<Record<string, Column>> = {
  beyond_double: { json: ['1e400', '1'], type: TEXT },
  minus_zero: { json: ['-0', '1'], type: 'BIGINT', texts: ['0', '1'] },
  sum: { json: ['0.30000000000000004', '0.1'], type: TEXT },
  odd: { json: ['9007199254740993', '1'], type: 'BIGINT' },
  odd_and_half: {
    json: ['9007199254740993', '0.5'],
    type: DECIMAL,
    values: ['9007199254740993.000000000', '0.500000000'],
  },
  bounds: { json: ['9223372036854775807', '-9223372036854775808'], type: 'BIGINT' },
  beyond_bigint: {
    json: ['9223372036854775808', '1'],
    type: DECIMAL,
    values: ['9223372036854775808.000000000', '1.000000000'],
  },
  forty_digits: { json: ['1234567890123456789012345678901234567890', '1'], type: TEXT },
  largest_decimal: {
    json: ['99999999999999999999999999999.999999999', '-99999999999999999999999999999.999999999'],
    type: DECIMAL,
  },
  leap_second: { json: ['"2016-12-31T23:59:60Z"', '"2016-12-31T23:59:59Z"'], type: TEXT },
  year_zero: { json: ['"0000-01-01"', '"2024-01-01"'], type: TEXT },
  year_ten_thousand: { json: ['"10000-01-01"', '"2024-01-01"'], type: TEXT },
  no_such_day: { json: ['"2024-02-30"', '"2024-02-28"'], type: TEXT },
  far_offset: {
    json: ['"2024-02-28T10:00:00+14:30"', '"2024-02-28T10:00:00-15:59"'],
    type: MOMENT,
    values: ['2024-02-27 19:30:00+00', '2024-02-29 01:59:00+00'],
  },
  escaped_offset: {
    json: ['"2024-02-28T10:00:00Z"', '"2024-02-28T10:00:00\\u002B01:00"'],
    type: MOMENT,
    values: ['2024-02-28 10:00:00+00', '2024-02-28 09:00:00+00'],
  },
  out_of_years: {
    json: ['"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59.999999-14:00"'],
    type: MOMENT,
    values: ['0001-12-31 (BC) 10:00:00+00', '10000-01-01 13:59:59.999999+00'],
  },
  beside_local: { json: ['"2024-02-28T10:00:00Z"', '"2024-02-28T10:00:00"'], type: TEXT },
  beside_day: {
    json: ['"2024-02-28"', '"2024-02-28T10:00:00.5"'],
    type: 'TIMESTAMP',
    values: ['2024-02-28 00:00:00', '2024-02-28 10:00:00.5'],
  },
  nul: { json: ['"a\\u0000b"', '"x"'], type: TEXT, texts: ['a\uFFFDb', 'x'] },
  lone_surrogates: { json: ['"a\\ud800b"', '"\\ud83d\\ude00"'], type: TEXT, texts: ['a\uFFFDb', '😀'] },
  truths: { json: ['true', 'false'], type: 'BOOLEAN' },
  truths_as_text: { json: ['"true"', '"false"'], type: TEXT },
  truth_and_number: { json: ['true', '1'], type: TEXT },
  empty_and_number: { json: ['""', '5'], type: TEXT },
  words_of_numbers: { json: ['"NaN"', '1.5'], type: TEXT },
  mark: { json: ['"\\ufeffx"', '" "'], type: TEXT },
};

const names = Object.keys(COLUMNS);

function textOf(json: string): string {
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}

const textsOf = ({ json, texts }: Column): readonly string[] => texts ?? json.map(textOf);

/** Returns the rows of a table with all columns, each cell made of a column. */
function rowsOf<Cell>(cellsOf: (column: Column) => readonly Cell[]): (Cell | undefined)[][] {
  const columns = Object.values(COLUMNS).map(cellsOf);
  return [0, 1].map((row) => columns.map((cells) => cells[row]));
}

let api: Api;

beforeAll(async () => {
  // A page for each row: types are joined over them.
  const rows = rowsOf(({ json }) => json).map(
    (row) => `{${row.map((json, i) => `"${names[i]}":${json}`).join(',')}}`,
  );
  api = await startApi(({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    response.writeHead(200, { 'content-type': 'application/json' }).end(`[${rows[page - 1] ?? ''}]`);
  });
});

const database = dataFolder();
afterAll(async () => await forgetDatabase(database));

describe.for([
  ['a folder', true, (folder: string) => path.join(folder, 'storage')],
  ['a lake', EXTENSIONS !== undefined, (folder: string) => `lake:${path.join(folder, 'storage')}`],
  ['a database', isOnPostgres, async () => (await databaseOf(database))?.url ?? ''],
] as const)('in %s', ([, isThere, placeOf]) => {
  test.runIf(isThere)('values at the limits of types are those of the API', async () => {
    const job = { endpoint: 'hostile', types: true };
    const folder = dataFolder(
      configOf(api, [job], { api: { pagination: { method: 'pagenum' }, retryConfig: { maxRetries: 0 } } }),
    );
    const storage = await placeOf(folder);
    const gex = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await gexHere(...args, '--storage', storage);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    await gex('run', '--data', folder);
    const table = 'in.c-library.hostile';
    const csv = await gex('storage', 'tables', 'export', table);
    expect(csv).toBe(csvText([names, ...rowsOf(textsOf).map((row) => row.map((text = '') => text))]));

    const columns = names.map((name) => `typeof(${name}), CAST(${name} AS VARCHAR)`).join(', ');
    const queried = await gex('sql', `SELECT ${columns} FROM "in.c-library".hostile`, '--format', 'json');
    const { rows } = JSON.parse(queried) as { rows: unknown };
    const expected = rowsOf((column) =>
      (column.values ?? textsOf(column)).map((value) => [column.type, value]),
    );
    expect(rows).toEqual(expected.map((row) => row.flat()));

    const file = path.join(folder, 'rows.parquet');
    await gex('storage', 'tables', 'export', table, file, '--format', 'parquet');
    const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
    const read = await duckdb.runAndReadAll(
      `SELECT ${names.map((name) => `typeof(${name}), '=' || CAST(${name} AS VARCHAR)`).join(', ')} FROM '${file}'`,
    );
    duckdb.closeSync();
    // The definition of a moment is a TIMESTAMP, which Parquet has in UTC.
    const inFile = expected.map((row) =>
      row.flatMap(([type = '', value = ''] = []) =>
        type === MOMENT ? ['TIMESTAMP', `=${value.replace('+00', '')}`] : [type, `=${value}`],
      ),
    );
    expect(read.getRows()).toEqual(inFile);
  });
});
