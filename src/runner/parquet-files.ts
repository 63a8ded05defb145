import { renameSync, rmSync } from 'node:fs';
import type { DuckDBConnection } from '@duckdb/node-api';
import { reasonOf, SinkError } from '../lib/errors.ts';
import type { CellKind } from '../lib/xlsx/cell.ts';
import { writeWorkbook, type SheetRows } from '../lib/xlsx/workbook.ts';

/** Formats that files of Parquet become. */
export type ParquetTarget = 'jsonl' | 'parquet' | 'xlsx';

/**
 * Writes the rows of files of Parquet, in their order, into one file of some format. They are read once, in bounded
 * memory, and times with an offset are in UTC.
 *
 * @param target appears when it is whole
 * @throws {SinkError} for a file that cannot be read, and for more than the format can hold
 */
export async function convertParquet(
  files: readonly string[],
  target: string,
  format: ParquetTarget,
  signal: AbortSignal,
): Promise<void> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const spill = `${target}.spill`;
  const database = await DuckDBInstance.create(':memory:', {
    memory_limit: '512MB',
    threads: '1',
    temp_directory: spill,
  });
  const connection = await database.connect();
  const part = `${target}.part`;
  try {
    await connection.run("SET TimeZone = 'UTC'");
    const source = `read_parquet([${files.map(literal).join(', ')}], hive_partitioning = false)`;
    if (format === 'xlsx') return await writeSheets(connection, source, target, signal);
    const options = format === 'parquet' ? 'FORMAT parquet, COMPRESSION zstd' : 'FORMAT json';
    await connection.run(`COPY (SELECT * FROM ${source}) TO ${literal(part)} (${options})`);
    renameSync(part, target);
  } catch (error) {
    rmSync(part, { force: true });
    signal.throwIfAborted();
    if (error instanceof SinkError) throw error;
    throw new SinkError('output.failed', `The rows cannot be written as ${format}: ${reasonOf(error)}`, {
      where: { file: target },
      cause: error,
      hint: 'Take another format, such as CSV.',
    });
  } finally {
    connection.closeSync();
    database.closeSync();
    rmSync(spill, { recursive: true, force: true });
  }
}

async function writeSheets(
  connection: DuckDBConnection,
  source: string,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const described = (await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${source}`)).getRows();
  const columns = described.map(([name, type]) => ({ name: String(name), kind: kindOf(String(type)) }));
  const names = columns.map((_, i) => `c${i}`);
  const cells = described.map(([, type], i) => cellOf(`c${i}`, String(type)));
  const sql = `SELECT ${cells.join(', ')} FROM ${source} AS rows_of_files(${names.join(', ')})`;
  await writeWorkbook(target, columns, rowsOf(connection, sql), { signal });
}

async function* rowsOf(connection: DuckDBConnection, sql: string): AsyncGenerator<SheetRows> {
  const result = await connection.stream(sql);
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk.getRows().map((row) => row.map((cell) => (cell === null ? null : String(cell).slice(1))));
  }
}

function kindOf(type: string): CellKind {
  if (type === 'BOOLEAN') return 'boolean';
  if (type === 'DATE') return 'date';
  if (type.startsWith('TIMESTAMP')) return 'time';
  if (type === 'DOUBLE' || type === 'FLOAT') return 'double';
  return /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL\(.*)$/.test(type) ? 'decimal' : 'text';
}

/** Returns a cell behind a sign, which keeps a U+FEFF: the driver drops it at the start of a text. */
function cellOf(name: string, type: string): string {
  return `'=' || ${textOf(name, type)}`;
}

/** Returns the text of a cell; a decimal without zeros at its end, and a time without its offset. */
function textOf(name: string, type: string): string {
  if (type === 'TIMESTAMP WITH TIME ZONE') return `CAST(${name} AT TIME ZONE 'UTC' AS VARCHAR)`;
  const text = `CAST(${name} AS VARCHAR)`;
  return /^DECIMAL\(\d+,[1-9]/.test(type) ? `rtrim(rtrim(${text}, '0'), '.')` : text;
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
