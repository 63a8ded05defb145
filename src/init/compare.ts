import { encodeExact, type Json } from '../json/index.ts';
import { keyOf } from './keys.ts';

/** How the rows of one answer stand to those of another. */
export interface Overlap {
  /** Rows of the second that the first has, too. */
  readonly known: number;
  readonly rows: number;
  /** The same rows, in whatever order. */
  readonly isSame: boolean;
  /** By their ids, and not by all that is in them. */
  readonly isById: boolean;
}

/** Compares rows by their id where there is one, else by all that is in them. Pure. */
export function overlapOf(first: readonly Json[], second: readonly Json[], id: readonly string[]): Overlap {
  const isById = id.length > 0 && [...first, ...second].every((row) => keyOf(row, id) !== undefined);
  const textOf = (row: Json): string => (isById ? (keyOf(row, id) ?? '') : encodeExact(row));
  const there = new Set(first.map(textOf));
  const known = second.filter((row) => there.has(textOf(row))).length;
  return { known, rows: second.length, isSame: known === second.length && second.length === first.length, isById };
}
