import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress, type ZstdOptions } from 'node:zlib';
import type { Pool } from 'pg';
import { createDigests, type DigestName } from '../checksums.ts';
import { DamagedObject, ObjectError } from '../errors.ts';
import type { ByteRange } from '../store.ts';
import { rethrow } from './failures.ts';
import type { ObjectTables } from './set-up.ts';

/** Bytes that a write has stored, in pieces, and that no object has yet. */
export interface WrittenBody {
  readonly id: string;
  readonly bytes: number;
  readonly digests: ReadonlyMap<DigestName, Buffer>;
}

/** A body of an object, with its size. */
export interface BodyPart {
  readonly id: string;
  readonly bytes: number;
}

/** Bytes of every piece but the last of a body, before they are compressed. */
const PIECE_BYTES = 1024 * 1024;

const OPTIONS: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const compress = promisify<Uint8Array, ZstdOptions, Buffer>(zstdCompress);
const decompress = promisify<Uint8Array, Buffer>(zstdDecompress);

/**
 * Stores a body piece by piece, a statement for each: no transaction is open while the bytes come. What is left of one
 * that fails, or whose process is killed, is swept with the uploads that were never completed.
 */
export async function writeBody(
  { pool, tables }: { readonly pool: Pool; readonly tables: ObjectTables },
  id: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  digestNames: Iterable<DigestName>,
): Promise<WrittenBody> {
  const digests = createDigests(digestNames);
  let bytes = 0;
  let pieces = 0;
  await pool.query(`INSERT INTO ${tables.bodies} (id) VALUES ($1)`, [id]).catch(rethrow);
  for await (const piece of inPieces(body)) {
    digests.update(piece);
    bytes += piece.length;
    const packed = await compress(piece, OPTIONS);
    await pool
      .query(`INSERT INTO ${tables.pieces} (body, piece, bytes) VALUES ($1, $2, $3)`, [id, pieces++, packed])
      .catch(rethrow);
  }
  return { id, bytes, digests: digests.finish() };
}

/** Reads bodies one behind the other, or a part of them. The stream fails when one of their pieces is gone. */
export function readBodies(
  { pool, tables }: { readonly pool: Pool; readonly tables: ObjectTables },
  parts: readonly BodyPart[],
  range: ByteRange = { start: 0, end: parts.reduce((sum, { bytes }) => sum + bytes, 0) - 1 },
): Readable {
  async function* read(): AsyncGenerator<Buffer> {
    let start = 0;
    for (const { id, bytes } of parts) {
      const from = Math.max(range.start - start, 0);
      const to = Math.min(range.end - start, bytes - 1);
      for (let piece = Math.floor(from / PIECE_BYTES); piece * PIECE_BYTES <= to; piece++) {
        const first = piece * PIECE_BYTES;
        const whole = await readPiece(id, piece);
        if (whole.length !== Math.min(PIECE_BYTES, bytes - first)) throw new DamagedObject(`${id}/${piece}`);
        yield whole.subarray(Math.max(from - first, 0), to + 1 - first);
      }
      start += bytes;
    }
  }
  async function readPiece(id: string, piece: number): Promise<Buffer> {
    const text = `SELECT bytes FROM ${tables.pieces} WHERE body = $1 AND piece = $2`;
    const { rows } = await pool.query<{ readonly bytes: Buffer }>(text, [id, piece]).catch(rethrow);
    const [row] = rows;
    if (row === undefined)
      throw new ObjectError('NoSuchKey', 'The object was deleted or replaced while it was read.');
    return await decompress(row.bytes).catch((error: unknown) => {
      throw new DamagedObject(`${id}/${piece}: ${String(error)}`);
    });
  }
  return Readable.from(read(), { objectMode: false, highWaterMark: PIECE_BYTES });
}

async function* inPieces(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body)
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + PIECE_BYTES - size);
      waiting.push(part);
      size += part.length;
      at += part.length;
      if (size < PIECE_BYTES) continue;
      yield Buffer.concat(waiting, size);
      [waiting, size] = [[], 0];
    }
  if (size > 0) yield Buffer.concat(waiting, size);
}
