import {
  misfit,
  PATTERNS,
  TEXT_SUFFIX,
  type ColumnForms,
  type Examined,
  type NativeType,
} from '../column-types.ts';
import { balanced, CHANGED_AT, columnIdentifier, literal, quoted } from './identifiers.ts';
import type { DuckSession } from './session.ts';

/** Types of the database. */
export const SQL_TYPES: Readonly<Record<NativeType, string>> = {
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
  date: 'DATE',
  decimal: 'DECIMAL(38, 9)',
  double: 'DOUBLE',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
};

/** The column with the texts of another one. */
export function textIdentifier(column: string): string {
  return quoted(`${column}${TEXT_SUFFIX}`);
}

/** Definitions of the columns of a table, its change time last. */
export function definitions(columns: readonly string[], { types, texts }: ColumnForms): string[] {
  return [
    ...columns.map((column) => {
      const type = types.get(column);
      return `${columnIdentifier(column)} ${type === undefined ? TEXT : SQL_TYPES[type]}`;
    }),
    ...columns.filter((column) => texts.has(column)).map((column) => `${textIdentifier(column)} VARCHAR`),
    `${CHANGED_AT} TIMESTAMP`,
  ];
}

export const TEXT = "VARCHAR DEFAULT ''";

/** Returns SQL for the text of a stored cell. @param table alias that the columns are named with */
export function cellText(column: string, { types, texts }: ColumnForms, table?: string): string {
  const front = table === undefined ? '' : `${table}.`;
  const cell = `${front}${columnIdentifier(column)}`;
  const type = types.get(column);
  if (type === undefined) return cell;
  const beside = texts.has(column) ? `${front}${textIdentifier(column)}, ` : '';
  return `coalesce(${beside}${written(cell, type)}, '')`;
}

/** Returns a table as one of texts with its change time and the numbers of its rows, for FROM. */
export function textsOf(name: string, columns: readonly string[], forms: ColumnForms): string {
  if (forms.types.size === 0) return name;
  const cells = columns.map((column) => `${cellText(column, forms)} AS ${columnIdentifier(column)}`);
  return `(SELECT rowid, ${[...cells, CHANGED_AT].join(', ')} FROM ${name})`;
}

/** Returns the WHERE of a statement that changes the rows of a table, for one that is meant for its texts. */
export function matching(
  name: string,
  { columns, forms }: { readonly columns: readonly string[]; readonly forms: ColumnForms },
  where: string,
): string {
  if (where === '' || forms.types.size === 0) return where;
  return ` WHERE rowid IN (SELECT rowid FROM ${textsOf(name, columns, forms)}${where})`;
}

/** Names of the stored columns of one of the table. */
export function storedColumns(column: string, { texts }: ColumnForms): string[] {
  return [columnIdentifier(column), ...(texts.has(column) ? [textIdentifier(column)] : [])];
}

/** Names of the stored columns, and SQL for what they get of a row of texts. */
export function storedCells(
  columns: readonly string[],
  { types, texts }: ColumnForms,
  text: (column: string) => string = columnIdentifier,
): { readonly names: readonly string[]; readonly cells: readonly string[] } {
  const beside = columns.filter((column) => texts.has(column));
  return {
    names: [...columns.map(columnIdentifier), ...beside.map(textIdentifier)],
    cells: [
      ...columns.map((column) => {
        const type = types.get(column);
        return type === undefined ? text(column) : valueOf(text(column), type);
      }),
      ...beside.map((column) => besideOf(text(column), types.get(column))),
    ],
  };
}

/** Returns SQL for the text to store beside the value of a text: NULL where the value is written so. */
function besideOf(text: string, type: NativeType | undefined): string {
  return type === undefined ? 'NULL' : `CASE ${look(text, type)} WHEN ${ODD} THEN ${text} END`;
}

/** Results of a look at a text; the highest of a column counts. */
const USUAL = 0;
const ODD = 1;
const MISFIT = 2;

/** Returns SQL that looks at a text: whether its value is written so, or otherwise, or it is no value of the type. */
function look(text: string, type: NativeType): string {
  const value = strictly(text, type);
  const isOdd = `${written(value, type)} IS DISTINCT FROM ${text}`;
  return `CASE WHEN ${text} = '' OR ${isUsual(text, type)} THEN ${USUAL} WHEN ${value} IS NULL THEN ${MISFIT} WHEN ${isOdd} THEN ${ODD} ELSE ${USUAL} END`;
}

/** Returns the condition that a text is no value of a type. */
function isMisfit(text: string, type: NativeType): string {
  return `(${look(text, type)} = ${MISFIT})`;
}

/** Returns SQL for the value of a text; NULL for an empty one, and for what is no such value. */
export function valueOf(text: string, type: NativeType): string {
  return `CASE WHEN ${isUsual(text, type)} THEN ${read(text, type)} ELSE ${strictly(text, type)} END`;
}

function read(text: string, type: NativeType): string {
  const wide = `try_cast(${text} AS ${SQL_TYPES[type]})`;
  // Texts are read a hundred times as fast into 64 bits, and rounded alike; what does not fit them is NULL.
  return type === 'decimal'
    ? `coalesce(CAST(try_cast(${text} AS DECIMAL(18, 9)) AS ${SQL_TYPES.decimal}), ${wide})`
    : wide;
}

/**
 * Returns the condition that a text is what its value is written as, and so fits the pattern of its type. Nearly all
 * texts are, and a pattern takes several times as long. It may be false, or NULL, for some that are.
 */
function isUsual(text: string, type: NativeType): string {
  const value = read(text, type);
  const isWritten = `${written(value, type)} = ${text}`;
  switch (type) {
    case 'boolean':
      return `${text} IN ('true', 'false')`;
    case 'double':
      return `(isfinite(${value}) AND CAST(${value} AS VARCHAR) = CASE WHEN contains(${text}, '.') THEN ${text} ELSE ${text} || '.0' END AND NOT suffix(${text}, '.0'))`;
    case 'date':
    case 'timestamp':
      return `(${value} BETWEEN '0001-01-01' AND '9999-12-31' AND ${isWritten})`;
    case 'timestamptz':
      return `(${value} BETWEEN '0001-01-01 00:00:00+00' AND '9999-12-31 00:00:00+00' AND ${isWritten})`;
    default:
      return `(${isWritten})`;
  }
}

/** Returns SQL for the value of a text as the patterns say. */
function strictly(text: string, type: NativeType): string {
  const value = read(text, type);
  const isLike = (pattern: string): string => `regexp_full_match(${text}, ${literal(pattern)})`;
  switch (type) {
    case 'boolean':
      return `CASE lower(${text}) WHEN 'true' THEN true WHEN '1' THEN true WHEN 'false' THEN false WHEN '0' THEN false END`;
    case 'decimal': {
      // It would be rounded without a word: what has an exponent is compared as a double, the digits of others are counted.
      const isSame = `CAST(${value} AS DOUBLE) = try_cast(${text} AS DOUBLE)`;
      return `CASE WHEN ${isLike('[+-]?([0-9]+([.][0-9]{0,9}0*)?|[.][0-9]{1,9}0*)')} OR (${isLike(PATTERNS.number)} AND contains(lower(${text}), 'e') AND ${isSame}) THEN ${value} END`;
    }
    case 'double':
      return `CASE WHEN ${isLike(PATTERNS.number)} AND isfinite(${value}) THEN ${value} END`;
    case 'timestamp': {
      const moment = `make_timestamp(epoch_us(${strictly(text, 'timestamptz')}))`;
      return `CASE WHEN ${isLike(PATTERNS.timestamp)} THEN ${value} ELSE ${moment} END`;
    }
    default: {
      const pattern = { bigint: 'bigint', date: 'date', timestamptz: 'moment' } as const;
      return `CASE WHEN ${isLike(PATTERNS[pattern[type]])} THEN ${value} END`;
    }
  }
}

/** Returns SQL for the text that a value is written as; it depends on no setting. */
export function written(value: string, type: NativeType): string {
  switch (type) {
    case 'decimal':
      return `rtrim(rtrim(CAST(${value} AS VARCHAR), '0'), '.')`;
    case 'double':
      return `regexp_replace(CAST(${value} AS VARCHAR), '[.]0$', '')`;
    case 'timestamp':
      return writtenTime(value);
    case 'timestamptz':
      return `${writtenTime(`make_timestamp(epoch_us(${value}))`)} || 'Z'`;
    default:
      return `CAST(${value} AS VARCHAR)`;
  }
}

function writtenTime(time: string): string {
  const second = '%Y-%m-%dT%H:%M:%S';
  return (
    `CASE WHEN microsecond(${time}) % 1000000 = 0 THEN strftime(${time}, '${second}') ` +
    `WHEN microsecond(${time}) % 1000 = 0 THEN strftime(${time}, '${second}.%g') ELSE strftime(${time}, '${second}.%f') END`
  );
}

/** A relation of texts whose cells are to become values. */
export interface TextRows {
  /** For FROM. */
  readonly from: string;
  /** SQL for the text of a column. */
  readonly text: (column: string) => string;
}

/** Looks at all texts that are to become values, once. */
export async function examine(
  session: DuckSession,
  rows: TextRows,
  types: ReadonlyMap<string, NativeType>,
): Promise<Examined> {
  const all = [...types];
  if (all.length === 0) return { misfits: [], odd: [] };
  const looks = all.map(([column, type]) => `max(${look(rows.text(column), type)})`);
  const [found = []] = await session.rows(`SELECT ${looks.join(', ')} FROM ${rows.from}`);
  const those = (result: number): string[] =>
    all.filter((_, i) => Number(found[i] ?? USUAL) === result).map(([column]) => column);
  return { misfits: those(MISFIT), odd: those(ODD) };
}

/** Refuses the first row, in their order, with a text that is no value of its type. */
export async function refuseMisfit(
  session: DuckSession,
  { from, text }: TextRows,
  columns: readonly string[],
  types: ReadonlyMap<string, NativeType>,
): Promise<void> {
  const typed = columns.flatMap((column) => {
    const type = types.get(column);
    return type === undefined ? [] : [{ column, type, wrong: isMisfit(text(column), type) }];
  });
  if (typed.length === 0) return;
  const which = typed.map(({ wrong }, i) => `WHEN ${wrong} THEN ${i}`).join(' ');
  const value = typed.map(({ column, wrong }) => `WHEN ${wrong} THEN ${text(column)}`).join(' ');
  const isWrong = balanced(
    typed.map(({ wrong }) => wrong),
    ' OR ',
  );
  // The sign in front keeps a U+FEFF, which the driver drops at the start of a text.
  const [row] = await session.rows(
    `SELECT number, CASE ${which} END, '=' || left(CASE ${value} END, 200) FROM (SELECT *, row_number() OVER () AS number FROM ${from}) WHERE ${isWrong} ORDER BY number LIMIT 1`,
  );
  const found = typed[Number(row?.[1])];
  if (row === undefined || found === undefined) throw new Error('No value is wrong that was before.');
  throw misfit({ ...found, row: Number(row[0]), value: String(row[2]).slice(1) });
}
