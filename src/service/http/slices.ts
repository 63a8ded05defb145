import { Readable } from 'node:stream';

/** Little enough that a slow client takes some of them within each look at how much it has taken. */
const SLICE_BYTES = 16 * 1024;

/** Bytes as they are sent one slice after the other: of a long one that is sent at once, nobody sees how far it is. */
export function inSlices(parts: readonly Buffer[]): Readable {
  return Readable.from(slicesOf(parts), { objectMode: false });
}

function* slicesOf(parts: readonly Buffer[]): Generator<Buffer> {
  for (const part of parts)
    for (let at = 0; at < part.length; at += SLICE_BYTES) yield part.subarray(at, at + SLICE_BYTES);
}
