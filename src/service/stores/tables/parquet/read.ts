import { open } from 'node:fs/promises';
import { reasonOf } from '../../../../lib/errors.ts';
import { written } from '../duckdb/cells.ts';
import { MAX_COLUMNS, tooManyColumns } from '../import-plan.ts';
import { TableError } from '../table-error.ts';

/** Kind of a file, as its bytes tell it. */
export type FileKind = 'encrypted' | 'other' | 'parquet';

/** Bytes at the start of a file that tell its kind. */
export const KIND_BYTES = 5;

const MARK = 'PAR1';
const ENCRYPTED = 'PARE';

/**
 * Tells the kind of a file by its first bytes. The mark of Parquet is text; what follows it in such a file never is, so
 * that a column of a CSV may be called like it.
 */
export function kindOf(head: Uint8Array): FileKind {
  const mark = Buffer.from(head.subarray(0, MARK.length)).toString('latin1');
  const next = head[MARK.length] ?? 0;
  const isText = next >= 0x20 || next === 0x09 || next === 0x0a || next === 0x0d;
  if (isText) return 'other';
  if (mark === MARK) return 'parquet';
  return mark === ENCRYPTED ? 'encrypted' : 'other';
}

export interface ParquetColumn {
  readonly name: string;
  /** As DuckDB calls it, such as `DECIMAL(10,2)`. */
  readonly type: string;
  /** True for a list, a structure or a map. */
  readonly isNested: boolean;
}

/** Rows of a Parquet file as CSV. */
export interface ParquetRows {
  /** As the file names them, in its order. */
  readonly columns: readonly ParquetColumn[];
  /** Every cell quoted, `,`, LF, without a header; null is an empty cell. */
  readonly bytes: AsyncIterable<Uint8Array>;
  close(): void;
}

/**
 * Opens a Parquet file of this machine. Values are the texts that the values of tables are written as: `true`, `1.5`,
 * `2024-02-29T10:00:00`, moments with an offset in UTC; lists, structures and maps are JSON. Rows are read as they are
 * taken, in bounded memory.
 *
 * @throws {TableError} for a file that is none, is cut or encrypted, or whose columns cannot be those of a table
 */
export async function openParquet(file: string): Promise<ParquetRows> {
  await requireEnd(file);
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const database = await DuckDBInstance.create(':memory:', { memory_limit: '512MB', threads: '1' });
  const connection = await database.connect();
  const close = (): void => {
    connection.closeSync();
    database.closeSync();
  };
  const rowsOf = async (sql: string): Promise<readonly (readonly unknown[])[]> =>
    (await connection.runAndReadAll(sql)).getRows();
  try {
    await connection.run("SET TimeZone = 'UTC'; SET preserve_insertion_order = true");
    // The reader gives columns other names that differ from another one in case alone.
    const schema = await rowsOf(`SELECT name, num_children FROM parquet_schema(${literal(file)})`);
    const names = columnsIn(schema.map(([name, children]) => [String(name), Number(children ?? 0)]));
    refuseColumns(names);
    const source = `read_parquet(${literal(file)}, binary_as_string = true, hive_partitioning = false)`;
    const described = await rowsOf(`DESCRIBE SELECT * FROM ${source}`);
    const columns = names.map((name, i): ParquetColumn => {
      const type = String(described[i]?.[1]);
      return { name, type, isNested: /^(?:STRUCT|MAP|UNION)\(|\]$|^VARIANT$/.test(type) };
    });
    const cells = columns.map((column, i) => cellOf(`c${i}`, column));
    const places = columns.map((_, i) => `c${i}`).join(', ');
    const sql = `SELECT ${cells.join(" || ',' || ")} FROM ${source} AS rows_of_file(${places})`;
    return { columns, bytes: lines(sql), close };
  } catch (error) {
    close();
    throw unreadable(error);
  }

  /** Names the columns that may hold such bytes: those that the file does not call texts. */
  async function notText(): Promise<TableError> {
    const described = await rowsOf(`DESCRIBE SELECT * FROM read_parquet(${literal(file)})`);
    const names = described.filter(([, type]) => type === 'BLOB').map(([name]) => `"${String(name)}"`);
    const where = names.length === 0 ? '' : ` (${names.slice(0, 10).join(', ')})`;
    return new TableError(
      'csvImport.invalidCsv',
      `Load error: the Parquet file has bytes that are no text in UTF-8${where}. Write them as hexadecimal or Base64 text, or leave the column out.`,
    );
  }

  async function* lines(sql: string): AsyncGenerator<Buffer> {
    try {
      const result = await connection.stream(sql);
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) return;
        yield Buffer.from(`${chunk.getColumnValues(0).join('\n')}\n`);
      }
    } catch (error) {
      throw /not valid UTF-?8/i.test(reasonOf(error)) ? await notText() : unreadable(error);
    }
  }
}

/** Returns a cell as text in quotes. */
function cellOf(cell: string, column: ParquetColumn): string {
  return `'"' || replace(coalesce(${textOf(cell, column)}, ''), '"', '""') || '"'`;
}

function textOf(cell: string, { type, isNested }: ParquetColumn): string {
  if (isNested) return jsonOf(cell, type);
  const text = `CAST(${cell} AS VARCHAR)`;
  if (/^DECIMAL\(\d+,[1-9]/.test(type)) return written(cell, 'decimal');
  switch (type) {
    case 'DOUBLE':
    case 'FLOAT':
      return written(cell, 'double');
    case 'TIMESTAMP':
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
      return written(`CAST(${cell} AS TIMESTAMP)`, 'timestamp');
    case 'TIMESTAMP_NS':
      return `CASE WHEN epoch_ns(${cell}) % 1000 = 0 THEN ${written(`CAST(${cell} AS TIMESTAMP)`, 'timestamp')} ELSE replace(${text}, ' ', 'T') END`;
    case 'TIMESTAMP WITH TIME ZONE':
      return written(cell, 'timestamptz');
    default:
      return text;
  }
}

/** A nested value as JSON, which has no NaN and nothing infinite; DuckDB writes them all the same, outside of texts. */
function jsonOf(cell: string, type: string): string {
  const text = `CAST(to_json(${cell}) AS VARCHAR)`;
  if (!/DOUBLE|FLOAT|VARIANT/.test(type)) return text;
  const isNumber = `regexp_matches(regexp_replace(${text}, '"(?:[^"\\\\]|\\\\.)*"', '', 'g'), 'NaN|Infinity')`;
  return `CASE WHEN ${isNumber} THEN error('${NO_JSON}') ELSE ${text} END`;
}

/** Marks the error of a nested value that is no JSON. */
const NO_JSON = 'gex: no number of JSON';

/** Returns the names of the columns: the children of the root of the schema, which stands before them, depth first. */
function columnsIn(schema: readonly (readonly [string, number])[]): string[] {
  const columns: string[] = [];
  let at = 1;
  const pass = (): void => {
    const children = schema[at++]?.[1] ?? 0;
    for (let i = 0; i < children && at < schema.length; i++) pass();
  };
  while (at < schema.length) {
    columns.push(schema[at]?.[0] ?? '');
    pass();
  }
  return columns;
}

function refuseColumns(columns: readonly string[]): void {
  if (columns.length === 0)
    throw new TableError('storage.tables.validation.noColumns', 'The Parquet file has no columns.');
  // One of them may be the change time.
  if (columns.length > MAX_COLUMNS + 1) throw tooManyColumns(columns.length);
  const seen = new Map<string, string>();
  for (const name of columns) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined)
      throw new TableError(
        'csvImport.duplicateColumns',
        `Load error: the Parquet file has the columns "${other}" and "${name}", which are one in a table. Rename one of them.`,
      );
    seen.set(name.toLowerCase(), name);
  }
}

/** A file that is whole ends with its mark. */
async function requireEnd(file: string): Promise<void> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const end = Buffer.alloc(MARK.length);
    await handle.read(end, 0, end.length, Math.max(0, size - end.length));
    if (end.toString('latin1') === ENCRYPTED) throw encrypted();
    if (size < 2 * MARK.length + 4 || end.toString('latin1') !== MARK)
      throw new TableError(
        'csvImport.invalidCsv',
        'Load error: the Parquet file is cut: its end is missing. Write and send it once more.',
      );
  } finally {
    await handle.close();
  }
}

export const encrypted = (): TableError =>
  new TableError(
    'csvImport.invalidCsv',
    'Load error: the Parquet file is encrypted. Write it without encryption.',
  );

/** Returns what the reader says of a file, without the place of the file. */
function unreadable(error: unknown): unknown {
  if (error instanceof TableError) return error;
  const reason = reasonOf(error);
  if (reason.includes(NO_JSON))
    return new TableError(
      'csvImport.invalidCsv',
      'Load error: a list, structure or map of the Parquet file has NaN or an infinite number, which JSON has not. Write NULL in their place, or the value as text.',
      { cause: error },
    );
  if (/encrypt/i.test(reason)) return encrypted();
  const [said = ''] = reason.replaceAll(/"?[^\s"']*gex-parquet-[^\s"']*"?/g, 'the file').split('\n');
  return new TableError(
    'csvImport.invalidCsv',
    `Load error: the Parquet file cannot be read: ${said.slice(0, 300)}`,
    { cause: error },
  );
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
