import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';

/**
 * Side whose objects are as written in the configuration: these are maps to be merged. The objects of a side whose
 * functions were evaluated are values, and atomic.
 */
type Written = 'base' | 'winner';

/**
 * Puts one map of a request (its `params`, its `headers`) over another: `api.http.defaultOptions` under a job,
 * a job under its `scrollRequest` (the rule under the table).
 *
 * Keys keep the base's order, new ones follow. An object of an evaluated job is atomic: it replaces, or is replaced,
 * whole. Lists are merged by index, and with a map of the configuration by key, so that `[]` leaves it as it is.
 *
 * ```
 * mergeOver({ x: { z: 1 }, l: [9] }, { k: 1, x: { y: 2 }, l: [1, 2] })  →  { k: 1, x: { z: 1 }, l: [9, 2] }
 * ```
 */
export function mergeOver(winner: AnyObject, base: AnyObject, written: Written = 'base'): AnyObject {
  if (sizeOf(base) === 0) return winner;
  return objectOf([
    ...entriesOf(base),
    ...entriesOf(winner).map(([key, value]) => [key, mergeValue(value, getKey(base, key), written)] as const),
  ]);
}

function mergeValue(winner: Json, base: Json | undefined, written: Written): Json {
  const isMap = (value: Json | undefined, side: Written): value is Json[] | AnyObject =>
    isList(value) || (written === side && isObject(value));
  if (!isMap(winner, 'winner') || !isMap(base, 'base')) return winner;
  if (!isList(winner) || !isList(base)) return mergeOver(mapOf(winner), mapOf(base), written);
  const merged = winner.map((value, index) => mergeValue(value, base[index], written));
  return [...merged, ...base.slice(winner.length)];
}

/**
 * Merges two maps that are both as written in the configuration, `scrollRequest` and the default options: the objects
 * of the first get the keys of those of the second. Keys that only the second has stay out, since the job comes between
 * the two.
 */
export function deepen(winner: AnyObject, base: AnyObject): AnyObject {
  return objectOf(
    entriesOf(winner).map(([key, value]) => [key, deepenValue(value, getKey(base, key))] as const),
  );
}

function deepenValue(winner: Json, base: Json | undefined): Json {
  if (base === undefined || !(isList(base) || isObject(base))) return winner;
  if (isList(winner))
    return winner.map((value, index) => deepenValue(value, getKey(mapOf(base), String(index))));
  if (!isObject(winner)) return winner;
  return objectOf([...entriesOf(mapOf(base)), ...entriesOf(deepen(winner, mapOf(base)))]);
}

function mapOf(value: readonly Json[] | AnyObject): AnyObject {
  return isList(value) ? objectOf(value.map((item, index) => [String(index), item] as const)) : value;
}
