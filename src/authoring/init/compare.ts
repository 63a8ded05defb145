import { encodeExact, entriesOf, getKey, isObject, type AnyObject, type Json } from '../../lib/json/index.ts';
import { keyOf } from './keys.ts';
import { withoutAt, type ParameterPath } from './params.ts';

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
  /** Ways to values that change from one request to the next, so that they say nothing. */
  readonly changing: readonly ParameterPath[];
}

/** Compares rows by their id where there is one, else by all that is in them and does not change. Pure. */
export function overlapOf(
  first: readonly Json[],
  second: readonly Json[],
  { id, changing }: RowIdentity,
): Overlap {
  const isById = id.length > 0 && [...first, ...second].every((row) => keyOf(row, id) !== undefined);
  const textOf = (row: Json): string => (isById ? (keyOf(row, id) ?? '') : steadyText(row, changing));
  const there = new Set(first.map(textOf));
  const known = second.filter((row) => there.has(textOf(row))).length;
  return {
    known,
    rows: second.length,
    isSame: known === second.length && second.length === first.length,
    isById,
  };
}

function steadyText(row: Json, changing: readonly ParameterPath[]): string {
  return encodeExact(changing.reduce((rest, keys) => (isObject(rest) ? withoutAt(rest, keys) : rest), row));
}

/**
 * Returns the ways to values that differ between two answers to the same request, also in objects inside of the rows.
 *
 * @returns undefined where the rows are others, or nothing else tells them apart
 */
export function changingValues(
  first: readonly Json[],
  again: readonly Json[],
): readonly ParameterPath[] | undefined {
  if (first.length !== again.length) return undefined;
  const found = new Map<string, ParameterPath>();
  for (const [i, row] of first.entries()) {
    const other = again[i] ?? null;
    if (isObject(row) && isObject(other))
      for (const keys of changesIn(row, other)) found.set(keys.join('\0'), keys);
    else if (encodeExact(row) !== encodeExact(other)) return undefined;
  }
  const changing = [...found.values()];
  const left = new Set(first.map((row) => steadyText(row, changing)));
  return changing.length > 0 && left.size < 2 ? undefined : changing;
}

function* changesIn(row: AnyObject, other: AnyObject, above: ParameterPath = []): Iterable<ParameterPath> {
  for (const [key, value] of entriesOf(row)) {
    const keys = [...above, key];
    const now = getKey(other, key) ?? null;
    if (isObject(value) && isObject(now)) yield* changesIn(value, now, keys);
    else if (encodeExact(value) !== encodeExact(now)) yield keys;
  }
}
