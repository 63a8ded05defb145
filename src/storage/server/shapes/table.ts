import { RawJson, type Reply } from '../http/answer.ts';
import type { MeasuredBucket } from '../meta/buckets.ts';
import type { StoredTable } from '../meta/stored-tables.ts';
import type { TableColumnRow, TableRow } from '../meta/tables.ts';
import { apiTime } from './time.ts';
import { bucketReply } from './bucket.ts';

/** What is shown of a table besides itself. */
export interface TableParts {
  readonly origin: string;
  readonly bucket?: MeasuredBucket | undefined;
  readonly columns?: readonly TableColumnRow[] | undefined;
  /** What an alias stands for, and the table at the end that has the rows. */
  readonly source?: { readonly table: TableRow; readonly rows: TableRow } | undefined;
  readonly metadata?: readonly Reply[] | undefined;
  readonly columnMetadata?: Readonly<Record<string, readonly Reply[]>> | undefined;
}

/** A table (storage 1.3). */
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
    // Some clients insist on times, also of a table that nothing was loaded into yet.
    lastImportDate: apiTime(rows.last_import ?? rows.created),
    lastChangeDate: apiTime(rows.last_change ?? rows.created),
    // An alias has no rows of its own, and nobody counts those that it shows.
    rowsCount: isAlias ? null : table.rows_count,
    dataSizeBytes: isAlias ? null : table.data_bytes,
    isAlias,
    isAliasable: true,
    isTyped,
    timestampType: 'MANAGED',
    tableType: 'table',
    path: `${table.bucket_id}/${table.name}`,
  };
  // One after the other: spreading what there is not takes most of the time of a long list.
  if (columns !== undefined) {
    reply['columns'] = columns.map(({ name }) => name);
    reply['attributes'] = [];
    if (isTyped) reply['definition'] = definitionReply(table, columns);
  }
  if (isAlias) Object.assign(reply, aliasReply(table, origin, source?.table));
  if (metadata !== undefined) reply['metadata'] = metadata;
  if (columnMetadata !== undefined)
    reply['columnMetadata'] = Object.keys(columnMetadata).length === 0 ? [] : columnMetadata;
  if (bucket !== undefined) reply['bucket'] = bucketWithoutTables(bucket, origin);
  return reply;
}

function aliasReply(alias: TableRow, origin: string, source: TableRow | undefined): Record<string, Reply> {
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
