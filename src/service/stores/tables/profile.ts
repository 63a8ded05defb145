import { selectedColumns } from './row-selection.ts';
import { TableError } from './table-error.ts';
import type { RowQuery } from './row-query.ts';

/** Summary of the values of a table. */
export interface TableSummary {
  /** How many rows were looked at: all, or the first million. */
  readonly rowsLooked: number;
  /** True when these are all rows. */
  readonly isWhole: boolean;
  readonly columns: readonly ColumnSummary[];
}

/** Summary of a column over the rows that were read. Values are cut to their first 200 characters. */
export interface ColumnSummary {
  readonly name: string;
  /** Rows with an empty value. */
  readonly emptyCount: number;
  /** Different values that are not empty; exact. */
  readonly distinctCount: number;
  /** True when all values that are not empty are numbers: smallest and largest are then by size, else by bytes. */
  readonly isNumeric: boolean;
  /** Null when all are empty, as the next two. */
  readonly smallest: string | null;
  readonly largest: string | null;
  /** Characters of the longest value. */
  readonly longest: number;
  /** The most frequent values first, ten at most, with the number of their rows. */
  readonly mostFrequent: readonly { readonly value: string; readonly count: number }[];
}

/** More rows are not looked at: a million says what a column holds. */
const PROFILE_ROWS = 1_000_000;
const SHOWN_LENGTH = 200;
/** Columns of one profile: each of them is grouped by itself. */
const PROFILE_COLUMNS = 200;
const FREQUENT = 10;

/** Parts of the queries that differ between the engines. */
export interface ProfileSource {
  /** `SELECT … AS v FROM …`: the values of a column, of the rows that are asked for. */
  readonly values: (column: string) => string;
  /** The value as a finite number, NULL for what is none. */
  readonly number: (value: string) => string;
  readonly rows: (sql: string) => Promise<readonly (readonly unknown[])[]>;
}

/**
 * Looks at the values of one column after another.
 *
 * @param totalRows of the table
 * @throws TableError for unknown columns, or too many
 */
export async function profileTable(
  query: RowQuery,
  { columns: all, rows: totalRows }: { readonly columns: readonly string[]; readonly rows: number },
  source: ProfileSource,
): Promise<TableSummary> {
  const names = [...new Set(selectedColumns(query, all))];
  if (names.length > PROFILE_COLUMNS)
    throw new TableError(
      'storage.tables.validation',
      `A profile looks at ${PROFILE_COLUMNS} columns at most, and these are ${names.length}. Name those that matter in "columns".`,
    );
  const columns: ColumnSummary[] = [];
  let rowsLooked = 0;
  for (const name of names) {
    const found = (await source.rows(statement(name, source))).map(([kind, value, count]): Finding => [
      String(kind),
      String(value),
      Number(count),
    ]);
    rowsLooked = countOf('rows', found);
    columns.push(columnProfile(name, found));
  }
  return { rowsLooked, isWhole: rowsLooked < PROFILE_ROWS || totalRows <= PROFILE_ROWS, columns };
}

type Finding = readonly [kind: string, value: string, count: number];

/** Everything about one column: its values are grouped once. */
function statement(name: string, { values, number }: ProfileSource): string {
  // A sign in front of every value: a driver drops U+FEFF at the start of a text.
  const shown = `'=' || left(v, ${SHOWN_LENGTH})`;
  const best = (kind: string, order: string, where = 'true'): string =>
    `SELECT '${kind}', ${shown}, n FROM (SELECT v, n FROM filled WHERE ${where} ORDER BY ${order} LIMIT 1) ${kind}`;
  return `WITH grouped AS MATERIALIZED (SELECT v, count(*) AS n FROM (${values(name)} LIMIT ${PROFILE_ROWS}) looked GROUP BY v),
filled AS MATERIALIZED (SELECT v, n, ${number('v')} AS number FROM grouped WHERE v <> '')
${[
  total('rows', 'sum(n)', 'grouped'),
  total('filled', 'sum(n)'),
  total('distinct', 'count(*)'),
  total('numbers', 'sum(CASE WHEN number IS NULL THEN 0 ELSE n END)'),
  total('longest', 'max(length(v))'),
  best('least', 'v'),
  best('most', 'v DESC'),
  best('lowest', 'number, v', 'number IS NOT NULL'),
  best('highest', 'number DESC, v DESC', 'number IS NOT NULL'),
  `SELECT 'frequent', ${shown}, n FROM (SELECT v, n FROM filled ORDER BY n DESC, v LIMIT ${FREQUENT}) frequent`,
].join('\nUNION ALL ')}`;
}

const total = (kind: string, sum: string, from = 'filled'): string =>
  `SELECT '${kind}', '=', coalesce(${sum}, 0) FROM ${from}`;

function columnProfile(name: string, found: readonly Finding[]): ColumnSummary {
  const filled = countOf('filled', found);
  const isNumeric = filled > 0 && countOf('numbers', found) === filled;
  const valueOf = (wanted: string): string | null =>
    found.find(([kind]) => kind === wanted)?.[1].slice(1) ?? null;
  return {
    name,
    emptyCount: countOf('rows', found) - filled,
    distinctCount: countOf('distinct', found),
    isNumeric,
    smallest: valueOf(isNumeric ? 'lowest' : 'least'),
    largest: valueOf(isNumeric ? 'highest' : 'most'),
    longest: countOf('longest', found),
    mostFrequent: found
      .filter(([kind]) => kind === 'frequent')
      .map(([, value, count]) => ({ value: value.slice(1), count }))
      // Rows of a union come in any order.
      .sort((a, b) => b.count - a.count || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value))),
  };
}

function countOf(wanted: string, found: readonly Finding[]): number {
  return found.find(([kind]) => kind === wanted)?.[2] ?? 0;
}
