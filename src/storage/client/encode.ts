import { StorageError } from '../../lib/errors.ts';
import { encodeExact } from '../../lib/json/encode.ts';
import { JsonMap, JsonNumber, type Json } from '../../lib/json/value.ts';

/** A value of a query; lists and objects are written with brackets, `tags[0]=a`. */
export type QueryValue =
  | undefined
  | null
  | boolean
  | number
  | string
  | readonly QueryValue[]
  | { readonly [key: string]: QueryValue };
export type Query = Readonly<Record<string, QueryValue>>;

/** The query with its `?`, as the public clients write it: `true` is 1, what is undefined is left out. */
export function queryText(query: Query | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([key, value]) => pairsOf(key, value));
  return pairs.length === 0
    ? ''
    : `?${pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`;
}

function pairsOf(key: string, value: QueryValue): [string, string][] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'boolean') return [[key, value ? '1' : '0']];
  if (typeof value !== 'object') return [[key, String(value)]];
  return Object.entries(value).flatMap(([inner, item]) => pairsOf(`${key}[${inner}]`, item));
}

/** Returns the JSON text of a body: undefined values are left out, numbers keep their literals. */
export function bodyText(value: unknown): string {
  return encodeExact(withoutUndefined(value) ?? null);
}

function withoutUndefined(value: unknown): Json | undefined {
  if (value instanceof JsonNumber) return value;
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (Array.isArray(value)) return value.map((item) => withoutUndefined(item) ?? null);
  const entries = value instanceof JsonMap ? [...value] : Object.entries(value);
  return new JsonMap(
    entries.flatMap(([key, item]): [string, Json][] => {
      const json = withoutUndefined(item);
      return json === undefined ? [] : [[key, json]];
    }),
  );
}

function scalar(value: unknown): Json | undefined {
  if (value === undefined || value === null || typeof value === 'string' || typeof value === 'boolean')
    return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new StorageError('storage.refused', `A value of the type ${typeof value} cannot be sent as JSON.`);
}

/** A path with every value escaped: path`tables/${id}/rows`. */
export function path(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return texts.reduce((whole, text, i) => whole + segment(values[i - 1] ?? '') + text);
}

/** `.` and `..` would be taken for steps in the path, and cannot be escaped. */
function segment(value: string | number): string {
  const text = String(value);
  if (text === '.' || text === '..' || text === '')
    throw new StorageError('storage.refused', `“${text}” cannot be an id.`, {
      hint: 'Give the id of the resource.',
    });
  return encodeURIComponent(text);
}
