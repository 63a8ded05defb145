import type { Readable } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { BrokenRecording } from '../../../engine/recording/record-stream.ts';
import { isDamaged } from '../service-error.ts';

/** Failure to read what a run has left: it is not what a run writes. */
export class DamagedRecord extends Error {}

/** Yields the content of a compressed file that a run has left. */
export async function* decompressed(file: Readable): AsyncGenerator<Buffer, void> {
  const plain = createZstdDecompress();
  file.once('error', (error) => plain.destroy(error));
  try {
    yield* file.pipe(plain) as AsyncIterable<Buffer>; // a stream of bytes
  } finally {
    file.destroy();
    plain.destroy();
  }
}

/** Tells whether an error says that the file of a run was cut or changed, or was never whole. */
export function isDamagedRecord(error: unknown): boolean {
  if (error instanceof DamagedRecord || error instanceof BrokenRecording || isDamaged(error)) return true;
  return error instanceof Error && 'code' in error && /^Z(?:STD)?_/.test(String(error.code));
}
