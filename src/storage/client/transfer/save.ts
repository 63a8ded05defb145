import { createWriteStream } from 'node:fs';
import { rename, stat, truncate } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Writes a stream into a file that appears under its name only when it is complete; until then it is `partName`.
 *
 * `startAt` bytes are there already, from an earlier attempt ({@link resumeAt}). Gives false, and leaves the name alone,
 * when nothing came behind them: then they are not of this file.
 */
export async function saveStream(
  bytes: AsyncIterable<Uint8Array>,
  to: { readonly path: string; readonly partName: string; readonly startAt: number },
  signal: AbortSignal,
): Promise<boolean> {
  const target = createWriteStream(to.partName, { flags: to.startAt > 0 ? 'a' : 'w' });
  await pipeline(Readable.from(bytes, { objectMode: false }), target, { signal });
  if (to.startAt > 0 && (await sizeOf(to.partName)) <= to.startAt) return false;
  await rename(to.partName, to.path);
  return true;
}

/**
 * Where an earlier attempt ended, less one byte: that is asked for again, so that the end of a file that was complete
 * already can be told from a position behind it.
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
