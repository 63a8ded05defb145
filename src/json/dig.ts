import { isJsonPath, queryJsonPath } from './json-path.ts';
import { getKey, isList, isObject, type Json } from './value.ts';

/**
 * Path lookup (spec extractor 0.7). A null path, or one equal to the separator, is the whole value.
 * No wildcards, no escaping. A miss is undefined; a property that is there with null is null.
 */
export function dig(path: string | null, value: Json, separator = '.'): Json | undefined {
  return digKeys(splitPath(path, separator), value);
}

/** The first of two keys that stand for a JSONPath; no document has a key like it. */
const JSON_PATH = '\0jsonpath';

/** A path as it was written, for messages. */
export function pathOfKeys(keys: readonly string[]): string {
  return keys[0] === JSON_PATH ? (keys[1] ?? '$') : keys.join('.');
}

/** The keys of a path: none for the whole value. JSONPath (`$.data[*]`) stays in one piece. */
export function splitPath(path: string | null, separator = '.'): readonly string[] {
  if (path === null || path === separator) return [];
  if (isJsonPath(path)) return [JSON_PATH, path];
  return separator === '' ? [path] : path.split(separator);
}

export function digKeys(keys: readonly string[], value: Json): Json | undefined {
  if (keys[0] === JSON_PATH) return queryJsonPath(keys[1] ?? '$', value);
  let at: Json | undefined = value;
  for (const key of keys) {
    if (isList(at)) at = /^(?:0|[1-9]\d*)$/.test(key) ? (at[Number(key)] ?? undefined) : undefined;
    else if (isObject(at)) at = getKey(at, key);
    else return undefined;
    if (at === undefined) return undefined;
  }
  return at;
}
