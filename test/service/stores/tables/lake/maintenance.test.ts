import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLakeEngine, type LakeEngine } from '../../../../../src/service/stores/tables/lake/engine.ts';
import { exported, load } from '../postgres/support.ts';
import { EXTENSIONS } from './support.ts';

describe.runIf(EXTENSIONS)('the maintenance of a lake', () => {
  let folder: string;
  let engine: LakeEngine;
  const open = async (keepDays: number, joinBytes?: number): Promise<LakeEngine> => {
    const place = { kind: 'folder', folder: join(folder, 'lake') } as const;
    const made = createLakeEngine({
      place,
      workFolder: join(folder, 'work'),
      extensions: EXTENSIONS,
      keepDays,
      ...(joinBytes === undefined ? {} : { joinBytes }),
    });
    await made.open();
    return made;
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lake-'));
    engine = await open(7);
  });
  afterAll(async () => {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('joins the files of many loads, with and without a key, and changes no row, order or mark', async () => {
    const added = { bucket: 'in.c-main', table: 'added' };
    const keyed = { bucket: 'in.c-main', table: 'keyed' };
    await load(engine, added, 'id\nfirst\n', { create: { primaryKey: [] } });
    await load(engine, keyed, 'id,v\nsame,0\n', { create: { primaryKey: ['id'] } });
    for (let i = 0; i < 20; i++) {
      await load(engine, added, `id\n${i}\n`, { incremental: true, mark: `job ${i}` });
      await load(engine, keyed, `id,v\nsame,${i}\n${i},x\n`, { incremental: true, mark: `job ${i}` });
    }
    const version = await engine.version();
    const before = await Promise.all([added, keyed].map(async (table) => await exported(engine, table)));
    const described = await Promise.all([added, keyed].map(async (table) => await engine.describe(table)));

    await engine.compact();
    expect(await engine.version()).toBeGreaterThan(version);
    expect(await Promise.all([added, keyed].map(async (table) => await exported(engine, table)))).toEqual(
      before,
    );
    expect(await Promise.all([added, keyed].map(async (table) => await engine.describe(table)))).toEqual(
      described,
    );
    // As it was before: what was joined is read in its earlier versions, too.
    expect(await engine.at(version - 2).describe(added)).toMatchObject({ rows: 21 });
    for (const table of [added, keyed])
      await load(engine, table, await next(table.table), { incremental: true });
    expect(await exported(engine, added)).toBe(`${before[0]}"next"\n`);

    const again = await engine.version();
    await engine.compact();
    expect(await engine.version()).toBe(again);
  });

  test('joins the files of a table of types, with the texts beside its values', async () => {
    const table = { bucket: 'in.c-main', table: 'typed' };
    const types = new Map([['v', 'double' as const]]);
    await load(engine, table, 'id,v\nsame,1.0\n', { create: { primaryKey: ['id'] }, types });
    for (let i = 0; i < 14; i++)
      await load(engine, table, `id,v\nsame,${i}\n${i},${i}.50\n`, { incremental: true, types });
    const before = await exported(engine, table);
    await engine.compact();
    expect(await exported(engine, table)).toBe(before);
    expect(await engine.describe(table)).toMatchObject({ types, rows: 15 });
  });

  test('bounds the files of a table that is too large to be written anew as a whole', async () => {
    const table = { bucket: 'in.c-main', table: 'large' };
    await engine.close();
    engine = await open(7, 100_000);
    const plain = { ...table, table: 'plain' };
    const large = Array.from({ length: 20_000 }, (_, i) => `${i},${randomBytes(9).toString('hex')}\n`);
    await load(engine, table, `id,v\n${large.join('')}`, { create: { primaryKey: ['id'] } });
    await load(engine, plain, 'id,v\n', { create: { primaryKey: [] } });
    for (let i = 0; i < 45; i++) {
      // One row that no other load has, one of the large file, and one that each load has.
      const rows = `id,v\n${20_000 + i},new\n${i * 11},changed\nsame,${i}\n`;
      await load(engine, table, rows, { incremental: true });
      await load(engine, plain, rows, { incremental: true });
      if (i % 15 < 14) continue;
      const before = [await exported(engine, table), await exported(engine, plain)];
      await engine.compact();
      expect([await exported(engine, table), await exported(engine, plain)]).toEqual(before);
    }
    expect(await engine.describe(table)).toMatchObject({ rows: 20_046 });
    await engine.close();
    expect(await filesIn(join(folder, 'lake'), ['large', 'plain'])).toEqual([
      ['large', 2],
      ['plain', 1],
    ]);
    engine = await open(7);
  });

  test('forgets versions after their days, and neither rows nor the marks of imports', async () => {
    const table = { bucket: 'in.c-main', table: 'marked' };
    const request = { incremental: true, mark: 'the job' };
    await load(engine, table, 'id\n1\n', { create: { primaryKey: ['id'] } });
    const outcome = await load(engine, table, 'id\n2\n', request);
    await load(engine, { bucket: 'in.c-main', table: 'other' }, 'id\n1\n', { create: { primaryKey: [] } });
    const first = await engine.version();
    const described = await engine.describe(table);
    await engine.close();

    engine = await open(0);
    await engine.compact();
    expect(await engine.version()).toBe(first);
    await expect(exportedAt(engine, first - 1, table)).rejects.toThrow();
    expect(await engine.describe(table)).toEqual(described);
    expect(await load(engine, table, 'id\n2\n', request)).toEqual(outcome);
    expect(await exported(engine, table)).toBe('"1"\n"2"\n');
    await engine.close();
    engine = await open(7);
  });
});

/** Counts the files that tables of a closed lake have now. */
async function filesIn(lake: string, tables: readonly string[]): Promise<[name: string, files: number][]> {
  const instance = await DuckDBInstance.create(join(lake, 'catalogue.ducklake'), {
    access_mode: 'READ_ONLY',
  });
  try {
    const connection = await instance.connect();
    const names = tables.map((name) => `'${name}'`).join(', ');
    const reader = await connection.runAndReadAll(
      `SELECT t.table_name, count(*) FROM ducklake_data_file f JOIN ducklake_table t USING (table_id)
       WHERE f.end_snapshot IS NULL AND t.end_snapshot IS NULL AND t.table_name IN (${names}) GROUP BY 1 ORDER BY 1`,
    );
    connection.disconnectSync();
    return reader.getRows().map(([name, files]) => [String(name), Number(files)]);
  } finally {
    instance.closeSync();
  }
}

const next = async (table: string): Promise<string> =>
  await Promise.resolve(table === 'added' ? 'id\nnext\n' : 'id,v\nnext,y\n');

async function exportedAt(
  engine: LakeEngine,
  version: number,
  table: { readonly bucket: string; readonly table: string },
): Promise<void> {
  await engine
    .at(version)
    .export(table, {}, { gzip: false, targetBytes: 1e6 }, async () => await Promise.resolve());
}
