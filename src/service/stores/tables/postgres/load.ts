import { relation, type PostgresCatalogEntry, type KeyIndex, type TablePlace } from './catalog.ts';
import { cellText, formsForFile, storedCells, valued, type ValuedRows } from './cells.ts';
import { addColumns } from './columns.ts';
import { IS_NULL, stateOf } from './failures.ts';
import { CHANGED_AT, column, ROW } from './names.ts';
import { takePlace, type TakenPlace } from './place.ts';
import { stagedInTable, TIME_TEXT, type StagedRows } from './staged.ts';
import { finishTable, indexKey, indexRows, keyIndexFor, makeTable, placeBeside, sameKey } from './table.ts';
import { TableError } from '../table-error.ts';
import { timeOf } from './values.ts';
import type { ColumnForms, ColumnTypes } from '../column-types.ts';
import type { PostgresSession } from './connection.ts';
import type { SqlRows } from './sql-rows.ts';

/** The table that rows are for. */
export interface LoadTarget extends TakenPlace {
  readonly primaryKey: readonly string[];
  /** How it is to store its cells. */
  readonly forms: ColumnForms;
}

/** Properties of a table after a load. */
export interface LoadedRows {
  readonly rows: number;
  readonly nextRow: number;
  readonly keyIndex: KeyIndex | undefined;
  readonly forms: ColumnForms;
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
  const { place, old, primaryKey, forms } = target;
  const dropped = await staged.keepLast(key);
  const loaded = { rows: staged.records - dropped, nextRow: staged.records + 1 };
  // A few rows come into the table itself: making another one would cost more than they do.
  if (staged.isHeld && old !== undefined && !target.isNew && hasSameTypes(old.forms, forms))
    return { ...loaded, ...(await exchangeRows(session, old, staged, forms)) };

  const isReady = staged.replacement !== undefined && forms.types.size === 0;
  const fresh = (isReady ? staged.replacement : undefined) ?? placeBeside(place);
  if (isReady) await finishTable(session, fresh);
  else {
    await makeTable(session, fresh, { columns: staged.columns, primaryKey, forms });
    await copyRows(session, staged, { target: fresh, forms, firstRow: 0 });
    await staged.drop();
  }
  await indexRows(session, fresh);
  const keyIndex = await indexKey(session, fresh, { primaryKey, forms });
  // The order of the rows is that of their places; without that known the database would sort them for each export.
  await session.run(`ANALYZE ${relation(fresh)} (${ROW})`);
  const refusal = await takePlace(session, fresh, target);
  if (refusal === undefined) return { ...loaded, keyIndex, forms };
  if (old === undefined || target.isNew) throw refusal;

  // Rows come and go beside readers, into columns of the types that are there.
  const ready = stagedInTable(session, fresh, { ...staged, forms, hasTimes: false, canReplace: false });
  const kept = { types: new Map([...newTypes(old, forms), ...old.forms.types]), texts: old.forms.texts };
  const exchanged = await exchangeRows(
    session,
    old,
    ready,
    await formsForFile(session, ready.source(), kept),
  );
  await ready.drop();
  return { ...loaded, ...exchanged };
}

function hasSameTypes(a: ColumnForms, b: ColumnForms): boolean {
  return a.types.size === b.types.size && [...a.types].every(([name, type]) => b.types.get(name) === type);
}

/** The types of columns that a table does not have yet. */
function newTypes({ columns }: PostgresCatalogEntry, { types }: ColumnForms): ColumnTypes {
  return new Map([...types].filter(([name]) => !columns.includes(name)));
}

/** Puts rows in place of those of a table, which stays the same one. */
async function exchangeRows(
  session: PostgresSession,
  before: PostgresCatalogEntry,
  staged: StagedRows,
  forms: ColumnForms,
): Promise<Pick<LoadedRows, 'forms' | 'keyIndex'>> {
  const entry = await withColumns(session, before, staged, forms);
  await session.run(`DELETE FROM ${relation(entry.place)}`);
  const keyIndex = await keyIndexFor(session, entry, staged);
  await copyRows(session, staged, { target: entry.place, forms: entry.forms, firstRow: 0 });
  return { keyIndex, forms: entry.forms };
}

/**
 * Adds staged rows to a table; with a key, rows that differ take the place of those that have it.
 *
 * @param forms how the table is to store its cells, with the types that it has
 */
export async function mergeRows(
  session: PostgresSession,
  staged: StagedRows,
  { entry: before, forms: wanted }: { readonly entry: PostgresCatalogEntry; readonly forms: ColumnForms },
  key: readonly string[],
): Promise<LoadedRows> {
  const entry = await withColumns(session, before, staged, wanted);
  const { forms, place } = entry;
  const target = relation(place);
  const keyIndex = await keyIndexFor(session, entry, staged);
  const nextRow = entry.nextRow + staged.records;
  if (key.length === 0) {
    const added = await copyRows(session, staged, { target: place, forms, firstRow: entry.nextRow });
    return { rows: entry.rows + added, nextRow, keyIndex, forms };
  }

  await staged.keepLast(key);
  await staged.analyze(key);
  const { from, values } = staged.source();
  const rows = valued(from, staged.columns, forms.types);
  const others = staged.columns.filter((name) => !key.includes(name));
  // Rows that are the same already stay, and keep their change time.
  const differs = others.map((name) => `${cellText(name, forms, 't')} <> s.${column(name)}`).join(' OR ');
  const counted = { deleted: 0, added: 0 };
  for (const empty of await emptyParts(session, staged, key, forms)) {
    const isSame = sameTexts(key, { rows, forms, empty }, keyIndex);
    if (others.length > 0)
      counted.deleted += await session.run(
        `DELETE FROM ${target} t USING ${rows.from} s WHERE ${isSame} AND (${differs})`,
        values,
      );
    counted.added += await copyRows(session, staged, {
      target: place,
      forms,
      firstRow: entry.nextRow,
      where: ` WHERE ${[...empty].map(([name, isEmpty]) => `s.${column(name)} ${isEmpty ? '=' : '<>'} '' AND `).join('')}NOT EXISTS (SELECT 1 FROM ${target} t WHERE ${isSame})`,
    });
  }
  return { rows: entry.rows - counted.deleted + counted.added, nextRow, keyIndex, forms };
}

/** Parts of a key with a type, and whether they are empty. */
type EmptyParts = ReadonlyMap<string, boolean>;

/**
 * Returns which parts of the staged keys are empty together. An empty part is NULL in the table, which is equal to
 * nothing, so that rows with it are found by another condition.
 */
async function emptyParts(
  session: PostgresSession,
  staged: StagedRows,
  key: readonly string[],
  { types }: ColumnForms,
): Promise<EmptyParts[]> {
  const typed = key.filter((name) => types.has(name));
  if (typed.length === 0) return [new Map()];
  const { from, values } = staged.source();
  const found = await session.rows(
    `SELECT DISTINCT ${typed.map((name) => `s.${column(name)} = ''`).join(', ')} FROM ${from} s`,
    values,
  );
  return found.map((row) => new Map(typed.map((name, i) => [name, row[i] === true])));
}

/** Returns the condition that a row of the table has the key of a staged one, written so that the index is used. */
function sameTexts(
  key: readonly string[],
  {
    rows,
    forms,
    empty,
  }: { readonly rows: ValuedRows; readonly forms: ColumnForms; readonly empty: EmptyParts },
  index: KeyIndex | undefined,
): string {
  const plain = key.filter((name) => !empty.has(name));
  const conditions = plain.length === 0 ? [] : [sameKey(plain, 't', 's', index)];
  for (const [name, isEmpty] of empty) {
    const [cell, text] = [column(name), `s.${column(name)}`];
    conditions.push(
      isEmpty
        ? `t.${cell} IS NULL AND ${text} = ''`
        : `t.${cell} = s.${rows.value(name)} AND ${cellText(name, forms, 't')} = ${text}`,
    );
  }
  return conditions.join(' AND ');
}

async function withColumns(
  session: PostgresSession,
  entry: PostgresCatalogEntry,
  { columns }: StagedRows,
  forms: ColumnForms,
): Promise<PostgresCatalogEntry> {
  return await addColumns(
    session,
    entry,
    columns.filter((name) => !entry.columns.includes(name)),
    forms,
  );
}

interface RowTarget {
  readonly target: TablePlace;
  readonly forms: ColumnForms;
  readonly firstRow: number;
  readonly where?: string;
}

/** Gives how many there were. @throws TableError (`csvImport.invalidTimestamp`) */
async function copyRows(
  session: PostgresSession,
  staged: StagedRows,
  { target, forms, firstRow, where = '' }: RowTarget,
): Promise<number> {
  const { columns, hasTimes } = staged;
  const { from, values } = staged.source();
  const rows = valued(from, columns, forms.types);
  const { names, cells } = storedCells(columns, forms, rows, 's');
  const changedAt = hasTimes
    ? `CASE WHEN s.${TIME_TEXT} = '' THEN s.${CHANGED_AT} ELSE ${timeOf(`s.${TIME_TEXT}`)} END`
    : `s.${CHANGED_AT}`;
  const copy = async (): Promise<number> =>
    await session.run(
      `INSERT INTO ${relation(target)} (${[...names, CHANGED_AT, ROW].join(', ')}) ` +
        `SELECT ${[...cells, changedAt].join(', ')}, s.${ROW} + ${firstRow} FROM ${rows.from} s${where}`,
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
