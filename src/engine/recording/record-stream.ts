import { decodeHead, HEAD_BYTES, isWhole, type RecordingKind } from './format.ts';

const NOTHING = new Uint8Array(0);

/** A record of a recording that is read from its beginning to its end. */
export interface StreamedRecord {
  readonly kind: RecordingKind;
  readonly json: string;
  /** Undefined where it is larger than was asked for. */
  readonly body: Buffer | undefined;
}

/**
 * Yields the records of a file of recordings as its bytes come; what does not fit the format ends it.
 *
 * @param bytes decompressed
 * @param mostBytes a larger body is passed over, and not held in memory
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
      if (head === undefined || !(await has(head.jsonBytes))) return;
      const json = take(head.jsonBytes);
      if (!isWhole(Buffer.concat([start, json]))) return;
      const isHeld = head.bodyBytes <= mostBytes;
      if (!(await (isHeld ? has(head.bodyBytes) : skip(head.bodyBytes)))) return;
      const body = isHeld ? take(head.bodyBytes) : undefined;
      yield { kind: head.kind, json: json.toString('utf8'), body };
    }
  } finally {
    await source.return?.();
  }
}
