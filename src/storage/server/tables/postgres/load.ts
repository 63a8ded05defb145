import { carryOver } from './carry-over.ts';
import { relation, type CatalogEntry, type KeyIndex, type Place } from './catalog.ts';
import { addColumns } from './columns.ts';
import { HAS_DEPENDENTS, IS_NULL, LOCK_NOT_AVAILABLE, stateOf } from './failures.ts';
import { CHANGED_AT, column, columnList, literal, quoted, ROW } from './names.ts';
import {
  finishTable,
  indexKey,
  indexRows,
  keepLastOfKey,
  keyIndexFor,
  makeTable,
  placeBeside,
  sameKey,
} from './table.ts';
import { TableError } from '../table-error.ts';
import { timeOf } from './values.ts';
import type { Session } from './connection.ts';

/** Rows of a file in a table of their own, which has the columns of the table they are for. */
export interface Staged {
  readonly place: Place;
  readonly columns: readonly string[];
  readonly records: number;
  /** The text of the change time is in a column of its own. */
  readonly hasTimes: boolean;
  /** It can take the place of the table. */
  readonly canReplace: boolean;
}

/** The table that rows are for. */
export interface Target {
  readonly place: Place;
  /** What is there. */
  readonly old: CatalogEntry | undefined;
  /** Nothing is to be left of what is there. */
  readonly isNew: boolean;
  readonly primaryKey: readonly string[];
}

/** What is true of a table after rows have come. */
export interface Loaded {
  readonly rows: number;
  readonly nextRow: number;
  readonly keyIndex: KeyIndex | undefined;
}

/** Name of the column with the text of the change time. */
export const TIME_TEXT = '"_time"';

/** Empties the cells of staged rows that hold one of these values. */
export async function emptyValues(
  session: Session,
  { place, columns }: Staged,
  values: readonly string[],
): Promise<void> {
  const list = values
    .filter((value) => value !== '' && !value.includes('\0'))
    .map(literal)
    .join(', ');
  if (list === '') return;
  const cells = columns.map(column);
  const emptied = cells.map((cell) => `${cell} = CASE WHEN ${cell} IN (${list}) THEN '' ELSE ${cell} END`);
  const isMeant = cells.map((cell) => `${cell} IN (${list})`).join(' OR ');
  await session.run(`UPDATE ${relation(place)} SET ${emptied.join(', ')} WHERE ${isMeant}`);
}

/**
 * Puts staged rows in place of those of a table, which need not be there.
 *
 * @param key rows with the same become one; empty: they don't
 */
export async function replaceRows(
  session: Session,
  staged: Staged,
  target: Target,
  key: readonly string[],
): Promise<Loaded> {
  const { place, old, primaryKey } = target;
  const dropped = await keepLastOfKey(session, staged.place, key);
  const fresh = staged.canReplace ? staged.place : placeBeside(place);
  if (staged.canReplace) await finishTable(session, fresh);
  else {
    await makeTable(session, fresh, { columns: staged.columns, primaryKey });
    await copyRows(session, staged, fresh, 0);
    await session.run(`DROP TABLE ${relation(staged.place)}`);
  }
  await indexRows(session, fresh);
  const keyIndex = await indexKey(session, fresh, primaryKey);
  // The order of the rows is that of their places; without that known the database would sort them for each export.
  await session.run(`ANALYZE ${relation(fresh)} (${ROW})`);
  const loaded = { rows: staged.records - dropped, nextRow: staged.records + 1 };
  const refusal = await takePlace(session, fresh, target);
  if (refusal === undefined) return { ...loaded, keyIndex };
  if (old === undefined || target.isNew) throw refusal;

  // Rows come and go beside readers.
  const ready = await withColumns(session, old, staged);
  await session.run(`DELETE FROM ${relation(place)}`);
  const kept = await keyIndexFor(session, ready, fresh);
  await copyRows(session, { place: fresh, columns: staged.columns, hasTimes: false }, place, 0);
  await session.run(`DROP TABLE ${relation(fresh)}`);
  return { ...loaded, keyIndex: kept };
}

/** How long readers may be in the way of a table that takes the place of another one. */
const PLACE_WAIT = '2s';

/** Gives what is in the way: a view of somebody else's on the table, or a transaction that is left open. */
async function takePlace(
  session: Session,
  fresh: Place,
  { place, old, isNew }: Target,
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
  session: Session,
  staged: Staged,
  before: CatalogEntry,
  key: readonly string[],
): Promise<Loaded> {
  const entry = await withColumns(session, before, staged);
  const target = relation(entry.place);
  const keyIndex = await keyIndexFor(session, entry, staged.place);
  const nextRow = entry.nextRow + staged.records;
  if (key.length === 0) {
    const added = await copyRows(session, staged, entry.place, entry.nextRow);
    return { rows: entry.rows + added, nextRow, keyIndex };
  }

  await keepLastOfKey(session, staged.place, key);
  await session.run(`ANALYZE ${relation(staged.place)} (${columnList(key)})`);
  const isSame = sameKey(key, 't', 's', keyIndex);
  const others = staged.columns.filter((name) => !key.includes(name)).map(column);
  // Rows that are the same already stay, and keep their change time.
  const differs = others.map((name) => `t.${name} <> s.${name}`).join(' OR ');
  const deleted =
    others.length === 0
      ? 0
      : await session.run(
          `DELETE FROM ${target} t USING ${relation(staged.place)} s WHERE ${isSame} AND (${differs})`,
        );
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
  session: Session,
  entry: CatalogEntry,
  { columns }: Staged,
): Promise<CatalogEntry> {
  return await addColumns(
    session,
    entry,
    columns.filter((name) => !entry.columns.includes(name)),
  );
}

/** Gives how many there were. @throws TableError (`csvImport.invalidTimestamp`) */
async function copyRows(
  session: Session,
  { place, columns, hasTimes }: Pick<Staged, 'columns' | 'hasTimes' | 'place'>,
  target: Place,
  firstRow: number,
  where = '',
): Promise<number> {
  const names = columnList(columns);
  const cells = columns.map((name) => `s.${column(name)}`).join(', ');
  const changedAt = hasTimes
    ? `CASE WHEN s.${TIME_TEXT} = '' THEN s.${CHANGED_AT} ELSE ${timeOf(`s.${TIME_TEXT}`)} END`
    : `s.${CHANGED_AT}`;
  const copy = async (): Promise<number> =>
    await session.run(
      `INSERT INTO ${relation(target)} (${names}, ${CHANGED_AT}, ${ROW}) ` +
        `SELECT ${cells}, ${changedAt}, s.${ROW} + ${firstRow} FROM ${relation(place)} s${where}`,
    );
  if (!hasTimes) return await copy();
  try {
    return await session.attempt(copy);
  } catch (error) {
    // A text that is no time gives no change time.
    throw stateOf(error) === IS_NULL ? await wrongTime(session, place) : error;
  }
}

async function wrongTime(session: Session, staged: Place): Promise<TableError> {
  const [row] = await session.rows(
    `SELECT ${TIME_TEXT} FROM ${relation(staged)} WHERE ${TIME_TEXT} <> '' AND ${timeOf(TIME_TEXT)} IS NULL ORDER BY ${ROW} LIMIT 1`,
  );
  return new TableError(
    'csvImport.invalidTimestamp',
    `Load error: the value "${String(row?.[0])}" in the column "_timestamp" is no time.`,
  );
}
