import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { requireEntry } from './catalog.ts';
import { literal, tableName } from './identifiers.ts';
import { orderClause, resultExpressions, whereClause } from './select.ts';
import { sizeExpression } from './size.ts';
import type { Writable } from 'node:stream';
import type { ExportOptions, ExportOutcome, TableId } from '../engine.ts';
import type { RowQuery } from '../row-query.ts';
import type { Database, Session } from './database.ts';

type OpenSlice = (index: number) => Writable;

/**
 * One transaction, so all slices are of one moment. The database writes a slice into a file while the one
 * before goes out: two are on the disk at a time, whatever the size of the table.
 */
export async function exportTable(
  database: Database,
  table: TableId,
  query: RowQuery,
  options: ExportOptions,
  open: OpenSlice,
): Promise<ExportOutcome> {
  const folder = join(database.spoolFolder, randomUUID());
  await mkdir(folder);
  try {
    return await database.transaction(async (session) => {
      const result = await findResult(session, table, query);
      return writeSlices(session, result, { folder, options, open });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A table whose row numbers are the order of the rows. */
interface Result {
  readonly name: string;
  readonly expressions: readonly string[];
  /** Row numbers are below this; there may be gaps. */
  readonly endRow: number;
  /** Bytes as CSV. */
  readonly bytes: number;
}

/** The table itself when all its rows are wanted as they are, else a copy of what is wanted. */
async function findResult(session: Session, table: TableId, query: RowQuery): Promise<Result> {
  const { columns } = await requireEntry(session, table);
  const expressions = resultExpressions(query, columns);
  const where = whereClause(query, columns, 'storage.tables.validation.columnNotExists');
  const order = orderClause(query.orderBy, columns);
  if (where === '' && order === '' && query.limit === undefined)
    return measured(session, tableName(table), expressions);

  const limit = query.limit === undefined ? '' : ` LIMIT ${Math.max(0, Math.floor(query.limit))}`;
  await session.run(
    `CREATE TEMP TABLE result AS SELECT ${expressions.join(', ')} FROM ${tableName(table)}${where}${order}${limit}`,
  );
  return measured(
    session,
    'temp.result',
    expressions.map((_, i) => `r${i}`),
  );
}

async function measured(session: Session, name: string, expressions: readonly string[]): Promise<Result> {
  const cells = expressions.map((expression) => expression.replace(/ AS r\d+$/, ''));
  const [row] = await session.rows(
    `SELECT coalesce(max(rowid) + 1, 0), ${sizeExpression(cells)} + 2 * ${cells.length} * count(*) FROM ${name}`,
  );
  return { name, expressions, endRow: Number(row?.[0] ?? 0), bytes: Number(row?.[1] ?? 0) };
}

interface SliceWork {
  readonly folder: string;
  readonly options: ExportOptions;
  readonly open: OpenSlice;
}

async function writeSlices(
  session: Session,
  result: Result,
  { folder, options, open }: SliceWork,
): Promise<ExportOutcome> {
  const count = Math.max(1, Math.round(result.bytes / Math.max(1, options.targetBytes)));
  const rowsPerSlice = Math.max(1, Math.ceil(result.endRow / count));
  let rows = 0;
  let bytes = 0;
  let slices = 0;
  let next = await copy(0);
  while (next !== undefined) {
    const current = next;
    const sending =
      current.rows === 0 ? Promise.resolve(0) : send(current.path, options.gzip, open(slices++));
    const [following, sent] = await Promise.all([copy(current.end), sending]);
    await rm(current.path, { force: true });
    rows += current.rows;
    bytes += sent;
    next = following;
  }
  return { rows, bytes, slices };

  async function copy(start: number): Promise<{ path: string; rows: number; end: number } | undefined> {
    if (start >= result.endRow) return undefined;
    const end = start + rowsPerSlice;
    const path = join(folder, `${start}.csv`);
    const range = rowsPerSlice >= result.endRow ? '' : ` WHERE rowid >= ${start} AND rowid < ${end}`;
    const written = await session.number(
      `COPY (SELECT ${result.expressions.join(', ')} FROM ${result.name}${range}) TO ${literal(path)} ` +
        `(FORMAT csv, HEADER false, DELIMITER ',', QUOTE '"', ESCAPE '"', FORCE_QUOTE *)`,
    );
    return { path, rows: written, end };
  }
}

/** Pumps a file into its slice; gives the bytes that went in. */
async function send(path: string, isGzip: boolean, slice: Writable): Promise<number> {
  let bytes = 0;
  async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  const file = createReadStream(path, { highWaterMark: 1024 * 1024 });
  if (isGzip) await pipeline(file, createGzip({ level: GZIP_LEVEL, chunkSize: 256 * 1024 }), counted, slice);
  else await pipeline(file, counted, slice);
  return bytes;
}

/** Twice as fast as the default, for files a tenth larger. */
const GZIP_LEVEL = 4;
