import { columnName, columnNameProblem } from '../../../lib/names.ts';
import { MAX_COLUMNS } from './import-plan.ts';
import { TableError } from './table-error.ts';
import type { TableDefinition, TableId } from './engine.ts';

/** A column that a table can be given. @throws TableError */
export function checkNewColumn(table: TableId, { columns }: TableDefinition, column: string): void {
  const problem = columnNameProblem(column);
  if (problem !== undefined || columnName(column) !== column)
    throw new TableError(
      'storage.tables.invalidColumnName',
      `The column name "${column}" ${problem ?? 'is invalid'}.`,
    );
  if (columns.some((known) => known.toLowerCase() === column.toLowerCase()))
    throw new TableError(
      'storage.tables.columnAlreadyExists',
      `The column "${column}" already exists in the table "${table.table}".`,
    );
  if (columns.length >= MAX_COLUMNS)
    throw new TableError(
      'storage.tables.validation.tooManyColumns',
      `The table has ${MAX_COLUMNS} columns, which is the limit.`,
    );
}

/** The columns that are left when one is dropped. @throws TableError */
export function columnsWithout(table: TableId, definition: TableDefinition, column: string): string[] {
  const columns = definition.columns.filter((known) => known !== column);
  if (columns.length === definition.columns.length)
    throw new TableError(
      'storage.tables.columnNotExists',
      `The column "${column}" does not exist in the table "${table.table}".`,
    );
  if (definition.primaryKey.includes(column))
    throw new TableError(
      'storage.tables.cannotDeletePrimaryKeyColumn',
      `The column "${column}" is part of the primary key. Remove the key first.`,
    );
  if (columns.length === 0)
    throw new TableError(
      'storage.tables.cannotDeleteLastColumn',
      `"${column}" is the last column of the table "${table.table}".`,
    );
  return columns;
}

/** A key that a table can be given, as far as its columns say. @throws TableError */
export function checkNewKey({ columns }: TableDefinition, primaryKey: readonly string[]): void {
  const unknown = primaryKey.filter((name) => !columns.includes(name));
  if (unknown.length === 0 && new Set(primaryKey).size === primaryKey.length) return;
  const message =
    unknown.length > 0
      ? `Columns "${unknown.join(',')}" do not exist in the table.`
      : 'A column is in the primary key twice.';
  throw new TableError('storage.validation.primaryKey', message);
}

export function sharedKey(primaryKey: readonly string[]): TableError {
  return new TableError(
    'storage.tables.primaryKeyDuplicateValues',
    `The primary key "${primaryKey.join(',')}" can not be set: several rows have the same values in these columns.`,
  );
}
