import { RawJson, type Reply } from '../answer.ts';
import type { MeasuredBucket } from '../meta/buckets.ts';
import type { StoredTable } from '../meta/stored-tables.ts';
import type { TableColumnRow, TableRow } from '../meta/tables.ts';
import { apiTime } from '../time.ts';
import { bucketReply } from './bucket.ts';

/** What is shown of a table besides itself. */
export interface TableParts {
  readonly origin: string;
  readonly bucket?: MeasuredBucket | undefined;
  readonly columns?: readonly TableColumnRow[] | undefined;
  readonly metadata?: readonly Reply[] | undefined;
  readonly columnMetadata?: Readonly<Record<string, readonly Reply[]>> | undefined;
}

/** A table (storage 1.3). */
export function tableReply(table: TableRow, parts: TableParts): Record<string, Reply> {
  const { origin, bucket, columns, metadata, columnMetadata } = parts;
  const isTyped = table.is_typed === 1;
  return {
    uri: `${origin}/v2/storage/tables/${table.id}`,
    id: table.id,
    name: table.name,
    displayName: table.display_name,
    transactional: false,
    primaryKey: new RawJson(table.primary_key),
    created: apiTime(table.created),
    // Some clients insist on times, also of a table that nothing was loaded into yet.
    lastImportDate: apiTime(table.last_import ?? table.created),
    lastChangeDate: apiTime(table.last_change ?? table.created),
    rowsCount: table.rows_count,
    dataSizeBytes: table.data_bytes,
    isAlias: false,
    isAliasable: true,
    isTyped,
    timestampType: 'MANAGED',
    tableType: 'table',
    path: `${table.bucket_id}/${table.name}`,
    ...(columns === undefined ? {} : { columns: columns.map(({ name }) => name), attributes: [] }),
    ...(columns === undefined || !isTyped ? {} : { definition: definitionReply(table, columns) }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(columnMetadata === undefined
      ? {}
      : { columnMetadata: Object.keys(columnMetadata).length === 0 ? [] : columnMetadata }),
    ...(bucket === undefined ? {} : { bucket: bucketWithoutTables(bucket, origin) }),
  };
}

/** A table with everything that its detail shows. */
export function wholeTable(
  table: StoredTable,
  parts: Pick<TableParts, 'bucket' | 'columnMetadata' | 'metadata' | 'origin'>,
): Record<string, Reply> {
  return tableReply(table, { metadata: [], columnMetadata: {}, ...parts, columns: table.columns });
}

function bucketWithoutTables(bucket: MeasuredBucket, origin: string): Record<string, Reply> {
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
