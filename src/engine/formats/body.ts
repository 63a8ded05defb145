import { isUtf8 } from 'node:buffer';
import type { LargeBody } from '../shared/message.ts';
import { Scratch } from '../../lib/scratch.ts';
import { markedEncoding, otherThanUtf8, type Charset } from './charset.ts';

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
    read: (at, length, into) => body.read(from + at, Math.max(0, Math.min(length, bytes - at)), into),
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

/**
 * Returns the text of a large body as it lies there, without a byte order mark; undefined where reading it in memory would
 * change it, or remove bytes that are no UTF-8.
 */
export function utf8Body(body: BodyBytes, { label }: Charset): BodyBytes | undefined {
  const marked = markedEncoding(body.read(0, 3));
  if (otherThanUtf8(marked ?? label) !== undefined) return undefined;
  const text = marked === undefined ? body : partOf(body, 3, body.bytes - 3);
  const memory = new Scratch();
  for (let at = 0; at < text.bytes;) {
    const bytes = text.read(at, CHECKED_BYTES, memory);
    const isLast = at + bytes.length === text.bytes;
    const end = isLast ? bytes.length : wholeCharacters(bytes);
    if (!isUtf8(bytes.subarray(0, end))) return undefined;
    at += end;
  }
  return text;
}

/** Bytes of a large text that are checked at once. */
const CHECKED_BYTES = 1 << 18;

/** Returns the offset behind the last character that may be whole. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at >= 0 && at > bytes.length - 4; at--) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return at;
  }
  return bytes.length;
}
