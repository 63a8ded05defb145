import {
  entriesOf,
  getKey,
  isList,
  isNumber,
  isObject,
  numberOf,
  type AnyObject,
  type Json,
} from '../../json/index.ts';
import { ApiError, badRequest } from './errors.ts';

export interface MetadataPair {
  readonly key: string;
  readonly value: string;
}

/**
 * The list `[{key, value}]` of a body (storage 1.6).
 *
 * @throws {ApiError} `storage.metadata.invalidStructure`, `.invalidKey`
 */
export function readPairs(value: unknown, name = 'metadata'): MetadataPair[] {
  // Bodies are JSON, also those of forms.
  const list = value as Json | undefined;
  const items = namedItems(list);
  if (items === undefined) throw invalidStructure(name);
  return items.map(([, item], index) => readPair(item, `${name}[${index}]`));
}

/** Metadata of columns: a map by column, or lists whose items carry `columnName`. */
export function readColumnPairs(value: unknown): Map<string, MetadataPair[]> {
  const columns = new Map<string, MetadataPair[]>();
  const add = (column: string, pair: MetadataPair): void => {
    columns.set(column, [...(columns.get(column) ?? []), pair]);
  };
  const given = value as Json | undefined;
  if (given === undefined) return columns;
  const lists = namedItems(given);
  if (lists === undefined) throw invalidStructure('columnsMetadata');
  for (const [name, list] of lists) {
    const items = isList(list) ? list : [list];
    for (const [index, item] of items.entries()) {
      const place = `columnsMetadata[${name}][${index}]`;
      const named = isObject(item) ? getKey(item, 'columnName') : undefined;
      const column = typeof named === 'string' ? named : isList(given) ? undefined : name;
      if (column === undefined) throw invalidStructure(place);
      add(column, readPair(item, place));
    }
  }
  return columns;
}

/** @throws {ApiError} 400 without a provider, 403 for the one that the service keeps to itself */
export function readProvider(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') {
    throw badRequest('storage.metadata.invalidProvider', 'Provider is required.');
  }
  if (value === 'storage') {
    throw new ApiError(403, 'storage.metadata.invalidProvider', 'The provider "storage" is reserved.');
  }
  return value;
}

/** The items of a list by their index, those of an object by their names. */
function namedItems(value: Json | undefined): [string, Json][] | undefined {
  if (isList(value)) return value.map((item, index) => [String(index), item]);
  return isObject(value) ? entriesOf(value) : undefined;
}

function readPair(item: Json, place: string): MetadataPair {
  if (!isObject(item)) throw invalidStructure(place);
  const key = getKey(item, 'key');
  if (typeof key !== 'string' || key.length > 255 || !/^[A-Za-z0-9_.:/-]+$/.test(key)) {
    throw badRequest('storage.metadata.invalidKey', `Invalid Metadata Key (${place}[key])`);
  }
  return { key, value: valueOf(item, place) };
}

function valueOf(item: AnyObject, place: string): string {
  const value = getKey(item, 'value');
  if (typeof value === 'string') return value;
  if (isNumber(value)) return String(numberOf(value));
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (value === null) return '';
  throw badRequest(
    'storage.metadata.invalidStructure',
    `Metadata needs a text as its value (${place}[value])`,
  );
}

const invalidStructure = (place: string): ApiError =>
  badRequest('storage.metadata.invalidStructure', `Metadata must be a list of {key, value} (${place})`);
