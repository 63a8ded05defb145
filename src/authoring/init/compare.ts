import { encodeExact, entriesOf, getKey, isObject, objectOf, type Json } from '../../lib/json/index.ts';
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

/** Properties that identify rows. */
export interface RowIdentity {
  /** Paths of the id; empty where none is known. */
  readonly id: readonly string[];
  /** Keys whose values change from one request to the next, so that they say nothing. */
  readonly changing: readonly string[];
}

/** Compares rows by their id where there is one, else by all that is in them and does not change. Pure. */
export function overlapOf(
  first: readonly Json[],
  second: readonly Json[],
  { id, changing }: RowIdentity,
): Overlap {
  const isById = id.length > 0 && [...first, ...second].every((row) => keyOf(row, id) !== undefined);
  const textOf = (row: Json): string =>
    isById
      ? (keyOf(row, id) ?? '')
      : encodeExact(
          changing.length === 0 || !isObject(row)
            ? row
            : objectOf(entriesOf(row).filter(([key]) => !changing.includes(key))),
        );
  const there = new Set(first.map(textOf));
  const known = second.filter((row) => there.has(textOf(row))).length;
  return {
    known,
    rows: second.length,
    isSame: known === second.length && second.length === first.length,
    isById,
  };
}

/**
 * Returns keys whose values differ between two answers to the same request.
 *
 * @returns undefined where the rows are others, so that nothing can be told by comparing them
 */
export function changingKeys(first: readonly Json[], again: readonly Json[]): readonly string[] | undefined {
  if (first.length !== again.length) return undefined;
  const changing = new Set<string>();
  for (const [i, row] of first.entries()) {
    const other = again[i];
    if (!isObject(row) || other === undefined || !isObject(other)) {
      if (encodeExact(row) !== encodeExact(other ?? null)) return undefined;
      continue;
    }
    for (const [key, value] of entriesOf(row))
      if (encodeExact(value) !== encodeExact(getKey(other, key) ?? null)) changing.add(key);
  }
  const all = new Set(first.flatMap((row) => (isObject(row) ? entriesOf(row).map(([key]) => key) : [])));
  return all.size > 0 && changing.size === all.size ? undefined : [...changing];
}
