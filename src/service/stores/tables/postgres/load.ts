import { carryOver } from './carry-over.ts';
import { relation, type PostgresCatalogEntry, type KeyIndex, type TablePlace } from './catalog.ts';
import { addColumns } from './columns.ts';
import { HAS_DEPENDENTS, IS_NULL, LOCK_NOT_AVAILABLE, stateOf } from './failures.ts';
import { CHANGED_AT, column, columnList, quoted, ROW } from './names.ts';
import { stagedInTable, TIME_TEXT, type SqlRows, type StagedRows } from './staged.ts';
import { finishTable, indexKey, indexRows, keyIndexFor, makeTable, placeBeside, sameKey } from './table.ts';
import { TableError } from '../table-error.ts';
import { timeOf } from './values.ts';
import type { PostgresSession } from './connection.ts';

/** The table that rows are for. */
export interface LoadTarget {
  readonly place: TablePlace;
  /** The existing table. */
  readonly old: PostgresCatalogEntry | undefined;
  /** True when nothing of the existing table is to remain. */
  readonly isNew: boolean;
  readonly primaryKey: readonly string[];
}

/** Properties of a table after a load. */
export interface LoadedRows {
  readonly rows: number;
  readonly nextRow: number;
  readonly keyIndex: KeyIndex | undefined;
}

/**
 * Puts staged rows in place of those of a table, which need not be there.
 *
 * @param key rows with the same become one; empty: they don't
 */
export async function replaceRows(
  session: PostgresSession,
  staged: StagedRows,
  target: LoadTarget,
  key: readonly string[],
): Promise<LoadedRows> {
  const { place, old, primaryKey } = target;
  const dropped = await staged.keepLast(key);
  const loaded = { rows: staged.records - dropped, nextRow: staged.records + 1 };
  // A few rows come into the table itself: making another one would cost more than they do.
  if (staged.isHeld && old !== undefined && !target.isNew)
    return { ...loaded, keyIndex: await exchangeRows(session, old, staged) };

  const fresh = staged.replacement ?? placeBeside(place);
  if (staged.replacement !== undefined) await finishTable(session, fresh);
  else {
    await makeTable(session, fresh, { columns: staged.columns, primaryKey });
    await copyRows(session, staged, fresh, 0);
    await staged.drop();
  }
  await indexRows(session, fresh);
  const keyIndex = await indexKey(session, fresh, primaryKey);
  // The order of the rows is that of their places; without that known the database would sort them for each export.
  await session.run(`ANALYZE ${relation(fresh)} (${ROW})`);
  const refusal = await takePlace(session, fresh, target);
  if (refusal === undefined) return { ...loaded, keyIndex };
  if (old === undefined || target.isNew) throw refusal;

  // Rows come and go beside readers.
  const ready = stagedInTable(session, fresh, { ...staged, hasTimes: false, canReplace: false });
  const kept = await exchangeRows(session, old, ready);
  await ready.drop();
  return { ...loaded, keyIndex: kept };
}

/** Puts rows in place of those of a table, which stays the same one. */
async function exchangeRows(
  session: PostgresSession,
  before: PostgresCatalogEntry,
  staged: StagedRows,
): Promise<KeyIndex | undefined> {
  const entry = await withColumns(session, before, staged);
  await session.run(`DELETE FROM ${relation(entry.place)}`);
  const keyIndex = await keyIndexFor(session, entry, staged);
  await copyRows(session, staged, entry.place, 0);
  return keyIndex;
}

/** How long readers may be in the way of a table that takes the place of another one. */
const PLACE_WAIT = '2s';

/**
 * Puts the new table in place; returns the obstacle when there is one: a view that depends on it, or a transaction left
 * open.
 */
async function takePlace(
  session: PostgresSession,
  fresh: TablePlace,
  { place, old, isNew }: LoadTarget,
): Promise<Error | undefined> {
  const rename = `ALTER TABLE ${relation(fresh)} RENAME TO ${quoted(place.name)}`;
  if (old === undefined) {
    await session.run(rename);
    return undefined;
  }
  try {
    await session.attempt(async () => {
      await session.run(`SET LOCAL lock_timeout = '${PLACE_WAIT}'`);
      if (!isNew) await carryOver(session, place, fresh);
      await session.run(`DROP TABLE ${relation(place)}`);
      await session.run(rename);
      await session.run('SET LOCAL lock_timeout = 0');
    });
    return undefined;
  } catch (error) {
    const isInTheWay = [LOCK_NOT_AVAILABLE, HAS_DEPENDENTS].includes(stateOf(error));
    if (isInTheWay && error instanceof Error) return error;
    throw error;
  }
}

/** Adds staged rows to a table; with a key, rows that differ take the place of those that have it. */
export async function mergeRows(
  session: PostgresSession,
  staged: StagedRows,
  before: PostgresCatalogEntry,
  key: readonly string[],
): Promise<LoadedRows> {
  const entry = await withColumns(session, before, staged);
  const target = relation(entry.place);
  const keyIndex = await keyIndexFor(session, entry, staged);
  const nextRow = entry.nextRow + staged.records;
  if (key.length === 0) {
    const added = await copyRows(session, staged, entry.place, entry.nextRow);
    return { rows: entry.rows + added, nextRow, keyIndex };
  }

  await staged.keepLast(key);
  await staged.analyze(key);
  const { from, values } = staged.source();
  const isSame = sameKey(key, 't', 's', keyIndex);
  const others = staged.columns.filter((name) => !key.includes(name)).map(column);
  // Rows that are the same already stay, and keep their change time.
  const differs = others.map((name) => `t.${name} <> s.${name}`).join(' OR ');
  const deleted =
    others.length === 0
      ? 0
      : await session.run(`DELETE FROM ${target} t USING ${from} s WHERE ${isSame} AND (${differs})`, values);
  const added = await copyRows(
    session,
    staged,
    entry.place,
    entry.nextRow,
    ` WHERE NOT EXISTS (SELECT 1 FROM ${target} t WHERE ${isSame})`,
  );
  return { rows: entry.rows - deleted + added, nextRow, keyIndex };
}

async function withColumns(
  session: PostgresSession,
  entry: PostgresCatalogEntry,
  { columns }: StagedRows,
): Promise<PostgresCatalogEntry> {
  return await addColumns(
    session,
    entry,
    columns.filter((name) => !entry.columns.includes(name)),
  );
}

/** Gives how many there were. @throws TableError (`csvImport.invalidTimestamp`) */
async function copyRows(
  session: PostgresSession,
  staged: StagedRows,
  target: TablePlace,
  firstRow: number,
  where = '',
): Promise<number> {
  const { columns, hasTimes } = staged;
  const { from, values } = staged.source();
  const names = columnList(columns);
  const cells = columns.map((name) => `s.${column(name)}`).join(', ');
  const changedAt = hasTimes
    ? `CASE WHEN s.${TIME_TEXT} = '' THEN s.${CHANGED_AT} ELSE ${timeOf(`s.${TIME_TEXT}`)} END`
    : `s.${CHANGED_AT}`;
  const copy = async (): Promise<number> =>
    await session.run(
      `INSERT INTO ${relation(target)} (${names}, ${CHANGED_AT}, ${ROW}) ` +
        `SELECT ${cells}, ${changedAt}, s.${ROW} + ${firstRow} FROM ${from} s${where}`,
      values,
    );
  if (!hasTimes) return await copy();
  try {
    return await session.attempt(copy);
  } catch (error) {
    // A text that is no time gives no change time.
    throw stateOf(error) === IS_NULL ? await wrongTime(session, staged.source()) : error;
  }
}

async function wrongTime(session: PostgresSession, { from, values }: SqlRows): Promise<TableError> {
  const [row] = await session.rows(
    `SELECT ${TIME_TEXT} FROM ${from} s WHERE ${TIME_TEXT} <> '' AND ${timeOf(TIME_TEXT)} IS NULL ORDER BY ${ROW} LIMIT 1`,
    values,
  );
  return new TableError(
    'csvImport.invalidTimestamp',
    `Load error: the value "${String(row?.[0])}" in the column "_timestamp" is no time.`,
  );
}
