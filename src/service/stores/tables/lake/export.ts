import { textsOf } from '../duckdb/cells.ts';
import {
  equalRanges,
  exportResult,
  inFolder,
  measured,
  type ResultRows,
  type RowRange,
} from '../duckdb/export.ts';
import { orderClause, resultExpressions, whereClause } from '../duckdb/select.ts';
import { resultSize } from '../duckdb/size.ts';
import type { DuckSession } from '../duckdb/session.ts';
import type { ExportOutcome, SliceOptions, TableId, TakeSlice } from '../engine.ts';
import type { RowQuery } from '../row-query.ts';
import type { LakeTable, OrderedFile } from './catalogue.ts';
import type { LakeStore } from './store.ts';

/** Exports a table as it is at one version, so that all slices are of one moment. */
export async function exportTable(
  store: LakeStore,
  table: TableId,
  query: RowQuery,
  options: SliceOptions,
  take: TakeSlice,
  at?: number,
): Promise<ExportOutcome> {
  const entry = await store.catalogue.require(table, at);
  const database = store.database();
  const name = tableAt(store, table, entry);
  return await inFolder(database.spoolFolder, (folder) =>
    database.read([name], async (...sessions) => {
      const result = await findResult(sessions, store, { table, entry, query });
      return await exportResult(result, folder, options, take);
    }),
  );
}

/** Returns the table at its version, as it is named in SQL. */
export function tableAt({ names }: LakeStore, table: TableId, { version }: LakeTable): string {
  return `${names.table(table)} AT (VERSION => ${version})`;
}

/** Returns the texts of the table at its version, with the numbers of its rows, for FROM. */
export function textsAt(store: LakeStore, table: TableId, entry: LakeTable): string {
  return textsOf(tableAt(store, table, entry), entry.columns, entry.forms);
}

/** The table itself where its rows are wanted in their order, else a copy of what is wanted. */
async function findResult(
  sessions: readonly [DuckSession, DuckSession],
  store: LakeStore,
  { table, entry, query }: { readonly table: TableId; readonly entry: LakeTable; readonly query: RowQuery },
): Promise<ResultRows> {
  const { columns } = entry;
  const name = textsAt(store, table, entry);
  const expressions = resultExpressions(query, columns);
  const where = whereClause(query, columns, 'storage.tables.validation.columnNotExists');
  const order = orderClause(query.orderBy, columns) || ' ORDER BY rowid';
  if (query.orderBy === undefined && query.limit === undefined)
    return await numbered(
      sessions,
      { name, expressions, where, entry },
      await store.catalogue.orderedFiles(entry),
    );

  const [session] = sessions;
  const limit = query.limit === undefined ? '' : ` LIMIT ${Math.max(0, Math.floor(query.limit))}`;
  await session.run(
    `CREATE TEMP TABLE result AS SELECT ${expressions.join(', ')} FROM ${name}${where}${order}${limit}`,
  );
  const cells = expressions.map((_, i) => `r${i}`);
  return await measured(session, 'temp.result', cells);
}

/** So many rows tell how large all are. */
const SAMPLE_ROWS = 60_000;

/** Rows of a table at one version. */
interface Wanted {
  readonly name: string;
  readonly expressions: readonly string[];
  readonly where: string;
  readonly entry: LakeTable;
}

async function numbered(
  sessions: readonly [DuckSession, DuckSession],
  { name, expressions, where, entry }: Wanted,
  files: readonly OrderedFile[],
): Promise<ResultRows> {
  const [session] = sessions;
  const parts = await partsOf(session, `${name}${where}`, where === '' ? undefined : entry.rows);
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  if (rows === 0) return { writers: sessions, name, expressions, ranges: () => [], bytes: 0 };
  const cells = expressions.map((expression) => expression.replace(/ AS r\d+$/, ''));
  // The size is that of all rows: to look for those of a filter once more can take as long as to write them.
  const all = where === '' ? rows : entry.rows;
  const isSampled = all > 2 * SAMPLE_ROWS;
  const sample = isSampled ? `(SELECT * FROM ${name} LIMIT ${SAMPLE_ROWS})` : name;
  const bytes = await resultSize(session, sample, cells);
  const [first] = parts;
  return {
    writers: sessions,
    name,
    expressions,
    where,
    ranges: (count) =>
      parts.length === 1 && first !== undefined ? equalRanges(first, count) : evenRanges(parts, rows / count),
    // The database reads one file in its order: only rows of several have to be sorted.
    isOrdered: ({ start, end }) => files.some((file) => file.start <= start && end <= file.end),
    bytes: (bytes * rows) / (isSampled ? SAMPLE_ROWS : all),
  };
}

interface Part extends RowRange {
  readonly rows: number;
}

/** So many parts of a table, or a few more, tell where the rows are that a filter leaves. */
const PARTS = 10_000;

/**
 * Returns where the rows are, without what has none. Row numbers go on from one full load to the next, so those of a
 * table may begin anywhere.
 *
 * @param filtered rows of the table of which a filter leaves some, anywhere; undefined: it has none, and one part is enough
 */
async function partsOf(session: DuckSession, from: string, filtered: number | undefined): Promise<Part[]> {
  const group =
    filtered === undefined ? '' : ` GROUP BY rowid // ${Math.max(1, Math.ceil(filtered / PARTS))} ORDER BY 1`;
  const found = await session.rows(`SELECT min(rowid), max(rowid) + 1, count(*) FROM ${from}${group}`);
  return found.map((row) => {
    const [start = 0, end = 0, rows = 0] = row.map(Number);
    return { start, end, rows };
  });
}

/** Joins parts to ranges of so many rows, or a few more. */
function evenRanges(parts: readonly Part[], rows: number): RowRange[] {
  const ranges: RowRange[] = [];
  let range: Part | undefined;
  for (const part of parts) {
    range = { start: range?.start ?? part.start, end: part.end, rows: (range?.rows ?? 0) + part.rows };
    if (range.rows < rows) continue;
    ranges.push(range);
    range = undefined;
  }
  return range === undefined ? ranges : [...ranges, range];
}
