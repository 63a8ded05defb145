import {
  misfit,
  PATTERNS,
  TEXTS,
  TEXT_SUFFIX,
  typesOf,
  type ColumnForms,
  type ColumnTypes,
  type Examined,
  type NativeType,
} from '../column-types.ts';
import { besideName, CHANGED_AT, column, fits, literal, physicalName, quoted, ROW } from './names.ts';
import { MAX_ROW_BYTES } from './row-size.ts';
import { finiteNumber } from './select.ts';
import { timeOf } from './values.ts';
import type { PostgresSession } from './connection.ts';
import type { SqlRows } from './sql-rows.ts';

/** Types of the database. A `numeric` without a scale keeps the zeros that a decimal was given with. */
const SQL_TYPES: Readonly<Record<NativeType, string>> = {
  bigint: 'bigint',
  boolean: 'boolean',
  date: 'date',
  decimal: 'numeric',
  double: 'double precision',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
};

/** The column with the texts of another one. */
export function textColumn(name: string): string {
  const beside = `${physicalName(name)}${TEXT_SUFFIX}`;
  return quoted(fits(beside) ? beside : besideName(name, 'text'));
}

/** Definition of a column; the order of texts is that of their bytes, whatever the language of the database. */
export function definitions(name: string, { types, texts }: ColumnForms): string[] {
  const type = types.get(name);
  if (type === undefined) return [`${column(name)} text COLLATE "C" NOT NULL`];
  const beside = `${textColumn(name)} text COLLATE "C"`;
  return [`${column(name)} ${SQL_TYPES[type]}`, ...(texts.has(name) ? [beside] : [])];
}

/** Names of the stored columns of one of the table. */
export function storedColumns(name: string, { texts }: ColumnForms): string[] {
  return [column(name), ...(texts.has(name) ? [textColumn(name)] : [])];
}

/** Returns SQL for the text of a stored cell. @param table alias that the columns are named with */
export function cellText(name: string, { types, texts }: ColumnForms, table?: string): string {
  const front = table === undefined ? '' : `${table}.`;
  const type = types.get(name);
  if (type === undefined) return `${front}${column(name)}`;
  const beside = texts.has(name) ? `${front}${textColumn(name)}, ` : '';
  return `(coalesce(${beside}${written(`${front}${column(name)}`, type)}, '') COLLATE "C")`;
}

/** Returns a table as one of texts with its change time and the numbers of its rows, for FROM. */
export function textsOf(relation: string, columns: readonly string[], forms: ColumnForms): string {
  if (forms.types.size === 0) return relation;
  const cells = columns.map((name) => `${cellText(name, forms)} AS ${column(name)}`);
  return `(SELECT ${[...cells, CHANGED_AT, ROW].join(', ')} FROM ${relation}) AS texts`;
}

/** Returns the WHERE of a statement that changes the rows of a table, for one that is meant for its texts. */
export function matching(
  relation: string,
  { columns, forms }: { readonly columns: readonly string[]; readonly forms: ColumnForms },
  where: string,
): string {
  if (where === '' || forms.types.size === 0) return where;
  return ` WHERE ${ROW} IN (SELECT ${ROW} FROM ${textsOf(relation, columns, forms)}${where})`;
}

/** Rows of texts with the values that they become, each of which is found once. */
export interface ValuedRows {
  /** For FROM. */
  readonly from: string;
  /** The value of a column that has a type. */
  value(name: string): string;
}

/** @param from rows of texts, for FROM */
export function valued(from: string, columns: readonly string[], types: ColumnTypes): ValuedRows {
  if (types.size === 0) return { from, value: column };
  const values = new Map(columns.filter((name) => types.has(name)).map((name, i) => [name, `"~v${i}"`]));
  const found = [...values].map(
    ([name, as]) => `${valueOf(`r.${column(name)}`, types.get(name) ?? 'bigint')} AS ${as}`,
  );
  return {
    // The database would find each of them where it is used without the OFFSET.
    from: `(SELECT r.*, ${found.join(', ')} FROM ${from} r OFFSET 0)`,
    value: (name) => values.get(name) ?? column(name),
  };
}

/** Names of the stored columns, and SQL for what they get of valued rows. @param alias of these */
export function storedCells(
  columns: readonly string[],
  { types, texts }: ColumnForms,
  rows: ValuedRows,
  alias: string,
): { readonly names: readonly string[]; readonly cells: readonly string[] } {
  const stored = columns.flatMap((name): (readonly [string, string])[] => {
    const text = `${alias}.${column(name)}`;
    const type = types.get(name);
    if (type === undefined) return [[column(name), text]];
    const value = `${alias}.${rows.value(name)}`;
    const beside = `CASE WHEN ${isOdd(text, value, type)} THEN ${text} END`;
    return [[column(name), value], ...(texts.has(name) ? [[textColumn(name), beside] as const] : [])];
  });
  return { names: stored.map(([name]) => name), cells: stored.map(([, cell]) => cell) };
}

/** Returns the condition that a text is not the one that its value is written as. */
function isOdd(text: string, value: string, type: NativeType): string {
  return `(${text} <> '' AND ${written(value, type)} COLLATE "C" IS DISTINCT FROM ${text})`;
}

/** Looks at all texts that are to become values, once. */
export async function examine(
  session: PostgresSession,
  { from, values }: SqlRows,
  types: ColumnTypes,
): Promise<Examined> {
  const columns = [...types.keys()];
  if (columns.length === 0) return { misfits: [], odd: [] };
  const rows = valued(from, columns, types);
  const looks = [...types].flatMap(([name, type]) => {
    const [text, value] = [`s.${column(name)}`, `s.${rows.value(name)}`];
    return [
      `coalesce(bool_or(${text} <> '' AND ${value} IS NULL), false)`,
      `coalesce(bool_or(${isOdd(text, value, type)}), false)`,
    ];
  });
  const [found = []] = await session.rows(`SELECT ${looks.join(', ')} FROM ${rows.from} s`, values);
  return {
    misfits: columns.filter((_, i) => found[2 * i] === true),
    odd: columns.filter((_, i) => found[2 * i + 1] === true),
  };
}

/**
 * Looks at the texts of a file that become values.
 *
 * @param forms of the table so far; the columns of the file have types in them
 * @returns those that the table needs for the file
 * @throws {TableError} `csvImport.invalidValue` for the first row that does not fit
 */
export async function formsForFile(
  session: PostgresSession,
  file: SqlRows,
  forms: ColumnForms,
): Promise<ColumnForms> {
  if (forms.types.size === 0) return forms;
  const { misfits, odd } = await examine(session, file, forms.types);
  if (misfits.length > 0) await refuseMisfit(session, file, misfits, forms.types);
  return { types: forms.types, texts: new Set([...forms.texts, ...odd]) };
}

async function refuseMisfit(
  session: PostgresSession,
  { from, values }: SqlRows,
  columns: readonly string[],
  types: ColumnTypes,
): Promise<void> {
  const rows = valued(from, columns, types);
  const wrong = columns.map((name) => `(s.${column(name)} <> '' AND s.${rows.value(name)} IS NULL)`);
  const which = wrong.map((condition, i) => `WHEN ${condition} THEN ${i}`).join(' ');
  const text = wrong.map((condition, i) => `WHEN ${condition} THEN s.${column(columns[i] ?? '')}`).join(' ');
  const [row] = await session.rows(
    `SELECT s.${ROW}, CASE ${which} END, left(CASE ${text} END, 200) FROM ${rows.from} s WHERE ${wrong.join(' OR ')} ORDER BY s.${ROW} LIMIT 1`,
    values,
  );
  const name = columns[Number(row?.[1])];
  const type = name === undefined ? undefined : types.get(name);
  if (row === undefined || name === undefined || type === undefined)
    throw new Error('No value is wrong that was before.');
  throw misfit({ row: Number(row[0]), column: name, type, value: String(row[2]) });
}

/** Bytes of a row, of a column of texts, and of one with a value and a text beside, at most. */
const [ROW_BYTES, TEXT_BYTES, VALUE_BYTES] = [47, 27, 55];

/**
 * Returns the types of the columns of a table. All are texts when rows of texts that fit on a page would not with their
 * values beside, and when tables are spread over servers, where a file is spread as the table is.
 */
export function typesFor(
  { isDistributed }: PostgresSession,
  columns: readonly string[],
  given: ColumnTypes,
): ColumnTypes {
  const types = typesOf(columns, given);
  const bytes = ROW_BYTES + VALUE_BYTES * types.size + TEXT_BYTES * (columns.length - types.size);
  return isDistributed || bytes > MAX_ROW_BYTES ? TEXTS.types : types;
}

const PLAIN_DAY = '[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])';
const PLAIN_TIME = '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?';
const OFFSET = '(Z|[+-][0-9]{2}(:?[0-9]{2})?)$';

/**
 * Returns SQL for the value of a text; NULL for an empty one, and for what is no such value. The database has no cast
 * that gives NULL, so a text is looked at before it is cast; the usual ones first, which it reads by itself.
 */
function valueOf(text: string, type: NativeType): string {
  const isLike = (expression: string): string => `${text} ~ ${literal(`^(${expression})$`)} COLLATE "C"`;
  switch (type) {
    case 'bigint':
      return (
        `CASE WHEN ${isLike('-?[0-9]{1,18}')} THEN ${text}::bigint WHEN ${isLike(PATTERNS.bigint)} THEN ` +
        `CASE WHEN ${text}::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 THEN ${text}::bigint END END`
      );
    case 'boolean':
      return `CASE lower(${text}) WHEN 'true' THEN true WHEN '1' THEN true WHEN 'false' THEN false WHEN '0' THEN false END`;
    case 'date':
      return `CASE WHEN ${isLike(PLAIN_DAY)} THEN ${text}::date WHEN ${isLike(PATTERNS.date)} THEN ${timeOf(text)}::date END`;
    case 'decimal':
      return (
        `CASE WHEN ${isLike('-?[0-9]{1,29}([.][0-9]{1,9})?')} THEN ${text}::numeric WHEN ${isLike(PATTERNS.number)} AND octet_length(${text}) <= 1000 THEN ` +
        `CASE WHEN abs(${text}::numeric) < 1e29 AND ${text}::numeric = round(${text}::numeric, 9) THEN round(${text}::numeric, 9) END END`
      );
    case 'double':
      return (
        `CASE WHEN ${isLike('-?[0-9]{1,15}([.][0-9]{1,15})?')} THEN ${text}::float8 ` +
        `WHEN ${isLike(PATTERNS.number)} THEN ${finiteNumber(text)} END`
      );
    case 'timestamp':
      return (
        `CASE WHEN ${isLike(`${PLAIN_DAY}[T ]${PLAIN_TIME}`)} THEN ${text}::timestamp ` +
        `WHEN ${isLike(PATTERNS.timestamp)} THEN ${timeOf(text)} ELSE ${valueOf(text, 'timestamptz')} AT TIME ZONE 'UTC' END`
      );
    case 'timestamptz': {
      const part = (index: number): string =>
        `(regexp_match(${text}, '([+-])([0-9]{2}):?([0-9]{2})?$'))[${index}]`;
      const minutes = `coalesce((${part(1)} || '1')::int * (60 * ${part(2)}::int + coalesce(${part(3)}, '0')::int), 0)`;
      const local = timeOf(`regexp_replace(${text}, '${OFFSET}', '')`);
      return (
        `CASE WHEN ${isLike(`${PLAIN_DAY}[T ]${PLAIN_TIME}(Z|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)`)} THEN ${text}::timestamptz ` +
        `WHEN ${isLike(PATTERNS.moment)} THEN (${local} - make_interval(mins => ${minutes})) AT TIME ZONE 'UTC' END`
      );
    }
    default:
      return type satisfies never;
  }
}

/** Returns SQL for the text that a value is written as; each transaction sets what it depends on. */
function written(value: string, type: NativeType): string {
  switch (type) {
    case 'date':
      return `to_char(${value}, 'YYYY-MM-DD')`;
    case 'timestamp':
      return writtenTime(value);
    case 'timestamptz':
      return `(${writtenTime(`(${value} AT TIME ZONE 'UTC')`)} || 'Z')`;
    default:
      return `${value}::text`;
  }
}

function writtenTime(time: string): string {
  const second = 'YYYY-MM-DD"T"HH24:MI:SS';
  return (
    `CASE WHEN date_trunc('second', ${time}) = ${time} THEN to_char(${time}, '${second}') ` +
    `WHEN date_trunc('milliseconds', ${time}) = ${time} THEN to_char(${time}, '${second}.MS') ELSE to_char(${time}, '${second}.US') END`
  );
}
