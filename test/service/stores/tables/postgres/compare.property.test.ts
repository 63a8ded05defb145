import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvText } from '../../../../../src/lib/csv/write.ts';
import { createDuckDbEngine } from '../../../../../src/service/stores/tables/duckdb/engine.ts';
import {
  DATA_TYPES,
  WHERE_OPERATORS,
  type RowQuery,
} from '../../../../../src/service/stores/tables/row-query.ts';
import { SERVER } from './database.ts';
import { exported, load, openEngine, useDatabase } from './support.ts';
import type { ImportRequest, TableEngine, TableId } from '../../../../../src/service/stores/tables/engine.ts';

/* Compares two engines: any imports and queries have the same result in both. */

const COLUMNS = ['id', 'part', 'v', 'Select', 'n'];

// Texts that are numbers, times, neither, or nearly; letters with another order than their bytes; signs of SQL and CSV.
const texts = (list: string): fc.Arbitrary<string> => fc.constantFrom(...list.split('|'));

const cell = fc.oneof(
  { weight: 3, arbitrary: texts('|1|2|10|a|B|é|É|Z|z') },
  texts(
    '9.5|-9.5|10.4| 10 |\t10|+5|1e3|1E3|1e-1|1.|.5|.|-|1_000|1__0|0x10|1e400|-1e400|1e-400|nan|inf|12a|1e39',
  ),
  texts('-Infinity|170141183460469231731687303715884105727|170141183460469231731687303715884105728|00012|-0'),
  texts('9007199254740993|99999999999999999999999999999|1.00000000005|123456789012345678901234567890.5'),
  texts(
    '2026-01-01|2026-1-2|2026-01-02T10:00:00|2026-01-02 10:00|2026-01-02 10|2026-01-02T10:00:00Z|2026-02-30',
  ),
  texts('2026-01-02T10:00:00+02:00|2026-01-02 10:00:00.1234567|2026/01/02|2026-01-02 24:00:00|2024-02-29'),
  texts('2026-01-02 24:00:01|2023-02-29|1900-02-29|2000-02-29|2026-01-02 23:59:60|2026-13-01|0001-01-01'),
  texts('2026 01 02| 2026-01-02|2026-01-02 10:00:00 UTC'),
  texts(`"|'|\\|\\.|\\N|NULL|x\ny|x\r\ny|,|it's|%|_|\ufeffx|😀|a\\b|\\'|$1`),
  fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.replaceAll('\0', '')),
);

const rows = fc.array(fc.array(cell, { minLength: 5, maxLength: 5 }), { maxLength: 12 });
const key = fc.constantFrom<string[]>([], ['id'], ['id', 'part'], ['v'], COLUMNS);

const change = fc.oneof(
  fc.record({
    kind: fc.constant('import' as const),
    rows,
    order: fc.shuffledSubarray(COLUMNS, { minLength: 5, maxLength: 5 }),
    incremental: fc.boolean(),
    isInsert: fc.boolean(),
    day: fc.integer({ min: 1, max: 9 }),
    nulls: fc.option(fc.constantFrom('1', 'a', "'", '\\'), { nil: undefined }),
    times: fc.option(
      fc.constantFrom('', '2020-05-06 07:08:09.000100', '2020-05-06T07:08:09+02:00', '2020-5-6', 'never'),
      {
        nil: undefined,
        freq: 4,
      },
    ),
    isCrlf: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('key' as const), key }),
  fc.record({
    kind: fc.constant('delete' as const),
    where: fc.array(condition(), { minLength: 1, maxLength: 2 }),
  }),
);

function condition() {
  return fc.oneof(
    fc.record({
      column: fc.constantFrom(...COLUMNS),
      operator: fc.constantFrom(...WHERE_OPERATORS),
      values: fc.array(fc.oneof(cell, fc.constant('a\0b')), { minLength: 1, maxLength: 3 }),
      dataType: fc.option(fc.constantFrom(...DATA_TYPES), { nil: undefined }),
    }),
    fc.record({
      column: fc.constantFrom(...COLUMNS),
      operator: fc.constantFrom(...WHERE_OPERATORS),
      values: fc.tuple(fc.constantFrom('2026-01-01 00:00:00', '2026-01-02 10:00:00', '2024-02-29 00:00:00')),
      isTime: fc.constant(true),
    }),
  );
}

const query = fc.record(
  {
    where: fc.array(condition(), { maxLength: 2 }),
    columns: fc.shuffledSubarray(COLUMNS, { minLength: 1 }),
    orderBy: fc.array(
      fc.record({
        column: fc.constantFrom(...COLUMNS),
        order: fc.constantFrom('ASC' as const, 'DESC' as const),
        dataType: fc.option(fc.constantFrom(...DATA_TYPES), { nil: undefined }),
      }),
      { maxLength: 2 },
    ),
    limit: fc.integer({ min: 0, max: 8 }),
    search: fc.constantFrom('a', 'É', 'Z', '\\', "'", '%', '1'),
    changedSince: fc.integer({ min: 1, max: 9 }).map(dayOf),
    changedUntil: fc.integer({ min: 1, max: 9 }).map(dayOf),
    includeInternalTimestamp: fc.boolean(),
    hasExactTimes: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe.runIf(SERVER)('PostgreSQL beside DuckDB', () => {
  const given = useDatabase();
  let folder: string;
  let engines: readonly [TableEngine, TableEngine, TableEngine];
  let tables = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'compare-'));
    const duckDb = createDuckDbEngine({ folder });
    await duckDb.open();
    const { pool } = given.database;
    // The files are small: by the second one their rows come by a table of their own as those of large ones do.
    engines = [
      duckDb,
      await openEngine(pool),
      await openEngine(pool, { schema: 'large', few: { rows: -1, bytes: -1 } }),
    ];
  });
  afterAll(async () => {
    await engines[0].close();
    await rm(folder, { recursive: true, force: true });
  });

  test('does the same with any imports, changes and queries', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        key,
        fc.array(change, { maxLength: 4 }),
        fc.array(query, { maxLength: 6 }),
        async (first, primaryKey, changes, queries) => {
          const table = { bucket: 'in.c-compare', table: `t${++tables}` };
          await same((engine) =>
            load(engine, table, csvText([COLUMNS, ...first]), { create: { primaryKey } }).then(exact),
          );
          // DuckDB adds the rows of one merge in an order of its own.
          let isOrdered = true;
          const whole = { includeInternalTimestamp: true, hasExactTimes: true };
          const lines = async (engine: TableEngine, asked: RowQuery): Promise<string[]> => {
            const text = (await exported(engine, table, asked)).split('\n');
            return isOrdered ? text : text.toSorted();
          };
          for (const each of changes) {
            if (each.kind === 'import' && each.incremental && !each.isInsert) isOrdered = false;
            await same((engine) => apply(engine, table, each));
            await same(async (engine) => exact(await engine.describe(table)));
            await same((engine) => lines(engine, whole));
          }
          for (const { limit, ...each } of queries) {
            const asked = defined(isOrdered ? { ...each, limit } : each) as RowQuery; // undefined members are left out
            await same((engine) => lines(engine, asked));
            if (isOrdered) await same((engine) => engine.preview(table, asked));
          }
          for (const engine of engines) await engine.drop(table);
        },
      ),
      // The same cases each time: a difference that is found by chance must not stop others.
      { numRuns: Number(process.env['COMPARE_RUNS'] ?? 60), seed: Number(process.env['COMPARE_SEED'] ?? 28) },
    );
  }, 300_000);

  async function same(work: (engine: TableEngine) => Promise<unknown>): Promise<void> {
    const [expected, ...found] = await Promise.all(
      engines.map((engine) => work(engine).catch((error: unknown) => failure(error))),
    );
    for (const each of found) expect(each).toEqual(expected);
  }
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

async function apply(engine: TableEngine, table: TableId, given: Change): Promise<unknown> {
  if (given.kind === 'key') return await engine.setPrimaryKey(table, given.key);
  if (given.kind === 'delete')
    return await engine.deleteRows(table, defined({ where: given.where.map(defined) }));
  const { order, times } = given;
  const names = times === undefined ? order : [...order, '_timestamp'];
  const lines = given.rows.map((row, i) => (times === undefined ? row : [...row, i % 2 === 0 ? times : '']));
  const text = csvText([names, ...lines]);
  const request: Partial<ImportRequest> = {
    incremental: given.incremental,
    importedAt: dayOf(given.day),
    deduplicationStrategy: given.isInsert ? 'insert' : 'upsert',
    useTimestampFromDataFile: times !== undefined,
    ...(given.nulls === undefined ? {} : { treatValuesAsNull: [given.nulls] }),
  };
  return exact(await load(engine, table, given.isCrlf ? text.replaceAll('"\n"', '"\r\n"') : text, request));
}

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

function failure(error: unknown): unknown {
  if (error instanceof Error && 'code' in error) return { failed: error.code, message: error.message };
  throw error;
}

function defined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}

function dayOf(day: number): Date {
  return new Date(Date.UTC(2026, 0, day));
}
