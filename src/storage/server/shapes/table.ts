import { RawJson, type Reply } from '../answer.ts';
import type { MeasuredBucket } from '../meta/buckets.ts';
import type { StoredTable } from '../meta/stored-tables.ts';
import { apiTime } from '../time.ts';
import { bucketReply } from './bucket.ts';

/** What is shown of a table besides itself. */
export interface TableParts {
  readonly origin: string;
  readonly bucket?: MeasuredBucket | undefined;
  readonly withColumns?: boolean;
  readonly metadata?: readonly Reply[] | undefined;
  readonly columnMetadata?: Readonly<Record<string, readonly Reply[]>> | undefined;
}

/** A table (storage 1.3). */
export function tableReply(table: StoredTable, parts: TableParts): Record<string, Reply> {
  const { origin, bucket, withColumns, metadata, columnMetadata } = parts;
  const isTyped = table.is_typed === 1;
  return {
    uri: `${origin}/v2/storage/tables/${table.id}`,
    id: table.id,
    name: table.name,
    displayName: table.display_name,
    transactional: false,
    primaryKey: new RawJson(table.primary_key),
    created: apiTime(table.created),
    lastImportDate: apiTime(table.last_import),
    // Some clients insist on a time.
    lastChangeDate: apiTime(table.last_change ?? table.created),
    rowsCount: table.rows_count,
    dataSizeBytes: table.data_bytes,
    isAlias: false,
    isAliasable: true,
    isTyped,
    timestampType: 'MANAGED',
    tableType: 'table',
    path: `${table.bucket_id}/${table.name}`,
    ...(withColumns === true ? { columns: table.columns.map(({ name }) => name), attributes: [] } : {}),
    ...(withColumns === true && isTyped ? { definition: definitionReply(table) } : {}),
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
  return tableReply(table, { metadata: [], columnMetadata: {}, ...parts, withColumns: true });
}

function bucketWithoutTables(bucket: MeasuredBucket, origin: string): Record<string, Reply> {
  const { tables: _tables, ...rest } = bucketReply(bucket, origin);
  return rest;
}

function definitionReply(table: StoredTable): Reply {
  return {
    primaryKeysNames: new RawJson(table.primary_key),
    columns: table.columns.map((column) => ({
      name: column.name,
      definition: column.definition === null ? null : new RawJson(column.definition),
      basetype: column.basetype,
      canBeFiltered: true,
    })),
  };
}
