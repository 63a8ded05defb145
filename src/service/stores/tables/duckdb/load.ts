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
}

/** Puts the rows of the file in place of the table, which need not be there. */
export async function replaceRows(
  session: DuckSession,
  table: TableId,
  load: Omit<Load, 'target'>,
): Promise<void> {
  const { plan, key } = load;
  const loading = loadingName(table);
  await createEmpty(
    session,
    loading.name,
    plan.columns.map(({ name }) => name),
  );
  await insertRows(session, { ...load, target: loading.name });
  await keepLastOfKey(session, loading.name, key);
  await session.run(`DROP TABLE IF EXISTS ${tableName(table)}`);
  await session.run(`ALTER TABLE ${loading.name} RENAME TO ${loading.target}`);
}

/** Adds the rows of the file; with a key, rows that differ take the place of those that have it. */
export async function mergeRows(session: DuckSession, load: Load): Promise<void> {
  const { target, plan, key } = load;
  await addColumns(session, target, plan.newColumns);
  if (key.length === 0) return insertRows(session, load);

  await session.run(`CREATE TEMP TABLE staged (${columnList(plan).map(definition).join(', ')})`);
  await insertRows(session, { ...load, target: 'staged', isUnordered: false });
  await keepLastOfKey(session, 'staged', key);
  const sameKey = key
    .map(columnIdentifier)
    .map((name) => `t.${name} = s.${name}`)
    .join(' AND ');
  const others = plan.columns
    .map(({ name }) => name)
    .filter((name) => !key.includes(name))
    .map(columnIdentifier);
  // Rows that are the same already stay, and keep their change time.
  if (others.length > 0) {
    const differs = balanced(
      others.map((name) => `t.${name} <> s.${name}`),
      ' OR ',
    );
    await session.run(`DELETE FROM ${target} t USING staged s WHERE ${sameKey} AND (${differs})`);
  }
  const names = columnList(plan).join(', ');
  await session.run(
    `INSERT INTO ${target} (${names}) SELECT ${names} FROM staged s WHERE NOT EXISTS (SELECT 1 FROM ${target} t WHERE ${sameKey})`,
  );
  await session.run('DROP TABLE staged');
}

/** Adds columns at the end; rows that are there are empty in them. */
export async function addColumns(
  session: DuckSession,
  target: string,
  columns: readonly string[],
): Promise<void> {
  for (const column of columns)
    await session.run(`ALTER TABLE ${target} ADD COLUMN ${columnIdentifier(column)} VARCHAR DEFAULT ''`);
}

/** An empty table of texts with a change time, in a schema that is there. */
export async function createEmpty(
  session: DuckSession,
  name: string,
  columns: readonly string[],
): Promise<void> {
  await session.run(`DROP TABLE IF EXISTS ${name}`);
  await session.run(
    `CREATE TABLE ${name} (${[...columns.map(columnIdentifier), CHANGED_AT].map(definition).join(', ')})`,
  );
}

/** Inserts all records of the file, in file order. */
export async function insertRows(
  session: DuckSession,
  { target, plan, spool, request, isUnordered }: Omit<Load, 'key'>,
): Promise<void> {
  if (spool.records === 0) return;
  const cells = plan.columns.map(({ cell }) => emptied(`c${cell}`, request.treatValuesAsNull));
  const changedAt = changeTime(plan.timestampCell, request.importedAt);
  const rows = readCsv(spool);
  const ordered =
    isUnordered === true ? `(SELECT *, row_number() OVER () AS number FROM ${rows}) WHERE number > 0` : rows;
  const inserted = await session.number(
    `INSERT INTO ${target} (${columnList(plan).join(', ')}) SELECT ${[...cells, changedAt].join(', ')} FROM ${ordered}`,
  );
  if (inserted !== spool.records)
    throw new Error(`The database read ${inserted} rows of a file that has ${spool.records}.`);
}

/** Rows are numbered in file order: of those with the same key the one with the highest number stays. */
export async function keepLastOfKey(
  session: DuckSession,
  target: string,
  key: readonly string[],
): Promise<void> {
  if (key.length === 0) return;
  const names = key.map(columnIdentifier);
  const list = names.join(', ');
  const keys = await session.number(`SELECT count(*) FROM (SELECT 1 FROM ${target} GROUP BY ${list})`);
  if (keys === (await session.number(`SELECT count(*) FROM ${target}`))) return;
  await session.run(
    `DELETE FROM ${target} t USING (SELECT ${list}, max(rowid) AS "last~" FROM ${target} GROUP BY ${list} HAVING count(*) > 1) d ` +
      `WHERE ${names.map((name) => `t.${name} = d.${name}`).join(' AND ')} AND t.rowid <> d."last~"`,
  );
}

function columnList(plan: ImportPlan): string[] {
  return [...plan.columns.map(({ name }) => columnIdentifier(name)), CHANGED_AT];
}

function definition(name: string): string {
  return name === CHANGED_AT ? `${name} TIMESTAMP` : `${name} VARCHAR DEFAULT ''`;
}

function emptied(cell: string, values: readonly string[] = []): string {
  const others = values.filter((value) => value !== '');
  return others.length === 0
    ? cell
    : `CASE WHEN ${cell} IN (${others.map(literal).join(', ')}) THEN '' ELSE ${cell} END`;
}

function changeTime(cell: number | undefined, importedAt: Date): string {
  const now = timestampLiteral(importedAt);
  if (cell === undefined) return now;
  const refuse = `CAST(error('${TIMESTAMP_MARK}' || c${cell}) AS TIMESTAMP)`;
  return `CASE WHEN c${cell} = '' THEN ${now} ELSE coalesce(try_cast(c${cell} AS TIMESTAMP), ${refuse}) END`;
}
