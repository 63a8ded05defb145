import { checkFilterColumns, checkOrderColumns, selectedColumns } from '../row-selection.ts';
import { balanced, CHANGED_AT, columnIdentifier, literal, timestampLiteral } from './identifiers.ts';
import type { TableErrorCode } from '../table-error.ts';
import type { DataType, RowFilter, RowOrder, RowQuery, RowCondition } from '../row-query.ts';

/** ` WHERE …` of a filter, or nothing. @throws TableError for a column that the table doesn't have */
export function whereClause(filter: RowFilter, columns: readonly string[], code: TableErrorCode): string {
  checkFilterColumns(filter, columns, code);
  const conditions = (filter.where ?? []).map(condition);
  if (filter.changedSince !== undefined)
    conditions.push(`${CHANGED_AT} >= ${timestampLiteral(filter.changedSince)}`);
  if (filter.changedUntil !== undefined)
    conditions.push(`${CHANGED_AT} < ${timestampLiteral(filter.changedUntil)}`);
  if (filter.search !== undefined && filter.search !== '')
    conditions.push(contains(filter.searchIn ?? columns, [filter.search]));
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

/** ` ORDER BY …`, or nothing: equal rows stay in the order of insertion. */
export function orderClause(orderBy: readonly RowOrder[] | undefined, columns: readonly string[]): string {
  if (orderBy === undefined || orderBy.length === 0) return '';
  checkOrderColumns(orderBy, columns);
  const terms = orderBy.map(
    ({ column, order, dataType }) => `${typed(columnIdentifier(column), dataType)} ${order} NULLS LAST`,
  );
  return ` ORDER BY ${terms.join(', ')}, rowid`;
}

/** Expressions for the columns of a result, named `r0`, `r1`, …: one column may be asked for twice. */
export function resultExpressions(query: RowQuery, all: readonly string[]): string[] {
  const cells = selectedColumns(query, all).map(columnIdentifier);
  if (query.includeInternalTimestamp === true) {
    const digits = query.hasExactTimes === true ? '.%f' : '';
    cells.push(`strftime(${CHANGED_AT}, '%Y-%m-%d %H:%M:%S${digits}')`);
  }
  return cells.map((cell, i) => `${cell} AS r${i}`);
}

/** Returns the condition that one of the columns has one of the texts in it. */
function contains(columns: readonly string[], texts: readonly string[]): string {
  const found = columns.flatMap((column) =>
    texts.map(
      (text) => `coalesce(contains(lower(${columnIdentifier(column)}), lower(${literal(text)})), false)`,
    ),
  );
  return found.length === 0 ? 'false' : balanced(found, ' OR ');
}

const OPERATORS = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

function condition({ column, operator, values, dataType, isTime }: RowCondition): string {
  if (operator === 'contains') return contains([column], values);
  const cast = (expression: string): string =>
    isTime === true ? `try_cast(${expression} AS TIMESTAMP)` : typed(expression, dataType);
  const cell = cast(columnIdentifier(column));
  const operands = values.map((value) => cast(literal(value)));
  if (operator !== 'eq' && operator !== 'ne')
    return `coalesce(${cell} ${OPERATORS[operator]} ${operands[0] ?? 'NULL'}, false)`;
  if (operands.length === 0) return operator === 'eq' ? 'false' : 'true';
  return `coalesce(${cell} ${operator === 'eq' ? 'IN' : 'NOT IN'} (${operands.join(', ')}), false)`;
}

/** Whole numbers and decimals keep all their digits; what is no such number becomes NULL. */
const SQL_TYPES: Readonly<Record<DataType, string>> = {
  INTEGER: 'HUGEINT',
  BIGINT: 'HUGEINT',
  DECIMAL: 'DECIMAL(38, 10)',
  REAL: 'DOUBLE',
  DOUBLE: 'DOUBLE',
};

function typed(expression: string, dataType: DataType | undefined): string {
  return dataType === undefined ? expression : `try_cast(${expression} AS ${SQL_TYPES[dataType]})`;
}

/** Returns SQL for the value as a number; NULL when it is not a finite one. */
export function finiteNumber(expression: string): string {
  const number = typed(expression, 'DOUBLE');
  return `CASE WHEN isfinite(${number}) THEN ${number} END`;
}
