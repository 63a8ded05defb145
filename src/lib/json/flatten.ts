import { childrenOf, isList, isObject, objectOf, type AnyObject, type Json } from './value.ts';

/**
 * Flattens a context of functions to one map: nested keys and list indexes joined by `.` (`server.port`, `list.0`).
 * Empty maps and lists vanish, keys keep a leading `#`. A scalar has no keys, so it gives `{}`.
 */
export function flattenContext(value: Json): AnyObject {
  const entries: [string, Json][] = [];
  const walk = (prefix: string, item: Json): void => {
    for (const [key, inner] of childrenOf(item) ?? []) {
      if (isList(inner) || isObject(inner)) walk(`${prefix}${key}.`, inner);
      else entries.push([prefix + key, inner]);
    }
  };
  walk('', value);
  return objectOf(entries);
}
