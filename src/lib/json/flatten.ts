import {
  childrenOf,
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from './value.ts';

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

/**
 * Returns the list at a name of a flat context, where `countries` is `countries.0`, `countries.1` …, maybe with keys
 * behind that. Undefined where there is a value of that name, or no list.
 */
export function listInContext(context: AnyObject, name: string): readonly Json[] | undefined {
  if (getKey(context, name) !== undefined) return undefined;
  const items = new Map<string, Json | [string, Json][]>();
  for (const [key, value] of entriesOf(context)) {
    if (!key.startsWith(`${name}.`)) continue;
    const [index = '', ...rest] = key.slice(name.length + 1).split('.');
    if (!/^\d+$/.test(index)) return undefined;
    const known = items.get(index);
    if (rest.length === 0) items.set(index, value);
    else items.set(index, [...(isPairs(known) ? known : []), [rest.join('.'), value]]);
  }
  return items.size === 0
    ? undefined
    : [...items.values()].map((item) => (isPairs(item) ? Object.fromEntries(item) : item));
}

/** Returns the object at a name of a flat context, as far as it is kept there; undefined where there is none. */
export function objectInContext(context: AnyObject, name: string): AnyObject | undefined {
  const inner = entriesOf(context).flatMap(([key, value]) =>
    key.startsWith(`${name}.`) ? [[key.slice(name.length + 1).split('.'), value] as const] : [],
  );
  const object = inner.length === 0 ? undefined : nested(inner);
  return object !== undefined && isObject(object) ? object : undefined;
}

function nested(entries: readonly (readonly [readonly string[], Json])[]): Json {
  const byKey = new Map<string, (readonly [readonly string[], Json])[]>();
  for (const [[key = '', ...rest], value] of entries)
    byKey.set(key, [...(byKey.get(key) ?? []), [rest, value]]);
  const values = [...byKey].map(([key, inner]): [string, Json] => {
    const [only] = inner;
    return [key, only?.[0].length === 0 ? only[1] : nested(inner)];
  });
  const isNumbered = values.every(([key], index) => key === String(index));
  return isNumbered ? values.map(([, value]) => value) : objectOf(values);
}

function isPairs(value: Json | [string, Json][] | undefined): value is [string, Json][] {
  return Array.isArray(value);
}
