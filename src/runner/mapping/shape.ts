import type { Static, TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import {
  entriesOf,
  isIntegerLike,
  isList,
  isObject,
  JsonNumber,
  toText,
  type Json,
} from '../../lib/json/index.ts';

/** Problem at one place of a document: `columns[2]`, “must be text, but is a number”. */
export interface Misfit {
  /** Empty for the document itself. */
  readonly path: string;
  readonly message: string;
}

export type Shaped<T> = { readonly value: T } | { readonly misfits: readonly Misfit[] };

/**
 * Converts a document to the type of the schema, or returns everything that does not fit. As in documents of other
 * programs, `null` counts as absent, and an empty list as an empty map or the reverse.
 */
export function shapeOf<S extends TSchema>(schema: S, json: Json): Shaped<Static<S>> {
  const value = adapted(schema, plainOf(json));
  const misfits = new Map<string, Misfit>();
  for (const error of Errors(schema, value)) {
    const path = pathText(error.instancePath);
    if (!misfits.has(path)) misfits.set(path, { path, message: sentence(error, lookUp(value, error)) });
  }
  return misfits.size === 0 ? { value: value as Static<S> } : { misfits: [...misfits.values()] }; // it was checked
}

/** Returns plain values; members that are `null` are left out. */
function plainOf(json: Json): unknown {
  if (isList(json)) return json.map(plainOf);
  if (isObject(json)) {
    const members = entriesOf(json).filter(([, value]) => value !== null);
    return Object.fromEntries(members.map(([key, value]) => [key, plainOf(value)]));
  }
  return json instanceof JsonNumber ? exactOf(json) : json;
}

/** Returns a number, or its text if writing it again would change it, such as one of twenty digits. */
function exactOf(number: JsonNumber): number | string {
  const text = toText(number);
  return String(number.value) === text ? number.value : text;
}

interface Node {
  readonly type?: string;
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly patternProperties?: Readonly<Record<string, Node>>;
}

/** Lists and maps in the form that the schema has them in. */
function adapted(schema: Node, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (schema.type === 'array') {
    const isNumbered = !Array.isArray(value) && Object.keys(value).every(isIntegerLike);
    const list: unknown = isNumbered ? Object.values(value) : value;
    return Array.isArray(list) ? list.map((item: unknown) => adapted(schema.items ?? {}, item)) : list;
  }
  if (schema.type !== 'object') return value;
  if (Array.isArray(value)) return value.length === 0 ? {} : value;
  const { properties = {}, patternProperties = {} } = schema;
  const [other = {}] = Object.values(patternProperties);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const node = Object.hasOwn(properties, key) ? properties[key] : other;
      return [key, adapted(node ?? {}, member)];
    }),
  );
}

interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'text',
};

function sentence({ keyword, params, message }: Fault, found: unknown): string {
  if (keyword === 'required' && 'requiredProperties' in params) return `has no ${namesOf(params)}`;
  if ('type' in params)
    return `must be ${KINDS[String(params.type)] ?? String(params.type)}, but is ${kindOf(found)}`;
  if ('allowedValues' in params && Array.isArray(params.allowedValues))
    return `must be one of ${allowed(params.allowedValues)}`;
  return message;
}

/** Lists the allowed values in words, without the empty text. */
function allowed(values: readonly unknown[]): string {
  return values
    .filter((each) => each !== '')
    .map((each) => `“${String(each)}”`)
    .join(', ');
}

function namesOf(params: { readonly requiredProperties: unknown }): string {
  const names: unknown[] = Array.isArray(params.requiredProperties) ? params.requiredProperties : [];
  return names.map((name) => `“${String(name)}”`).join(' and no ');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return KINDS['array'] ?? '';
  return typeof value === 'boolean' ? String(value) : (KINDS[typeof value] ?? 'nothing');
}

function lookUp(value: unknown, { instancePath }: Fault): unknown {
  let at = value;
  for (const key of keysOf(instancePath)) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.entries(at).find(([name]) => name === key)?.[1];
  }
  return at;
}

/** Converts a JSON pointer: `/columns/2` to `columns[2]`. */
function pathText(pointer: string): string {
  return keysOf(pointer).reduce(
    (text, key) => (isIntegerLike(key) ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  );
}

function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
