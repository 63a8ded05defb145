import { ObjectError } from '../errors.ts';

/** Reads lines and pieces from a stream of bytes, whatever the sizes in which it comes. */
export interface ByteReader {
  /** Up to a line feed, without it and the carriage return before it; undefined at the end of the stream. */
  line(maxBytes: number): Promise<string | undefined>;
  /** Between one byte and `maxBytes`; undefined at the end. */
  take(maxBytes: number): Promise<Uint8Array | undefined>;
}

export function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let current: Uint8Array = new Uint8Array();
  /** Fetches the next chunk if needed; tells whether there is something to read. */
  const fill = async (): Promise<boolean> => {
    while (current.length === 0) {
      const next = await iterator.next();
      if (next.done === true) return false;
      current = next.value;
    }
    return true;
  };
  return {
    async line(maxBytes) {
      const parts: Uint8Array[] = [];
      let length = 0;
      while (await fill()) {
        const end = current.indexOf(LINE_FEED);
        const part = end < 0 ? current : current.subarray(0, end);
        length += part.length;
        if (length > maxBytes) throw new ObjectError('InvalidRequest', 'A line in the body is too long.');
        parts.push(part);
        current = current.subarray(end < 0 ? current.length : end + 1);
        if (end >= 0) return Buffer.concat(parts).toString('latin1').replace(/\r$/, '');
      }
      return length === 0 ? undefined : Buffer.concat(parts).toString('latin1');
    },
    async take(maxBytes) {
      if (!(await fill())) return undefined;
      const piece = current.subarray(0, maxBytes);
      current = current.subarray(piece.length);
      return piece;
    },
  };
}

const LINE_FEED = 0x0a;
