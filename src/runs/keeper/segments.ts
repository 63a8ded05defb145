import { open, type FileHandle } from 'node:fs/promises';
import { decodeHead, HEAD_BYTES } from '../../recording/format.ts';
import { seenOf, type Seen } from './identity.ts';
import type { LastRecord, Segment } from './kept.ts';

/** Bytes that are read at once to go from record to record. */
const BLOCK_BYTES = 1 << 16;

/** Keeps bytes, and gives their key. */
export type Put = (bytes: Uint8Array) => Promise<string>;

/**
 * Keeps what a recording has got since. It is read while it is written: whole records go, and the rest the next time.
 *
 * A recording only grows, with two exceptions: a download that is given up takes its parts away that are the end of the
 * file, and a run that begins anew, or goes on behind a damaged end, cuts. Segments that are not in the file any more are
 * found by their last record, and kept anew.
 *
 * @param known segments that are kept
 * @returns undefined when the file is gone
 */
export async function keepRecording(
  file: string,
  known: readonly Segment[],
  { put, segmentBytes }: { readonly put: Put; readonly segmentBytes: number },
): Promise<{ readonly segments: readonly Segment[]; readonly seen: Seen } | undefined> {
  const handle = await openIfThere(file);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat({ bigint: true });
    const size = Number(stats.size);
    const segments = [...known];
    for (let last = segments.at(-1); last !== undefined; last = segments.at(-1)) {
      if (await isStillThere(handle, last, size)) break;
      segments.pop();
    }
    const begin = segments.at(-1)?.to ?? 0;
    const { end, last } = await lastRecord(handle, begin, size);
    for (let from = begin; from < end;) {
      const bytes = await read(handle, from, Math.min(segmentBytes, end - from));
      const to = from + bytes.length;
      if (to === from) break; // it was cut just now
      segments.push({
        key: await put(bytes),
        from,
        to,
        ...(to === end && last !== undefined ? { last } : {}),
      });
      from = to;
    }
    return { segments, seen: seenOf(stats) };
  } finally {
    await handle.close();
  }
}

async function isStillThere(handle: FileHandle, { to, last }: Segment, size: number): Promise<boolean> {
  if (last === undefined || to > size) return false;
  const head = await read(handle, last.at, HEAD_BYTES);
  return head.toString('hex') === last.head;
}

/** Where the last record ends that is whole by its length. */
async function lastRecord(
  handle: FileHandle,
  from: number,
  size: number,
): Promise<{ readonly end: number; readonly last: LastRecord | undefined }> {
  let at = from;
  let last: LastRecord | undefined;
  let block: Buffer = Buffer.alloc(0);
  let blockAt = 0;
  for (;;) {
    if (at < blockAt || at + HEAD_BYTES > blockAt + block.length) {
      block = await read(handle, at, Math.min(BLOCK_BYTES, size - at));
      blockAt = at;
    }
    const bytes = block.subarray(at - blockAt, at - blockAt + HEAD_BYTES);
    const head = decodeHead(bytes);
    if (head === undefined) return { end: at, last };
    const end = at + HEAD_BYTES + head.jsonBytes + head.bodyBytes;
    if (end > size) return { end: at, last };
    last = { at, head: bytes.toString('hex') };
    at = end;
  }
}

/** Fewer where the file ends. */
async function read(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, length));
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
