import { beforeAll, describe, expect, test } from 'vitest';
import { SERVER } from './database.ts';
import { exported, load, openEngine, useDatabase } from './support.ts';
import type { TableEngine, TableId } from '../../../../../src/service/stores/tables/engine.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `c${i}`);
const line = (cells: readonly string[]): string => `${cells.join(',')}\n`;

// Odd, so that some of it does not compress.
const noise = (length: number, seed: number): string => {
  let text = '';
  for (let x = seed + 1; text.length < length;) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0;
    text += x.toString(36);
  }
  return text.slice(0, length);
};

describe.runIf(SERVER)('limits of PostgreSQL', () => {
  const given = useDatabase();
  let engine: TableEngine;
  let tables = 0;
  beforeAll(async () => {
    engine = await openEngine(given.database.pool);
  });

  const newId = (): TableId => ({ bucket: 'in.c-limits', table: `t${++tables}` });
  const create = { primaryKey: [] };

  test.each<[string, number, (column: number) => string]>([
    ['values that compress well', 300, () => 'a'.repeat(40)],
    ['values that compress to nearly nothing', 300, () => 'a'.repeat(2000)],
    ['values just too short to be elsewhere', 300, (i) => noise(23, i)],
    ['values just long enough to be elsewhere', 300, (i) => noise(24, i)],
    ['values that do not compress', 300, (i) => noise(150, i)],
    ['values of many lengths', 300, (i) => noise(i, i)],
  ])('a row of 300 columns fits, whatever is in it: %s', async (_name, columns, cell) => {
    const table = newId();
    const row = names(columns).map((_, i) => cell(i));
    const content = line(names(columns)) + line(row);
    await load(engine, table, content, { create });
    await load(engine, table, content, { incremental: true });
    expect(await exported(engine, table)).toBe(line(row.map((text) => `"${text}"`)).repeat(2));
  });

  test.each<[string, number, (column: number) => string]>([
    ['long values', 450, (i) => noise(30 + i, i)],
    ['short values', 1200, (i) => noise(5, i)],
    ['values that compress well', 450, (i) => (i < 250 ? 'b'.repeat(60) : 'c')],
  ])(
    'the largest row that is let through can be loaded, the next one is refused: %s',
    async (_name, columns, cell) => {
      const table = newId();
      const rowWith = (long: number): string[] =>
        names(columns).map((_, i) => (i >= columns - long ? noise(23, i) : cell(i)));
      const attempt = async (long: number): Promise<unknown> =>
        await load(
          engine,
          table,
          line(names(columns)) + line(names(columns).map(() => '')) + line(rowWith(long)),
          {
            create,
          },
        ).catch((error: unknown) => error);
      let fits = -1;
      let fails = columns;
      while (fails - fits > 1) {
        const middle = (fits + fails) >> 1;
        const outcome = await attempt(middle);
        if (outcome instanceof Error) {
          // Nothing but our own refusal, which names the line.
          expect(outcome).toMatchObject({ code: 'csvImport.invalidCsv', results: { line: 3, record: 3 } });
          expect(outcome.message).toMatch(
            /Line 3 \(record 3\): the row takes \d+ bytes in the database, which keeps at most 8160/,
          );
          fails = middle;
        } else fits = middle;
      }
      expect(fits).toBeGreaterThanOrEqual(0);
      expect(fails).toBeLessThan(columns);
    },
  );

  test('the physical line of a row that is too large is told, behind a header, line ends in quotes and an earlier slice', async () => {
    const table = newId();
    const wide = names(500);
    const small = line(['"x\ny"', ...wide.slice(1).map(() => '')]);
    const large = line(wide.map((_, i) => noise(40, i)));
    await expect(
      load(engine, table, `\n${line(wide)}${small}${small}${large}`, { create, ignoredLinesCount: 1 }),
    ).rejects.toMatchObject({
      results: { line: 7, record: 4 },
    });
    expect(await engine.describe(table)).toBeUndefined();
  });

  test('keys of any length find their rows', async () => {
    const table = newId();
    const start = noise(5000, 7);
    const long = (end: string): string => `${start}${end}`;
    await load(engine, table, `id,part,v\n${long('a')},1,x\nshort,1,y\n`, {
      create: { primaryKey: ['id', 'part'] },
    });
    const merged = await load(engine, table, `id,part,v\n${long('a')},1,z\n${long('b')},1,w\nshort,1,y\n`, {
      incremental: true,
    });
    expect(merged.totalRows).toBe(3);
    expect(await exported(engine, table)).toBe(
      `"short","1","y"\n"${long('a')}","1","z"\n"${long('b')}","1","w"\n`,
    );
  });

  test('a table whose keys were short takes long ones as well, and many columns in its key', async () => {
    const table = newId();
    await load(engine, table, 'id,v\n1,a\n', { create: { primaryKey: ['id'] } });
    const long = noise(4000, 3);
    await load(engine, table, `id,v\n${long},b\n`, { incremental: true });
    await load(engine, table, `id,v\n${long},c\n1,d\n`, { incremental: true });
    expect(await engine.describe(table)).toMatchObject({ rows: 2 });
    const many = newId();
    const row = line(names(40).map((_, i) => String(i)));
    await load(engine, many, line(names(40)) + row, { create: { primaryKey: names(40) } });
    expect((await load(engine, many, line(names(40)) + row, { incremental: true })).totalRows).toBe(1);
  });

  test('columns come and go without an end, though the database counts those that went', async () => {
    const table = newId();
    await load(engine, table, `${line(names(1150))}${line(names(1150).map((_, i) => String(i)))}`, {
      create: { primaryKey: ['c0'] },
    });
    for (let round = 0; round < 10; round++) {
      const more = names(1150).concat(Array.from({ length: 50 }, (_, i) => `more_${round}_${i}`));
      await load(engine, table, line(more) + line(more.map(() => '1')), { incremental: true });
      for (const column of more.slice(1150)) await engine.dropColumn(table, column);
    }
    expect(await engine.describe(table)).toMatchObject({ rows: 2, primaryKey: ['c0'] });
    expect((await engine.preview(table, { columns: ['c0', 'c1149'] })).rows).toEqual([
      ['0', '1149'],
      ['1', '1'],
    ]);
  });

  test('what only this database has trouble with arrives as it is', async () => {
    const one = newId();
    await load(engine, one, 'a\n\\.\n\nx\n"\\."', { create });
    expect((await engine.preview(one, {})).rows).toEqual([['\\.'], [''], ['x'], ['\\.']]);
    const two = newId();
    await load(engine, two, 'a\\b\n\\.\n\\\n', { create, delimiter: '\\' });
    expect((await engine.preview(two, {})).rows).toEqual([
      ['', '.'],
      ['', ''],
    ]);
    const mixed = newId();
    await load(engine, mixed, 'a,b\r\n1,"x\r\n\\.\ny"\n2,\\N\r\n\\.,\r', { create }).catch(() => undefined);
    await load(engine, mixed, 'a,b\r\n1,"x\r\n\\.\ny"\n2,\\N\r\n\\.,\r\n', { create });
    expect((await engine.preview(mixed, {})).rows).toEqual([
      ['1', 'x\r\n\\.\ny'],
      ['2', '\\N'],
      ['\\.', ''],
    ]);
    await expect(load(engine, newId(), 'a,b\n1,x\0y\n', { create })).rejects.toThrow(
      'Line 2 (record 2): there is a NUL byte',
    );
  });
});
