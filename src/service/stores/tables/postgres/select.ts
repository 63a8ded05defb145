import { checkFilterColumns, checkOrderColumns, selectedColumns } from '../row-selection.ts';
import { CHANGED_AT, column as columnIdentifier, literal, quoted, ROW, timestampLiteral } from './names.ts';
import { numberOf, timeOf } from './values.ts';
import type { TableErrorCode } from '../table-error.ts';
import type { RowFilter, RowOrder, RowQuery, RowCondition } from '../row-query.ts';

/**
 * ` WHERE …` of a filter, or nothing.
 *
 * @param letters the collation that knows small and capital letters; the columns compare as bytes
 * @throws TableError for a column that the table doesn't have
 */
export function whereClause(
  filter: RowFilter,
  columns: readonly string[],
  letters: string,
  code: TableErrorCode = 'storage.tables.validation.columnNotExists',
): string {
  checkFilterColumns(filter, columns, code);
  const conditions = (filter.where ?? []).map((where) => condition(where, letters));
  if (filter.changedSince !== undefined)
    conditions.push(`${CHANGED_AT} >= ${timestampLiteral(filter.changedSince)}`);
  if (filter.changedUntil !== undefined)
    conditions.push(`${CHANGED_AT} < ${timestampLiteral(filter.changedUntil)}`);
  if (filter.search !== undefined && filter.search !== '')
    conditions.push(contains([filter.search], filter.searchIn ?? columns, letters));
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

/** ` ORDER BY …`: equal rows, and all when no order is asked for, in the order of insertion. */
export function orderClause(orderBy: readonly RowOrder[] | undefined, columns: readonly string[]): string {
  checkOrderColumns(orderBy ?? [], columns);
  const terms = (orderBy ?? []).map(({ column, order, dataType }) => {
    const cell = columnIdentifier(column);
    return `${dataType === undefined ? cell : numberOf(cell, dataType)} ${order} NULLS LAST`;
  });
  return ` ORDER BY ${[...terms, ROW].join(', ')}`;
}

/** Expressions for the columns of a result, named `r0`, `r1`, …: one column may be asked for twice. */
export function resultExpressions(query: RowQuery, all: readonly string[]): string[] {
  const cells = selectedColumns(query, all).map(columnIdentifier);
  if (query.includeInternalTimestamp === true) {
    const digits = query.hasExactTimes === true ? '.US' : '';
    cells.push(`to_char(${CHANGED_AT}, 'YYYY-MM-DD HH24:MI:SS${digits}')`);
  }
  return cells.map((cell, i) => `${cell} AS r${i}`);
}

/** Returns the condition that one of the columns has one of the texts in it. */
function contains(texts: readonly string[], columns: readonly string[], letters: string): string {
  const found = texts
    // No value in a table holds a NUL.
    .filter((text) => !text.includes('\0'))
    .flatMap((text) =>
      columns.map(
        (column) =>
          `strpos(lower(${columnIdentifier(column)} COLLATE ${quoted(letters)}), lower(${literal(text)} COLLATE ${quoted(letters)})) > 0`,
      ),
    );
  return found.length === 0 ? 'false' : `(${found.join(' OR ')})`;
}

const OPERATORS = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

function condition({ column, operator, values, dataType, isTime }: RowCondition, letters: string): string {
  if (operator === 'contains') return contains(values, [column], letters);
  const cell = columnIdentifier(column);
  const isEquality = operator === 'eq' || operator === 'ne';
  if (isTime !== true && dataType === undefined) {
    if (!isEquality) return textComparison(cell, operator, values[0] ?? '');
    // No value in a table holds a NUL.
    return among(cell, operator, values.filter((value) => !value.includes('\0')).map(literal));
  }
  const converted = (text: string): string =>
    dataType === undefined ? timeOf(text) : numberOf(text, dataType);
  const operands = values
    .map((value) => (value.includes('\0') ? 'none' : value))
    .map((value) => converted(`(${literal(value)}::text COLLATE "C")`));
  if (!isEquality)
    return `coalesce(${converted(cell)} ${OPERATORS[operator]} ${operands[0] ?? 'NULL'}, false)`;
  return `coalesce(${among(converted(cell), operator, operands)}, false)`;
}

function among(cell: string, operator: 'eq' | 'ne', operands: readonly string[]): string {
  if (operands.length === 0) return operator === 'eq' ? 'false' : 'true';
  return `${cell} ${operator === 'eq' ? 'IN' : 'NOT IN'} (${operands.join(', ')})`;
}

/** The database takes no text with a NUL. As none is in a table, what stands in front of it is enough to compare with. */
function textComparison(cell: string, operator: keyof typeof OPERATORS, value: string): string {
  const end = value.indexOf('\0');
  if (end < 0) return `${cell} ${OPERATORS[operator]} ${literal(value)}`;
  return `${cell} ${operator === 'gt' || operator === 'ge' ? '>' : '<='} ${literal(value.slice(0, end))}`;
}

/** Returns SQL for the value as a number; NULL when it is not a finite one. */
export function finiteNumber(expression: string): string {
  return `nullif(nullif(nullif(${numberOf(expression, 'DOUBLE')}, 'inf'), '-inf'), 'nan')`;
}
