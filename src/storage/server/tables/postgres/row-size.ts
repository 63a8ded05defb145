/**
 * What a row takes in the database (https://www.postgresql.org/docs/current/storage-toast.html): all of it must be on
 * one page, but values of more than 24 bytes may be elsewhere, with 18 bytes that say where.
 */

/** A page without its own 32 bytes. */
export const MAX_ROW_BYTES = 8160;

/** In front of the values, the change time and the number of the row, and up to 7 bytes so that these two are aligned. */
const FIXED_BYTES = 24 + 16 + 7;

const LONGEST_INLINE = 23;
const POINTER_BYTES = 18;

/**
 * A value that is compressed to 24 bytes or less stays, and may be aligned with 3 more: no row with so few columns can
 * be too large, whatever is in it.
 */
const ALWAYS_FITTING = Math.floor((MAX_ROW_BYTES - FIXED_BYTES) / 27);

/** Whether rows of so many columns may be too large. The values of such tables are not compressed, so that it can be told. */
export function isWide(columns: number): boolean {
  return columns > ALWAYS_FITTING;
}

/** At least so many bytes on the page, when everything is elsewhere that can be. */
export function rowBytes(cells: readonly string[]): number {
  let bytes = FIXED_BYTES;
  for (const cell of cells) {
    const length = Buffer.byteLength(cell);
    bytes += length > LONGEST_INLINE ? POINTER_BYTES : length + 1;
  }
  return bytes;
}
