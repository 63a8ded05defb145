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
 * One transaction, so all slices are of one moment. The database writes a piece into a file while the one
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

/** A run of rows as a file. */
interface Piece {
  readonly path: string;
  readonly rows: number;
  readonly slice: number;
}

/** Small enough that little is left to send when the last one is written, large enough to keep several threads at work. */
const PIECE_BYTES = 32 * 1024 * 1024;

async function writeSlices(session: Session, result: Result, work: SliceWork): Promise<ExportOutcome> {
  let rows = 0;
  let bytes = 0;
  let slices = 0;
  const pieces = piecesOf(session, result, work);
  try {
    let next = await pieces.next();
    while (next.done !== true) {
      const { slice } = next.value;
      async function* content(): AsyncGenerator<Buffer> {
        while (next.done !== true && next.value.slice === slice) {
          rows += next.value.rows;
          // Without an encoding a file gives buffers.
          yield* createReadStream(next.value.path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>;
          next = await pieces.next();
        }
      }
      bytes += await send(content(), work.options.gzip, work.open(slices++));
    }
  } finally {
    await pieces.return(undefined);
  }
  return { rows, bytes, slices };
}

/** Pieces that have rows, in order; one is written while the one before is read. Its file is gone after that. */
async function* piecesOf(
  session: Session,
  result: Result,
  { folder, options }: SliceWork,
): AsyncGenerator<Piece, undefined> {
  const slices = Math.max(1, Math.round(result.bytes / Math.max(1, options.targetBytes)));
  const piecesPerSlice = Math.max(1, Math.ceil(result.bytes / slices / PIECE_BYTES));
  const rowsPerPiece = Math.max(1, Math.ceil(result.endRow / slices / piecesPerSlice));
  const count = Math.ceil(result.endRow / rowsPerPiece);
  let ahead: Promise<Piece> | undefined;
  try {
    if (count > 0) ahead = copy(0);
    for (let index = 1; ahead !== undefined; index++) {
      const piece: Piece = await ahead;
      ahead = index < count ? copy(index) : undefined;
      // Looked at in the next round; a reader that stops before must not leave a failure unheard.
      ahead?.catch(() => undefined);
      if (piece.rows > 0) yield piece;
      await rm(piece.path, { force: true });
    }
  } finally {
    await ahead?.catch(() => undefined);
  }
  return undefined;

  async function copy(index: number): Promise<Piece> {
    const path = join(folder, `${index}.csv`);
    const start = index * rowsPerPiece;
    const range = count === 1 ? '' : ` WHERE rowid >= ${start} AND rowid < ${start + rowsPerPiece}`;
    const rows = await session.number(
      `COPY (SELECT ${result.expressions.join(', ')} FROM ${result.name}${range}) TO ${literal(path)} ` +
        `(FORMAT csv, HEADER false, DELIMITER ',', QUOTE '"', ESCAPE '"', FORCE_QUOTE *)`,
    );
    return { path, rows, slice: Math.floor(index / piecesPerSlice) };
  }
}

/** Pumps the content of a slice into it; gives the bytes that went in. */
async function send(content: AsyncIterable<Buffer>, isGzip: boolean, slice: Writable): Promise<number> {
  let bytes = 0;
  async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  if (isGzip)
    await pipeline(content, createGzip({ level: GZIP_LEVEL, chunkSize: 256 * 1024 }), counted, slice);
  else await pipeline(content, counted, slice);
  return bytes;
}

/** Twice as fast as the default, for files a tenth larger. */
const GZIP_LEVEL = 4;
