import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import { SQL_TYPES, valueOf } from '../../tables/duckdb/cells.ts';
import { checkQuery, RefusedPart } from './check.ts';
import { placeOf, problemOf, textProblem } from './problems.ts';
import { QueryError, RESULT_FILE } from '../messages.ts';
import type {
  NeededTables,
  QueryColumn,
  QueryFormat,
  QueryLimits,
  QueryOutcome,
  QueryRows,
  QueryTable,
  QueryTableColumn,
} from '../messages.ts';

/** Engine with nothing in it but what a query reads. */
export interface Sandbox {
  /** Parses a query and checks each part of it. @throws {QueryError} */
  needs(sql: string): Promise<NeededTables>;
  /** Makes the tables, without rows, and has the engine understand the query. @throws {QueryError} */
  bind(sql: string, tables: readonly QueryTable[]): Promise<void>;
  fill(tables: readonly QueryRows[]): Promise<void>;
  /** Shuts everything else off, runs the query, and writes its result. @throws {QueryError} */
  run(sql: string, format: QueryFormat, limit: number | undefined): Promise<QueryOutcome>;
}

const RESULT = 'main.result';
/** Bytes of a line of CSV that the reader takes; a table with a longer one is read again with the second. */
const LINE_BYTES = [4 * 1024 * 1024, 128 * 1024 * 1024];

function definitionOf({ name, type }: QueryTableColumn): string {
  return `${quoted(name)} ${type === undefined ? 'VARCHAR' : SQL_TYPES[type]}`;
}

/** Settings of any engine that is shown a query. */
const CLOSED = {
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  errors_as_json: 'true',
} as const;

export async function openSandbox(folder: string, limits: QueryLimits): Promise<Sandbox> {
  const instance = await DuckDBInstance.create(path.join(folder, 'query.duckdb'), {
    ...CLOSED,
    memory_limit: `${limits.memoryMb}MB`,
    temp_directory: path.join(folder, 'temp'),
    max_temp_directory_size: `${Math.ceil(limits.diskBytes / 1024 / 1024)}MB`,
    threads: String(limits.threads),
  });
  const connection = await instance.connect();
  const known = new Map<string, QueryTable>();
  // Times without an offset mean the same wherever the service runs.
  await connection.run("SET TimeZone = 'UTC'");

  return {
    async needs(sql) {
      const statement = await connection.prepare('SELECT json_serialize_sql($1::VARCHAR)');
      statement.bindVarchar(1, sql);
      const [row] = (await statement.runAndReadAll()).getRows();
      const tree: unknown = JSON.parse(String(row?.[0]));
      const problem = problemOf(tree, sql);
      if (problem !== undefined) throw new QueryError(problem);
      try {
        const needs = checkQuery(tree);
        return {
          ...needs,
          tables: needs.tables.map(({ schema, table, offset }) => ({
            schema,
            table,
            place: placeOf(offset, sql),
          })),
        };
      } catch (error) {
        if (error instanceof RefusedPart)
          throw new QueryError(textProblem('storage.sql.refused', error.message, error.offset, sql));
        throw error;
      }
    },

    async bind(sql, tables) {
      for (const table of tables) known.set(nameOf(table), table);
      // Understanding a query may open what it names, and this engine still has to read the files of its tables.
      const shut = await DuckDBInstance.create(':memory:', {
        ...CLOSED,
        memory_limit: `${limits.memoryMb}MB`,
        threads: '1',
        enable_external_access: 'false',
      });
      try {
        const apart = await shut.connect();
        await makeTables(apart, tables);
        await asked(sql, async () => void (await apart.prepare(sql)));
      } finally {
        shut.closeSync();
      }
      await makeTables(connection, tables);
    },

    async fill(tables) {
      for (const table of tables) await fill(connection, table, known.get(nameOf(table))?.columns ?? []);
    },

    async run(sql, format, limit) {
      const out = path.join(folder, RESULT_FILE);
      for (const setting of [
        `allowed_directories = [${literal(`${path.dirname(out)}/`)}]`,
        'enable_external_access = false',
        'lock_configuration = true',
      ])
        await connection.run(`SET ${setting}`);
      const most = limit === undefined ? limits.rows : Math.min(limit, limits.rows);
      // The text is a value here, parsed by the same parser into the same single statement.
      await asked(sql, async () => {
        await connection.run(
          `CREATE TABLE ${RESULT} AS SELECT * FROM query(${literal(sql)}) LIMIT ${most + 1}`,
        );
      });
      const counted = await numberOf(connection, `SELECT count(*) FROM ${RESULT}`);
      const hasMore = counted > most;
      if (hasMore && (limit === undefined || limit > limits.rows))
        throw new QueryError({
          code: 'storage.sql.tooLarge',
          message: `The result has more than ${limits.rows} rows. Ask for fewer with LIMIT or WHERE, or for sums of them.`,
        });
      const outcome = { columns: await columnsOf(connection), rows: Math.min(counted, most), hasMore };
      await writeResult(connection, format, outcome, out);
      return outcome;
    },
  };
}

async function makeTables(connection: DuckDBConnection, tables: readonly QueryTable[]): Promise<void> {
  for (const schema of new Set(tables.map((table) => table.schema)))
    await connection.run(`CREATE SCHEMA ${quoted(schema)}`);
  for (const table of tables)
    await connection.run(`CREATE TABLE ${nameOf(table)} (${table.columns.map(definitionOf).join(', ')})`);
}

async function asked(sql: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new QueryError(
      problemOf(error, sql) ?? { code: 'storage.sql.failed', message: 'The query could not be run.' },
    );
  }
}

async function fill(
  connection: DuckDBConnection,
  table: QueryRows,
  columns: readonly QueryTableColumn[],
): Promise<void> {
  if (table.files.length === 0) return;
  for (const [attempt, bytes] of LINE_BYTES.entries()) {
    try {
      await connection.run(`INSERT INTO ${nameOf(table)} ${rowsOf(table, columns, bytes)}`);
      break;
    } catch (error) {
      if (attempt === LINE_BYTES.length - 1) throw error;
      await connection.run(`DELETE FROM ${nameOf(table)}`);
    }
  }
  const rows = await numberOf(connection, `SELECT count(*) FROM ${nameOf(table)}`);
  if (rows !== table.rows) throw new Error(`${rows} of ${table.rows} rows were read.`);
}

/**
 * Cells become the values that they are stored as. One that does not came with a load after the types were found: no
 * value is left out without a word.
 */
function rowsOf(table: QueryRows, columns: readonly QueryTableColumn[], line: number): string {
  const cells = columns.map(({ type }, i) => {
    if (type === undefined) return `c${i}`;
    const refuse = `CAST(error('A value is of another type.') AS ${SQL_TYPES[type]})`;
    return `CASE WHEN c${i} = '' THEN NULL ELSE coalesce(${valueOf(`c${i}`, type)}, ${refuse}) END`;
  });
  return `SELECT ${cells.join(', ')} FROM ${readCsv(table, columns.length, line)}`;
}

/** Every option is given, so that nothing is guessed, and a line end in a cell is never taken for that of a row. */
function readCsv(table: QueryRows, columns: number, line: number): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  return `read_csv(${[
    `[${table.files.map(literal).join(', ')}]`,
    'auto_detect = false',
    'header = false',
    'strict_mode = true',
    "delim = ','",
    `quote = '"'`,
    `escape = '"'`,
    "compression = 'none'",
    "encoding = 'utf-8'",
    `columns = {${names.map((name) => `${name}: 'VARCHAR'`).join(', ')}}`,
    // Both are needed for an empty cell to stay a text.
    `force_not_null = [${names.map((name) => `'${name}'`).join(', ')}]`,
    'allow_quoted_nulls = false',
    'parallel = false',
    `max_line_size = ${line}`,
    `buffer_size = ${line * 2}`,
  ].join(', ')})`;
}

async function columnsOf(connection: DuckDBConnection): Promise<QueryColumn[]> {
  const described = await connection.runAndReadAll(`SELECT * FROM ${RESULT} LIMIT 0`);
  const types = described.columnTypes();
  return described.columnNames().map((name, i) => ({ name, type: String(types[i]) }));
}

/** Options of `COPY` for the formats that the engine writes itself. */
const WRITTEN = {
  jsonl: 'FORMAT json',
  csv: 'FORMAT csv, HEADER',
  parquet: 'FORMAT parquet, COMPRESSION zstd',
} as const;

async function writeResult(
  connection: DuckDBConnection,
  format: QueryFormat,
  { columns, rows, hasMore }: QueryOutcome,
  file: string,
): Promise<void> {
  const source = `FROM ${RESULT} LIMIT ${rows}`;
  if (format !== 'json') {
    await connection.run(`COPY (${source}) TO ${literal(file)} (${WRITTEN[format]})`);
    return;
  }
  // Texts as the engine writes them: numbers of any size stay exact. The sign in front keeps a U+FEFF, which the driver
  // drops at the start of a text.
  const cells = columns.map(({ name }) => `'=' || CAST(${quoted(name)} AS VARCHAR)`).join(', ');
  const result = await connection.stream(`SELECT ${cells} ${source}`);
  await pipeline(
    async function* () {
      yield `{"columns":${JSON.stringify(columns)},"hasMore":${hasMore},"rows":[`;
      let before = '\n';
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) break;
        for (const row of chunk.getRows()) {
          yield `${before}${JSON.stringify(row.map((cell) => (cell === null ? null : String(cell).slice(1))))}`;
          before = ',\n';
        }
      }
      yield '\n]}\n';
    },
    createWriteStream(file, { mode: 0o600 }),
  );
}

async function numberOf(connection: DuckDBConnection, sql: string): Promise<number> {
  const [row] = (await connection.runAndReadAll(sql)).getRows();
  return Number(row?.[0]);
}

const nameOf = ({ schema, table }: { readonly schema: string; readonly table: string }): string =>
  `${quoted(schema)}.${quoted(table)}`;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
