import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { meaningsOf } from '../../../engine/completeness/classify.ts';
import type { ApiDocument } from './document.ts';

const MAX_DEPTH = 8;
const MAX_KEYS = 200;

/** Creates an answer as a schema describes it, with one item in each list. */
export function sampleOf(
  schema: Json | undefined,
  document: ApiDocument,
  name = '',
  depth = 0,
): Json | undefined {
  const node = document.resolve(schema);
  if (node === undefined || depth > MAX_DEPTH) return undefined;
  const example = getKey(node, 'example') ?? firstOf(getKey(node, 'examples')) ?? getKey(node, 'const');
  if (isObject(example) || (isList(example) && example.length > 0)) return example;
  const properties = propertiesOf(node, document);
  if (properties.length > 0)
    return objectOf(
      properties.slice(0, MAX_KEYS).flatMap(([key, value]): [string, Json][] => {
        const item = sampleOf(value, document, key, depth + 1);
        return item === undefined ? [] : [[key, item]];
      }),
    );
  const type = typeOf(node);
  if (type === 'array') {
    const item = sampleOf(getKey(node, 'items'), document, name, depth + 1);
    return item === undefined ? [{}] : [item];
  }
  if (type === 'object') return {};
  if (example !== undefined && example !== null && !isList(example)) return example;
  return scalarOf(node, type, name);
}

/** Properties of an object, those that it takes over included; of several forms, those of all. */
function propertiesOf(node: AnyObject, document: ApiDocument, depth = 0): [string, Json][] {
  if (depth > MAX_DEPTH) return [];
  const own = document.object(node, 'properties');
  const parts = ['allOf', 'oneOf', 'anyOf'].flatMap((key) => document.list(node, key));
  const known = new Map<string, Json>();
  for (const part of parts)
    for (const [key, value] of propertiesOf(part, document, depth + 1)) known.set(key, value);
  for (const [key, value] of own === undefined ? [] : entriesOf(own)) known.set(key, value);
  return [...known];
}

function typeOf(node: AnyObject): string {
  const type = getKey(node, 'type');
  if (typeof type === 'string') return type;
  if (isList(type)) return toText(type.find((one) => one !== 'null') ?? 'string');
  if (getKey(node, 'items') !== undefined) return 'array';
  return getKey(node, 'additionalProperties') === undefined ? 'string' : 'object';
}

/** Returns a sample value of the kind that the schema describes: an address, a token, a number. */
function scalarOf(node: AnyObject, type: string, name: string): Json {
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number')
    return meaningsOf(name).some(({ topic }) => topic === 'total') ? 1000 : 1;
  const format = getKey(node, 'format');
  if (
    format === 'uri' ||
    format === 'url' ||
    format === 'uri-reference' ||
    /(?:url|link|href|uri)$/i.test(name)
  )
    return 'https://example.com/next';
  if (format === 'date-time' || format === 'date') return '2026-01-01T00:00:00Z';
  return 'text';
}

function firstOf(examples: Json | undefined): Json | undefined {
  if (isList(examples)) return examples[0];
  const [first] = isObject(examples) ? entriesOf(examples) : [];
  const value = first?.[1];
  return isObject(value) ? getKey(value, 'value') : undefined;
}
