import { TableError } from './table-error.ts';

/** Which rows: all conditions together. */
export interface RowFilter {
  readonly where?: readonly RowCondition[];
  /** Rows that changed at this time or later. */
  readonly changedSince?: Date;
  /** Rows that changed before this time. */
  readonly changedUntil?: Date;
  /** Rows with this text in any column, in whatever case. */
  readonly search?: string;
  /** The columns that are searched. Default: all. */
  readonly searchIn?: readonly string[];
}

export interface RowQuery extends RowFilter {
  /** Default: all, in table order. */
  readonly columns?: readonly string[];
  readonly limit?: number;
  /** Rows that are passed over first; of a preview only. Default 0. */
  readonly offset?: number;
  readonly orderBy?: readonly RowOrder[];
  /** Characters (UTF-16) of a cell that are needed, and one by which it is seen that there are more; of a preview only. Default: all. */
  readonly cellLength?: number;
  /** Adds the change time as a last column `_timestamp`, as `YYYY-MM-DD HH:MM:SS` in UTC. */
  readonly includeInternalTimestamp?: boolean;
  /** The change time with all its digits, as in `2020-05-06 07:08:09.000100`: an import of it loses none. Default false. */
  readonly hasExactTimes?: boolean;
}

/**
 * Compares as text (bytes of UTF-8), or as a number with `dataType`; a value that is no such number doesn't match.
 * `eq` means one of the values, `ne` none of them, `contains` a text with one of them in it, in whatever case.
 */
export interface RowCondition {
  readonly column: string;
  readonly operator: WhereOperator;
  readonly values: readonly string[];
  readonly dataType?: DataType;
  /** Values of the column are read as times, `values` are `YYYY-MM-DD HH:MM:SS` in UTC. */
  readonly isTime?: boolean;
}

export interface RowOrder {
  readonly column: string;
  readonly order: 'ASC' | 'DESC';
  readonly dataType?: DataType;
}

export const WHERE_OPERATORS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'contains'] as const;
/** Operators that take several values. */
const SEVERAL: ReadonlySet<string> = new Set(['eq', 'ne', 'contains']);
export type WhereOperator = (typeof WHERE_OPERATORS)[number];

export const DATA_TYPES = ['INTEGER', 'DOUBLE', 'BIGINT', 'REAL', 'DECIMAL'] as const;
export type DataType = (typeof DATA_TYPES)[number];

/** Values of all filters of a request together: each costs memory and time that others wait for. */
export const MAX_FILTER_VALUES = 1000;

export const tooManyValues = (count: number): TableError =>
  invalid(
    `The filters have ${count} values; ${MAX_FILTER_VALUES} are allowed. Load the values into a table, or ask several times.`,
  );

/** Reads a time as a filter may give it: a date, a Unix time, `-2 days`. */
export type TimeReader = (text: string) => Date | undefined;

/**
 * `whereFilters` of a request.
 * @throws TableError (`storage.tables.validation`) with the messages of the public API
 */
export function parseWhereFilters(value: unknown, readTime: TimeReader): RowCondition[] {
  const items = parseItems('whereFilters', value);
  refuseMissing(
    items.flatMap((item, i) =>
      ['column', 'values']
        .filter((field) => isMissing(item[field]))
        .map((field) => `whereFilters[${i}][${field}]`),
    ),
  );
  const count = items.reduce((sum, item) => sum + listOf(item['values']).length, 0);
  if (count > MAX_FILTER_VALUES) throw tooManyValues(count);
  return items.map((item) => parseWhereFilter(item, readTime));
}

/** `orderBy` of a request, as `parseWhereFilters`. */
export function parseOrderBy(value: unknown): RowOrder[] {
  const items = parseItems('orderBy', value);
  refuseMissing(items.flatMap((item, i) => (isMissing(item['column']) ? [`orderBy[${i}][column]`] : [])));
  return items.map((item) => {
    const order = isMissing(item['order']) ? 'ASC' : textOf(item['order']);
    if (order !== 'ASC' && order !== 'DESC')
      throw invalid(`Invalid sort order ${order}. Available orders are [DESC|ASC]`);
    return { column: textOf(item['column']), order, ...parseDataType(item['dataType']) };
  });
}

/** `columns` of a request: a list, or names joined by commas; `undefined` when none is named. */
export function parseColumns(value: unknown): string[] | undefined {
  const list = Array.isArray(value) ? value.map(textOf) : isMissing(value) ? [] : textOf(value).split(',');
  const names = list.map((name) => name.trim()).filter((name) => name !== '');
  return names.length === 0 ? undefined : names;
}

function parseWhereFilter(item: Item, readTime: TimeReader): RowCondition {
  const given = isMissing(item['operator']) ? 'eq' : textOf(item['operator']);
  const operator = WHERE_OPERATORS.find((known) => known === given);
  if (operator === undefined) throw invalid(`Invalid where operator ${given}`);
  const column = textOf(item['column']);
  const values = listOf(item['values']).map(textOf);
  if (!SEVERAL.has(operator) && values.length !== 1)
    throw invalid(`The where operator ${operator} needs exactly one value, but ${values.length} were given.`);
  const type = isMissing(item['type']) ? 'SCALAR' : textOf(item['type']);
  if (operator === 'contains' && (type !== 'SCALAR' || !isMissing(item['dataType'])))
    throw invalid('The where operator contains looks at texts: it takes neither a type nor a dataType.');
  if (type === 'SCALAR') return { column, operator, values, ...parseDataType(item['dataType']) };
  if (type !== 'TIME_STRING')
    throw invalid(`Filter type ${type} not recognized. Available types are [SCALAR|TIME_STRING]`);
  if (!isMissing(item['dataType']))
    throw invalid('The dataType of a filter of type TIME_STRING must be empty.');
  return { column, operator, values: values.map((text) => timeText(text, readTime)), isTime: true };
}

function parseDataType(value: unknown): { dataType?: DataType } {
  if (isMissing(value)) return {};
  const given = textOf(value);
  const dataType = DATA_TYPES.find((known) => known === given.toUpperCase());
  if (dataType === undefined) throw invalid(`Data type ${given} not recognized`);
  return { dataType };
}

function timeText(text: string, readTime: TimeReader): string {
  const time = readTime(text);
  if (time === undefined || Number.isNaN(time.getTime()))
    throw invalid(`The filter value "${text}" is no time.`);
  return time.toISOString().slice(0, 19).replace('T', ' ');
}

type Item = Readonly<Record<string, unknown>>;

/** Clients in PHP know no difference between lists and objects, so one may stand in the place of the other. */
function parseItems(parameter: string, value: unknown): Item[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object')
    throw invalid(
      `Parameter "${parameter}" should be an array, but parameter contains:\n${JSON.stringify(value)}`,
    );
  return Object.values(value).map((item: unknown) => {
    if (isRecord(item)) return item;
    throw invalid(
      `All items in param "${parameter}" should be an arrays, but parameter contains:\n${JSON.stringify(value)}`,
    );
  });
}

function refuseMissing(fields: readonly string[]): void {
  if (fields.length === 0) return;
  throw invalid(
    `Invalid request:\n${fields.map((field) => ` - ${field}: "This field is missing."`).join('\n')}`,
  );
}

function listOf(value: unknown): unknown[] {
  return isRecord(value) ? Object.values(value) : [value];
}

function isRecord(value: unknown): value is Item {
  return typeof value === 'object' && value !== null;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function textOf(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw invalid(`A text was expected in a filter, but it contains:\n${JSON.stringify(value)}`);
}

function invalid(message: string): TableError {
  return new TableError('storage.tables.validation', message);
}
