import type { ColumnDefinition, DeleteRows, MetadataPair } from '../../../../storage/client/index.ts';
import type { SchemaColumn, TableOptions } from './plan-options.ts';

/**
 * Settings of a table in one document, a manifest or a mapping, in either of two forms: `columns`, `primary_key` and
 * `column_metadata`, or a `schema` of the columns. Undefined: the document does not say it.
 */
export interface PushTableSettings {
  readonly destination: string | undefined;
  readonly columns: readonly ColumnDefinition[] | undefined;
  readonly primaryKey: readonly string[] | undefined;
  readonly incremental: boolean | undefined;
  readonly delimiter: string | undefined;
  readonly enclosure: string | undefined;
  readonly hasHeader: boolean | undefined;
  readonly deleteColumn: string | undefined;
  readonly deleteOperator: 'eq' | 'ne' | undefined;
  readonly deleteValues: readonly string[] | undefined;
  readonly deleteRows: readonly DeleteRows[] | undefined;
  readonly metadata: readonly MetadataPair[];
  readonly columnMetadata: ReadonlyMap<string, readonly MetadataPair[]>;
}

const DESCRIPTION = 'KBC.description';

/** @returns the settings, or in words why the document contradicts itself */
export function settingsOf(options: TableOptions): PushTableSettings | string {
  const { schema = [] } = options;
  const excluded = (['columns', 'primary_key', 'metadata', 'column_metadata'] as const).filter((key) => {
    const value = options[key];
    return value !== undefined && Object.keys(value).length > 0;
  });
  if (schema.length > 0 && excluded.length > 0)
    return `has a “schema”, which takes the place of ${excluded.map((key) => `“${key}”`).join(', ')}: use one or the other`;
  const { delete_where_values: values } = options;
  return {
    destination: options.destination,
    columns:
      schema.length > 0 ? schema.map(definitionOf) : options.columns?.map((name) => ({ name: String(name) })),
    primaryKey:
      schema.length > 0
        ? schema.filter((column) => column.primary_key === true).map(({ name }) => name)
        : options.primary_key?.map(String),
    incremental: options.incremental,
    delimiter: options.delimiter,
    enclosure: options.enclosure,
    hasHeader: options.has_header,
    deleteColumn: options.delete_where_column,
    deleteOperator: options.delete_where_operator || undefined,
    deleteValues: values?.map(String),
    deleteRows: options.delete_where?.map(deletionOf),
    metadata: [
      ...pairsOf(options.metadata ?? []),
      ...mapPairs(options.table_metadata),
      ...described(options.description),
    ],
    columnMetadata: columnMetadataOf(options),
  };
}

function columnMetadataOf({
  schema = [],
  column_metadata: given = {},
}: TableOptions): PushTableSettings['columnMetadata'] {
  const columns = new Map(Object.entries(given).map(([name, pairs]) => [name, pairsOf(pairs)]));
  for (const { name, metadata, description } of schema) {
    const pairs = [...mapPairs(metadata), ...described(description)];
    if (pairs.length > 0) columns.set(name, pairs);
  }
  return columns;
}

/** Returns the definition of a column: a length, a default or “not null” need one; else the general type is enough. */
function definitionOf({ name, data_type: type, nullable }: SchemaColumn): ColumnDefinition {
  const base = type?.base;
  if (base === undefined) return { name };
  const { length, default: byDefault } = base;
  if (length === undefined && byDefault === undefined && nullable !== false)
    return { name, basetype: base.type };
  return {
    name,
    definition: {
      type: base.type,
      ...(length === undefined ? {} : { length: String(length) }),
      ...(nullable === undefined ? {} : { nullable }),
      ...(byDefault === undefined ? {} : { default: String(byDefault) }),
    },
  };
}

function deletionOf(where: NonNullable<TableOptions['delete_where']>[number]): DeleteRows {
  const { changed_since: since, changed_until: until, where_filters: filters = [] } = where;
  return {
    ...(since === undefined ? {} : { changedSince: timeOf(since) }),
    ...(until === undefined ? {} : { changedUntil: timeOf(until) }),
    ...(filters.length === 0
      ? {}
      : {
          whereFilters: filters.map(({ column, operator, values_from_set: values }) => ({
            column,
            operator: operator || 'eq',
            values: values.map(String),
          })),
        }),
  };
}

function timeOf(value: string | number | boolean): string | number {
  return typeof value === 'number' ? value : String(value);
}

function described(description: string | undefined): MetadataPair[] {
  return description === undefined || description === '' ? [] : [{ key: DESCRIPTION, value: description }];
}

function mapPairs(map: Readonly<Record<string, string | number | boolean>> = {}): MetadataPair[] {
  return pairsOf(Object.entries(map).map(([key, value]) => ({ key, value })));
}

function pairsOf(
  pairs: readonly { readonly key: string; readonly value: string | number | boolean }[],
): MetadataPair[] {
  return pairs.map(({ key, value }) => ({ key, value: String(value) }));
}
