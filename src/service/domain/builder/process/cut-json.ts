import {
  encodeExact,
  entriesOf,
  isList,
  isObject,
  objectOf,
  toText,
  type Json,
} from '../../../../lib/json/index.ts';
import type { Secrets } from '../../../../lib/secrets.ts';

const ITEMS = 20;
const LETTERS = 1000;

/**
 * Returns JSON text with only the beginning of long lists and texts. Secrets that an API repeats are hidden in the
 * values: a hidden number in the text would make it invalid JSON.
 */
export function cutJson(value: Json, secrets: Secrets): string {
  return encodeExact(cut(value, secrets));
}

/** Returns the number of items of each list that {@link cutJson} shortens, by its path. */
export function lengthsOf(value: Json, path = ''): Record<string, number> {
  const inner: readonly (readonly [string, Json])[] = isList(value)
    ? value.slice(0, ITEMS).map((each, i) => [String(i), each])
    : isObject(value)
      ? entriesOf(value)
      : [];
  const own = isList(value) && value.length > ITEMS ? { [path]: value.length } : {};
  const ofInner = inner.map(([key, each]) => lengthsOf(each, path === '' ? key : `${path}.${key}`));
  return Object.assign(own, ...ofInner) as Record<string, number>; // of records of numbers
}

function cut(value: Json, secrets: Secrets): Json {
  if (typeof value === 'string') return begin(secrets.redact(value));
  if (isList(value)) return value.slice(0, ITEMS).map((each) => cut(each, secrets));
  if (isObject(value))
    return objectOf(entriesOf(value).map(([key, each]) => [secrets.redact(key), cut(each, secrets)]));
  const text = toText(value);
  return secrets.holds(text) ? secrets.redact(text) : value;
}

function begin(text: string): string {
  return text.length > LETTERS ? `${text.slice(0, LETTERS)}…` : text;
}
