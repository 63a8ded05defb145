import { CHANGED_AT } from '../duckdb/identifiers.ts';
import { storedCells } from '../duckdb/cells.ts';
import type { ColumnForms } from '../column-types.ts';
import type { DuckSession } from '../duckdb/session.ts';

/** Columns of a table as they are stored, in SQL. */
export function storedNames(columns: readonly string[], forms: ColumnForms): readonly string[] {
  return [...storedCells(columns, forms).names, CHANGED_AT];
}

/**
 * Reads rows in their order into the table `refill`, which {@link refill} drops.
 *
 * @param from the table that has the rows now, at a version or as it is; it may be the one that gets them
 * @param names of columns in SQL
 */
export async function stageRefill(
  session: DuckSession,
  from: string,
  names: readonly string[],
): Promise<void> {
  await session.run(`CREATE TEMP TABLE refill AS SELECT ${names.join(', ')} FROM ${from} ORDER BY rowid`);
}

/** Puts the rows of the table `refill` into an empty one, and drops it. */
export async function refill(
  session: DuckSession,
  target: string,
  { names, cells = names, rows }: Refill,
): Promise<void> {
  // Rows that are numbered on the way are passed on by one thread, in their order.
  const written = await session.number(
    `INSERT INTO ${target} (${names.join(', ')}) SELECT ${cells.join(', ')} FROM (SELECT *, row_number() OVER () AS "number~" FROM refill) WHERE "number~" > 0`,
  );
  await session.run('DROP TABLE refill');
  if (written !== rows) throw new Error(`A table of ${rows} rows was written with ${written}.`);
}

interface Refill {
  /** Columns in SQL. */
  readonly names: readonly string[];
  /** Cells of a row of `refill` that they get, in SQL. Default: the same columns. */
  readonly cells?: readonly string[];
  /** Number of the rows of `refill`. */
  readonly rows: number;
}
