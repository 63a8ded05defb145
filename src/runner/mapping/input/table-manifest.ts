import {
  encodeExact,
  getKey,
  isList,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { Table } from '../../../storage/client/index.ts';

/**
 * Returns the text of `in/tables/<name>.manifest`: the table as it was before the export, with the columns that are in
 * the file. `schema` is there for tables whose columns have types.
 */
export function tableManifest(table: Table, columns: readonly string[]): string {
  const all = table as unknown as AnyObject; // as it was parsed, with more than the protocol names
  const metadata = pairsOf(getKey(all, 'metadata'));
  const ofColumns = getKey(all, 'columnMetadata');
  const columnMetadata = columns.map((column): [string, Json[]] => [
    column,
    pairsOf(isObject(ofColumns) ? getKey(ofColumns, column) : undefined),
  ]);
  const description = descriptionIn(metadata);
  const schema = schemaOf(all, columns, new Map(columnMetadata));
  return encodeExact({
    id: table.id,
    uri: getKey(all, 'uri') ?? null,
    name: table.name,
    primary_key: table.primaryKey,
    distribution_key: listIn(all, 'distributionKey'),
    created: table.created,
    last_change_date: table.lastChangeDate,
    last_import_date: table.lastImportDate,
    columns,
    metadata,
    column_metadata: objectOf(columnMetadata),
    ...(description === undefined ? {} : { description }),
    ...(schema.length === 0 ? {} : { schema }),
  });
}

/** Returns metadata without the ids, which mean nothing outside the storage. */
function pairsOf(value: Json | undefined): Json[] {
  const items = value !== undefined && isList(value) ? value.filter(isObject) : [];
  return items.map((item) =>
    objectOf(['key', 'value', 'provider', 'timestamp'].map((key) => [key, getKey(item, key) ?? null])),
  );
}

/** Returns the description in metadata: one written by a user counts more than that of a program. */
function descriptionIn(metadata: readonly Json[]): string | undefined {
  const texts = metadata.filter(isObject).filter((item) => getKey(item, 'key') === 'KBC.description');
  const chosen = texts.find((item) => getKey(item, 'provider') === 'user') ?? texts[0];
  const text = chosen === undefined ? undefined : getKey(chosen, 'value');
  return typeof text === 'string' && text !== '' ? text : undefined;
}

function schemaOf(
  table: AnyObject,
  columns: readonly string[],
  metadata: ReadonlyMap<string, readonly Json[]>,
): Json[] {
  const definition = getKey(table, 'definition');
  if (!isObject(definition)) return [];
  const bucket = getKey(table, 'bucket');
  const backend = isObject(bucket) ? getKey(bucket, 'backend') : undefined;
  const primaryKey = listIn(table, 'primaryKey');
  const typed = listIn(definition, 'columns').filter(isObject);
  return columns.flatMap((name) => {
    const column = typed.find((item) => getKey(item, 'name') === name);
    if (column === undefined) return [];
    const ofColumn = metadata.get(name) ?? [];
    const description = descriptionIn(ofColumn);
    const own = getKey(column, 'definition');
    return [
      objectOf([
        ['name', name],
        ['data_type', dataTypeOf(column, typeof backend === 'string' ? backend : undefined)],
        ['nullable', !isObject(own) || getKey(own, 'nullable') !== false],
        ['primary_key', primaryKey.includes(name)],
        ...(description === undefined ? [] : [['description', description] as const]),
        ...(ofColumn.length === 0 ? [] : [['metadata', valuesByKey(ofColumn)] as const]),
      ]),
    ];
  });
}

/** Returns the data type of a column: `base` for the kind that all backends know, and the backend's own type. */
function dataTypeOf(column: AnyObject, backend: string | undefined): AnyObject {
  const definition = getKey(column, 'definition');
  const own = isObject(definition) ? definition : objectOf([]);
  const details = ['length', 'default'].flatMap((key): [string, Json][] => {
    const value = getKey(own, key) ?? null;
    return value === null ? [] : [[key, value]];
  });
  const base = getKey(column, 'basetype') ?? null;
  const type = getKey(own, 'type') ?? null;
  return objectOf([
    ...(base === null ? [] : [['base', objectOf([['type', base], ...details])] as const]),
    ...(type === null || backend === undefined
      ? []
      : [[backend, objectOf([['type', type], ...details])] as const]),
  ]);
}

function valuesByKey(metadata: readonly Json[]): AnyObject {
  return objectOf(
    metadata.filter(isObject).flatMap((item): [string, Json][] => {
      const key = getKey(item, 'key');
      return typeof key === 'string' ? [[key, getKey(item, 'value') ?? null]] : [];
    }),
  );
}

function listIn(object: AnyObject, key: string): readonly Json[] {
  const value = getKey(object, key);
  return value !== undefined && isList(value) ? value : [];
}
