import { CsvError } from '../../../../csv/csv-error.ts';
import { createDialect } from '../../../../csv/dialect.ts';
import { columnName } from '../../../../names.ts';
import { checkPrimaryKey, columnsNotMatch, planImport, TIMESTAMP_COLUMN } from '../import-plan.ts';
import { TableError } from '../table-error.ts';
import { countRows, findEntry, removeTable, requireEntry, saveEntry } from './catalog.ts';
import { mergeRows, replaceRows } from './load.ts';
import { sizeOf } from './size.ts';
import { withSpool } from './spool.ts';
import type { CsvDialect } from '../../../../csv/dialect.ts';
import type { ByteSlice, ImportOutcome, ImportRequest, TableId } from '../engine.ts';
import type { CatalogEntry } from './catalog.ts';
import type { Database, Session } from './database.ts';
import type { Spool, SpoolOptions } from './spool.ts';

/**
 * Checks the slices into files, then loads these in one transaction.
 * The caller sees to it that nothing else writes to the table meanwhile.
 */
export async function importTable(
  database: Database,
  table: TableId,
  request: ImportRequest,
  slices: AsyncIterable<ByteSlice>,
): Promise<ImportOutcome> {
  const dialect = dialectOf(request);
  const isNew = request.create !== undefined;
  const known = await database.use((session) => findEntry(session, table));
  if (request.mark !== undefined && known?.lastImport?.mark === request.mark) return known.lastImport.outcome;
  const entry = isNew
    ? undefined
    : (known ?? (await database.use((session) => requireEntry(session, table))));
  const ignoredLines = request.ignoredLinesCount ?? 0;
  const given = request.columns !== undefined && request.columns.length > 0 ? request.columns : undefined;
  const isByPosition = request.isSliced === true || (request.withoutHeaders === true && ignoredLines === 0);
  if (!isNew && given === undefined && request.isSliced === true && request.withoutHeaders !== true)
    throw columnsNotMatch([], entry?.columns ?? [], request.delimiter);
  if (isNew && given === undefined && isByPosition) {
    const message = 'The file has no header. Name its columns in the parameter "columns".';
    throw new TableError('storage.tables.validation.invalidColumnName', message);
  }
  const named = given ?? (isByPosition ? entry?.columns : undefined);
  const isTimeUnnamed =
    given !== undefined && request.useTimestampFromDataFile === true && !given.includes(TIMESTAMP_COLUMN);
  const options = {
    dialect,
    hasHeader: given === undefined ? !isByPosition : headerOf(given, request, isTimeUnnamed),
    ignoredLines,
    // The first record says whether the time stands behind the columns that are named.
    columns: isTimeUnnamed ? undefined : named?.length,
  };
  return withSpool(database.spoolFolder, slices, options, (spool) => {
    const fileColumns = isTimeUnnamed ? withTime(given, spool) : (named ?? spool.header ?? []);
    return database.transaction((session) => load(session, table, request, { spool, entry, fileColumns }));
  });
}

/**
 * Whether a file whose columns are named has a header all the same, which is then no data. Tables are made of such
 * files; else it is certain only where the column of the change time has its name in place of a time.
 */
function headerOf(
  columns: readonly string[],
  request: ImportRequest,
  isTimeUnnamed: boolean,
): SpoolOptions['hasHeader'] {
  if (request.isSliced === true || (request.create === undefined && !isTimeUnnamed)) return false;
  const wanted = JSON.stringify(columns.map(columnName));
  return (names) => {
    const isTimed = isTimeUnnamed && names.includes(TIMESTAMP_COLUMN);
    if (request.create === undefined && !isTimed) return false;
    const rest = isTimed ? names.filter((name) => name !== TIMESTAMP_COLUMN) : names;
    return JSON.stringify(rest.map(columnName)) === wanted;
  };
}

/** The columns of a file that may have the change time in one more column, the last unless its header says another. */
function withTime(columns: readonly string[], { header, columns: count, records }: Spool): readonly string[] {
  if (header !== undefined) return header;
  if (count === columns.length || records === 0) return columns;
  if (count === columns.length + 1) return [...columns, TIMESTAMP_COLUMN];
  throw new TableError(
    'csvImport.invalidCsv',
    `Load error: a record has ${count} columns; expected are the ${columns.length} that are named, and the change time.`,
  );
}

interface Source {
  readonly spool: Spool;
  readonly entry: CatalogEntry | undefined;
  readonly fileColumns: readonly string[];
}

async function load(
  session: Session,
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
  if (isReplaced) await replaceRows(session, { table, plan, spool, request, key });
  else await mergeRows(session, { table, plan, spool, request, key });

  const rows = await countRows(session, table);
  const bytes = isReplaced
    ? await sizeOf(session, table, columns)
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
  const lastImport = request.mark === undefined ? undefined : { mark: request.mark, outcome };
  await saveEntry(session, table, { columns, primaryKey, bytes, lastImport });
  return outcome;
}

/** New rows are taken to be as large as those of the file on average: counting all of a large table would take longer than adding to it. */
function grown(bytesBefore: number, rowsBefore: number, rows: number, spool: Spool): number {
  const added = spool.records === 0 ? 0 : (spool.bytes / spool.records) * (rows - rowsBefore);
  return Math.max(rows === 0 ? 0 : 1, Math.round(bytesBefore + added));
}

function dialectOf(request: ImportRequest): CsvDialect {
  try {
    return createDialect(request);
  } catch (error) {
    if (error instanceof CsvError) throw new TableError('invalidCsv', error.message, { cause: error });
    throw error;
  }
}
