import { RawJson, type Reply } from '../reply.ts';
import type { MeasuredBucket } from '../../stores/metadata/buckets.ts';
import type { StoredTable } from '../../stores/metadata/stored-tables.ts';
import type { TableColumnRow, TableRow } from '../../stores/metadata/tables.ts';
import { apiTime } from './time.ts';
import { bucketReply } from './bucket.ts';

/** Source of an alias, as the alias shows it. */
export interface AliasSource extends Pick<TableParts, 'columnMetadata' | 'metadata'> {
  readonly table: TableRow;
  /** The table at the end, which has the rows. */
  readonly rows: TableRow;
  readonly project?: { readonly id: number; readonly name: string } | undefined;
}

/** Parts of a table that are shown besides itself. */
export interface TableParts {
  readonly origin: string;
  readonly bucket?: MeasuredBucket | undefined;
  readonly columns?: readonly TableColumnRow[] | undefined;
  readonly source?: AliasSource | undefined;
  readonly metadata?: readonly Reply[] | undefined;
  readonly columnMetadata?: Readonly<Record<string, readonly Reply[]>> | undefined;
}

/** A table. */
export function tableReply(table: TableRow, parts: TableParts): Record<string, Reply> {
  const { origin, bucket, columns, metadata, columnMetadata, source } = parts;
  const rows = source?.rows ?? table;
  const isAlias = table.alias_source !== null;
  const isTyped = table.is_typed === 1;
  const reply: Record<string, Reply> = {
    uri: `${origin}/v2/storage/tables/${table.id}`,
    id: table.id,
    name: table.name,
    displayName: table.display_name,
    transactional: false,
    // A list of names, written by the service.
    primaryKey: JSON.parse(table.primary_key) as string[],
    created: apiTime(table.created),
    // Some clients require times, also for a table without a load.
    lastImportDate: apiTime(rows.last_import ?? rows.created),
    lastChangeDate: apiTime(rows.last_change ?? rows.created),
    // An alias has no rows of its own, and those that it shows are not counted.
    rowsCount: isAlias ? null : table.rows_count,
    dataSizeBytes: isAlias ? null : table.data_bytes,
    isAlias,
    isAliasable: true,
    isTyped,
    timestampType: 'MANAGED',
    tableType: 'table',
    path: `${table.bucket_id}/${table.name}`,
  };
  // One after the other: spreading absent parts takes most of the time of a long list.
  if (columns !== undefined) {
    reply['columns'] = columns.map(({ name }) => name);
    reply['attributes'] = [];
    if (isTyped) reply['definition'] = definitionReply(table, columns);
  }
  if (isAlias) Object.assign(reply, aliasReply(table, origin, source));
  if (metadata !== undefined) reply['metadata'] = metadata;
  if (columnMetadata !== undefined) reply['columnMetadata'] = mapOrList(columnMetadata);
  if (bucket !== undefined) reply['bucket'] = bucketWithoutTables(bucket, origin);
  return reply;
}

/** An empty map is a list, as everywhere in this API. */
const mapOrList = (map: Readonly<Record<string, readonly Reply[]>>): Reply =>
  Object.keys(map).length === 0 ? [] : map;

function aliasReply(alias: TableRow, origin: string, shown: AliasSource | undefined): Record<string, Reply> {
  const source = shown?.table;
  return {
    aliasColumnsAutoSync: alias.alias_auto_sync === 1,
    ...(alias.alias_filter === null ? {} : { aliasFilter: new RawJson(alias.alias_filter) }),
    ...(source === undefined
      ? {}
      : {
          sourceTable: {
            id: source.id,
            uri: `${origin}/v2/storage/tables/${source.id}`,
            name: source.name,
            displayName: source.display_name,
            lastImportDate: apiTime(source.last_import ?? source.created),
            lastChangeDate: apiTime(source.last_change ?? source.created),
            primaryKey: JSON.parse(source.primary_key) as string[],
            isAlias: source.alias_source !== null,
            ...(shown?.project === undefined ? {} : { project: { ...shown.project } }),
            ...(shown?.metadata === undefined ? {} : { metadata: shown.metadata }),
            ...(shown?.columnMetadata === undefined
              ? {}
              : { columnMetadata: mapOrList(shown.columnMetadata) }),
          },
        }),
  };
}

/** A table with everything that its detail shows. */
export function wholeTable(
  table: StoredTable,
  parts: Pick<TableParts, 'bucket' | 'columnMetadata' | 'metadata' | 'origin'>,
): Record<string, Reply> {
  return tableReply(table, { metadata: [], columnMetadata: {}, ...parts, columns: table.columns });
}

export function bucketWithoutTables(bucket: MeasuredBucket, origin: string): Record<string, Reply> {
  const { tables: _tables, ...rest } = bucketReply(bucket, origin);
  return rest;
}

function definitionReply(table: TableRow, columns: readonly TableColumnRow[]): Reply {
  return {
    primaryKeysNames: new RawJson(table.primary_key),
    columns: columns.map((column) => ({
      name: column.name,
      definition: column.definition === null ? null : new RawJson(column.definition),
      basetype: column.basetype,
      canBeFiltered: true,
    })),
  };
}
