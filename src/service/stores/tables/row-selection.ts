import { TIMESTAMP_COLUMN } from './import-plan.ts';
import { TableError, type TableErrorCode } from './table-error.ts';
import type { RowFilter, RowOrder, RowQuery } from './row-query.ts';

const PREVIEW_ROWS = 100;
const MAX_PREVIEW_ROWS = 1000;

/** Rows that a preview shows. */
function previewLimit({ limit }: RowQuery): number {
  return Math.min(MAX_PREVIEW_ROWS, Math.max(0, Math.floor(limit ?? PREVIEW_ROWS)));
}

/** ` LIMIT …` of a preview, with the rows that are passed over first. */
export function previewPart(query: RowQuery): string {
  const offset = Math.max(0, Math.floor(query.offset ?? 0));
  return ` LIMIT ${previewLimit(query)}${offset === 0 ? '' : ` OFFSET ${offset}`}`;
}

/**
 * Returns SQL for a cell of a preview, so that the database sends no more than was asked for. It counts code points, of
 * which no text has more than UTF-16 units, so that one more than is needed shows for certain whether there is more.
 */
export function previewCell(cell: string, { cellLength }: RowQuery): string {
  return cellLength === undefined ? cell : `left(${cell}, ${Math.min(cellLength, MOST_CELL) + 1})`;
}

/** More than any cell has, and a number that both databases take. */
const MOST_CELL = 2_000_000_000;

/** Returns the columns that a query names, or all. @throws TableError (`storage.tables.nonExistingColumns`) */
export function selectedColumns({ columns }: RowQuery, all: readonly string[]): readonly string[] {
  const unknown = (columns ?? []).filter((column) => !all.includes(column));
  if (unknown.length === 0) return columns === undefined || columns.length === 0 ? all : columns;
  throw new TableError(
    'storage.tables.nonExistingColumns',
    `Trying to select non existing columns: ${unknown.join(', ')}`,
    {
      results: { nonExistingColumns: unknown },
    },
  );
}

/** Names of the columns of a result; the change time goes last. */
export function resultColumns(query: RowQuery, all: readonly string[]): string[] {
  const columns = selectedColumns(query, all);
  return query.includeInternalTimestamp === true ? [...columns, TIMESTAMP_COLUMN] : [...columns];
}

/** Conditions are on columns that the table has. @throws TableError with that code */
export function checkFilterColumns(
  { where = [] }: RowFilter,
  columns: readonly string[],
  code: TableErrorCode,
): void {
  for (const { column } of where) {
    if (columns.includes(column)) continue;
    throw new TableError(
      code,
      `Filter validation: Cannot filter by column "${column}", column does not exist`,
    );
  }
}

/** Rows are sorted by columns that the table has. @throws TableError */
export function checkOrderColumns(orderBy: readonly RowOrder[], columns: readonly string[]): void {
  for (const { column } of orderBy) {
    if (columns.includes(column)) continue;
    throw new TableError(
      'storage.tables.validation.columnNotExists',
      `Order by: Cannot sort by column "${column}", column does not exist`,
    );
  }
}
