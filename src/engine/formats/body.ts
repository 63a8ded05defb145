import type { LargeBody } from '../shared/message.ts';
import { markedEncoding, otherThanUtf8 } from './charset.ts';

/** The bytes of a body, or of one file of an archive, wherever they are. */
export interface BodyBytes extends Pick<LargeBody, 'bytes' | 'read'> {
  /** Number of bytes read at once, for the rows of one chunk; {@link PIECE_BYTES} by default. */
  readonly pieceBytes?: number;
}

const PIECE_BYTES = 1 << 16;

/** Yields the bytes in pieces, from the beginning. */
export function* piecesOf(body: BodyBytes): Generator<Uint8Array> {
  const size = Math.min(body.pieceBytes ?? PIECE_BYTES, Math.max(1, body.bytes));
  for (let at = 0; at < body.bytes; at += size) yield body.read(at, size);
}

/** Returns a part of a body as a body. */
export function partOf(body: BodyBytes, from: number, bytes: number): BodyBytes {
  return {
    ...body,
    bytes,
    read: (at, length) => body.read(from + at, Math.max(0, Math.min(length, bytes - at))),
  };
}

/**
 * Yields the same text as UTF-8, without a byte order mark. A mark tells UTF-16, whatever was declared.
 *
 * @param encoding the known encoding; UTF-8 is not checked here, its reader checks it
 * @param fatal false: bytes without a character become U+FFFD, and are no error
 */
export function* utf8Pieces(
  body: BodyBytes,
  encoding: string | undefined,
  fatal = true,
): Generator<Uint8Array> {
  const first = body.read(0, 3);
  const marked = markedEncoding(first);
  if (marked === 'utf-8') {
    yield* piecesOf(partOf(body, 3, body.bytes - 3));
    return;
  }
  const other = otherThanUtf8(marked ?? encoding);
  if (other === undefined) {
    yield* piecesOf(body);
    return;
  }
  const decoder = new TextDecoder(other, { fatal });
  for (const piece of piecesOf(body)) yield Buffer.from(decoder.decode(piece, { stream: true }));
  yield Buffer.from(decoder.decode());
}
