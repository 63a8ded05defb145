import { CsvError } from '../../../lib/csv/csv-error.ts';
import { createDialect } from '../../../lib/csv/dialect.ts';
import { columnName } from '../../../lib/names.ts';
import { columnsNotMatch, TIMESTAMP_COLUMN } from './import-plan.ts';
import { diskFull, TableError } from './table-error.ts';
import type { CsvDialect } from '../../../lib/csv/dialect.ts';
import type { ImportRequest } from './engine.ts';

/** How the slices of an import are to be read. */
export interface ImportSource {
  readonly dialect: CsvDialect;
  /** The first slice starts with the names of the columns; or what tells whether it does. */
  readonly hasHeader: boolean | ((names: readonly string[]) => boolean);
  /** Lines left out at the start of the first slice. */
  readonly ignoredLines: number;
  /** Cells of a record, when known before. */
  readonly columns: number | undefined;
  /** Names in file order. @throws TableError when a record has other columns than are named */
  fileColumns(found: Found): readonly string[];
}

/** Findings from the first bytes of the slices. */
interface Found {
  readonly header: readonly string[] | undefined;
  /** Cells of a record; 0 when there is none. */
  readonly columns: number;
}

/**
 * Combines the facts that a request and its table state about the file.
 *
 * @param tableColumns undefined: the table is made by this import
 * @throws TableError when the format is invalid, or the columns are named nowhere
 */
export function importSource(
  request: ImportRequest,
  tableColumns: readonly string[] | undefined,
): ImportSource {
  const dialect = dialectOf(request);
  const isNew = request.create !== undefined;
  const ignoredLines = request.ignoredLinesCount ?? 0;
  const given = request.columns !== undefined && request.columns.length > 0 ? request.columns : undefined;
  const isByPosition = request.isSliced === true || (request.withoutHeaders === true && ignoredLines === 0);
  if (!isNew && given === undefined && request.isSliced === true && request.withoutHeaders !== true)
    throw columnsNotMatch([], tableColumns ?? [], request.delimiter);
  if (isNew && given === undefined && isByPosition) {
    const message = 'The file has no header. Name its columns in the parameter "columns".';
    throw new TableError('storage.tables.validation.invalidColumnName', message);
  }
  const named = given ?? (isByPosition ? tableColumns : undefined);
  const isTimeUnnamed =
    named !== undefined && request.useTimestampFromDataFile === true && !named.includes(TIMESTAMP_COLUMN);
  return {
    dialect,
    hasHeader: given === undefined ? !isByPosition : headerOf(given, request, isTimeUnnamed),
    ignoredLines,
    // The first record says whether the time stands behind the columns that are named.
    columns: isTimeUnnamed ? undefined : named?.length,
    fileColumns: (found) => (isTimeUnnamed ? withTime(named, found) : (named ?? found.header ?? [])),
  };
}

/**
 * Returns the test for whether a file whose columns are named has a header all the same, which is then not data. An
 * import that makes its table accepts such a header; else it is certain only when the column of the change time has its
 * name in place of a time.
 */
function headerOf(
  columns: readonly string[],
  request: ImportRequest,
  isTimeUnnamed: boolean,
): ImportSource['hasHeader'] {
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
function withTime(columns: readonly string[], { header, columns: count }: Found): readonly string[] {
  if (header !== undefined) return header;
  if (count === columns.length || count === 0) return columns;
  if (count === columns.length + 1) return [...columns, TIMESTAMP_COLUMN];
  throw new TableError(
    'csvImport.invalidCsv',
    `Load error: a record has ${count} columns; expected are the ${columns.length} that are named, and the change time.`,
  );
}

function dialectOf(request: ImportRequest): CsvDialect {
  try {
    return createDialect(request);
  } catch (error) {
    if (error instanceof CsvError) throw new TableError('invalidCsv', error.message, { cause: error });
    throw error;
  }
}

/** An error of one slice as the table engine tells it: with the physical line, and the slice when it isn't the first. */
export function sliceError(error: unknown, slice: number): unknown {
  if (error instanceof CsvError) {
    const place = slice === 0 ? '' : `Slice ${slice + 1}: `;
    const code =
      error.problem === 'tooManyColumns'
        ? 'storage.tables.validation.tooManyColumns'
        : 'csvImport.invalidCsv';
    return new TableError(code, `Load error: ${place}${error.message}`, {
      results: { line: error.line, record: error.record },
      cause: error,
    });
  }
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return diskFull(error);
  return error;
}
