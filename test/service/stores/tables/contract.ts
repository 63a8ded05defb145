import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  ByteSlice,
  SliceOptions,
  ImportOutcome,
  ImportRequest,
  TableEngine,
  TableId,
} from '../../../../src/service/stores/tables/engine.ts';
import { bytesOf } from './slices.ts';
import type { RowQuery } from '../../../../src/service/stores/tables/row-query.ts';

const EARLY = new Date('2026-01-01T00:00:00Z');
const LATE = new Date('2026-02-01T00:00:00Z');

/** Tests the contract of every table engine; `start` creates one over an empty folder. */
export function testTableEngine(name: string, start: (folder: string) => TableEngine): void {
  describe(`${name} as a table engine`, () => {
    let folder: string;
    let engine: TableEngine;
    let tables = 0;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'engine-'));
      engine = start(folder);
      await engine.open();
    });
    afterAll(async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    });

    const newId = (): TableId => ({ bucket: 'in.c-contract', table: `table_${++tables}` });
    const load = (
      table: TableId,
      content: string | Buffer | ByteSlice[],
      request: Partial<ImportRequest> = {},
    ): Promise<ImportOutcome> => engine.import(table, { importedAt: EARLY, ...request }, slicesOf(content));
    const made = async (content: string, primaryKey: string[] = []): Promise<TableId> => {
      const table = newId();
      await load(table, content, { create: { primaryKey } });
      return table;
    };
    const rowsOf = async (table: TableId, query: RowQuery = {}): Promise<string[]> =>
      (await engine.preview(table, query)).rows.map((row) => row.join('|'));
    const sorted = async (table: TableId, query: RowQuery = {}): Promise<string[]> =>
      (await rowsOf(table, query)).sort();
    const exported = async (
      table: TableId,
      query: RowQuery = {},
      options: Partial<SliceOptions> = {},
    ): Promise<{ text: string; slices: number; rows: number; bytes: number }> => {
      const slices: Buffer[] = [];
      const outcome = await engine.export(
        table,
        query,
        { gzip: false, targetBytes: 1e6, ...options },
        async (slice, index) => void (slices[index] = await bytesOf(slice)),
      );
      expect(slices.length).toBe(outcome.slices);
      expect(slices.reduce((sum, slice) => sum + slice.length, 0)).toBe(outcome.bytes);
      return {
        ...outcome,
        text: slices.map((slice) => String(options.gzip === true ? gunzipSync(slice) : slice)).join(''),
      };
    };

    describe('making and describing', () => {
      test('an empty table is described, a missing one is not', async () => {
        const table = newId();
        expect(await engine.describe(table)).toBeUndefined();
        await engine.create(table, { columns: ['id', 'name'], primaryKey: ['id'] });
        expect(await engine.describe(table)).toEqual({
          columns: ['id', 'name'],
          primaryKey: ['id'],
          rows: 0,
          bytes: 0,
        });
        expect(await exported(table)).toMatchObject({ rows: 0, slices: 0, text: '' });
        await engine.drop(table);
        await engine.drop(table);
        expect(await engine.describe(table)).toBeUndefined();
      });

      test('tables of a new bucket can be made at the same time', async () => {
        const ids = Array.from({ length: 8 }, (_, i) => ({ bucket: 'in.c-fresh', table: `t${i}` }));
        await Promise.all(
          ids.map(async (id, i) => {
            if (i % 2 === 0) await engine.create(id, { columns: ['a'], primaryKey: [] });
            else await load(id, 'a\n1\n', { create: { primaryKey: [] } });
          }),
        );
        for (const [i, id] of ids.entries()) expect((await engine.describe(id))?.rows).toBe(i % 2);
      });

      test('readers see a table before or after a change, never between', { tags: 'thorough' }, async () => {
        const table = newId();
        const make = (column: string) => engine.create(table, { columns: [column], primaryKey: [] });
        await make('a');
        const state = { isChanging: true };
        const readers = Array.from({ length: 8 }, async () => {
          const seen = new Set<string>();
          while (state.isChanging) {
            const { columns } = await engine.preview(table, {});
            seen.add(columns.join());
            expect(await engine.describe(table)).toMatchObject({ rows: 0 });
          }
          return [...seen];
        });
        for (let i = 0; i < 20; i++) await make(i % 2 === 0 ? 'b' : 'a');
        state.isChanging = false;
        expect(new Set((await Promise.all(readers)).flat())).toEqual(new Set(['a', 'b']));
      });

      test('create replaces what a killed process left', async () => {
        const table = await made('old\n1\n');
        await engine.create(table, { columns: ['a'], primaryKey: [] });
        expect(await engine.describe(table)).toMatchObject({ columns: ['a'], rows: 0 });
      });

      test.each([
        ['no columns', [], [], 'storage.tables.validation.noColumns'],
        ['an empty name', ['a', ''], [], 'storage.tables.validation.invalidColumnName'],
        ['a name of 65 characters', ['x'.repeat(65)], [], 'storage.tables.validation.invalidColumnName'],
        ['our own column', ['_timestamp'], [], 'storage.tables.validation.invalidColumnName'],
        ['names that differ in case only', ['id', 'ID'], [], 'csvImport.duplicateColumns'],
        ['a key that is no column', ['id'], ['ID'], 'storage.tables.validation.invalidPrimaryKeyColumns'],
        [
          '5,000 columns',
          Array.from({ length: 5000 }, (_, i) => `c${i}`),
          [],
          'storage.tables.validation.tooManyColumns',
        ],
      ])('%s is refused', async (_name, columns, primaryKey, code) => {
        const table = newId();
        await expect(engine.create(table, { columns, primaryKey })).rejects.toMatchObject({
          name: 'TableError',
          code,
        });
        expect(await engine.describe(table)).toBeUndefined();
      });

      test('ids that differ in case, or hold quotes and dots, are different tables', async () => {
        const ids: TableId[] = [
          { bucket: 'in.c-main', table: 'Users' },
          { bucket: 'in.c-main', table: 'users' },
          { bucket: 'in.c-Main', table: 'users' },
          { bucket: 'main', table: 'catalog' },
          { bucket: `7/in.c-"; DROP TABLE x; --'`, table: `"'; --` },
          { bucket: 'in.c-main', table: 'x'.repeat(300) },
        ];
        for (const [i, id] of ids.entries()) await load(id, `a\n${i}\n`, { create: { primaryKey: [] } });
        for (const [i, id] of ids.entries()) expect(await rowsOf(id)).toEqual([String(i)]);
        for (const id of ids) await engine.drop(id);
      });

      test('any column name that webalizing lets through works', async () => {
        const columns = [
          'rowid',
          'select',
          'c0',
          'r0',
          'filename',
          'main',
          '1st',
          't',
          'oid_',
          'x'.repeat(64),
        ];
        const table = await made(`${columns.join(',')}\n${columns.map((_, i) => i).join(',')}\n`, ['rowid']);
        await load(table, `${columns.join(',')}\n${columns.map((_, i) => i * 2).join(',')}\n`, {
          incremental: true,
        });
        expect(await rowsOf(table, { orderBy: [{ column: 'rowid', order: 'DESC' }] })).toEqual([
          '0|2|4|6|8|10|12|14|16|18',
        ]);
        expect((await exported(table, { columns: ['rowid', 'r0'] })).text).toBe('"0","6"\n');
      });
    });

    describe('columns and keys', () => {
      test('a column is added empty at the end, and dropped', async () => {
        const table = await made('id,name\n1,a\n', ['id']);
        await engine.addColumn(table, 'note');
        expect(await rowsOf(table)).toEqual(['1|a|']);
        await engine.dropColumn(table, 'name');
        expect(await engine.describe(table)).toMatchObject({ columns: ['id', 'note'], primaryKey: ['id'] });
      });

      test('what can not be is told', async () => {
        const table = await made('id,name\n1,a\n1,b\n');
        const only = await made('id\n1\n');
        const refusals: [() => Promise<unknown>, string][] = [
          [() => engine.addColumn(table, 'ID'), 'storage.tables.columnAlreadyExists'],
          [() => engine.addColumn(table, 'a b'), 'storage.tables.invalidColumnName'],
          [() => engine.addColumn(table, 'ctid'), 'storage.tables.invalidColumnName'],
          [() => engine.dropColumn(table, 'other'), 'storage.tables.columnNotExists'],
          [() => engine.dropColumn(only, 'id'), 'storage.tables.cannotDeleteLastColumn'],
          [() => engine.setPrimaryKey(table, ['other']), 'storage.validation.primaryKey'],
          [() => engine.setPrimaryKey(table, ['id']), 'storage.tables.primaryKeyDuplicateValues'],
          [() => engine.preview(newId(), {}), 'storage.tables.notFound'],
          [() => engine.addColumn(newId(), 'a'), 'storage.tables.notFound'],
        ];
        for (const [refusal, code] of refusals) await expect(refusal()).rejects.toMatchObject({ code });
      });

      test('a column of the key can not be dropped until the key is', async () => {
        const table = await made('id,name\n1,a\n1,b\n');
        await engine.setPrimaryKey(table, ['id', 'name']);
        await expect(engine.dropColumn(table, 'id')).rejects.toMatchObject({
          code: 'storage.tables.cannotDeletePrimaryKeyColumn',
        });
        await engine.setPrimaryKey(table, []);
        await engine.dropColumn(table, 'id');
        expect(await rowsOf(table)).toEqual(['a', 'b']);
      });
    });

    describe('import', () => {
      test('makes a table of the file, names webalized, in file order', async () => {
        const table = newId();
        const outcome = await load(table, '\ufeff"my id","currency €",CTID\r\n1,"x ""y""\r\nz",\r\n2,,""', {
          create: { primaryKey: ['my_id'] },
        });
        expect(outcome).toMatchObject({
          importedColumns: ['my_id', 'currency_EUR', 'CTID_'],
          newColumns: [],
          importedRows: 2,
          totalRows: 2,
        });
        expect(outcome.totalBytes).toBeGreaterThan(0);
        expect(await rowsOf(table)).toEqual(['1|x "y"\r\nz|', '2||']);
        expect(await engine.describe(table)).toMatchObject({
          columns: ['my_id', 'currency_EUR', 'CTID_'],
          primaryKey: ['my_id'],
          rows: 2,
        });
      });

      test.each<[string, string, Partial<ImportRequest>, string]>([
        ['an empty file', '', {}, 'storage.tables.validation.noColumns'],
        ['an empty column name', 'id,\n1,2\n', {}, 'storage.tables.validation.invalidColumnName'],
        ['a long column name', `${'x'.repeat(65)}\n1\n`, {}, 'storage.tables.validation.invalidColumnName'],
        ['names that become the same', 'a-b,a b\n1,2\n', {}, 'csvImport.duplicateColumns'],
        [
          'a key that is no column',
          'id\n1\n',
          { create: { primaryKey: ['x'] } },
          'storage.tables.validation.invalidPrimaryKeyColumns',
        ],
        ['slices without columns', '1\n', { isSliced: true }, 'storage.tables.validation.invalidColumnName'],
        [
          'too many columns',
          `${Array.from({ length: 1201 }, (_, i) => `c${i}`).join(',')}\n`,
          {},
          'storage.tables.validation.tooManyColumns',
        ],
        ['a delimiter of two characters', 'a\n', { delimiter: ';;' }, 'invalidCsv'],
        ['a ragged line', 'a,b\n1\n', {}, 'csvImport.invalidCsv'],
      ])('leaves no table after %s', async (_name, content, request, code) => {
        const table = newId();
        await expect(load(table, content, { create: { primaryKey: [] }, ...request })).rejects.toMatchObject({
          name: 'TableError',
          code,
        });
        expect(await engine.describe(table)).toBeUndefined();
      });

      test('1,200 columns are accepted', { tags: 'thorough' }, async () => {
        const columns = Array.from({ length: 1200 }, (_, i) => `c${i}`);
        const table = await made(`${columns.join(',')}\n${columns.map(() => 'v').join(',')}\n`, ['c0']);
        expect(
          (
            await load(table, `${columns.join(',')}\n${columns.map(() => 'w').join(',')}\n`, {
              incremental: true,
            })
          ).totalRows,
        ).toBe(2);
        expect(await exported(table, { search: 'W' })).toMatchObject({ rows: 1 });
      });

      test('a full load replaces, an incremental one adds', async () => {
        const table = await made('id,name\n1,a\n2,b\n');
        await load(table, 'name,id\nc,3\n');
        expect(await rowsOf(table)).toEqual(['3|c']);
        expect(await load(table, 'id,name\n3,c\n', { incremental: true })).toMatchObject({
          totalRows: 2,
          importedRows: 1,
        });
        expect(await rowsOf(table)).toEqual(['3|c', '3|c']);
      });

      test('with a key the last row of a file wins, and its rows replace those of the table', async () => {
        const table = await made('id,k,v\n1,,a\n2,,b\n1,,c\n', ['id', 'k']);
        expect(await sorted(table)).toEqual(['1||c', '2||b']);
        const outcome = await load(table, 'v,id,k\nx,2,\ny,3,\nz,3,\n', {
          incremental: true,
          importedAt: LATE,
        });
        expect(outcome).toMatchObject({ importedRows: 3, totalRows: 3, importedColumns: ['v', 'id', 'k'] });
        expect(await sorted(table)).toEqual(['1||c', '2||x', '3||z']);
        expect((await load(table, 'id,k,v\n7,,a\n7,,b\n')).totalRows).toBe(1);
        await load(table, 'id,k,v\n7,,b\n', { incremental: true, deduplicationStrategy: 'insert' });
        expect(await sorted(table)).toEqual(['7||b', '7||b']);
      });

      test('a row keeps its change time unless its values change', async () => {
        const table = await made('id,v\n1,a\n2,b\n', ['id']);
        await load(table, 'id,v\n1,a\n2,c\n3,d\n', { incremental: true, importedAt: LATE });
        expect(await sorted(table, { changedSince: LATE })).toEqual(['2|c', '3|d']);
        expect(await rowsOf(table, { changedUntil: LATE })).toEqual(['1|a']);
        expect(await rowsOf(table, { changedUntil: LATE, includeInternalTimestamp: true })).toEqual([
          '1|a|2026-01-01 00:00:00',
        ]);
      });

      test('with a key a row is changed when any of its cells is, and keeps its change time when none is', async () => {
        const values = ['', 'x', 'y'];
        // every way from the cells of a row to others, empty ones among them: 27 before, 27 after
        const cells = values.flatMap((a) => values.flatMap((b) => values.map((c) => [a, b, c])));
        const pairs = cells.flatMap((before) => cells.map((after) => ({ before, after })));
        const text = (side: 'after' | 'before'): string =>
          `"id","a","b","c"\n${pairs.map((pair, id) => `"${id}",${pair[side].map((cell) => `"${cell}"`).join(',')}\n`).join('')}`;
        const table = await made(text('before'), ['id']);
        const { totalRows } = await load(table, text('after'), { incremental: true, importedAt: LATE });
        expect(totalRows).toBe(pairs.length);
        const { text: whole } = await exported(table, { includeInternalTimestamp: true });
        const time = { kept: '2026-01-01 00:00:00', changed: '2026-02-01 00:00:00' };
        const expected = pairs.map(({ before, after }, id) => {
          const isKept = before.join('|') === after.join('|');
          return `"${id}",${after.map((cell) => `"${cell}"`).join(',')},"${isKept ? time.kept : time.changed}"`;
        });
        expect(whole.trimEnd().split('\n').sort()).toEqual(expected.sort());
      });

      test('a table whose columns are all in its key keeps its rows', async () => {
        const table = await made('id\n1\n', ['id']);
        await load(table, 'id\n1\n2\n', { incremental: true, importedAt: LATE });
        expect(await rowsOf(table, { changedSince: LATE })).toEqual(['2']);
      });

      test('the change time can come from the file', async () => {
        const table = await made('id\n1\n');
        const outcome = await load(table, 'id,_timestamp\n1,2020-05-06 07:08:09\n2,\n', {
          useTimestampFromDataFile: true,
        });
        expect(outcome).toMatchObject({ importedColumns: ['id'], newColumns: [] });
        expect(await rowsOf(table, { includeInternalTimestamp: true })).toEqual([
          '1|2020-05-06 07:08:09',
          '2|2026-01-01 00:00:00',
        ]);
        const wrong = load(table, 'id,_timestamp\n1,never\n', { useTimestampFromDataFile: true });
        await expect(wrong).rejects.toMatchObject({ code: 'csvImport.invalidTimestamp' });
      });

      test('what is exported with exact change times is, imported, the same table: rows, their order and times', async () => {
        const table = await made('id,v\n2,"a,""b\n"\n1,\n', ['id']);
        const importedAt = new Date('2026-02-01T00:00:00.123Z');
        await load(table, 'id,v\n0,\n1,c\n', { incremental: true, importedAt });
        const again = { deduplicationStrategy: 'insert', incremental: true, importedAt } as const;
        await load(table, 'id,v,_timestamp\n1,c,2020-05-06 07:08:09.000100\n', {
          ...again,
          useTimestampFromDataFile: true,
        });
        const whole = { includeInternalTimestamp: true, hasExactTimes: true };
        const { text } = await exported(table, whole);
        expect(text.split('\n').toSorted()).toEqual(
          [
            '"2","a,""b',
            '","2026-01-01 00:00:00.000000"',
            '"0","","2026-02-01 00:00:00.123000"',
            '"1","c","2026-02-01 00:00:00.123000"',
            '"1","c","2020-05-06 07:08:09.000100"',
            '',
          ].toSorted(),
        );
        const copy = newId();
        await load(copy, [Readable.from([Buffer.from(text)])], {
          isSliced: true,
          columns: ['id', 'v', '_timestamp'],
          useTimestampFromDataFile: true,
          deduplicationStrategy: 'insert',
          create: { primaryKey: ['id'] },
        });
        expect((await exported(copy, whole)).text).toBe(text);
      });

      test('columns the table does not have are added, old rows are empty there', async () => {
        const table = await made('id\n1\n', ['id']);
        const outcome = await load(table, 'Nový,id\nx,2\n', { incremental: true });
        expect(outcome).toMatchObject({ importedColumns: ['Novy', 'id'], newColumns: ['Novy'] });
        expect(await rowsOf(table)).toEqual(['1|', '2|x']);
        expect(await load(table, 'id,Novy,more\n3,y,z\n')).toMatchObject({
          newColumns: ['more'],
          totalRows: 1,
        });
        expect(await engine.describe(table)).toMatchObject({ columns: ['id', 'Novy', 'more'] });
      });

      test('columns that are missing are told as the API tells them', async () => {
        const table = await made('id,name\n1,a\n');
        const message =
          'Some columns are missing in the csv file. Missing columns: id,name. Expected columns: id,name. ' +
          'Please check if the expected delimiter "," is used in the csv file.';
        const results = { missingColumns: ['id', 'name'], expectedColumns: ['id', 'name'] };
        await expect(load(table, 'id;name\n1;a\n')).rejects.toMatchObject({
          code: 'csvImport.columnsNotMatch',
          message,
          results,
        });
        await expect(load(table, '')).rejects.toMatchObject({ code: 'csvImport.columnsNotMatch', results });
        await expect(load(table, 'ID,name\n1,a\n')).rejects.toMatchObject({
          code: 'csvImport.columnsNotMatch',
        });
      });

      test('columns may be named, or go by position, or follow ignored lines', async () => {
        const table = await made('id,name\n0,z\n');
        await load(table, 'a,1\n', { columns: ['name', 'id'] });
        expect(await rowsOf(table)).toEqual(['1|a']);
        await load(table, '2,b\n', { withoutHeaders: true });
        expect(await rowsOf(table)).toEqual(['2|b']);
        await load(table, 'not "csv\nname,id\nc,3\n', { ignoredLinesCount: 1, withoutHeaders: true });
        expect(await rowsOf(table)).toEqual(['3|c']);
        await load(table, 'x\ny\nd,4\n', { ignoredLinesCount: 2, columns: ['name', 'id'] });
        expect(await rowsOf(table)).toEqual(['4|d']);
        await expect(load(table, '1,2,3\n', { withoutHeaders: true })).rejects.toMatchObject({
          code: 'csvImport.invalidCsv',
        });
        await expect(load(table, '1,2,3\n', { columns: ['id', 'name'] })).rejects.toMatchObject({
          code: 'csvImport.invalidCsv',
        });
      });

      test('a value can stand for empty', async () => {
        const table = await made('id,v\n1,N/A\n');
        await load(table, "id,v\n1,N/A\n2,\n3,it's\n", { treatValuesAsNull: ['N/A'] });
        expect(await rowsOf(table)).toEqual(['1|', '2|', "3|it's"]);
        expect((await exported(table)).text).toBe('"1",""\n"2",""\n"3","it\'s"\n');
      });

      test('delimiter, enclosure and escape', async () => {
        const table = await made('id,v\n1,a\n');
        await load(table, "id\tv\n1\t'a''b'\n", { delimiter: '\\t', enclosure: "'" });
        expect(await rowsOf(table)).toEqual(["1|a'b"]);
        await load(table, 'id,v\n1,"a\n', { enclosure: '' });
        expect(await rowsOf(table)).toEqual(['1|"a']);
        await load(table, 'id,v\n1,a\\,b\\\nc\n', { escapedBy: '\\' });
        expect(await rowsOf(table)).toEqual(['1|a,b\nc']);
      });

      test('slices are read in order, each possibly gzip, without header', async () => {
        const table = newId();
        const slices = [
          gzipSync('1,a\n2,b'),
          Buffer.from('\ufeff3,"c\r\nd"\r\n'),
          Buffer.from(''),
          Buffer.from('4,e\n'),
        ];
        const outcome = await load(
          table,
          slices.map((slice) => Readable.from([slice])),
          {
            isSliced: true,
            columns: ['id', 'v'],
            create: { primaryKey: [] },
          },
        );
        expect(outcome.importedRows).toBe(4);
        expect(await rowsOf(table)).toEqual(['1|a', '2|b', '3|c\r\nd', '4|e']);
        const ragged = load(
          table,
          [Readable.from([Buffer.from('1,a\n')]), Readable.from([Buffer.from('\n')])],
          { isSliced: true, withoutHeaders: true },
        );
        await expect(ragged).rejects.toThrow(
          'Load error: Slice 2: Line 1 (record 1): the line is blank, but 2 columns were expected.',
        );
      });

      test('slices whose columns nobody names match no table', async () => {
        const table = await made('id,v\n1,a\n');
        await expect(load(table, '2,b\n', { isSliced: true })).rejects.toMatchObject({
          code: 'csvImport.columnsNotMatch',
          results: { missingColumns: ['id', 'v'], expectedColumns: ['id', 'v'] },
        });
        await load(table, '2,b\n', { isSliced: true, withoutHeaders: true });
        expect(await rowsOf(table)).toEqual(['2|b']);
      });

      test('a header that repeats the names of the columns is no row of a new table', async () => {
        const columns = ['id', 'my_name'];
        const rowsWith = async (content: string, request: Partial<ImportRequest> = {}): Promise<string[]> => {
          const table = newId();
          await load(table, content, { columns, create: { primaryKey: [] }, ...request });
          return await rowsOf(table);
        };
        expect(await rowsWith('id,my name\n1,a\n')).toEqual(['1|a']);
        expect(await rowsWith('"id","my_name"')).toEqual([]);
        expect(await rowsWith('my_name,id\n1,a\n')).toEqual(['my_name|id', '1|a']);
        expect(await rowsWith('1,a\n2,b')).toEqual(['1|a', '2|b']);
        expect(await rowsWith('id,my_name\n1,a\n', { isSliced: true })).toEqual(['id|my_name', '1|a']);
        const table = await made('id,my_name\n1,a\n');
        await load(table, 'id,my_name\n', { columns });
        expect(await rowsOf(table)).toEqual(['id|my_name']);
      });

      test('the change time may stand in a file without being named among its columns', async () => {
        const table = await made('id,v\n1,a\n');
        const request = { columns: ['id', 'v'], useTimestampFromDataFile: true };
        const timed = async (): Promise<string[]> => await rowsOf(table, { includeInternalTimestamp: true });
        await load(table, '1,a,2020-05-06 07:08:09\n2,b,2021-05-06 07:08:09\n', request);
        expect(await timed()).toEqual(['1|a|2020-05-06 07:08:09', '2|b|2021-05-06 07:08:09']);
        await load(table, 'id,_timestamp,v\n1,2020-05-06 07:08:09,a\n', request);
        expect(await timed()).toEqual(['1|a|2020-05-06 07:08:09']);
        await load(table, '1,a\n', request);
        expect(await timed()).toEqual(['1|a|2026-01-01 00:00:00']);
        await expect(load(table, '1,a,b,c\n', request)).rejects.toMatchObject({
          code: 'csvImport.invalidCsv',
        });
      });

      test('a failed import leaves the table as it was, whatever fails', async () => {
        const table = await made('id,v\n1,a\n', ['id']);
        const before = await engine.describe(table);
        for (const incremental of [false, true]) {
          await expect(load(table, 'id,v\n2,b\n3,"c\n', { incremental })).rejects.toThrow(
            'Line 3 (record 3): a quoted cell starts here',
          );
          await expect(
            load(table, gzipSync('id,v\n2,b\n').subarray(0, 20), { incremental }),
          ).rejects.toMatchObject({ code: 'csvImport.invalidCsv' });
          await expect(load(table, [broken()], { incremental })).rejects.toThrow('connection lost');
          const badTime = 'id,v,new,_timestamp\n2,b,c,x\n';
          await expect(
            load(table, badTime, { incremental, useTimestampFromDataFile: true }),
          ).rejects.toMatchObject({ code: 'csvImport.invalidTimestamp' });
        }
        expect(await engine.describe(table)).toEqual(before);
        expect(await rowsOf(table)).toEqual(['1|a']);
      });

      test('an empty file with a header empties the table', async () => {
        const table = await made('id\n1\n');
        expect(await load(table, 'id\n')).toMatchObject({ totalRows: 0, importedRows: 0, totalBytes: 0 });
      });

      test('imports into one table at a time: none is lost', { tags: 'thorough' }, async () => {
        const table = await made('id,v\n0,0\n', ['id']);
        const others = await Promise.all(Array.from({ length: 4 }, () => made('id\n1\n')));
        await Promise.all([
          ...Array.from({ length: 12 }, (_, i) =>
            load(table, `id,v\n${i % 6},${i}\nx${i},1\n`, { incremental: true }),
          ),
          ...others.flatMap((other) =>
            Array.from({ length: 3 }, (_, i) => load(other, `id\n${i}\n`, { incremental: true })),
          ),
        ]);
        expect(await engine.describe(table)).toMatchObject({ rows: 18 });
        for (const other of others) expect(await engine.describe(other)).toMatchObject({ rows: 4 });
      });
    });

    describe('an import with a mark', () => {
      test('that is given again is not done again, and answers what it answered', async () => {
        const table = await made('id\n1\n');
        const request = { incremental: true, mark: 'one' };
        const first = await load(table, 'id\n2\n', request);
        expect(await load(table, 'id\n2\n', request)).toEqual(first);
        expect(await engine.describe(table)).toMatchObject({ rows: 2, lastImport: { mark: 'one' } });
        await load(table, 'id\n2\n', { incremental: true, mark: 'two' });
        expect(await engine.describe(table)).toMatchObject({ rows: 3, lastImport: { mark: 'two' } });
      });

      test('that makes a table is known by it as well, and outlives other changes', async () => {
        const table = newId();
        const request = { create: { primaryKey: [] }, mark: 'new' };
        const first = await load(table, 'id\n1\n', request);
        await engine.addColumn(table, 'more');
        expect(await load(table, 'other\n1\n', request)).toEqual(first);
        expect(await engine.describe(table)).toMatchObject({
          columns: ['id', 'more'],
          lastImport: { mark: 'new' },
        });
      });

      test('is remembered of a table that this one is a copy of', async () => {
        const table = await made('id\n1\n');
        await load(table, 'id\n2\n', { incremental: true, mark: 'one' });
        const { lastImport } = (await engine.describe(table)) ?? {};
        const copy = newId();
        await load(copy, 'id\n1\n2\n', { create: { primaryKey: [] }, lastImport });
        expect((await engine.describe(copy))?.lastImport).toEqual(lastImport);
        const again = await load(copy, 'id\n2\n', { incremental: true, mark: 'one' });
        expect(again).toEqual(lastImport?.outcome);
        expect(await engine.describe(copy)).toMatchObject({ rows: 2 });
      });

      test('that failed leaves no mark', async () => {
        const table = await made('id\n1\n');
        await expect(load(table, 'no\n', { mark: 'bad' })).rejects.toThrow();
        expect(await engine.describe(table)).not.toHaveProperty('lastImport');
      });
    });

    describe('export and preview', () => {
      test('every cell is quoted, in the order of insertion', async () => {
        const table = await made('id,v\n2,"a ""b"""\n1,\n3,"x\r\ny"\n');
        expect((await exported(table)).text).toBe('"2","a ""b"""\n"1",""\n"3","x\r\ny"\n');
        expect((await exported(table, { columns: ['v', 'id', 'v'], limit: 1 })).text).toBe(
          '"a ""b""","2","a ""b"""\n',
        );
        expect((await exported(table, { limit: 0 })).slices).toBe(0);
      });

      test('slices of about the size asked for give the table when joined, plain and gzip', async () => {
        const lines = Array.from({ length: 20_000 }, (_, i) => `"${i}","value ""${i % 7}""\n"\n`);
        const table = await made(`id,v\n${lines.join('')}`);
        for (const gzip of [false, true]) {
          const whole = await exported(table, {}, { gzip, targetBytes: 100_000 });
          expect(whole.text === lines.join('')).toBe(true);
          expect(whole.rows).toBe(20_000);
          expect(Math.abs(whole.slices - lines.join('').length / 100_000)).toBeLessThan(1);
          // Most rows that have it are among the last thousand.
          const where = [{ column: 'id', operator: 'contains', values: ['19'] }] as const;
          const some = await exported(table, { where }, { gzip, targetBytes: 10_000 });
          const wanted = lines.filter((_, i) => String(i).includes('19')).join('');
          expect(some.text === wanted).toBe(true);
          expect(Math.abs(some.slices - wanted.length / 10_000)).toBeLessThan(1);
        }
        await engine.deleteRows(table, {
          where: [{ column: 'id', operator: 'lt', values: ['10000'], dataType: 'INTEGER' }],
        });
        const rest = await exported(table, {}, { targetBytes: 100_000 });
        expect(rest.text === lines.slice(10_000).join('')).toBe(true);
        const ordered = await exported(
          table,
          { orderBy: [{ column: 'id', order: 'DESC', dataType: 'BIGINT' }] },
          { targetBytes: 50_000 },
        );
        expect(ordered.text === lines.slice(10_000).reverse().join('')).toBe(true);
      });

      test('a slice may be moved away', async () => {
        const table = await made('id\n1\n');
        const moved = join(folder, 'moved');
        await engine.export(table, {}, { gzip: false, targetBytes: 10 }, async (slice) => {
          if (slice.kind === 'file') await rename(slice.path, moved);
          else await writeFile(moved, slice.stream);
        });
        expect(await readFile(moved, 'utf8')).toBe('"1"\n');
        await rm(moved);
      });

      test.each([true, false])(
        'an export that is broken off leaves nothing behind, gzip %s',
        async (gzip) => {
          const table = await made(`id\n${'1\n'.repeat(100)}`);
          const before = await filesIn(folder);
          const failing = engine.export(table, {}, { gzip, targetBytes: 100 }, async (slice, index) => {
            if (index === 2) throw new Error('store is gone');
            await bytesOf(slice);
          });
          await expect(failing).rejects.toThrow('store is gone');
          expect(await filesIn(folder)).toEqual(before);
          expect(await rowsOf(table)).toContain('1');
        },
      );

      test('where filters compare as text, or as numbers with a data type', async () => {
        const table = await made('id,n\na,10\nb,9\nc,x\nd,\ne,9007199254740993\n');
        const ids = (
          operator: 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le',
          values: string[],
          dataType?: 'INTEGER' | 'DOUBLE' | 'DECIMAL',
        ): Promise<string[]> =>
          rowsOf(table, {
            columns: ['id'],
            where: [{ column: 'n', operator, values, ...(dataType === undefined ? {} : { dataType }) }],
          });
        expect(await ids('eq', ['10', 'x'])).toEqual(['a', 'c']);
        expect(await ids('ne', ['10', 'x'])).toEqual(['b', 'd', 'e']);
        expect(await ids('eq', [''])).toEqual(['d']);
        expect(await ids('lt', ['9'])).toEqual(['a', 'd']);
        expect(await ids('lt', ['10'], 'INTEGER')).toEqual(['b']);
        expect(await ids('ge', ['9.5'], 'DOUBLE')).toEqual(['a', 'e']);
        expect(await ids('eq', ['10.0'], 'DECIMAL')).toEqual(['a']);
        expect(await ids('ne', ['10'], 'INTEGER')).toEqual(['b', 'e']);
        expect(await ids('gt', ['9007199254740992'], 'INTEGER')).toEqual(['e']);
        expect(await ids('gt', ['words'], 'INTEGER')).toEqual([]);
        expect(await ids('eq', ["' OR 1=1 --", 'nul\0l'])).toEqual([]);
        const both = {
          where: [
            { column: 'n', operator: 'ne' as const, values: ['x'] },
            { column: 'id', operator: 'gt' as const, values: ['b'] },
          ],
        };
        expect(await rowsOf(table, { columns: ['id'], ...both })).toEqual(['d', 'e']);
      });

      test('times in a column can be compared', async () => {
        const table = await made('t\n2026-01-01\n2026-01-02T10:00:00\nnever\n');
        const where = [
          { column: 't', operator: 'gt' as const, values: ['2026-01-01 12:00:00'], isTime: true },
        ];
        expect(await rowsOf(table, { where })).toEqual(['2026-01-02T10:00:00']);
      });

      test('order is by text or number, and rows that are equal keep theirs', async () => {
        const table = await made('id,n\na,10\nb,9\nc,x\nd,9\n');
        expect(await rowsOf(table, { columns: ['id'], orderBy: [{ column: 'n', order: 'ASC' }] })).toEqual([
          'a',
          'b',
          'd',
          'c',
        ]);
        expect(
          await rowsOf(table, {
            columns: ['id'],
            orderBy: [{ column: 'n', order: 'DESC', dataType: 'INTEGER' }],
          }),
        ).toEqual(['a', 'b', 'd', 'c']);
        const two = await rowsOf(table, {
          columns: ['id'],
          orderBy: [
            { column: 'n', order: 'ASC', dataType: 'REAL' },
            { column: 'id', order: 'DESC' },
          ],
        });
        expect(two).toEqual(['d', 'b', 'a', 'c']);
      });

      test('a preview has 100 rows, 1,000 at most, and keeps every character', async () => {
        const table = await made(`v\n\ufeffx\n${'row\n'.repeat(1500)}`);
        expect((await rowsOf(table)).length).toBe(100);
        expect((await rowsOf(table, { limit: 5000 })).length).toBe(1000);
        expect(await rowsOf(table, { limit: 1 })).toEqual(['\ufeffx']);
        const marked = await made('v,w\na,\ufeffx😀\n');
        expect(await rowsOf(marked)).toEqual(['a|\ufeffx😀']);
      });

      test('a preview goes on behind the rows that are passed over', async () => {
        const table = await made(`id\n${Array.from({ length: 2500 }, (_, i) => i).join('\n')}\n`);
        const seen: string[] = [];
        for (let offset = 0; offset < 3000; offset += 1000)
          seen.push(...(await rowsOf(table, { limit: 1000, offset })));
        expect(seen).toEqual(Array.from({ length: 2500 }, (_, i) => String(i)));
        const order = { orderBy: [{ column: 'id', order: 'DESC', dataType: 'INTEGER' }] } as const;
        expect(await rowsOf(table, { ...order, limit: 2, offset: 2498 })).toEqual(['1', '0']);
      });

      test('a profile tells what is in a column', async () => {
        const table = await made('n,t,e\n10,b,\n9,a,\n9,,\n-1.5e2,\ufeffb😀,\n');
        expect(await engine.profile(table, {})).toEqual({
          rowsLooked: 4,
          isWhole: true,
          columns: [
            {
              name: 'n',
              emptyCount: 0,
              distinctCount: 3,
              isNumeric: true,
              smallest: '-1.5e2',
              largest: '10',
              longest: 6,
              mostFrequent: [
                { value: '9', count: 2 },
                { value: '-1.5e2', count: 1 },
                { value: '10', count: 1 },
              ],
            },
            {
              name: 't',
              emptyCount: 1,
              distinctCount: 3,
              isNumeric: false,
              smallest: 'a',
              largest: '\ufeffb😀',
              longest: 3,
              mostFrequent: [
                { value: 'a', count: 1 },
                { value: 'b', count: 1 },
                { value: '\ufeffb😀', count: 1 },
              ],
            },
            {
              name: 'e',
              emptyCount: 4,
              distinctCount: 0,
              isNumeric: false,
              smallest: null,
              largest: null,
              longest: 0,
              mostFrequent: [],
            },
          ],
        });
        const where = [{ column: 'n', operator: 'eq' as const, values: ['9'] }];
        expect(await engine.profile(table, { columns: ['t'], where })).toMatchObject({
          rowsLooked: 2,
          columns: [{ name: 't', emptyCount: 1, smallest: 'a', largest: 'a' }],
        });
      });

      test('what is no finite number is a text in a profile, and long values are cut', async () => {
        const table = await made(`n,l\n1,${'x'.repeat(999)}\nnan,y\ninf,y\n`);
        const { columns } = await engine.profile(table, {});
        expect(columns[0]).toMatchObject({ isNumeric: false, smallest: '1', largest: 'nan' });
        expect(columns[1]).toMatchObject({ longest: 999, smallest: 'x'.repeat(200), distinctCount: 2 });
      });

      test(
        'a profile of an empty table, of unknown and of too many columns',
        { tags: 'thorough' },
        async () => {
          const table = newId();
          await engine.create(table, { columns: ['a'], primaryKey: [] });
          expect(await engine.profile(table, {})).toMatchObject({
            rowsLooked: 0,
            columns: [{ distinctCount: 0 }],
          });
          await expect(engine.profile(table, { columns: ['x'] })).rejects.toMatchObject({
            code: 'storage.tables.nonExistingColumns',
          });
          const wide = newId();
          const columns = Array.from({ length: 201 }, (_, i) => `c${i}`);
          await engine.create(wide, { columns, primaryKey: [] });
          await expect(engine.profile(wide, {})).rejects.toMatchObject({ code: 'storage.tables.validation' });
          expect((await engine.profile(wide, { columns: columns.slice(1) })).columns.length).toBe(200);
        },
      );

      test('columns that are not there are refused', async () => {
        const table = await made('id\n1\n');
        const filter = { where: [{ column: 'ID', operator: 'eq' as const, values: ['1'] }] };
        await expect(engine.preview(table, { columns: ['id', 'x'] })).rejects.toMatchObject({
          code: 'storage.tables.nonExistingColumns',
        });
        await expect(engine.preview(table, filter)).rejects.toMatchObject({
          code: 'storage.tables.validation.columnNotExists',
        });
        await expect(exported(table, { orderBy: [{ column: 'x', order: 'ASC' }] })).rejects.toMatchObject({
          code: 'storage.tables.validation.columnNotExists',
        });
        await expect(engine.deleteRows(table, filter)).rejects.toMatchObject({
          code: 'storage.tables.columnNotExists',
          message: 'Filter validation: Cannot filter by column "ID", column does not exist',
        });
      });
    });

    describe('deleting rows', () => {
      test('counts what matched', async () => {
        const table = await made('id\n1\n2\n3\n');
        expect(
          await engine.deleteRows(table, { where: [{ column: 'id', operator: 'ne', values: ['2'] }] }),
        ).toBe(2);
        expect(await rowsOf(table)).toEqual(['2']);
        expect(await engine.deleteRows(table, { changedSince: LATE })).toBe(0);
        expect(await engine.deleteRows(table, {})).toBe(1);
        expect(await engine.describe(table)).toMatchObject({ rows: 0, bytes: 0 });
      });
    });

    test('what was done is there after closing and opening', async () => {
      const table = await made('id,v\n1,"a"\n', ['id']);
      await engine.compact();
      await engine.close();
      await engine.open();
      expect(await rowsOf(table)).toEqual(['1|a']);
      expect(await engine.describe(table)).toMatchObject({ primaryKey: ['id'] });
    });
  });
}

async function filesIn(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true }))
    .filter((path) => !path.includes('.wal') && !path.includes('temp'))
    .sort();
}

async function* slicesOf(content: string | Buffer | ByteSlice[]): AsyncGenerator<ByteSlice> {
  const slices = Array.isArray(content) ? content : [Readable.from([Buffer.from(content)])];
  for (const slice of slices) yield await Promise.resolve(slice);
}

async function* broken(): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from('id,v,new\n9,z,y\n'));
  throw new Error('connection lost');
}
