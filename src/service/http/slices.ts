import { Readable } from 'node:stream';

/** Bytes of a slice: so few that a slow client reads some of them between two checks of its progress. */
const SLICE_BYTES = 16 * 1024;

/** Returns bytes as a stream of slices: the progress of a long text that is sent at once cannot be seen. */
export function inSlices(parts: readonly Buffer[]): Readable {
  return Readable.from(slicesOf(parts), { objectMode: false });
}

function* slicesOf(parts: readonly Buffer[]): Generator<Buffer> {
  for (const part of parts)
    for (let at = 0; at < part.length; at += SLICE_BYTES) yield part.subarray(at, at + SLICE_BYTES);
}
