import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { clientOf } from '../service/data/client.ts';
import { startService } from '../service/harness.ts';
import { EXTENSIONS } from '../service/stores/tables/lake/support.ts';
import { gexHere } from './support.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-dbt-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Sources {
  readonly sources: readonly {
    readonly name: string;
    readonly database: string;
    readonly schema: string;
    readonly loaded_at_field: string;
    readonly freshness: object;
    readonly tables: readonly {
      readonly name: string;
      readonly identifier?: string;
      readonly meta: object;
      readonly columns: readonly { readonly name: string }[];
    }[];
  }[];
}

/** Makes a storage with a table in the default branch and one in another, and stops its service. */
async function made(dir: string, tables: 'lake' | 'own'): Promise<string> {
  const api = await startService({
    dir,
    tables,
    ...(EXTENSIONS === undefined ? {} : { duckdbExtensions: EXTENSIONS }),
  });
  const client = clientOf(api);
  await api.call('POST', 'buckets', { stage: 'in', name: 'main' });
  expect(
    (await client.create('in.c-main', 'Users-Big', 'id,Name,rowid\n1,Ada,a\n2,Bob,b\n')).error,
  ).toBeUndefined();
  const branch = await client.run('POST', 'dev-branches', { name: 'try' });
  const { id } = branch.results as { id: number };
  await api.call('POST', `/v2/storage/branch/${id}/buckets`, { stage: 'in', name: 'main' });
  const { id: file } = await client.upload('id\n7\n');
  const job = await client.run('POST', `/v2/storage/branch/${id}/buckets/in.c-main/tables-async`, {
    name: 'orders',
    dataFileId: file,
  });
  expect(job.error).toBeUndefined();
  await api.service.stop();
  return String(id);
}

async function sourcesOf(dir: string, ...more: readonly string[]): Promise<Sources> {
  const { code, stdout, stderr } = await gexHere('storage', 'dbt-sources', '--storage', dir, ...more);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return parse(stdout) as Sources;
}

describe.for([
  ['a folder', 'own', 'tables/tables.duckdb', true],
  ['a lake', 'lake', 'tables/lake/catalogue.ducklake', EXTENSIONS !== undefined],
] as const)('%s', ([, tables, file, isThere]) => {
  test.runIf(isThere)('has sources that DuckDB finds where it has attached it', async () => {
    const dir = path.join(folder, tables);
    const branch = await made(dir, tables);
    const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
    if (tables === 'lake') await duckdb.run(`LOAD '${EXTENSIONS}/ducklake.duckdb_extension'`);
    const prefix = tables === 'lake' ? 'ducklake:' : '';
    await duckdb.run(`ATTACH '${prefix}${path.join(dir, file)}' AS shop (READ_ONLY)`);
    const rows = async ({ sources: [source] }: Sources): Promise<unknown[][]> => {
      const [table] = source?.tables ?? [];
      const name = `"${source?.database}"."${source?.schema}"."${table?.identifier ?? table?.name}"`;
      const names = table?.columns.map((column) => `"${column.name}"`).join(', ');
      const read = await duckdb.runAndReadAll(
        `SELECT ${names}, now() - ${source?.loaded_at_field} < INTERVAL 1 DAY FROM ${name} ORDER BY 1`,
      );
      return read.getRows();
    };
    const options = ['--attached-as', 'shop', '--error-after', '48'];
    const sources = await sourcesOf(dir, ...options);
    expect(sources).toMatchObject({
      version: 2,
      sources: [
        {
          name: 'in_c_main',
          database: 'shop',
          freshness: {
            warn_after: { count: 24, period: 'hour' },
            error_after: { count: 48, period: 'hour' },
          },
          tables: [{ name: 'Users-Big', meta: { table: 'in.c-main.Users-Big', primary_key: [] } }],
        },
      ],
    });
    expect(await rows(sources)).toEqual([
      ['1', 'Ada', 'a', true],
      ['2', 'Bob', 'b', true],
    ]);
    expect(await rows(await sourcesOf(dir, ...options, '--branch', branch))).toEqual([['7', true]]);
    duckdb.closeSync();
  });
});
