import { columnIdentifier, quoted } from '../duckdb/identifiers.ts';
import { TIMESTAMP_COLUMN } from '../import-plan.ts';
import type { DuckSession } from '../duckdb/session.ts';

/** Rows that take the place of those of a table. */
export interface Refill {
  /** The table as it is named in SQL. */
  readonly target: string;
  readonly columns: readonly string[];
  /** The table that has the rows now, at a version or as it is; it may be the target. */
  readonly from: string;
  /** How many they are. */
  readonly rows: number;
}

/** Reads rows in their order with their change times; the caller drops the table `refill`. */
export async function stageRefill(
  session: DuckSession,
  { columns, from }: Pick<Refill, 'columns' | 'from'>,
): Promise<void> {
  await session.run(`CREATE TEMP TABLE refill AS SELECT ${listOf(columns)} FROM ${from} ORDER BY rowid`);
}

/** Puts the rows of the table `refill` in place of all rows of a table, and drops it. */
export async function refill(
  session: DuckSession,
  { target, columns, rows }: Omit<Refill, 'from'>,
): Promise<void> {
  const list = listOf(columns);
  await session.run(`TRUNCATE ${target}`);
  // Rows that are numbered on the way are passed on by one thread, in their order.
  const written = await session.number(
    `INSERT INTO ${target} (${list}) SELECT ${list} FROM (SELECT *, row_number() OVER () AS "number~" FROM refill) WHERE "number~" > 0`,
  );
  await session.run('DROP TABLE refill');
  if (written !== rows) throw new Error(`A table of ${rows} rows was written with ${written}.`);
}

const listOf = (columns: readonly string[]): string =>
  [...columns.map(columnIdentifier), quoted(TIMESTAMP_COLUMN)].join(', ');
