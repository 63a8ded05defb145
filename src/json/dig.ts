import { isJsonPath, queryJsonPath } from './json-path.ts';
import { getKey, isList, isObject, type Json } from './value.ts';

/**
 * Path lookup (spec extractor 0.7). A null path, or one equal to the separator, is the whole value.
 * No wildcards, no escaping. A miss is undefined; a property that is there with null is null.
 */
export function dig(path: string | null, value: Json, separator = '.'): Json | undefined {
  return digKeys(splitPath(path, separator), value);
}

/** The keys of a path: none for the whole value. JSONPath (`$.data[*]`) stays in one piece. */
export function splitPath(path: string | null, separator = '.'): readonly string[] {
  if (path === null || path === separator) return [];
  if (isJsonPath(path)) return [path];
  return separator === '' ? [path] : path.split(separator);
}

export function digKeys(keys: readonly string[], value: Json): Json | undefined {
  const [first] = keys;
  if (first !== undefined && keys.length === 1 && isJsonPath(first)) return queryJsonPath(first, value);
  let at: Json | undefined = value;
  for (const key of keys) {
    if (isList(at)) at = /^(?:0|[1-9]\d*)$/.test(key) ? (at[Number(key)] ?? undefined) : undefined;
    else if (isObject(at)) at = getKey(at, key);
    else return undefined;
    if (at === undefined) return undefined;
  }
  return at;
}
