import { TEXTS, typesOf, type ColumnForms, type ColumnTypes } from '../column-types.ts';
import { checkPrimaryKey, planImport } from '../import-plan.ts';
import { importSource } from '../import-source.ts';
import { noSuchTable } from '../table-error.ts';
import { countRows, findEntry, removeTable, saveEntry } from './catalog.ts';
import { tableName } from './identifiers.ts';
import { addColumns, addTexts, formsForFile, mergeRows, replaceRows, typesForFile } from './load.ts';
import { reshape } from './reshape.ts';
import { sizeOf } from './size.ts';
import { withSpool } from './spool.ts';
import type { ByteSlice, ImportOutcome, ImportRequest, TableId } from '../engine.ts';
import type { DuckCatalogEntry } from './catalog.ts';
import type { DuckDatabase } from './database.ts';
import type { Load } from './load.ts';
import type { DuckSession } from './session.ts';
import type { Spool } from './spool.ts';

/**
 * Checks the slices into files, then loads these in one transaction.
 * The caller ensures that nothing else writes to the table meanwhile.
 */
export async function importTable(
  database: DuckDatabase,
  table: TableId,
  request: ImportRequest,
  slices: AsyncIterable<ByteSlice>,
): Promise<ImportOutcome> {
  const known = await database.use((session) => findEntry(session, table));
  if (request.mark !== undefined && known?.lastImport?.mark === request.mark) return known.lastImport.outcome;
  if (request.create === undefined && known === undefined) throw noSuchTable(table);
  const entry = request.create === undefined ? known : undefined;
  const source = importSource(request, entry?.columns);
  return withSpool(database.spoolFolder, slices, source, (spool) => {
    const fileColumns = source.fileColumns(spool);
    return database.transaction((session) => load(session, table, request, { spool, entry, fileColumns }));
  });
}

interface Source {
  readonly spool: Spool;
  readonly entry: DuckCatalogEntry | undefined;
  readonly fileColumns: readonly string[];
}

async function load(
  session: DuckSession,
  table: TableId,
  request: ImportRequest,
  { spool, entry, fileColumns }: Source,
): Promise<ImportOutcome> {
  const plan = planImport({
    // By position the names are those of the table, which webalizing leaves alone.
    fileColumns,
    tableColumns: entry?.columns,
    delimiter: request.delimiter ?? ',',
    useTimestampFromDataFile: request.useTimestampFromDataFile === true,
  });
  const columns = plan.columns.map(({ name }) => name);
  const primaryKey = request.create?.primaryKey ?? entry?.primaryKey ?? [];
  checkPrimaryKey(primaryKey, columns);
  const key = request.deduplicationStrategy === 'insert' ? [] : primaryKey;

  const rowsBefore = entry === undefined ? 0 : await countRows(session, table);
  const isReplaced = entry === undefined || request.incremental !== true;
  if (entry === undefined) await removeTable(session, table);
  const loaded = { plan, spool, request, key };
  const stored = entry?.forms.types ?? TEXTS.types;
  const types = await typesForFile(
    session,
    loaded,
    typesOf(columns, request.types ?? stored),
    isReplaced ? TEXTS.types : stored,
  );
  let forms: ColumnForms;
  if (isReplaced) {
    forms = await formsForFile(session, loaded, { types, texts: TEXTS.texts });
    await replaceRows(session, table, { ...loaded, forms });
  } else {
    forms = await withForms(session, table, entry, loaded, types);
    await mergeRows(session, { ...loaded, target: tableName(table), forms });
  }

  const rows = await countRows(session, table);
  const bytes = isReplaced
    ? await sizeOf(session, tableName(table), columns, forms)
    : grown(entry.bytes, rowsBefore, rows, spool);
  const outcome: ImportOutcome = {
    importedColumns: plan.importedColumns,
    newColumns: plan.newColumns,
    importedRows: spool.records,
    importedBytes: spool.bytes,
    totalRows: rows,
    totalBytes: bytes,
    columns,
    primaryKey,
  };
  const lastImport =
    request.lastImport ?? (request.mark === undefined ? undefined : { mark: request.mark, outcome });
  await saveEntry(session, table, { columns, primaryKey, bytes, lastImport, forms });
  return outcome;
}

/** Gives a table the columns of a file, and the types that they are to have. */
async function withForms(
  session: DuckSession,
  table: TableId,
  entry: DuckCatalogEntry,
  file: Pick<Load, 'plan' | 'request' | 'spool'>,
  types: ColumnTypes,
): Promise<ColumnForms> {
  const { newColumns } = file.plan;
  const reshaped = await reshape(session, table, entry, types);
  const added = typesOf(newColumns, types);
  const forms = await formsForFile(session, file, {
    types: new Map([...reshaped.types, ...added]),
    texts: reshaped.texts,
  });
  const target = tableName(table);
  for (const column of entry.columns)
    if (forms.texts.has(column) && !reshaped.texts.has(column)) await addTexts(session, target, column);
  await addColumns(session, target, newColumns, forms);
  return forms;
}

/** New rows are taken to be as large as those of the file on average: counting all of a large table would take longer than adding to it. */
export function grown(
  bytesBefore: number,
  rowsBefore: number,
  rows: number,
  spool: Pick<Spool, 'bytes' | 'records'>,
): number {
  const added = spool.records === 0 ? 0 : (spool.bytes / spool.records) * (rows - rowsBefore);
  return Math.max(rows === 0 ? 0 : 1, Math.round(bytesBefore + added));
}
