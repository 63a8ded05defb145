import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { DamagedObject } from '../errors.ts';
import type { ByteRange } from '../store.ts';

/**
 * Check sums of the blocks of a file, so that a part of it can be looked at without the rest. A block is read whole and
 * compared before any byte of it is given away.
 */
export interface BlockSums {
  /** Size of every block but the last. */
  readonly bytes: number;
  /** CRC-32 of each, 4 bytes big-endian, in base64. */
  readonly crc32: string;
}

export interface RunningSums {
  update(bytes: Uint8Array): void;
  /** Once, at the end. */
  finish(): BlockSums;
}

/** Large enough that the sums of 5 GB are 107 kB, small enough for many slow readers to hold one each. */
const BLOCK_BYTES = 256 * 1024;

/** Makes the sums of bytes that come in pieces of any size. */
export function createBlockSums(blockBytes = BLOCK_BYTES): RunningSums {
  const sums: number[] = [];
  let sum = 0;
  let filled = 0;
  const end = (): void => {
    sums.push(sum);
    sum = 0;
    filled = 0;
  };
  return {
    update(bytes) {
      for (let at = 0; at < bytes.length;) {
        const piece = bytes.subarray(at, at + blockBytes - filled);
        sum = crc32(piece, sum);
        filled += piece.length;
        at += piece.length;
        if (filled === blockBytes) end();
      }
    },
    finish() {
      if (filled > 0) end();
      const all = Buffer.alloc(sums.length * SUM_BYTES);
      for (const [i, value] of sums.entries()) all.writeUInt32BE(value, i * SUM_BYTES);
      return { bytes: blockBytes, crc32: all.toString('base64') };
    },
  };
}

/** Sums as long as those of so many bytes are. */
export function blankSums(bytes: number): BlockSums {
  const count = Math.ceil(bytes / BLOCK_BYTES);
  return { bytes: BLOCK_BYTES, crc32: Buffer.alloc(count * SUM_BYTES).toString('base64') };
}

const SUM_BYTES = 4;

/** The bytes of an object, where they are. */
export interface Blocks {
  readonly handle: FileHandle;
  /** Position in the file where the object begins. */
  readonly start: number;
  readonly bytes: number;
  /** Undefined for an object of before there were sums: it is given as it is. */
  readonly sums: BlockSums | undefined;
  /** Name for the search for the damage. */
  readonly name: string;
  /** True when the file is closed at the end, or when the stream is destroyed. */
  readonly isClosed: boolean;
}

/** Reads an object or a part of it, block by block. The stream ends with a {@link DamagedObject} for what doesn't fit its sum. */
export function readBlocks(blocks: Blocks, range: ByteRange = { start: 0, end: blocks.bytes - 1 }): Readable {
  const size = blocks.sums?.bytes ?? BLOCK_BYTES;
  let block = Math.floor(range.start / size);
  const next = async (): Promise<Buffer | null> => {
    const first = block * size;
    if (first > range.end) return null;
    const bytes = await readBlock(blocks, block++, size);
    return bytes.subarray(Math.max(0, range.start - first), range.end + 1 - first);
  };
  return new Readable({
    highWaterMark: size,
    read() {
      next().then(
        (chunk) => this.push(chunk),
        (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
      );
    },
    destroy(error, done) {
      if (!blocks.isClosed) return done(error);
      blocks.handle.close().then(() => done(error), done);
    },
  });
}

async function readBlock(
  { handle, start, bytes, sums, name }: Blocks,
  block: number,
  size: number,
): Promise<Buffer> {
  const first = block * size;
  const buffer = Buffer.allocUnsafe(Math.min(size, bytes - first));
  for (let done = 0; done < buffer.length;) {
    const { bytesRead } = await handle.read(buffer, done, buffer.length - done, start + first + done);
    if (bytesRead === 0) throw new DamagedObject(name);
    done += bytesRead;
  }
  if (sums === undefined) return buffer;
  const known = Buffer.from(sums.crc32, 'base64');
  const at = block * SUM_BYTES;
  if (at + SUM_BYTES > known.length || known.readUInt32BE(at) !== crc32(buffer))
    throw new DamagedObject(name);
  return buffer;
}
