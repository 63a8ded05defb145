import type { LargeBody } from '../http/message.ts';

/** The bytes of a body, or of one file of an archive, wherever they are. */
export interface BodyBytes extends Pick<LargeBody, 'bytes' | 'read'> {
  /** Read at once, for the rows of one chunk; {@link PIECE_BYTES} by default. */
  readonly pieceBytes?: number;
}

const PIECE_BYTES = 1 << 16;

/** The bytes in pieces, from the beginning. */
export function* piecesOf(body: BodyBytes): Generator<Uint8Array> {
  const size = Math.min(body.pieceBytes ?? PIECE_BYTES, Math.max(1, body.bytes));
  for (let at = 0; at < body.bytes; at += size) yield body.read(at, size);
}

/** A part of a body as a body. */
export function partOf(body: BodyBytes, from: number, bytes: number): BodyBytes {
  return {
    ...body,
    bytes,
    read: (at, length) => body.read(from + at, Math.max(0, Math.min(length, bytes - at))),
  };
}

/**
 * The same text as UTF-8, without a byte order mark. A mark tells UTF-16, whatever was said.
 *
 * @param encoding what is known of it; UTF-8 is not looked at, whoever reads it checks it
 */
export function* utf8Pieces(body: BodyBytes, encoding: string | undefined): Generator<Uint8Array> {
  const [a = 0, b = 0, c = 0] = body.read(0, 3);
  if (a === 0xef && b === 0xbb && c === 0xbf) {
    yield* piecesOf(partOf(body, 3, body.bytes - 3));
    return;
  }
  const marked = a === 0xff && b === 0xfe ? 'utf-16le' : a === 0xfe && b === 0xff ? 'utf-16be' : encoding;
  if (marked === undefined || /^utf-?8$/i.test(marked)) {
    yield* piecesOf(body);
    return;
  }
  const decoder = new TextDecoder(marked, { fatal: true });
  for (const piece of piecesOf(body)) yield Buffer.from(decoder.decode(piece, { stream: true }));
  yield Buffer.from(decoder.decode());
}
