import { Readable } from 'node:stream';
import { to as copyTo } from 'pg-copy-streams';
import { relation } from './catalog.ts';
import { textsOf } from './cells.ts';
import { gzipped } from '../gzip.ts';
import { orderClause, resultExpressions, whereClause } from './select.ts';
import { reading } from './reading.ts';
import type { SliceOptions, ExportOutcome, TableId, TakeSlice } from '../engine.ts';
import type { RowQuery } from '../row-query.ts';
import type { ReadStore } from './store.ts';

/**
 * Exports a table with one statement, so all slices are of one snapshot. The data of the database is passed on as it
 * comes: nothing is written to a disk, and when a slice is read slowly the database waits.
 */
export async function exportTable(
  store: ReadStore,
  table: TableId,
  query: RowQuery,
  options: SliceOptions,
  take: TakeSlice,
): Promise<ExportOutcome> {
  return await reading(store, table, async (session, { place, columns, forms }) => {
    const expressions = resultExpressions(query, columns);
    const where = whereClause(query, columns, store.letters);
    const order = orderClause(query.orderBy, columns);
    const limit = query.limit === undefined ? '' : ` LIMIT ${Math.max(0, Math.floor(query.limit))}`;
    const copy = copyTo(
      `COPY (SELECT ${expressions.join(', ')} FROM ${textsOf(relation(place), columns, forms)}${where}${order}${limit}) TO STDOUT ` +
        `(FORMAT csv, FORCE_QUOTE *, ENCODING 'UTF8')`,
    );
    // The reader of the stream gets the failure.
    copy.on('error', () => undefined);
    session.client.query(copy);
    // Without an encoding it gives buffers.
    const source = createSource(copy as AsyncIterable<Buffer>, options.targetBytes);
    const outcome = { bytes: 0, slices: 0 };
    try {
      while (await source.hasMore()) {
        const slice = counted(source.slice(), options.gzip);
        await take({ kind: 'stream', stream: slice.stream }, outcome.slices);
        outcome.bytes += slice.bytes();
        outcome.slices++;
      }
    } catch (error) {
      // The rest could only be read to be thrown away: the connection is given up with it.
      session.abandon();
      throw error;
    }
    return { ...outcome, rows: copy.rowCount };
  });
}

interface Source {
  hasMore(): Promise<boolean>;
  /** Records of about the size asked for; the caller reads a slice to its end before it asks for the next. */
  slice(): AsyncGenerator<Buffer>;
}

const QUOTE = 0x22;
const LF = 0x0a;

/** Cuts CSV whose cells are all quoted: a line end behind an even number of quotes is that of a record. */
function createSource(chunks: AsyncIterable<Buffer>, targetBytes: number): Source {
  const incoming = chunks[Symbol.asyncIterator]();
  let held: Buffer | undefined;
  let isInSlice = false;

  return {
    async hasMore() {
      if (isInSlice) throw new Error('A slice of an export was not read to its end.');
      held ??= await next();
      return held !== undefined;
    },

    slice() {
      isInSlice = true;
      return records();
    },
  };

  async function* records(): AsyncGenerator<Buffer> {
    let size = 0;
    let isQuoted = false;
    for (;;) {
      const chunk = held ?? (await next());
      held = undefined;
      if (chunk === undefined) break;
      const wanted = Math.min(chunk.length, Math.max(0, targetBytes - size - 1));
      let end = 0;
      for (; end < wanted; end++) if (chunk[end] === QUOTE) isQuoted = !isQuoted;
      for (; end < chunk.length; end++) {
        if (chunk[end] === QUOTE) isQuoted = !isQuoted;
        else if (chunk[end] === LF && !isQuoted) break;
      }
      size += chunk.length;
      if (end === chunk.length) {
        yield chunk;
        continue;
      }
      if (end + 1 < chunk.length) held = chunk.subarray(end + 1);
      yield chunk.subarray(0, end + 1);
      break;
    }
    isInSlice = false;
  }

  async function next(): Promise<Buffer | undefined> {
    const result = await incoming.next();
    return result.done === true ? undefined : result.value;
  }
}

/** A slice as it is to be taken, and how large it was. */
function counted(content: AsyncGenerator<Buffer>, isGzip: boolean): { stream: Readable; bytes(): number } {
  let bytes = 0;
  const packed = isGzip ? gzipped(content) : content;
  return { stream: Readable.from(count(packed), { objectMode: false }), bytes: () => bytes };

  async function* count(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
  }
}
