import { textsOf } from '../duckdb/cells.ts';
import { exportResult, inFolder, measured, type ResultRows } from '../duckdb/export.ts';
import { findRows } from '../duckdb/row-ranges.ts';
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
    return await numbered(sessions, { name, expressions, where }, await store.catalogue.orderedFiles(entry));

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
}

async function numbered(
  sessions: readonly [DuckSession, DuckSession],
  { name, expressions, where }: Wanted,
  files: readonly OrderedFile[],
): Promise<ResultRows> {
  const [session] = sessions;
  const { rows, allRows, ranges } = await findRows(session, name, where);
  if (rows === 0) return { writers: sessions, name, expressions, where, ranges, bytes: 0 };
  const cells = expressions.map((expression) => expression.replace(/ AS r\d+$/, ''));
  // Rows of the table tell the size: to look for those of a filter once more can take as long as to write them.
  const isSampled = allRows > 2 * SAMPLE_ROWS;
  const sample = isSampled ? `(SELECT * FROM ${name} LIMIT ${SAMPLE_ROWS})` : name;
  const bytes = await resultSize(session, sample, cells);
  return {
    writers: sessions,
    name,
    expressions,
    where,
    ranges,
    // The database reads one file in its order: only rows of several have to be sorted.
    isOrdered: ({ start, end }) => files.some((file) => file.start <= start && end <= file.end),
    bytes: (bytes * rows) / (isSampled ? SAMPLE_ROWS : allRows),
  };
}
