import { Type } from 'typebox';
import { entriesOf, isList, isObject, JsonNumber, type Json } from '../../lib/json/index.ts';
import { readTime } from '../../storage/protocol/read-time.ts';
import { badRequest, ApiError } from './api-error.ts';
import {
  MAX_FILTER_VALUES,
  tooManyValues,
  parseColumns,
  parseOrderBy,
  parseWhereFilters,
} from '../stores/tables/row-query.ts';
import type { RowFilter, RowQuery, RowCondition } from '../stores/tables/row-query.ts';
import { TableError } from '../stores/tables/table-error.ts';

const untouched = (description: string) => Type.Optional(Type.Unsafe<Json>({ description }));

/** Fields that select rows; they are read by {@link readRowFilter}. */
export const ROW_FILTER_FIELDS = {
  changedSince: untouched(
    'Unix time, a date, or an offset such as `-2 days`: rows that changed then or later.',
  ),
  changedUntil: untouched('Rows that changed before.'),
  whereFilters: untouched('List of `{column, operator, values, dataType?, type?}`; all must hold.'),
  whereColumn: untouched('Older form of one filter, with `whereValues`.'),
  whereValues: untouched('Values of `whereColumn`.'),
  whereOperator: untouched('`eq` (default) or `ne`.'),
  days: untouched('Older form of `changedSince`: rows that changed in the last days.'),
};

/** Fields of an export or a preview; read by {@link readRowQuery}. */
export const ROW_QUERY_FIELDS = {
  ...ROW_FILTER_FIELDS,
  columns: untouched('Names, as a list or joined by commas.'),
  orderBy: untouched('List of `{column, order, dataType?}`.'),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  fulltextSearch: Type.Optional(
    Type.String({ description: 'Rows with that text in any column, in whatever case.' }),
  ),
  includeInternalTimestamp: Type.Optional(Type.Boolean({ description: 'Adds a last column `_timestamp`.' })),
};

/** Most rows of a preview. */
export const MAX_PREVIEW_ROWS = 1000;

export type RowFilterInput = { readonly [Field in keyof typeof ROW_FILTER_FIELDS]?: unknown };
export type RowQueryInput = RowFilterInput & {
  readonly columns?: unknown;
  readonly orderBy?: unknown;
  readonly limit?: number | null | undefined;
  readonly fulltextSearch?: string | undefined;
  readonly includeInternalTimestamp?: boolean | undefined;
};

/** Largest body that has a filter; a query string is shorter anyway. */
export const MAX_FILTER_BYTES = 1024 * 1024;

/**
 * Reads the selection of rows of a request.
 * @throws TableError, ApiError with the codes and messages of the public API
 */
export function readRowFilter(input: RowFilterInput, now: number): RowFilter {
  const where = [
    ...olderFilter(input),
    ...parseWhereFilters(plain(input.whereFilters), (text) => readTime(text, now)),
  ];
  const since = timeOf('changedSince', input.changedSince, now) ?? daysAgo(input.days, now);
  const until = timeOf('changedUntil', input.changedUntil, now);
  return {
    ...(where.length === 0 ? {} : { where }),
    ...(since === undefined ? {} : { changedSince: since }),
    ...(until === undefined ? {} : { changedUntil: until }),
  };
}

/** Reads the selection of rows, columns and order of a request. */
export function readRowQuery(input: RowQueryInput, now: number): RowQuery {
  const columns = parseColumns(plain(input.columns));
  const orderBy = parseOrderBy(plain(input.orderBy));
  return {
    ...readRowFilter(input, now),
    ...(columns === undefined ? {} : { columns }),
    ...(orderBy.length === 0 ? {} : { orderBy }),
    ...(input.limit == null || input.limit === 0 ? {} : { limit: input.limit }),
    ...(input.fulltextSearch === undefined || input.fulltextSearch === ''
      ? {}
      : { search: input.fulltextSearch }),
    ...(input.includeInternalTimestamp === true ? { includeInternalTimestamp: true } : {}),
  };
}

/** Refuses columns that the table doesn't have, before a job is made. @throws TableError */
export function requireColumns(
  query: RowQuery,
  columns: readonly string[],
  filterCode: 'storage.tables.columnNotExists' | 'storage.tables.validation.columnNotExists',
): void {
  const known = new Set(columns);
  const unknown = (query.columns ?? []).filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new TableError(
      'storage.tables.nonExistingColumns',
      `Some columns do not exist in the table: ${unknown.join(', ')}. Its columns are: ${columns.join(', ')}.`,
    );
  for (const { column } of query.where ?? []) {
    if (known.has(column)) continue;
    throw new TableError(
      filterCode,
      `Filter validation: Cannot filter by column "${column}", column does not exist`,
    );
  }
  for (const { column } of query.orderBy ?? []) {
    if (known.has(column)) continue;
    throw new TableError(
      'storage.tables.validation.columnNotExists',
      `Cannot order by column "${column}", column does not exist`,
    );
  }
}

function olderFilter(input: RowFilterInput): RowCondition[] {
  const column = textOf(input.whereColumn);
  if (column === undefined) return [];
  const given = plain(input.whereValues);
  const list: unknown[] =
    typeof given === 'object' && given !== null ? Object.values(given) : given === undefined ? [] : [given];
  if (list.length > MAX_FILTER_VALUES) throw tooManyValues(list.length);
  const values = list.map((value) => (typeof value === 'string' ? value : JSON.stringify(value ?? '')));
  if (values.length === 0) {
    const message = 'To use "whereColumn" specify "whereValues".';
    throw new ApiError(400, 'validation.failed', `Invalid request:\n - whereColumn: "${message}"`, {
      errors: [{ key: 'whereColumn', message }],
    });
  }
  const operator = textOf(input.whereOperator) ?? 'eq';
  if (operator !== 'eq' && operator !== 'ne')
    throw badRequest('storage.tables.validation', `Invalid where operator ${operator}`);
  return [{ column, operator, values }];
}

function timeOf(name: string, value: unknown, now: number): Date | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const time = readTime(text, now);
  if (time === undefined)
    throw badRequest('storage.tables.validation', `Invalid request:\n - ${name}: "${text}" is no time.`);
  return time;
}

function daysAgo(value: unknown, now: number): Date | undefined {
  const text = textOf(value);
  return text === undefined || !/^\d{1,6}$/.test(text)
    ? undefined
    : new Date(now - Number(text) * 86_400_000);
}

function textOf(value: unknown): string | undefined {
  const given = plain(value);
  if (given === undefined || given === null || given === '') return undefined;
  return typeof given === 'string'
    ? given
    : typeof given === 'number'
      ? String(given)
      : JSON.stringify(given);
}

/** JSON without exact numbers and maps of our own: plain values that can be stored in a job. */
export function plain(value: unknown): unknown {
  // Bodies and queries are JSON.
  const json = value as Json | undefined;
  if (json instanceof JsonNumber) return json.literal;
  if (isList(json)) return json.map(plain);
  if (isObject(json)) return Object.fromEntries(entriesOf(json).map(([key, item]) => [key, plain(item)]));
  return json;
}
