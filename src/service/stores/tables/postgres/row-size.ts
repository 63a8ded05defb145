/**
 * Size of a row in the database (https://www.postgresql.org/docs/current/storage-toast.html): all of it must be on one
 * page, but values of more than 24 bytes may be elsewhere, with a pointer of 18 bytes.
 */

/** A page without its own 32 bytes. */
export const MAX_ROW_BYTES = 8160;

/** In front of the values, the change time and the number of the row, and up to 7 bytes so that these two are aligned. */
const FIXED_BYTES = 24 + 16 + 7;

const LONGEST_INLINE = 23;
const POINTER_BYTES = 18;

/** A value that is compressed to 24 bytes or less stays as well, and may be aligned with 3 more. */
const MOST_BYTES = 27;

/**
 * Bytes of content in those 24: the other 8 describe the compression, and every distinct byte of the value occurs at
 * least once.
 */
const MOST_BYTES_OF_COMPRESSED = 16;

/** Rows of so few columns always fit, whatever is in them. */
const ALWAYS_FITTING = Math.floor((MAX_ROW_BYTES - FIXED_BYTES) / MOST_BYTES);

/** Tells whether rows of so many columns may be too large. */
export function isWide(columns: number): boolean {
  return columns > ALWAYS_FITTING;
}

/** Returns the bytes that a row may take on the page when every value that can be is elsewhere. */
export function rowBytes(cells: readonly string[]): number {
  let bytes = FIXED_BYTES;
  for (const cell of cells) {
    const length = Buffer.byteLength(cell);
    if (length <= LONGEST_INLINE) bytes += length + 1;
    else bytes += mayShrink(cell) ? MOST_BYTES : POINTER_BYTES;
  }
  return bytes;
}

/** Tells whether a value has so few distinct bytes that it may be compressed to nearly nothing. */
function mayShrink(cell: string): boolean {
  const seen = new Set<number>();
  for (const byte of Buffer.from(cell)) {
    seen.add(byte);
    if (seen.size > MOST_BYTES_OF_COMPRESSED) return false;
  }
  return true;
}
