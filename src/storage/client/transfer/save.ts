import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat, truncate } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StorageError } from '../../../lib/errors.ts';

/** Partial download of an earlier attempt, to continue from. */
export interface PartialDownload {
  readonly partName: string;
  /** Bytes that are there already ({@link resumeAt}). */
  readonly startAt: number;
}

/**
 * Writes a stream into a file that appears under its name only when it is complete. Until then it has a name of its own,
 * and goes when it fails; or that of `begun`, and stays, to be gone on with.
 *
 * Gives false, and leaves the name alone, when nothing came behind the bytes that were there: then they are not of this
 * file.
 */
export async function saveStream(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
  begun?: PartialDownload,
): Promise<boolean> {
  const { partName, startAt } = begun ?? { partName: `${path}.${randomUUID()}.part`, startAt: 0 };
  const target = createWriteStream(partName, { flags: startAt > 0 ? 'a' : 'w' });
  try {
    await once(target, 'open'); // a file that cannot be written is told before anything is asked for
    await pipeline(Readable.from(bytes, { objectMode: false }), target, { signal });
    if (startAt > 0 && target.bytesWritten === 0) return false;
    if ((await sizeOf(partName)) !== startAt + target.bytesWritten) throw await takenOver(path, partName);
    await rename(partName, path);
    return true;
  } catch (error) {
    if (begun === undefined) await rm(partName, { force: true });
    signal.throwIfAborted(); // the stream has a reason of its own
    throw error;
  }
}

async function takenOver(path: string, partName: string): Promise<StorageError> {
  await rm(partName, { force: true });
  return new StorageError('storage.transferFailed', `Something else wrote “${path}” at the same time.`, {
    hint: 'Download it again, once at a time.',
  });
}

/**
 * Returns the position where an earlier attempt ended, less one byte: that byte is requested again, so that the end of
 * a file that was complete already can be told from a position behind it.
 */
export async function resumeAt(partName: string): Promise<number> {
  const at = Math.max((await sizeOf(partName)) - 1, 0);
  if (at > 0) await truncate(partName, at);
  return at;
}

/** Size of a file; 0 when there is none. */
export async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
