import { createReadStream } from 'node:fs';
import type { ExportedSlice } from './engine.ts';

/** The bytes of a slice of an export, however it is given; to be read once, to the end. */
export function bytesOfSlice(slice: ExportedSlice): AsyncIterable<Buffer> {
  const stream =
    slice.kind === 'stream' ? slice.stream : createReadStream(slice.path, { highWaterMark: 1024 * 1024 });
  // Without an encoding streams give buffers.
  return stream as AsyncIterable<Buffer>;
}
