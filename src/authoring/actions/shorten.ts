import { encodeExact, entriesOf, isList, isObject, objectOf, type Json } from '../../lib/json/index.ts';

/** A value that is small enough to be shown. */
export interface Shortened {
  readonly value: Json;
  readonly isCut: boolean;
}

/** Longest JSON text of a part of a result, in characters. */
const MAX_LENGTH = 1_000_000;

/** Limits to try in turn when an answer is too large: items of each list and object, characters of each text. */
const STEPS = [
  { items: 100, characters: 10_000 },
  { items: 30, characters: 1000 },
  { items: 10, characters: 100 },
  { items: 3, characters: 30 },
] as const;

/**
 * Cuts lists, objects and texts of a value until its JSON text fits.
 *
 * @returns null in the place of a value that is too deep for that
 */
export function shorten(value: Json, maxLength: number = MAX_LENGTH): Shortened {
  if (encodeExact(value).length <= maxLength) return { value, isCut: false };
  for (const step of STEPS) {
    const short = cut(value, step);
    if (encodeExact(short).length <= maxLength) return { value: short, isCut: true };
  }
  return { value: null, isCut: true };
}

function cut(value: Json, step: (typeof STEPS)[number]): Json {
  if (typeof value === 'string')
    return value.length <= step.characters ? value : `${value.slice(0, step.characters)}…`;
  if (isList(value)) return value.slice(0, step.items).map((item) => cut(item, step));
  if (!isObject(value)) return value;
  return objectOf(
    entriesOf(value)
      .slice(0, step.items)
      .map(([key, item]) => [key, cut(item, step)] as const),
  );
}
