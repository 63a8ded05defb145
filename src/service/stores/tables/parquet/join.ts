import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeTempFolder } from '../../../../lib/temp-folder.ts';
import { convertParquet } from '../../../../runner/parquet-files.ts';
import type { ByteSlice } from '../engine.ts';

/**
 * Yields the bytes of one Parquet file with the rows of several, in their order. They are files of this machine
 * meanwhile.
 */
export async function* joinedParquet(slices: AsyncIterable<ByteSlice>): AsyncGenerator<Uint8Array, void> {
  const folder = makeTempFolder('parquet');
  try {
    const files: string[] = [];
    for await (const slice of slices) {
      const file = join(folder.path, `${files.length}.parquet`);
      await pipeline(slice, createWriteStream(file, { mode: 0o600 }));
      files.push(file);
    }
    const [only = ''] = files;
    const whole = files.length === 1 ? only : join(folder.path, 'whole.parquet');
    if (files.length > 1) await convertParquet(files, whole, 'parquet', new AbortController().signal);
    // Without an encoding a file gives buffers.
    yield* createReadStream(whole) as AsyncIterable<Buffer>;
  } finally {
    folder.remove();
  }
}
