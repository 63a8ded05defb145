import { crc32 } from 'node:zlib';
import { decodeHead, HEAD_BYTES, isWhole, type RecordingKind } from './format.ts';

const NOTHING = new Uint8Array(0);
/** A head that names more is none: it would be waited for in memory. */
const MOST_JSON = 64 * 1024 * 1024;

/** A record of a recording that is read from its beginning to its end. */
export interface StreamedRecord {
  readonly kind: RecordingKind;
  readonly json: string;
  /** Undefined where it is larger than was asked for. */
  readonly body: Buffer | undefined;
}

/** Failure to read on: what comes is no record, or only the beginning of one. */
export class BrokenRecording extends Error {}

/**
 * Yields the records of a file of recordings as its bytes come.
 *
 * @param bytes decompressed
 * @param mostBytes a larger body is passed over, and not held in memory
 * @throws {BrokenRecording} behind the last whole record, when something follows that is none
 */
export async function* streamRecords(
  bytes: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<StreamedRecord, void> {
  const source = bytes[Symbol.asyncIterator]();
  let chunks: Uint8Array[] = [];
  let length = 0;
  /** Waits for so many bytes. @returns false at the end */
  const has = async (wanted: number): Promise<boolean> => {
    while (length < wanted) {
      const next = await source.next();
      if (next.done === true) return false;
      chunks.push(next.value);
      length += next.value.length;
    }
    return true;
  };
  const take = (wanted: number): Buffer => {
    const [first = NOTHING] = chunks;
    // without a copy of the rest for each small record
    const all =
      chunks.length === 1 ? Buffer.from(first.buffer, first.byteOffset, first.length) : Buffer.concat(chunks);
    chunks = [all.subarray(wanted)];
    length = all.length - wanted;
    return all.subarray(0, wanted);
  };
  const skip = async (wanted: number): Promise<boolean> => {
    let left = wanted;
    while (left > length) {
      left -= length;
      [chunks, length] = [[], 0];
      if (!(await has(1))) return false;
    }
    take(left);
    return true;
  };
  try {
    while (await has(HEAD_BYTES)) {
      const start = take(HEAD_BYTES);
      const head = decodeHead(start);
      if (head === undefined || head.jsonBytes > MOST_JSON || !(await has(head.jsonBytes)))
        throw new BrokenRecording('No record begins there.');
      const json = take(head.jsonBytes);
      if (!isWhole(Buffer.concat([start, json])))
        throw new BrokenRecording('A record is not as it was written.');
      const isHeld = head.bodyBytes <= mostBytes;
      if (!(await (isHeld ? has(head.bodyBytes) : skip(head.bodyBytes))))
        throw new BrokenRecording('A record has no end.');
      const body = isHeld ? take(head.bodyBytes) : undefined;
      if (body !== undefined && crc32(body) !== head.bodyCheck)
        throw new BrokenRecording('An answer is not as it came.');
      yield { kind: head.kind, json: json.toString('utf8'), body };
    }
    if (length > 0) throw new BrokenRecording('A record has no end.');
  } finally {
    await source.return?.();
  }
}
