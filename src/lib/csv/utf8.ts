import { isUtf8 } from 'node:buffer';
import { LF } from './dialect.ts';

/** Checks that a stream of chunks is UTF-8; a character may be cut by a chunk's end. */
export class Utf8Checker {
  /** The start of a character whose rest is in the next chunk. */
  #cut = new Uint8Array(0);

  /**
   * Returns the offset in `chunk` of the line that is not UTF-8 (0 when it began earlier), or -1. A character of
   * several bytes holds no LF, so each line can be checked alone.
   */
  push(chunk: Uint8Array): number {
    const start = this.#cut.length === 0 ? 0 : this.#finishCut(chunk);
    if (start < 0) return 0;
    if (this.#cut.length > 0) return -1;
    const end = chunk.length - cutLength(chunk, start);
    this.#cut = chunk.slice(end);
    return isUtf8(chunk.subarray(start, end)) ? -1 : badLine(chunk, start, end);
  }

  /** Returns false when the input ended inside a character. */
  end(): boolean {
    return this.#cut.length === 0;
  }

  /** Takes the rest of a cut character from the chunk and returns its length, or -1 when it is wrong. */
  #finishCut(chunk: Uint8Array): number {
    const missing = characterLength(this.#cut[0] ?? 0) - this.#cut.length;
    const rest = chunk.subarray(0, missing);
    const character = Buffer.concat([this.#cut, rest]);
    if (rest.length < missing) {
      if (rest.some((byte) => (byte & 0xc0) !== 0x80)) return -1;
      this.#cut = character;
      return rest.length;
    }
    this.#cut = new Uint8Array(0);
    return isUtf8(character) ? missing : -1;
  }
}

/** Returns the number of bytes at the end that start an incomplete character. */
function cutLength(chunk: Uint8Array, start: number): number {
  for (let back = 1; back <= 3 && chunk.length - back >= start; back++) {
    const byte = chunk[chunk.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return characterLength(byte) > back ? back : 0;
  }
  return 0;
}

/**
 * Returns the number of bytes of the character that starts with this byte; 1 when it can't start one (`isUtf8` rejects
 * it then).
 */
function characterLength(byte: number): number {
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
}

function badLine(chunk: Uint8Array, start: number, end: number): number {
  let line = start;
  for (;;) {
    const feed = chunk.indexOf(LF, line);
    const next = feed < 0 || feed >= end ? end : feed + 1;
    if (next === end || !isUtf8(chunk.subarray(line, next))) return line;
    line = next;
  }
}
