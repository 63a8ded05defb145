import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gzipped } from '../gzip.ts';
import { requireEntry } from './catalog.ts';
import { textsOf } from './cells.ts';
import { literal, tableName } from './identifiers.ts';
import { orderClause, resultExpressions, whereClause } from './select.ts';
import { findRows, type RowRange } from './row-ranges.ts';
import { resultSize } from './size.ts';
import type { SliceOptions, ExportOutcome, TableId, TakeSlice } from '../engine.ts';
import type { RowQuery } from '../row-query.ts';
import type { DuckDatabase } from './database.ts';
import type { DuckSession } from './session.ts';

/**
 * One transaction, so all slices are of one moment. The database writes a slice into a file while the one before
 * is taken: two are on the disk at a time, whatever the size of the table.
 */
export async function exportTable(
  database: DuckDatabase,
  table: TableId,
  query: RowQuery,
  options: SliceOptions,
  take: TakeSlice,
): Promise<ExportOutcome> {
  return await inFolder(database.spoolFolder, (folder) =>
    database.transaction(async (session) => {
      const result = await findResult(session, table, query);
      return await exportResult(result, folder, options, take);
    }),
  );
}

/** Calls `work` with a new folder, which is removed afterwards. */
export async function inFolder<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(parent, randomUUID());
  await mkdir(folder, { mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives a result to `take`, slice by slice; no other statement of its connections runs meanwhile. */
export async function exportResult(
  result: ResultRows,
  folder: string,
  options: SliceOptions,
  take: TakeSlice,
): Promise<ExportOutcome> {
  const pieces = prefetch(writePieces(result, folder, options));
  const slices = options.gzip ? prefetch(compressed(pieces, folder)) : pieces;
  return await giveAway(slices, take);
}

/** A table whose row numbers are the order of the rows. */
export interface ResultRows {
  /** Connections that can read it; each writes a piece at a time, beside the others. */
  readonly writers: readonly [DuckSession, ...DuckSession[]];
  readonly name: string;
  readonly expressions: readonly string[];
  /** ` WHERE …` of the rows that belong to it; empty: all. */
  readonly where: string;
  /** Divides the rows into so many pieces, or fewer, of about the same size. */
  readonly ranges: (count: number) => readonly RowRange[];
  /** Tells whether the rows of a range come in the order of their numbers, unsorted. Default: they do. */
  readonly isOrdered?: (range: RowRange) => boolean;
  /** About the bytes as CSV. */
  readonly bytes: number;
}

/** The table itself where its rows are wanted in their order, else a copy of what is wanted. */
async function findResult(session: DuckSession, table: TableId, query: RowQuery): Promise<ResultRows> {
  const { columns, forms } = await requireEntry(session, table);
  const from = textsOf(tableName(table), columns, forms);
  const expressions = resultExpressions(query, columns);
  const where = whereClause(query, columns, 'storage.tables.validation.columnNotExists');
  const order = orderClause(query.orderBy, columns);
  if (order === '' && query.limit === undefined) return measured(session, from, expressions, where);

  const limit = query.limit === undefined ? '' : ` LIMIT ${Math.max(0, Math.floor(query.limit))}`;
  await session.run(
    `CREATE TEMP TABLE result AS SELECT ${expressions.join(', ')} FROM ${from}${where}${order}${limit}`,
  );
  return measured(
    session,
    'temp.result',
    expressions.map((_, i) => `r${i}`),
  );
}

/** Returns a table as a result. @param where ` WHERE …` of the rows that belong to it; default: all */
export async function measured(
  session: DuckSession,
  name: string,
  expressions: readonly string[],
  where = '',
): Promise<ResultRows> {
  const cells = expressions.map((expression) => expression.replace(/ AS r\d+$/, ''));
  const { rows, allRows, ranges } = await findRows(session, name, where);
  const bytes = rows === 0 ? 0 : ((await resultSize(session, name, cells)) * rows) / allRows;
  return { writers: [session], name, expressions, where, ranges, bytes };
}

/** A run of rows as a file. */
interface Piece {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly slice: number;
}

type Pieces = AsyncGenerator<Piece, undefined>;

/** Bytes of a piece of a compressed slice: small enough that little is left to do when the last one is written. */
const PIECE_BYTES = 32 * 1024 * 1024;

/** Yields the non-empty pieces in order; the caller removes their files. */
async function* writePieces(result: ResultRows, folder: string, options: SliceOptions): Pieces {
  const slices = Math.max(1, Math.round(result.bytes / Math.max(1, options.targetBytes)));
  const piecesPerSlice = options.gzip ? Math.max(1, Math.ceil(result.bytes / slices / PIECE_BYTES)) : 1;
  const ranges = result.ranges(slices * piecesPerSlice);
  const { where } = result;
  const write = async (writer: DuckSession, index: number, range: RowRange): Promise<Piece> => {
    const path = join(folder, `${index}.csv`);
    const within = `rowid >= ${range.start} AND rowid < ${range.end}`;
    const wanted = ranges.length === 1 ? where : `${where === '' ? ' WHERE' : `${where} AND`} ${within}`;
    const order = result.isOrdered?.(range) === false ? ' ORDER BY rowid' : '';
    const rows = await writer.number(
      `COPY (SELECT ${result.expressions.join(', ')} FROM ${result.name}${wanted}${order}) TO ${literal(path)} ` +
        `(FORMAT csv, HEADER false, DELIMITER ',', QUOTE '"', ESCAPE '"', FORCE_QUOTE *)`,
    );
    const { size } = await stat(path);
    return { path, rows, bytes: size, slice: Math.floor(index / piecesPerSlice) };
  };

  const begun: { readonly writer: DuckSession; readonly piece: Promise<Piece> }[] = [];
  let index = 0;
  const begin = (writer: DuckSession): void => {
    const range = ranges[index];
    if (range === undefined) return;
    const piece = write(writer, index++, range);
    // Its failure is looked at in its turn.
    piece.catch(() => undefined);
    begun.push({ writer, piece });
  };
  result.writers.forEach(begin);
  try {
    for (let next = begun.shift(); next !== undefined; next = begun.shift()) {
      const piece = await next.piece;
      if (piece.rows > 0) yield piece;
      else await rm(piece.path, { force: true });
      begin(next.writer);
    }
  } finally {
    await Promise.allSettled(begun.map(({ piece }) => piece));
  }
  return undefined;
}

/** The pieces of each slice as one file of gzip. */
async function* compressed(pieces: Pieces, folder: string): Pieces {
  let next = await pieces.next();
  try {
    while (next.done !== true) {
      const { slice } = next.value;
      const path = join(folder, `slice-${slice}.csv.gz`);
      let rows = 0;
      async function* content(): AsyncGenerator<Buffer> {
        while (next.done !== true && next.value.slice === slice) {
          rows += next.value.rows;
          // Without an encoding a file gives buffers.
          yield* createReadStream(next.value.path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>;
          await rm(next.value.path, { force: true });
          next = await pieces.next();
        }
      }
      await pipeline(gzipped(content()), createWriteStream(path, { mode: 0o600 }));
      const { size } = await stat(path);
      yield { path, rows, bytes: size, slice };
    }
  } finally {
    await pieces.return(undefined);
  }
  return undefined;
}

async function giveAway(slices: Pieces, take: TakeSlice): Promise<ExportOutcome> {
  const outcome = { rows: 0, bytes: 0, slices: 0 };
  for await (const { path, rows, bytes } of slices) {
    await take({ kind: 'file', path, bytes }, outcome.slices);
    await rm(path, { force: true });
    outcome.rows += rows;
    outcome.bytes += bytes;
    outcome.slices++;
  }
  return outcome;
}

/** The same items; the next one is made while one is used. When it is left early, what is being made is waited for. */
async function* prefetch<T>(source: AsyncGenerator<T, undefined>): AsyncGenerator<T, undefined> {
  let next = source.next();
  try {
    for (;;) {
      const item = await next;
      if (item.done === true) return undefined;
      next = source.next();
      // Looked at in the next round; a reader that stops before must not leave a failure unheard.
      next.catch(() => undefined);
      yield item.value;
    }
  } finally {
    await next.catch(() => undefined);
    await source.return(undefined);
  }
}
