import { columnName, columnNameProblem } from '../../../lib/names.ts';
import { TableError } from './table-error.ts';

/** Most columns of a table. */
export const MAX_COLUMNS = 1200;

/** The column of a file that may hold the change time, and the name of ours. */
export const TIMESTAMP_COLUMN = '_timestamp';

/** Which column of the file goes where. */
export interface ImportPlan {
  /** Columns of the table afterwards, with the index of each one's cell in a record. */
  readonly columns: readonly { readonly name: string; readonly cell: number }[];
  /** Names in file order, without the change time. */
  readonly importedColumns: readonly string[];
  readonly newColumns: readonly string[];
  /** Index of the cell with the change time. */
  readonly timestampCell: number | undefined;
}

export interface PlanInput {
  /** Names as in the file, in file order. */
  readonly fileColumns: readonly string[];
  /** Columns of the table; `undefined`: it is made by this import. */
  readonly tableColumns: readonly string[] | undefined;
  readonly delimiter: string;
  readonly useTimestampFromDataFile: boolean;
}

/**
 * Matches the columns of a file with those of its table: by webalized name, case-sensitively.
 * Columns the table doesn't have are added at its end.
 * @throws TableError when a column of the table is missing, or a name is invalid or there twice
 */
export function planImport({
  fileColumns,
  tableColumns,
  delimiter,
  useTimestampFromDataFile,
}: PlanInput): ImportPlan {
  const timestampCell = useTimestampFromDataFile ? fileColumns.indexOf(TIMESTAMP_COLUMN) : -1;
  if (fileColumns.length > MAX_COLUMNS) throw tooManyColumns(fileColumns.length);
  const cells = fileColumns
    .map((name, cell) => ({ name: columnName(name), cell }))
    .filter(({ cell }) => cell !== timestampCell);
  const importedColumns = cells.map(({ name }) => name);

  refuseMissing(importedColumns, tableColumns ?? [], delimiter);
  checkColumnNames(importedColumns);

  const known = new Set(tableColumns);
  const added = cells.filter(({ name }) => !known.has(name));
  const cellOf = new Map(cells.map(({ name, cell }) => [name, cell]));
  const columns = [...(tableColumns ?? []).map((name) => ({ name, cell: cellOf.get(name) ?? -1 })), ...added];
  if (columns.length > MAX_COLUMNS) throw tooManyColumns(columns.length);
  return {
    columns,
    importedColumns,
    newColumns: tableColumns === undefined ? [] : added.map(({ name }) => name),
    timestampCell: timestampCell < 0 ? undefined : timestampCell,
  };
}

/** Names that the columns of one table can have together. @throws TableError */
export function checkColumnNames(names: readonly string[]): void {
  if (names.length === 0)
    throw new TableError('storage.tables.validation.noColumns', 'The file has no columns.');
  if (names.length > MAX_COLUMNS) throw tooManyColumns(names.length);
  const seen = new Set<string>();
  const doubled = new Set<string>();
  for (const [i, name] of names.entries()) {
    const problem = columnNameProblem(name);
    if (problem !== undefined)
      throw new TableError(
        'storage.tables.validation.invalidColumnName',
        `The name "${name}" of column ${i + 1} ${problem}.`,
      );
    // Databases don't tell `ID` from `id`.
    if (seen.has(name.toLowerCase())) doubled.add(name);
    seen.add(name.toLowerCase());
  }
  if (doubled.size > 0) {
    const list = [...doubled].join(', ');
    throw new TableError(
      'csvImport.duplicateColumns',
      `There are duplicate columns in the csv file: ${list}. Names are compared without case.`,
    );
  }
}

/** A primary key of columns that the table has. @throws TableError */
export function checkPrimaryKey(primaryKey: readonly string[], columns: readonly string[]): void {
  const known = new Set(columns);
  const unknown = primaryKey.filter((name) => !known.has(name));
  if (unknown.length === 0 && new Set(primaryKey).size === primaryKey.length) return;
  throw new TableError(
    'storage.tables.validation.invalidPrimaryKeyColumns',
    unknown.length === 0
      ? `A column is in the primary key twice: ${primaryKey.join(',')}.`
      : `Primary key columns "${unknown.join(',')}" are not among the columns "${columns.join(',')}".`,
  );
}

function refuseMissing(found: readonly string[], expected: readonly string[], delimiter: string): void {
  const missing = expected.filter((name) => !found.includes(name));
  if (missing.length > 0) throw columnsNotMatch(missing, expected, delimiter);
}

/** @param missing all that are expected when it is empty: the file names none */
export function columnsNotMatch(
  missing: readonly string[],
  expected: readonly string[],
  delimiter = ',',
): TableError {
  const absent = missing.length === 0 ? expected : missing;
  return new TableError(
    'csvImport.columnsNotMatch',
    `Some columns are missing in the csv file. Missing columns: ${absent.join(',')}. Expected columns: ${expected.join(',')}. ` +
      `Please check if the expected delimiter "${delimiter}" is used in the csv file.`,
    { results: { missingColumns: [...absent], expectedColumns: [...expected] } },
  );
}

export function tooManyColumns(count: number): TableError {
  return new TableError(
    'storage.tables.validation.tooManyColumns',
    `There are ${count} columns, the limit is ${MAX_COLUMNS}.`,
  );
}
