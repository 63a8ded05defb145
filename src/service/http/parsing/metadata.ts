import {
  childrenOf,
  getKey,
  isList,
  isNumber,
  isObject,
  numberOf,
  type Json,
} from '../../../lib/json/index.ts';
import { ApiError, badRequest } from '../../domain/api-error.ts';
import type { MetadataEntry } from '../../stores/metadata/metadata.ts';

/**
 * Reads the list `[{key, value}]` of a body.
 *
 * @throws {ApiError} `storage.metadata.invalidParameter`, `.invalidStructure`, `.invalidKey`
 */
export function readPairs(value: unknown, name = 'metadata'): MetadataEntry[] {
  // Bodies are JSON, also those of forms.
  const items = childrenOf(value as Json | undefined);
  if (items === undefined) throw notAList(name);
  if (items.length === 0) throw invalidStructure();
  return items.map(([, item], index) => readPair(item, `${name}[${index}]`));
}

/** Reads the metadata of a table and of its columns from a body: one of the two at least. */
export function readTablePairs(body: { readonly metadata?: unknown; readonly columnsMetadata?: unknown }): {
  readonly pairs: MetadataEntry[];
  readonly columns: Map<string, MetadataEntry[]>;
} {
  const columns = readColumnPairs(body.columnsMetadata);
  // Beside metadata of columns, clients in PHP send an empty list.
  const isEmpty = body.metadata === undefined || childrenOf(body.metadata as Json)?.length === 0;
  return { pairs: isEmpty && columns.size > 0 ? [] : readPairs(body.metadata), columns };
}

/** Reads the metadata of columns: a map by column, or lists whose items carry `columnName`. */
function readColumnPairs(value: unknown): Map<string, MetadataEntry[]> {
  const columns = new Map<string, MetadataEntry[]>();
  const add = (column: string, pair: MetadataEntry): void => {
    columns.set(column, [...(columns.get(column) ?? []), pair]);
  };
  const given = value as Json | undefined;
  if (given === undefined) return columns;
  const lists = childrenOf(given);
  if (lists === undefined) throw notAList('columnsMetadata');
  for (const [name, list] of lists) {
    const items = isList(list) ? list : [list];
    for (const [index, item] of items.entries()) {
      const named = isObject(item) ? getKey(item, 'columnName') : undefined;
      const column = typeof named === 'string' ? named : isList(given) ? undefined : name;
      if (column === undefined) throw invalidStructure();
      add(column, readPair(item, `columnsMetadata[${name}][${index}]`));
    }
  }
  return columns;
}

/**
 * Reads the provider. @throws {ApiError} 400 when it is missing or malformed, 403 for the one reserved for the
 * service
 */
export function readProvider(value: unknown, isReserved: (provider: string) => boolean): string {
  const code = 'storage.metadata.invalidProvider';
  if (typeof value !== 'string' || value.trim() === '') throw badRequest(code, 'Provider is required.');
  if (!isName(value))
    throw badRequest(code, `Invalid provider: it has at most ${MAX_NAME} letters, digits and _ . : / -`);
  if (isReserved(value)) throw new ApiError(403, code, `The provider "${value}" is reserved.`);
  return value;
}

const MAX_NAME = 255;

const isName = (text: string): boolean => text.length <= MAX_NAME && /^[A-Za-z0-9_.:/-]+$/.test(text);

function readPair(item: Json, place: string): MetadataEntry {
  if (!isObject(item)) throw invalidStructure();
  const key = getKey(item, 'key');
  if (key === undefined) throw invalidStructure();
  const value = textOf(getKey(item, 'value'));
  if (typeof key !== 'string' || !isName(key))
    throw badRequest('storage.metadata.invalidKey', `Invalid Metadata Key (${place}[key])`);
  return { key, value };
}

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (isNumber(value)) return String(numberOf(value));
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (value === null) return '';
  throw invalidStructure();
}

const notAList = (name: string): ApiError =>
  badRequest('storage.metadata.invalidParameter', `The ${name} parameter must be an array.`);

const invalidStructure = (): ApiError =>
  badRequest(
    'storage.metadata.invalidStructure',
    "Invalid structure. Metadata must be provided as an array of objects with 'key' and 'value' members",
  );
