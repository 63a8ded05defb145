import { isUtf8 } from 'node:buffer';

/**
 * The bytes of a body as JSON has them: without the byte order mark that some APIs put first (RFC 8259 section 8.1
 * lets a reader ignore it), and without what is no UTF-8 (spec extractor 0.5).
 */
export function jsonBytes(body: Uint8Array): Uint8Array {
  const bytes = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
  return isUtf8(bytes) ? bytes : dropInvalidUtf8(bytes);
}

function dropInvalidUtf8(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    const size = sequenceLength(bytes, at);
    if (size === 0) at++;
    else for (let i = 0; i < size; i++) out[length++] = bytes[at++] ?? 0;
  }
  return out.subarray(0, length);
}

/** Length of the valid UTF-8 sequence at an offset (RFC 3629), or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const size =
    first >= 0xc2 && first <= 0xdf
      ? 2
      : first >= 0xe0 && first <= 0xef
        ? 3
        : first >= 0xf0 && first <= 0xf4
          ? 4
          : 0;
  if (size === 0 || at + size > bytes.length) return 0;
  return isUtf8(bytes.subarray(at, at + size)) ? size : 0;
}
