import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvText } from '../../../../src/lib/csv/write.ts';
import type { NativeType } from '../../../../src/service/stores/tables/column-types.ts';
import type {
  ImportOutcome,
  ImportRequest,
  TableEngine,
  TableId,
} from '../../../../src/service/stores/tables/engine.ts';
import {
  DATA_TYPES,
  WHERE_OPERATORS,
  type RowQuery,
} from '../../../../src/service/stores/tables/row-query.ts';
import { bytesOf } from './slices.ts';

const EARLY = new Date('2026-01-01T00:00:00Z');
const LATE = new Date('2026-02-01T00:00:00Z');

/** Texts that are values of a type: those that it is written as, and others. */
const FITTING: Readonly<Record<NativeType, readonly string[]>> = {
  bigint: [
    '0',
    '7',
    '-12',
    '007',
    '+5',
    '-0',
    '9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
  ],
  boolean: ['true', 'false', 'TRUE', 'False', '1', '0'],
  date: ['2024-02-29', '0001-01-01', '9999-12-31', '1969-12-31'],
  decimal: [
    '1',
    '1.50',
    '-0.000000001',
    '.5',
    '12345678901234567890123456789.123456789',
    '-12345678901234567890123456789',
    '1e3',
    '1.5E-3',
    '0.10000000000',
    '00.1',
    '+2',
    '5.',
  ],
  double: [
    '1',
    '1.0',
    '-0.0',
    '0.1',
    '1e300',
    '1E+20',
    '123456789.123456789',
    '-1.5e-300',
    '.5',
    '5.',
    '1e-400',
  ],
  timestamp: [
    '2024-02-29T10:00:00',
    '2024-02-29 10:00:00',
    '2024-02-29T10:00:00.5',
    '2024-02-29T10:00:00.500',
    '2024-02-29T10:00:00.123456',
    '2024-02-29T10:00:00.123456789',
    '2024-02-29',
    '2024-02-29 10:00',
    '2024-02-29T10:00:00Z',
    '2024-02-29T10:00:00+02:00',
    '1900-01-01T00:00:00',
  ],
  timestamptz: [
    '2024-02-29T10:00:00Z',
    '2024-02-29T10:00:00.000Z',
    '2024-02-29T10:00:00.250Z',
    '2024-02-29T12:00:00+02:00',
    '2024-02-29 10:00:00+0000',
    '2024-02-29T10:00:00.123456-05:30',
    '2024-02-29T10:00:00+15',
    '1900-01-01T00:00:00Z',
    '0001-01-01T00:00:00+10:00',
  ],
};

const MISFITS: readonly (readonly [NativeType, string])[] = [
  ['bigint', '1.5'],
  ['bigint', '9223372036854775808'],
  ['bigint', ' 1'],
  ['bigint', '1_000'],
  ['bigint', '1e3'],
  ['bigint', 'x'],
  ['boolean', 'yes'],
  ['boolean', '2'],
  ['date', '2023-02-29'],
  ['date', '2024-1-1'],
  ['date', '2024-02-29T10:00:00'],
  ['date', '0000-01-01'],
  ['decimal', '0.0000000001'],
  ['decimal', '123456789012345678901234567890'],
  ['decimal', '1e40'],
  ['decimal', '1e-12'],
  ['decimal', 'nan'],
  ['double', 'inf'],
  ['double', '1e400'],
  ['double', '-1e9999'],
  ['double', '12a'],
  ['timestamp', '2024-02-30T10:00:00'],
  ['timestamp', '2024-02-29T24:00:00'],
  ['timestamp', '2024-02-29T10:00:00 UTC'],
  ['timestamp', 'infinity'],
  ['date', '10000-01-01'],
  ['date', '0044-03-15 (BC)'],
  ['timestamptz', '10000-01-01T00:00:00Z'],
  ['timestamptz', '2024-02-29T10:00:00'],
  ['timestamptz', '2024-02-29T10:00:60Z'],
  ['timestamptz', '2024-02-29T10:00:00+16:00'],
];

const TYPES = Object.keys(FITTING) as NativeType[]; // the keys of the record above

/**
 * Tests what a table engine with columns of types does with them: the texts are what they were, whatever they are stored
 * as.
 *
 * @param runs random series of imports and queries
 */
export function testTypedTables(name: string, start: (folder: string) => TableEngine, runs = 25): void {
  describe(`${name} with columns of types`, () => {
    let folder: string;
    let engine: TableEngine;
    let tables = 0;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'typed-'));
      engine = start(folder);
      await engine.open();
    });
    afterAll(async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    });

    const newId = (): TableId => ({ bucket: 'in.c-typed', table: `table_${++tables}` });
    const load = async (
      table: TableId,
      rows: readonly (readonly string[])[],
      request: Partial<ImportRequest> = {},
    ): Promise<ImportOutcome> => {
      async function* slices(): AsyncGenerator<Readable> {
        yield await Promise.resolve(Readable.from([Buffer.from(csvText(rows))]));
      }
      return await engine.import(table, { importedAt: EARLY, ...request }, slices());
    };
    const exported = async (table: TableId, query: RowQuery = {}): Promise<string> => {
      let text = '';
      await engine.export(table, query, { gzip: false, targetBytes: 1e6 }, async (slice) => {
        text += String(await bytesOf(slice));
      });
      return text;
    };
    const typesIn = async (table: TableId): Promise<object> =>
      Object.fromEntries((await engine.describe(table))?.types ?? []);

    test.each(TYPES)('every text of a %s comes out as it went in', async (type) => {
      const rows = ['', ...FITTING[type]].map((text, i) => [String(i), text]);
      const types = new Map<string, NativeType>([
        ['id', 'bigint'],
        ['v', type],
      ]);
      const table = newId();
      await load(table, [['id', 'v'], ...rows], { create: { primaryKey: [] }, types });
      expect(await exported(table)).toBe(csvText(rows));
      expect(await typesIn(table)).toEqual({ id: 'bigint', v: type });
      // And in the same order of the rows after a load that changes nothing, by each text as the key.
      const keyed = newId();
      await load(keyed, [['id', 'v'], ...rows], { create: { primaryKey: ['v'] }, types });
      const again = { incremental: true, importedAt: LATE, types };
      expect(await load(keyed, [['id', 'v'], ...rows], again)).toMatchObject({ totalRows: rows.length });
      expect(await exported(keyed, { changedSince: LATE })).toBe('');
      expect(await exported(keyed)).toBe(csvText(rows));
      for (const [id = '', text = ''] of rows)
        expect(await exported(keyed, { where: [{ column: 'v', operator: 'eq', values: [text] }] })).toBe(
          csvText([[id, text]]),
        );
    });

    test.each(MISFITS)(
      'a %s that is “%s” is refused with its row, and nothing is loaded',
      async (type, text) => {
        const types = new Map([['v', type]]);
        const table = newId();
        const [good = ''] = FITTING[type];
        const rows = [
          ['id', 'v'],
          ['1', good],
          ['2', ''],
          ['3', text],
          ['4', text],
        ];
        const failure = { code: 'csvImport.invalidValue', results: { row: 3, column: 'v', value: text } };
        await expect(load(table, rows, { create: { primaryKey: [] }, types })).rejects.toMatchObject(failure);
        expect(await engine.describe(table)).toBeUndefined();
        await engine.create(table, { columns: ['id', 'v'], primaryKey: ['id'], types });
        await load(
          table,
          [
            ['id', 'v'],
            ['9', good],
          ],
          { types },
        );
        for (const incremental of [false, true])
          await expect(load(table, rows, { types, incremental })).rejects.toMatchObject(failure);
        expect(await exported(table)).toBe(csvText([['9', good]]));
        expect(await typesIn(table)).toEqual({ v: type });
      },
    );

    test('a column becomes wider with the load that needs it, and its texts stay', async () => {
      const table = newId();
      const steps: readonly (readonly [NativeType | undefined, string])[] = [
        ['boolean', 'true'],
        ['bigint', '01'],
        ['double', '1.0'],
        ['decimal', '0.10'],
        ['date', '2024-02-29'],
        [undefined, 'x'],
      ];
      const expected: string[][] = [];
      for (const [i, [type, text]] of steps.entries()) {
        const types = new Map(type === undefined ? [] : [['v', type] as const]);
        const rows = [
          ['id', 'v', 'last'],
          [String(i), text, 'z'],
        ];
        const how = i === 0 ? { create: { primaryKey: ['id'] } } : { incremental: true };
        await load(table, rows, { ...how, types, importedAt: LATE });
        expected.push([String(i), text, 'z']);
        expect((await exported(table)).split('\n').toSorted()).toEqual(
          csvText(expected).split('\n').toSorted(),
        );
        expect(await engine.describe(table)).toMatchObject({ columns: ['id', 'v', 'last'], rows: i + 1 });
      }
      // Neither of date and decimal holds the other one.
      expect(await typesIn(table)).toEqual({});
      expect(await exported(table, { changedUntil: LATE })).toBe('');
      await engine.dropColumn(table, 'v');
      await engine.addColumn(table, 'v', { type: 'date' });
      expect(await engine.describe(table)).toMatchObject({ columns: ['id', 'last', 'v'] });
      expect(await typesIn(table)).toEqual({ v: 'date' });
    });

    test('a table of texts gets types with a load; a column that does not fit once all of it is new', async () => {
      const table = newId();
      await load(
        table,
        [
          ['id', 'n', 'v'],
          ['1', '05', 'x'],
          ['2', '', '7'],
        ],
        { create: { primaryKey: ['id'] } },
      );
      const types = new Map<string, NativeType>([
        ['id', 'bigint'],
        ['n', 'bigint'],
        ['v', 'bigint'],
      ]);
      await load(
        table,
        [
          ['id', 'n', 'v'],
          ['3', '6', 'y'],
        ],
        { incremental: true, types },
      );
      expect(await typesIn(table)).toEqual({ id: 'bigint', n: 'bigint' });
      expect((await exported(table)).split('\n').toSorted()).toEqual(
        csvText([
          ['1', '05', 'x'],
          ['2', '', '7'],
          ['3', '6', 'y'],
        ])
          .split('\n')
          .toSorted(),
      );
      await expect(
        load(
          table,
          [
            ['id', 'n', 'v'],
            ['4', '6', 'y'],
          ],
          { types },
        ),
      ).rejects.toMatchObject({
        code: 'csvImport.invalidValue',
      });
      await load(
        table,
        [
          ['id', 'n', 'v'],
          ['4', '6', '8'],
        ],
        { types },
      );
      expect(await typesIn(table)).toEqual({ id: 'bigint', n: 'bigint', v: 'bigint' });
      await load(
        table,
        [
          ['id', 'n', 'v'],
          ['4', '6', 'not'],
        ],
        { types: new Map() },
      );
      expect(await typesIn(table)).toEqual({});
    });

    test('a time has an offset as long as all texts of it have one', async () => {
      const types = new Map([['at', 'time' as const]]);
      const table = newId();
      await engine.create(table, { columns: ['id', 'at'], primaryKey: ['id'], types });
      await load(table, timesOf('2024-01-01T10:00:00Z', ''), { types, incremental: true });
      expect(await typesIn(table)).toEqual({ at: 'timestamptz' });
      await load(table, timesOf('2024-01-01T12:00:00'), { types, incremental: true });
      expect(await typesIn(table)).toEqual({ at: 'timestamp' });
      await load(table, timesOf('2024-01-01T10:00:00+02:00'), { types, incremental: true });
      expect(await typesIn(table)).toEqual({ at: 'timestamp' });
      expect((await exported(table)).split('\n').toSorted()).toEqual(
        csvText(
          ['2024-01-01T10:00:00Z', '', '2024-01-01T12:00:00', '2024-01-01T10:00:00+02:00'].map((text) => [
            text,
            text,
          ]),
        )
          .split('\n')
          .toSorted(),
      );
      await load(table, timesOf('2024-01-01T10:00:00+02:00'), { types });
      expect(await typesIn(table)).toEqual({ at: 'timestamptz' });
      await expect(load(table, timesOf('soon'), { types })).rejects.toMatchObject({
        code: 'csvImport.invalidValue',
        results: { row: 1, column: 'at', value: 'soon' },
      });
    });

    test('a key is compared by its texts, its empty parts too', async () => {
      const table = newId();
      const types = new Map<string, NativeType>([
        ['a', 'bigint'],
        ['b', 'timestamptz'],
      ]);
      const keys = ['', '1', '01'].flatMap((a) =>
        ['', '2024-01-01T00:00:00Z', '2024-01-01T01:00:00+01:00'].map((b) => [a, b]),
      );
      await load(table, [['a', 'b', 'v'], ...keys.map((key) => [...key, 'old'])], {
        create: { primaryKey: ['a', 'b'] },
        types,
      });
      await load(table, [['a', 'b', 'v'], ...keys.map((key) => [...key, 'new'])], {
        incremental: true,
        types,
      });
      expect((await exported(table)).split('\n').toSorted()).toEqual(
        csvText(keys.map((key) => [...key, 'new']))
          .split('\n')
          .toSorted(),
      );
      await engine.setPrimaryKey(table, []);
      await engine.setPrimaryKey(table, ['a', 'b']);
      await expect(engine.setPrimaryKey(table, ['a'])).rejects.toMatchObject({
        code: 'storage.tables.primaryKeyDuplicateValues',
      });
    });

    test('any imports and queries give what they give for a table of texts', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 1, maxLength: 5 }),
          fc.constantFrom<string[]>([], ['id'], ['id', 'v'], ['w']),
          fc.array(query, { maxLength: 4 }),
          async (changes, primaryKey, queries) => {
            const [typed, plain] = [newId(), newId()];
            let isOrdered = true;
            for (const [i, each] of changes.entries()) {
              const rows = [COLUMNS, ...each.rows.map(({ cells }) => cells)];
              const types = new Map(
                each.types.flatMap((type, at) =>
                  type === undefined ? [] : [[COLUMNS[at] ?? '', type] as const],
                ),
              );
              const request: Partial<ImportRequest> = {
                ...(i === 0 ? { create: { primaryKey } } : { incremental: each.isIncremental }),
                importedAt: dayOf(each.day),
                ...(each.isInsert ? { deduplicationStrategy: 'insert' } : {}),
                ...(each.isEmptied ? { treatValuesAsNull: ['1'] } : {}),
              };
              // A value that does not fit ends an import of types: then none is given.
              const outcome = await load(typed, rows, { ...request, types }).catch(async (error: unknown) => {
                expect(error).toMatchObject({ code: 'csvImport.invalidValue' });
                return await load(typed, rows, { ...request, types: new Map() });
              });
              expect(exact(outcome)).toEqual(exact(await load(plain, rows, request)));
              if (i > 0 && each.isIncremental && !each.isInsert && primaryKey.length > 0) isOrdered = false;
              const [a, b] = [await engine.describe(typed), await engine.describe(plain)];
              expect({ ...exact(a), types: undefined }).toEqual({ ...exact(b), types: undefined });
            }
            const lines = async (table: TableId, asked: RowQuery): Promise<string[]> => {
              const text = (await exported(table, asked)).split('\n');
              return isOrdered ? text : text.toSorted();
            };
            const whole = { includeInternalTimestamp: true, hasExactTimes: true };
            expect(await lines(typed, whole)).toEqual(await lines(plain, whole));
            for (const { limit, ...each } of queries) {
              const asked = asQuery(isOrdered ? { ...each, limit } : each);
              expect(await lines(typed, asked)).toEqual(await lines(plain, asked));
              expect(await engine.count(typed, asked)).toBe(await engine.count(plain, asked));
              if (isOrdered)
                expect(await engine.preview(typed, asked)).toEqual(await engine.preview(plain, asked));
            }
            expect(await engine.profile(typed, {})).toEqual(await engine.profile(plain, {}));
            const { where } = asQuery(queries[0] ?? {});
            if (where !== undefined && where.length > 0) {
              expect(await engine.deleteRows(typed, { where })).toBe(
                await engine.deleteRows(plain, { where }),
              );
              expect(await lines(typed, whole)).toEqual(await lines(plain, whole));
            }
            for (const table of [typed, plain]) await engine.drop(table);
          },
        ),
        // The same cases each time: a difference that is found by chance must not stop others.
        { numRuns: Number(process.env['TYPED_RUNS'] ?? runs), seed: Number(process.env['TYPED_SEED'] ?? 50) },
      );
    }, 300_000);
  });
}

const timesOf = (...texts: string[]): string[][] => [['id', 'at'], ...texts.map((text) => [text, text])];

const COLUMNS = ['id', 'v', 'w', 'rowid'];

const cell = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('', '1', '2', '3', '10', '01') },
  fc.constantFrom(...TYPES).chain((type) => fc.constantFrom(...FITTING[type])),
);

/** An import whose cells are of few types, so that most fit. */
const change = fc
  .array(fc.option(fc.constantFrom(...TYPES), { nil: undefined }), { minLength: 4, maxLength: 4 })
  .chain((types) =>
    fc.record({
      types: fc.constant(types),
      rows: fc.array(
        fc.record({
          cells: fc.tuple(
            ...types.map((type) =>
              type === undefined
                ? cell
                : fc.oneof(
                    { weight: 9, arbitrary: fc.constantFrom('', ...FITTING[type]) },
                    { weight: 1, arbitrary: cell },
                  ),
            ),
          ),
        }),
        { maxLength: 8 },
      ),
      isIncremental: fc.boolean(),
      isInsert: fc.boolean(),
      isEmptied: fc.boolean(),
      day: fc.integer({ min: 1, max: 9 }),
    }),
  );

const condition = fc.record({
  column: fc.constantFrom(...COLUMNS),
  operator: fc.constantFrom(...WHERE_OPERATORS),
  values: fc.array(cell, { minLength: 1, maxLength: 2 }),
  dataType: fc.option(fc.constantFrom(...DATA_TYPES), { nil: undefined }),
});

const query = fc.record(
  {
    where: fc.array(condition, { maxLength: 2 }),
    columns: fc.shuffledSubarray(COLUMNS, { minLength: 1 }),
    orderBy: fc.array(
      fc.record({
        column: fc.constantFrom(...COLUMNS),
        order: fc.constantFrom('ASC' as const, 'DESC' as const),
      }),
      { maxLength: 2 },
    ),
    limit: fc.integer({ min: 0, max: 8 }),
    search: fc.constantFrom('1', 'T', 't', '.'),
    changedSince: fc.integer({ min: 1, max: 9 }).map(dayOf),
  },
  { requiredKeys: [] },
);

/** Without what is said to be about right only. */
function exact(outcome: object | undefined): object {
  const {
    bytes: _bytes,
    totalBytes: _total,
    importedBytes: _read,
    ...rest
  } = { ...outcome } as Record<string, unknown>; // any object
  return rest;
}

/** Without members that are undefined, which a query must not have. */
function asQuery(value: object): RowQuery {
  return JSON.parse(JSON.stringify(value), (key, each: unknown) =>
    key === 'changedSince' ? new Date(String(each)) : each,
  ) as RowQuery;
}

function dayOf(day: number): Date {
  return new Date(Date.UTC(2026, 0, day));
}
