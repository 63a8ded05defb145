import { entriesOf, isList, isObject, objectOf, sizeOf, type AnyObject, type Json } from '../json/index.ts';

/**
 * Reads a configuration as the reference does (spec extractor 0.1): an empty object is an empty list, and an
 * object whose keys are exactly 0, 1 … n-1 in this order is a list. Scalars and other objects stay.
 */
export function normalise(value: Json): Json {
  if (isList(value)) return value.map(normalise);
  if (!isObject(value)) return value;
  const list = asList(value);
  if (list !== undefined) return list.map(normalise);
  return objectOf(entriesOf(value).map(([key, item]) => [key, normalise(item)]));
}

/** The items of an object whose keys are 0 … n-1 in order (none for an empty one); else undefined. */
export function asList(object: AnyObject): readonly Json[] | undefined {
  const entries = entriesOf(object);
  return entries.every(([key], index) => key === String(index)) ? entries.map(([, item]) => item) : undefined;
}

/** True for `{}` and `[]`, which are one and the same in a configuration. */
export function isEmptyContainer(value: Json | undefined): boolean {
  return isList(value) ? value.length === 0 : isObject(value) && sizeOf(value) === 0;
}
