import {
  resolveTimes,
  TEXTS,
  type ColumnForms,
  type ColumnTypes,
  type WantedTypes,
} from '../column-types.ts';
import {
  cellText,
  definitions,
  examine,
  refuseMisfit,
  SQL_TYPES,
  storedCells,
  TEXT,
  textIdentifier,
  valueOf,
  type TextRows,
} from './cells.ts';
import { TIMESTAMP_MARK } from './failures.ts';
import {
  balanced,
  CHANGED_AT,
  columnIdentifier,
  literal,
  loadingName,
  tableName,
  timestampLiteral,
} from './identifiers.ts';
import type { ImportRequest, TableId } from '../engine.ts';
import type { ImportPlan } from '../import-plan.ts';
import type { DuckSession } from './session.ts';
import type { Spool } from './spool.ts';
import type { CsvDialect } from '../../../../lib/csv/dialect.ts';

/**
 * The rows of spooled files as a table of texts `c0`, `c1`, …, in the order of the files.
 * Every option is given, so nothing is guessed. `new_line` is not: with it the reader finds no rows.
 */
function readCsv({ paths, dialect, columns, longestRecord, isLineWise }: Spool): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  if (paths.length === 0) return `(SELECT ${names.map((name) => `'' AS ${name}`).join(', ')} LIMIT 0)`;
  const options = [
    `[${paths.map(literal).join(', ')}]`,
    'auto_detect = false',
    'header = true',
    'strict_mode = true',
    'ignore_errors = false',
    'null_padding = false',
    "compression = 'none'",
    "encoding = 'utf-8'",
    ...separators(dialect),
    `columns = {${names.map((name) => `${name}: 'VARCHAR'`).join(', ')}}`,
    // Both are needed for an empty cell to stay a text, unquoted and quoted.
    `force_not_null = [${names.map((name) => `'${name}'`).join(', ')}]`,
    'allow_quoted_nulls = false',
    // A thread that starts in the middle takes the next line end for that of a record; each has buffers of its own.
    `parallel = ${isLineWise && longestRecord < USUAL_LINE_BYTES}`,
    ...sizes(longestRecord),
  ];
  return `read_csv(${options.join(', ')})`;
}

function separators({ delimiter, enclosure }: CsvDialect): string[] {
  const quote = literal(enclosure === undefined ? '' : String.fromCharCode(enclosure));
  return [`delim = ${literal(String.fromCharCode(delimiter))}`, `quote = ${quote}`, `escape = ${quote}`];
}

const USUAL_LINE_BYTES = 2 * 1024 * 1024;

/** The reader refuses lines above 2 MB unless told, and holds some buffers for each thread. */
function sizes(longestRecord: number): string[] {
  const line = Math.max(longestRecord + 16, USUAL_LINE_BYTES);
  return [`max_line_size = ${line}`, `buffer_size = ${Math.max(line + 8192, 4 * USUAL_LINE_BYTES)}`];
}

export interface Load {
  /** The table as it is named in SQL. */
  readonly target: string;
  readonly plan: ImportPlan;
  readonly spool: Spool;
  readonly request: ImportRequest;
  /**
   * True for a table whose rows come in the order in which threads write them: then one thread passes them on. Default:
   * they come in their own order.
   */
  readonly isUnordered?: boolean;
  /** Rows of one file with the same key become one, and replace those of the table; empty: they don't. */
  readonly key: readonly string[];
  /** How the table stores its cells, once it has the columns of the file. */
  readonly forms: ColumnForms;
}

/** Puts the rows of the file in place of the table, which need not be there. */
export async function replaceRows(
  session: DuckSession,
  table: TableId,
  load: Omit<Load, 'target'>,
): Promise<void> {
  const { plan, key, forms } = load;
  const loading = loadingName(table);
  const columns = plan.columns.map(({ name }) => name);
  await createEmpty(session, loading.name, columns, forms);
  await insertRows(session, { ...load, target: loading.name });
  await keepLastOfKey(session, loading.name, key, forms);
  await session.run(`DROP TABLE IF EXISTS ${tableName(table)}`);
  await session.run(`ALTER TABLE ${loading.name} RENAME TO ${loading.target}`);
}

/**
 * Adds the rows of the file to a table that has its columns; with a key, rows that differ take the place of those that
 * have it.
 *
 * @returns rows that the table has more than before
 */
export async function mergeRows(session: DuckSession, load: Load): Promise<number> {
  const { target, plan, key, forms } = load;
  if (key.length === 0) {
    await insertRows(session, load);
    return load.spool.records;
  }

  const columns = plan.columns.map(({ name }) => name);
  await session.run(`CREATE TEMP TABLE staged (${definitions(columns, TEXTS).join(', ')})`);
  await insertRows(session, { ...load, target: 'staged', isUnordered: false, forms: TEXTS });
  await keepLastOfKey(session, 'staged', key, TEXTS);
  const equal = (name: string): string => `${cellText(name, forms, 't')} = s.${columnIdentifier(name)}`;
  const sameKey = [...key.map(equal), ...(await sameValues(session, key, forms))].join(' AND ');
  const others = columns.filter((name) => !key.includes(name));
  let removed = 0;
  // Rows that are the same already stay, and keep their change time.
  if (others.length > 0) {
    const differs = balanced(
      others.map((name) => `${cellText(name, forms, 't')} <> s.${columnIdentifier(name)}`),
      ' OR ',
    );
    removed = await session.number(
      `DELETE FROM ${target} t USING staged s WHERE ${sameKey} AND (${differs})`,
    );
  }
  const { names, cells } = storedCells(columns, forms, (name) => `s.${columnIdentifier(name)}`);
  const inserted = await session.number(
    `INSERT INTO ${target} (${[...names, CHANGED_AT].join(', ')}) SELECT ${[...cells, `s.${CHANGED_AT}`].join(', ')} FROM staged s WHERE NOT EXISTS (SELECT 1 FROM ${target} t WHERE ${sameKey})`,
  );
  await session.run('DROP TABLE staged');
  return inserted - removed;
}

/**
 * Returns conditions on the values of a key, which the ones on its texts imply: by them the database knows which part of
 * the table it need not read. NULL is equal to nothing, so there are none for a column with an empty text.
 */
async function sameValues(
  session: DuckSession,
  key: readonly string[],
  { types }: ColumnForms,
): Promise<string[]> {
  const conditions: string[] = [];
  for (const name of key) {
    const type = types.get(name);
    if (type === undefined) continue;
    const cell = columnIdentifier(name);
    const empty = await session.number(`SELECT count(*) FROM staged WHERE ${cell} = ''`);
    if (empty === 0) conditions.push(`t.${cell} = ${valueOf(`s.${cell}`, type)}`);
  }
  return conditions;
}

/** Adds columns at the end; rows that are there are empty in them. */
export async function addColumns(
  session: DuckSession,
  target: string,
  columns: readonly string[],
  { types, texts }: ColumnForms,
): Promise<void> {
  for (const column of columns) {
    const type = types.get(column);
    await session.run(
      `ALTER TABLE ${target} ADD COLUMN ${columnIdentifier(column)} ${type === undefined ? TEXT : SQL_TYPES[type]}`,
    );
    if (texts.has(column)) await addTexts(session, target, column);
  }
}

/** Adds the column with the texts of another one. */
export async function addTexts(session: DuckSession, target: string, column: string): Promise<void> {
  await session.run(`ALTER TABLE ${target} ADD COLUMN ${textIdentifier(column)} VARCHAR`);
}

/** An empty table with a change time, in a schema that is there. */
export async function createEmpty(
  session: DuckSession,
  name: string,
  columns: readonly string[],
  forms: ColumnForms,
): Promise<void> {
  await session.run(`DROP TABLE IF EXISTS ${name}`);
  await session.run(`CREATE TABLE ${name} (${definitions(columns, forms).join(', ')})`);
}

/** Inserts all records of the file, in file order. */
export async function insertRows(session: DuckSession, load: Omit<Load, 'key'>): Promise<void> {
  const { target, plan, spool, forms } = load;
  if (spool.records === 0) return;
  const { names, cells } = storedCells(
    plan.columns.map(({ name }) => name),
    forms,
  );
  const inserted = await session.number(
    `INSERT INTO ${target} (${[...names, CHANGED_AT].join(', ')}) SELECT ${[...cells, CHANGED_AT].join(', ')} FROM ${textsOfFile(load)}`,
  );
  if (inserted !== spool.records)
    throw new Error(`The database read ${inserted} rows of a file that has ${spool.records}.`);
}

/** The records of the file as texts by the names of the table, in file order. */
function textsOfFile({ plan, spool, request, isUnordered }: Omit<Load, 'key' | 'forms' | 'target'>): string {
  const cells = plan.columns.map(
    ({ name, cell }) => `${emptied(`c${cell}`, request.treatValuesAsNull)} AS ${columnIdentifier(name)}`,
  );
  const changedAt = `${changeTime(plan.timestampCell, request)} AS ${CHANGED_AT}`;
  const rows = readCsv(spool);
  const ordered =
    isUnordered === true ? `(SELECT *, row_number() OVER () AS number FROM ${rows}) WHERE number > 0` : rows;
  return `(SELECT ${[...cells, changedAt].join(', ')} FROM ${ordered})`;
}

type LoadedFile = Pick<Load, 'plan' | 'request' | 'spool'>;

function rowsOfFile(file: LoadedFile): TextRows {
  return { from: textsOfFile(file), text: columnIdentifier };
}

/**
 * Returns the types that the columns of a table get with a file.
 *
 * @param stored types of the rows that stay
 */
export async function typesForFile(
  session: DuckSession,
  file: LoadedFile,
  wanted: WantedTypes,
  stored: ColumnTypes,
): Promise<ColumnTypes> {
  return await resolveTimes(wanted, stored, (types) => examine(session, rowsOfFile(file), types));
}

/**
 * Looks at the texts of the file that become values.
 *
 * @param forms of the table so far; the columns of the file have types in them
 * @returns those that the table needs for the file
 * @throws {TableError} `csvImport.invalidValue` for the first row that does not fit
 */
export async function formsForFile(
  session: DuckSession,
  file: LoadedFile,
  forms: ColumnForms,
): Promise<ColumnForms> {
  if (forms.types.size === 0 || file.spool.records === 0) return forms;
  const rows = rowsOfFile(file);
  const { misfits, odd } = await examine(session, rows, forms.types);
  if (misfits.length > 0) await refuseMisfit(session, rows, misfits, forms.types);
  return { types: forms.types, texts: new Set([...forms.texts, ...odd]) };
}

/** Rows are numbered in file order: of those with the same key the one with the highest number stays. */
export async function keepLastOfKey(
  session: DuckSession,
  target: string,
  key: readonly string[],
  forms: ColumnForms,
): Promise<void> {
  if (key.length === 0) return;
  const texts = key.map((name) => cellText(name, forms));
  const list = texts.join(', ');
  const keys = await session.number(`SELECT count(*) FROM (SELECT 1 FROM ${target} GROUP BY ${list})`);
  if (keys === (await session.number(`SELECT count(*) FROM ${target}`))) return;
  const named = texts.map((text, i) => `${text} AS k${i}`).join(', ');
  const same = key.map((name, i) => `${cellText(name, forms, 't')} = d.k${i}`).join(' AND ');
  await session.run(
    `DELETE FROM ${target} t USING (SELECT ${named}, max(rowid) AS "last~" FROM ${target} GROUP BY ${list} HAVING count(*) > 1) d ` +
      `WHERE ${same} AND t.rowid <> d."last~"`,
  );
}

function emptied(cell: string, values: readonly string[] = []): string {
  const others = values.filter((value) => value !== '');
  return others.length === 0
    ? cell
    : `CASE WHEN ${cell} IN (${others.map(literal).join(', ')}) THEN '' ELSE ${cell} END`;
}

function changeTime(
  cell: number | undefined,
  { importedAt, importMicros }: Pick<ImportRequest, 'importedAt' | 'importMicros'>,
): string {
  const now = timestampLiteral(importedAt, importMicros);
  if (cell === undefined) return now;
  const refuse = `CAST(error('${TIMESTAMP_MARK}' || c${cell}) AS TIMESTAMP)`;
  return `CASE WHEN c${cell} = '' THEN ${now} ELSE coalesce(try_cast(c${cell} AS TIMESTAMP), ${refuse}) END`;
}
