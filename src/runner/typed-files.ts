import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { reasonOf, SinkError } from '../lib/errors.ts';
import { getKey, isList, isObject, parseExact, type Json } from '../lib/json/index.ts';
import { syncFiles } from '../engine/sink/atomic.ts';
import { createDialect } from '../lib/csv/dialect.ts';
import { readHeader } from './mapping/output/plan/columns.ts';
import type { RowResult } from './row-result.ts';

/** Formats of files that take the place of CSV. */
export const FILE_FORMATS = ['parquet', 'jsonl'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

const MANIFEST = '.manifest';

/** Bytes of a record up to which the reader needs no larger memory. */
const USUAL_LINE = 2 * 1024 * 1024;
const LARGEST_LINE = 128 * 1024 * 1024;

/** Types of the database for those of manifests and tables; any other is text. */
const TYPES: Readonly<Record<string, string>> = {
  BOOLEAN: 'BOOLEAN',
  BIGINT: 'BIGINT',
  INTEGER: 'BIGINT',
  DOUBLE: 'DOUBLE',
  FLOAT: 'DOUBLE',
  DECIMAL: 'DECIMAL(38,9)',
  NUMERIC: 'DECIMAL(38,9)',
  DATE: 'DATE',
  TIMESTAMP: 'TIMESTAMP',
  TIMESTAMPTZ: 'TIMESTAMPTZ',
  JSON: 'JSON',
};

/** Types of columns that have a day. */
const DAYS: ReadonlySet<string | undefined> = new Set(['DATE', 'TIMESTAMP', 'TIMESTAMPTZ']);

export interface TypedFilesOptions {
  readonly format: FileFormat;
  /** Column by whose days a table becomes a folder of Parquet files, where it is one of days or times. */
  readonly partitionBy?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes the tables of an output folder as typed files in place of CSV, by the schemas of their manifests; without one all
 * columns are text. Each table is read once, and memory is bounded.
 *
 * @param out folder with `tables` in it; a table stays CSV until its file is whole
 * @returns names of the tables that are parted
 * @throws {SinkError} naming the table
 */
export async function writeTypedFiles(
  out: string,
  { format, partitionBy, signal }: TypedFilesOptions,
): Promise<string[]> {
  const folder = path.join(out, 'tables');
  const manifests = readdirSync(folder).filter((name) => name.endsWith(MANIFEST));
  const parted: string[] = [];
  for (const manifest of manifests) {
    signal.throwIfAborted();
    const name = manifest.slice(0, -MANIFEST.length);
    const csv = path.join(folder, name);
    const types = typesIn(parseExact(readFileSync(path.join(folder, manifest), 'utf8')));
    const isParted = partitionBy !== undefined && DAYS.has(types.get(partitionBy));
    if (isParted) parted.push(name);
    const by = isParted ? partitionBy : undefined;
    await writeTypedFile({ csv, file: `${csv}.${format}`, format, types, partitionBy: by });
    await syncFiles(isParted ? filesBelow(`${csv}.${format}`) : [`${csv}.${format}`]);
    rmSync(csv);
  }
  return parted;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Returns the result of a row with the names of its files. */
export function withFileNames(result: RowResult, format: FileFormat): RowResult {
  return { ...result, tables: result.tables.map((table) => ({ ...table, name: `${table.name}.${format}` })) };
}

export interface TypedFile {
  /** File with a header, whose cells are quoted by `"`. */
  readonly csv: string;
  /** Names of the columns of a file without a header. Default: those of its header. */
  readonly columns?: readonly string[];
  /** Appears when it is whole. */
  readonly file: string;
  readonly format: FileFormat;
  /** Types by column; others are text. */
  readonly types: ReadonlyMap<string, string>;
  /** Column of days or times: the file is a folder with one for each day, as Hive has them. */
  readonly partitionBy?: string | undefined;
}

/** @throws {SinkError} naming the table */
export async function writeTypedFile({
  csv,
  columns: given,
  file,
  format,
  types,
  partitionBy,
}: TypedFile): Promise<void> {
  const under = `${file}.part`;
  const columns = given ?? (await columnsOf(csv));
  const isHeader = given === undefined;
  const cells = columns.map((name, i) => {
    const type = types.get(name);
    const cell = type === undefined ? `c${i}` : valueOf(`nullif(c${i}, '')`, type);
    return `${cell} AS ${quoted(name)}`;
  });
  const options = [format === 'parquet' ? 'FORMAT parquet, COMPRESSION zstd' : 'FORMAT json'];
  if (partitionBy !== undefined) {
    const day = dayColumn(partitionBy, columns, csv);
    const at = `c${columns.indexOf(partitionBy)}`;
    // The day of a moment is that in UTC.
    cells.push(`CAST(${valueOf(`nullif(${at}, '')`, 'TIMESTAMP')} AS DATE) AS ${quoted(day)}`);
    options.push(`PARTITION_BY (${quoted(day)})`, "FILENAME_PATTERN 'rows_{i}'");
    rmSync(under, { recursive: true, force: true });
  }
  const copy = (line: number): string =>
    `COPY (SELECT ${cells.join(', ')} FROM ${csvOf(csv, { columns: columns.length, isHeader, longestLine: line })}) TO ${literal(under)} (${options.join(', ')})`;
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const spill = `${file}.spill`;
  const database = await DuckDBInstance.create(':memory:', { memory_limit: '512MB', temp_directory: spill });
  const connection = await database.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    await connection.run(copy(USUAL_LINE)).catch(async (error: unknown) => {
      if (!/maximum line size/i.test(reasonOf(error))) throw error;
      return await connection.run(copy(LARGEST_LINE));
    });
    if (partitionBy !== undefined) rmSync(file, { recursive: true, force: true });
    renameSync(under, file);
  } catch (error) {
    rmSync(under, { recursive: true, force: true });
    throw new SinkError(
      'output.failed',
      `The table ${path.basename(csv)} cannot be written as ${format}: ${reasonOf(error)}`,
      { where: { file }, cause: error, hint: 'Write it as CSV, or correct the type of the column.' },
    );
  } finally {
    connection.closeSync();
    database.closeSync();
    rmSync(spill, { recursive: true, force: true });
  }
}

/** Returns the name of the column that is the day of another one. @throws {SinkError} where the table has such a column */
function dayColumn(column: string, columns: readonly string[], csv: string): string {
  const day = `${column}_date`;
  const same = columns.find((name) => name.toLowerCase() === day.toLowerCase());
  if (same === undefined) return day;
  throw new SinkError(
    'output.failed',
    `The table ${path.basename(csv)} cannot be parted by ${column}: the days are called ${day}, and it has a column ${same}.`,
    { where: { file: csv }, hint: 'Part it by another column, or not.' },
  );
}

/** Returns SQL for the value of a text. A time with an offset is taken to UTC: the database would leave the offset out. */
function valueOf(text: string, type: string): string {
  const value = `CAST(${text} AS ${type})`;
  if (type !== 'TIMESTAMP') return value;
  const moment = `CAST(${text} AS TIMESTAMPTZ) AT TIME ZONE 'UTC'`;
  return `CASE WHEN regexp_matches(${text}, ':.*(Z|[+-][0-9]{2}(:?[0-9]{2})?)$') THEN ${moment} ELSE ${value} END`;
}

async function columnsOf(file: string): Promise<readonly string[]> {
  // the reader takes the name for a pattern
  const problem = /[*?[\]{}]/.test(file) ? 'has a pattern in its path: *, ?, [ or {' : undefined;
  const names = problem === undefined ? await readHeader(file, createDialect({})) : { problem };
  if ('problem' in names)
    throw new SinkError('output.failed', `The table ${path.basename(file)} ${names.problem}`, {
      where: { file },
    });
  return names;
}

/** Returns the types of the columns that are not text. */
function typesIn(manifest: Json): ReadonlyMap<string, string> {
  const schema = isObject(manifest) ? getKey(manifest, 'schema') : undefined;
  return new Map(
    (isList(schema) ? schema : []).flatMap((column): [string, string][] => {
      if (!isObject(column)) return [];
      const metadata = getKey(column, 'metadata');
      const name = getKey(column, 'name');
      const type = isObject(metadata) ? getKey(metadata, 'KBC.datatype.type') : undefined;
      const known = typeof type === 'string' ? typeNamed(type, undefined) : undefined;
      return typeof name === 'string' && known !== undefined ? [[name, known]] : [];
    }),
  );
}

/** Returns the type of the database for one of a manifest or a table; undefined for a text. */
export function typeNamed(type: string, length: string | undefined): string | undefined {
  const known = TYPES[type.toUpperCase()];
  return known === TYPES['NUMERIC'] && length !== undefined && /^\d{1,2},\d{1,2}$/.test(length)
    ? `DECIMAL(${length})`
    : known;
}

/** Returns the rows of a CSV file as texts `c0`, `c1`, …: every option is given, so that nothing is guessed. */
function csvOf(
  file: string,
  {
    columns,
    isHeader,
    longestLine,
  }: { readonly columns: number; readonly isHeader: boolean; readonly longestLine: number },
): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  return `read_csv(${[
    literal(file),
    'auto_detect = false',
    `header = ${isHeader}`,
    `delim = ','`,
    `quote = '"'`,
    `escape = '"'`,
    `columns = {${names.map((name) => `${name}: 'VARCHAR'`).join(', ')}}`,
    `force_not_null = [${names.map((name) => `'${name}'`).join(', ')}]`,
    'allow_quoted_nulls = false',
    // a thread that starts in the middle would take the line end inside of a text for that of a record
    'parallel = false',
    `max_line_size = ${longestLine}`,
    `buffer_size = ${4 * USUAL_LINE + longestLine}`,
  ].join(', ')})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
