const COLON = 0x3a;

/** Checks of single bytes and short ranges for the scan: mostly whether `JSON.parse` would lose a part of them. */

/**
 * Tells whether a string is a name of digits only, which an object would move to the front.
 *
 * @param from offset of the opening quote
 * @param end offset behind the closing one
 */
export function isIntegerKey(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from + 1; at < end - 1; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  let at = end;
  while (isWhite(bytes[at])) at++;
  return bytes[at] === COLON;
}

/**
 * Tells whether the plain parse would lose a part of a `\u` escape: \uD8xx…\uDFxx may be a lone surrogate, which the
 * exact parser replaces, and with \u0030…\u0039 a name may be an integer.
 */
export function isTelling(bytes: Uint8Array, backslash: number): boolean {
  const byte = (offset: number): number => bytes[backslash + offset] ?? 0;
  if (byte(1) !== 0x75) return false;
  if ((byte(2) | 0x20) === 0x64) return true;
  return byte(2) === 0x30 && byte(3) === 0x30 && byte(4) === 0x33 && byte(5) >= 0x30 && byte(5) <= 0x39;
}

export function isMinusZero(bytes: Uint8Array, start: number, end: number): boolean {
  return bytes[start] === 0x2d && bytes[start + 1] === 0x30 && end === start + 2;
}

export function isWhite(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
