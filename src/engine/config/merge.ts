import lodashMerge from 'lodash.merge';
import { ConfigError } from '../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isList,
  isObject,
  JsonNumber,
  objectOf,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { asList, isEmptyContainer } from './normalise.ts';

/**
 * Merges the configuration of one run: the row over the root.
 *
 * Objects merge by key and keep the root's order, new keys follow; lists merge by index; scalars and null of the row
 * win. An empty list or object of the row leaves a list or an object of the root as it is; a non-empty one of the other
 * kind replaces it. `processors` and `runtime`, which are not for the component, are left out.
 *
 * @throws {ConfigError} when both have `processors`
 */
export function mergeConfigurations(root: AnyObject, row: AnyObject, rowId?: string): AnyObject {
  if (hasProcessors(root) && hasProcessors(row))
    throw new ConfigError(
      'config.invalid',
      'Processors may be set either in configuration or in configuration row, but not in both places.',
      {
        where: { path: 'processors', ...(rowId === undefined ? {} : { row: rowId }) },
        hint: 'Keep the processors in one of the two.',
      },
    );
  return componentPart(mergeJson(root, row));
}

/** Returns a configuration without the nodes that are for the platform only. */
export function componentPart(configuration: AnyObject): AnyObject {
  return withoutKey(withoutKey(configuration, 'processors'), 'runtime');
}

/** Merges any two objects. Neither is changed. */
export function mergeJson(root: AnyObject, row: AnyObject): AnyObject {
  const merged = decode(lodashMerge({}, encodeUnder(root, row), encodeOver(row, root)));
  // what went in was an object with encoded keys, so that is what comes out
  return merged as AnyObject;
}

function hasProcessors(configuration: AnyObject): boolean {
  const processors = getKey(configuration, 'processors');
  return processors !== undefined && processors !== null && !isEmptyContainer(processors);
}

/**
 * Input of lodash.merge. Every key has a prefix, so `__proto__` and `10` are keys like any other and keep their place;
 * scalars are texts, so a JsonNumber is no object to merge into; `undefined` means "leave the existing value".
 */
type Encoded = string | null | undefined | Encoded[] | Whole | { [key: string]: Encoded };

/** A list or an object that the other side has nothing for: lodash.merge hands on what is no plain object. */
class Whole {
  readonly value: Json;
  constructor(value: Json) {
    this.value = value;
  }
}

/** Encodes the row's value as far as it takes part in the merge. */
function encodeOver(over: Json, under: Json | undefined): Encoded {
  if (under === undefined && isContainer(over)) return new Whole(over);
  if (isEmptyContainer(over) && isContainer(under)) return undefined;
  const value = sameKind(over, under);
  const met = under !== undefined && alike(sameKind(under, over), value) ? under : undefined;
  if (isList(value)) return value.map((item, index) => encodeOver(item, childOf(met, String(index))));
  if (isObject(value))
    return encodeEntries(entriesOf(value).map(([key, item]) => [key, encodeOver(item, childOf(met, key))]));
  return encodeScalar(value);
}

/** Encodes the root's value; null, as a placeholder, if the row replaces it with a value of another kind. */
function encodeUnder(under: Json, over: Json | undefined): Encoded {
  if (over === undefined && isContainer(under)) return new Whole(under);
  const value = sameKind(under, over);
  if (over !== undefined && isContainer(over) && !isEmptyContainer(over)) {
    if (!alike(value, sameKind(over, under))) return null;
  }
  if (isList(value)) return value.map((item, index) => encodeUnder(item, childOf(over, String(index))));
  if (isObject(value))
    return encodeEntries(entriesOf(value).map(([key, item]) => [key, encodeUnder(item, childOf(over, key))]));
  return encodeScalar(value);
}

/** Converts an object with the keys 0 … n-1 to a list, if it is merged with one. */
function sameKind(value: Json, other: Json | undefined): Json {
  return isObject(value) && isList(other) && !isEmptyContainer(other) ? (asList(value) ?? value) : value;
}

function alike(a: Json, b: Json): boolean {
  return (isList(a) && isList(b)) || (isObject(a) && isObject(b));
}

function isContainer(value: Json | undefined): boolean {
  return isList(value) || isObject(value);
}

function childOf(value: Json | undefined, key: string): Json | undefined {
  if (isList(value)) return /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
  return isObject(value) ? getKey(value, key) : undefined;
}

function encodeEntries(entries: readonly (readonly [string, Encoded])[]): Encoded {
  return Object.fromEntries(entries.map(([key, value]) => [`.${key}`, value]));
}

function encodeScalar(value: Json): Encoded {
  if (value === null) return null;
  return value instanceof JsonNumber ? `n${value.literal}` : `v${JSON.stringify(value)}`;
}

function decode(value: Encoded): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Whole) return value.value;
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value === 'object')
    return objectOf(Object.entries(value).map(([key, item]) => [key.slice(1), decode(item)]));
  if (value.startsWith('n')) return new JsonNumber(value.slice(1));
  // encodeScalar wrote it: JSON text of a string, a number or a boolean
  return JSON.parse(value.slice(1)) as Json;
}
