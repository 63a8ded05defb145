import { type FileHandle } from 'node:fs/promises';
import { decodeHead, HEAD_BYTES } from '../../../../engine/recording/format.ts';
import { seenOf, type Seen } from './identity.ts';
import type { KeptRecording, LastRecord, Segment } from './kept.ts';
import { openIfThere } from '../../../../lib/open-if-there.ts';

/** Bytes that are read at once to go from record to record, where they are small. */
const BLOCK_BYTES = 1 << 16;

/** Stores bytes, and returns their key. */
export type Put = (bytes: Uint8Array) => Promise<string>;

/**
 * Stores the growth of a recording. It is read while it is written: whole records are stored, and the rest the next
 * time.
 *
 * A recording only grows, with these exceptions: a run that starts from the beginning makes a new one in the same
 * file; one that continues cuts a damaged end; and a download that is given up removes its parts as long as no other
 * record follows them. So parts at the end wait for the record behind them, and the first and the last stored record
 * are compared.
 *
 * @param known the stored part
 * @returns undefined when the file is gone, or has no record yet
 */
export async function keepRecording(
  file: string,
  known: KeptRecording | undefined,
  { put, segmentBytes }: { readonly put: Put; readonly segmentBytes: number },
): Promise<{ readonly file: KeptRecording; readonly seen: Seen } | undefined> {
  const handle = await openIfThere(file);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat({ bigint: true });
    const size = Number(stats.size);
    const head = await headAt(handle, 0);
    const segments = known?.head === head ? [...known.segments] : [];
    for (let last = segments.at(-1); last !== undefined; last = segments.at(-1)) {
      if (await isStillThere(handle, last, size)) break;
      segments.pop();
    }
    const begin = segments.at(-1)?.to ?? 0;
    const { end, last } = await lastRecord(handle, begin, size);
    for (let from = begin < end ? joined(segments, end, segmentBytes) : end; from < end;) {
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
    const isSame = end === begin && segments.length === known?.segments.length;
    const now: KeptRecording = isSame && known !== undefined ? known : { kind: 'recording', head, segments };
    return segments.length === 0 ? undefined : { file: now, seen: seenOf(stats) };
  } finally {
    await handle.close();
  }
}

/**
 * Removes segments at the end that are no larger than the data behind them, to be stored again as one with it: a
 * recording that is stored often has few segments, and no byte of it is stored many times.
 *
 * @returns the start of the next segment
 */
function joined(segments: Segment[], end: number, segmentBytes: number): number {
  let from = segments.at(-1)?.to ?? 0;
  for (let tail = segments.at(-1); tail !== undefined; tail = segments.at(-1)) {
    if (tail.to - tail.from > end - from || end - tail.from > segmentBytes) break;
    from = tail.from;
    segments.pop();
  }
  return from;
}

async function isStillThere(handle: FileHandle, { to, last }: Segment, size: number): Promise<boolean> {
  return last !== undefined && to <= size && (await headAt(handle, last.at)) === last.head;
}

async function headAt(handle: FileHandle, at: number): Promise<string> {
  return (await read(handle, at, HEAD_BYTES)).toString('hex');
}

/** Returns the end of the last record that is whole by its length, and stays. */
async function lastRecord(
  handle: FileHandle,
  from: number,
  size: number,
): Promise<{ readonly end: number; readonly last: LastRecord | undefined }> {
  let found: { readonly end: number; readonly last: LastRecord | undefined } = { end: from, last: undefined };
  let at = from;
  let block: Buffer = Buffer.alloc(0);
  let blockAt = 0;
  let isLarge = false;
  for (;;) {
    if (at < blockAt || at + HEAD_BYTES > blockAt + block.length) {
      block = await read(handle, at, Math.min(isLarge ? HEAD_BYTES : BLOCK_BYTES, size - at));
      blockAt = at;
    }
    const bytes = block.subarray(at - blockAt, at - blockAt + HEAD_BYTES);
    const head = decodeHead(bytes);
    if (head === undefined) return found;
    const end = at + HEAD_BYTES + head.jsonBytes + head.bodyBytes;
    if (end > size) return found;
    if (head.kind !== 'part') found = { end, last: { at, head: bytes.toString('hex') } };
    isLarge = end - at > BLOCK_BYTES;
    at = end;
  }
}

/** Reads bytes; fewer at the end of the file. */
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
