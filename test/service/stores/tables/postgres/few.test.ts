import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SERVER } from './database.ts';
import { EARLY, exported, load, openEngine, slicesOf, useDatabase } from './support.ts';
import type { TableEngine, TableId } from '../../../../../src/service/stores/tables/engine.ts';

const lines = (from: number, count: number, value = 'v'): string =>
  Array.from({ length: count }, (_, i) => `${from + i},${value}${from + i}\n`).join('');

const FULL_TIMES = { useTimestampFromDataFile: true };

describe.runIf(SERVER)('a load of few rows over PostgreSQL', () => {
  const given = useDatabase();
  let engine: TableEngine;
  let tables = 0;
  beforeAll(async () => {
    const { pool } = given.database;
    engine = await openEngine(pool);
    await pool.query('create table public.made (tag text)');
    await pool.query(`create function public.note_made() returns event_trigger language plpgsql as
      $$ begin insert into public.made values (tg_tag); end $$`);
    await pool.query('create event trigger made on ddl_command_start execute function public.note_made()');
  });
  beforeEach(async () => void (await given.database.pool.query('truncate public.made')));

  const changes = async (): Promise<string[]> => {
    const { rows } = await given.database.pool.query<{ tag: string }>('select tag from public.made');
    return rows.map(({ tag }) => tag).filter((tag) => tag !== 'TRUNCATE TABLE');
  };
  const made = async (content: string, primaryKey: string[]): Promise<TableId> => {
    const table = { bucket: 'in.c-few', table: `t${++tables}` };
    await load(engine, table, content, { create: { primaryKey } });
    await given.database.pool.query('truncate public.made');
    return table;
  };

  test.each([[[]], [['id']]])('makes and drops nothing in the database, with the key %j', async (key) => {
    const table = await made(`id,v\n${lines(1, 3)}`, key);
    await load(engine, table, `id,v\n${lines(3, 2, 'w')}`, { incremental: true });
    await load(engine, table, 'id,v\n', { incremental: true });
    expect(await changes()).toEqual([]);
    const kept = key.length === 0 ? '"1","v1"\n"2","v2"\n"3","v3"\n' : '"1","v1"\n"2","v2"\n';
    expect(await exported(engine, table)).toBe(`${kept}"3","w3"\n"4","w4"\n`);

    await load(engine, table, `v,id\nx,1\ny,2\nz,1\n`);
    expect(await changes()).toEqual([]);
    expect(await exported(engine, table)).toBe(
      key.length === 0 ? '"1","x"\n"2","y"\n"1","z"\n' : '"2","y"\n"1","z"\n',
    );
    expect(await engine.describe(table)).toMatchObject({ rows: key.length === 0 ? 3 : 2 });
  });

  test.each([
    ['rows', 500, 501, ''],
    ['bytes', 5, 60, 'x'.repeat(2000)],
  ])(
    'of more %s the rows come by a table of their own, and are the same',
    async (_what, few, many, value) => {
      const table = await made('id,v\n', ['id']);
      await load(engine, table, `id,v\n${lines(1, few, value)}`, { incremental: true });
      expect(await changes()).toEqual([]);
      await load(engine, table, `id,v\n${lines(2, many, value)}`, { incremental: true });
      expect(await changes()).toContain('CREATE TABLE');
      const expected = `id,v\n${lines(1, many + 1, value)}`.split('\n').slice(1, -1);
      const rows = (await exported(engine, table)).replaceAll('"', '').split('\n').slice(0, -1);
      expect(rows).toEqual(expected);
    },
  );

  test('a table of many rows is replaced by another one, and not emptied row by row', async () => {
    const table = await made(`id,v\n${lines(1, 501)}`, ['id']);
    await load(engine, table, `id,v\n${lines(1, 1, 'w')}`);
    expect(await changes()).toContain('CREATE TABLE');
    expect(await exported(engine, table)).toBe('"1","w1"\n');
  });

  test('several slices of few rows are one file', async () => {
    const table = await made('id,v\n', ['id']);
    const request = { importedAt: EARLY, incremental: true, isSliced: true, columns: ['id', 'v'] };
    const outcome = await engine.import(table, request, slicesOf('1,a\n2,b\n', '', '1,"c\nd"', '3,\n'));
    expect(await changes()).toEqual([]);
    expect(outcome).toMatchObject({ importedRows: 4, totalRows: 3 });
    expect(await exported(engine, table)).toBe('"2","b"\n"1","c\nd"\n"3",""\n');
  });

  test('texts that arrays and statements write in another way arrive as they are', async () => {
    const values = [
      'NULL',
      'null',
      '{}',
      '{"a"}',
      '\\',
      '\\N',
      '\\.',
      '$1',
      "'",
      '"',
      ' ',
      '\t',
      'é😀',
      '\u2028',
      ',',
    ];
    const table = await made('id,v\n', ['v']);
    const text = values.map((value, i) => `${i},"${value.replaceAll('"', '""')}"\n`).join('');
    await load(engine, table, `id,v\n${text}`, { incremental: true });
    await load(engine, table, `id,v\n${text}`, { incremental: true });
    expect(await changes()).toEqual([]);
    expect((await engine.preview(table, {})).rows).toEqual(values.map((value, i) => [String(i), value]));
  });

  test('times of the file are kept, and one that is none is told', async () => {
    const table = await made('id,v\n', ['id']);
    const timed = 'id,v,_timestamp\n1,a,2020-05-06 07:08:09\n2,b,\n';
    await load(engine, table, timed, { ...FULL_TIMES, incremental: true });
    expect(await exported(engine, table, { includeInternalTimestamp: true, hasExactTimes: true })).toBe(
      '"1","a","2020-05-06 07:08:09.000000"\n"2","b","2026-01-01 00:00:00.000000"\n',
    );
    const wrong = load(engine, table, 'id,v,_timestamp\n3,c,\n4,d,never\n', {
      ...FULL_TIMES,
      incremental: true,
    });
    await expect(wrong).rejects.toThrow('the value "never" in the column "_timestamp" is no time');
    expect(await engine.describe(table)).toMatchObject({ rows: 2 });
    expect(await changes()).toEqual([]);
  });
});
