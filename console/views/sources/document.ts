import { isList, isObject, withKey, withoutKey, getKey, type Json } from '../../../src/lib/json/value.ts';
import { parseExact } from '../../../src/lib/json/parse.ts';

/** From the document to a value of it; a number is the index of a list. */
export type Way = readonly (number | string)[];

/** Parses JSON; undefined for text that is not (yet) valid. */
export function parsed(text: string): Json | undefined {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

export function valueAt(document: Json, way: Way): Json | undefined {
  let value: Json | undefined = document;
  for (const step of way) {
    if (isList(value)) value = typeof step === 'number' ? value[step] : undefined;
    else if (isObject(value)) value = getKey(value, String(step));
    else return undefined;
  }
  return value;
}

/** Returns a copy with one value set or removed; everything else stays. Missing objects on the way are created. */
export function withValue(document: Json | undefined, way: Way, value: Json | undefined): Json {
  const [step, ...rest] = way;
  if (step === undefined) return value ?? null;
  if (typeof step === 'number') {
    const list = isList(document) ? [...document] : [];
    if (value === undefined && rest.length === 0) list.splice(step, 1);
    else list[step] = withValue(list[step], rest, value);
    return list;
  }
  // An empty list is what some programs write for an empty object.
  const object = isObject(document) ? document : {};
  if (value === undefined && rest.length === 0) return withoutKey(object, step);
  if (value === undefined && getKey(object, step) === undefined) return object;
  return withKey(object, step, withValue(getKey(object, step), rest, value));
}

export type SecretKind = 'encrypted' | 'none' | 'plain' | 'variable';

/** Returns the kind of a `#` key's value; an encrypted one reveals nothing. */
export function kindOfSecret(value: Json | undefined): SecretKind {
  if (value === undefined || value === null || value === '') return 'none';
  if (typeof value !== 'string') return 'plain';
  if (/^(?:GEX|KBC)::/.test(value)) return 'encrypted';
  return value.startsWith('$env:') ? 'variable' : 'plain';
}

/** Returns `Content` of the API as JSON: the client has read it with the exact parser. */
export const jsonOf = (content: unknown): Json => (content ?? {}) as Json;
