import { setImmediate as nextTurn } from 'node:timers/promises';
import { LF } from './dialect.ts';

const PIECE_BYTES = 1024 * 1024;
const BYTES_BETWEEN_TURNS = 2 * PIECE_BYTES;

/** Splits the bytes into chunks of 1 MiB at most, and lets other work run in between, however fast the source is. */
export async function* inPieces(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let sinceTurn = 0;
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      const piece = chunk.subarray(start, start + PIECE_BYTES);
      sinceTurn += piece.length;
      yield piece;
      if (sinceTurn >= BYTES_BETWEEN_TURNS) {
        sinceTurn = 0;
        await nextTurn();
      }
    }
  }
}

/** Removes a byte order mark at the very start. */
export async function* withoutBom(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array(0);
  for await (const chunk of source) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    if (head.length < 3) continue;
    const isMarked = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
    yield isMarked ? head.subarray(3) : head;
    head = undefined;
  }
  if (head !== undefined && head.length > 0) yield head;
}

/** Removes the first `count` physical lines, whatever they hold. */
export async function* withoutLines(
  source: AsyncIterable<Uint8Array>,
  count: number,
): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const chunk of source) {
    let start = 0;
    while (left > 0 && start < chunk.length) {
      const feed = chunk.indexOf(LF, start);
      start = feed < 0 ? chunk.length : feed + 1;
      if (feed >= 0) left--;
    }
    if (start < chunk.length) yield start === 0 ? chunk : chunk.subarray(start);
  }
}
