import { entriesOf, getKey, isList, objectOf, type AnyObject, type Json } from './json/index.ts';

/**
 * Puts one map of a request (its `params`, its `headers`) over another: `api.http.defaultOptions` under a job,
 * a job under its `scrollRequest` (spec extractor 1.2, the rule under the table).
 *
 * Keys keep the base's order, new ones follow. An object inside is atomic: the winner's replaces the base's whole.
 * Lists are merged by index.
 *
 * ```
 * mergeOver({ x: { z: 1 }, l: [9] }, { k: 1, x: { y: 2 }, l: [1, 2] })  →  { k: 1, x: { z: 1 }, l: [9, 2] }
 * ```
 */
export function mergeOver(winner: AnyObject, base: AnyObject): AnyObject {
  return objectOf([
    ...entriesOf(base),
    ...entriesOf(winner).map(([key, value]) => [key, mergeValue(value, getKey(base, key))] as const),
  ]);
}

function mergeValue(winner: Json, base: Json | undefined): Json {
  if (!isList(winner) || !isList(base)) return winner;
  const merged = winner.map((value, index) => mergeValue(value, base[index]));
  return [...merged, ...base.slice(winner.length)];
}
