import type { Reply } from './answer.ts';
import { badRequest } from './errors.ts';
import { listBuckets, type MeasuredBucket } from './meta/buckets.ts';
import type { Meta } from './meta/database.ts';
import { listMetadataOf } from './meta/metadata.ts';
import { listColumns } from './meta/stored-tables.ts';
import type { MetadataRow, TableColumnRow, TableRow } from './meta/tables.ts';
import { metadataReply } from './shapes/metadata.ts';
import { tableReply } from './shapes/table.ts';

/** What lists of tables may show besides the tables (storage 1.3). */
const TABLE_PARTS = [
  'attributes',
  'buckets',
  'bucketsWithoutSourceTables',
  'columns',
  'metadata',
  'columnMetadata',
  'sourceMetadata',
  'sourceColumnMetadata',
  'tableType',
] as const;

/** @throws {ApiError} 400 when something else is asked for */
export function requireParts(include: readonly string[]): readonly string[] {
  const known: readonly string[] = TABLE_PARTS;
  const unknown = include.filter((part) => !known.includes(part));
  if (unknown.length === 0) return include;
  throw badRequest(
    'storage.validation',
    `Invalid include parameters: ${unknown.map((part) => `"${part}"`).join(', ')}. Only following are allowed: ${known.join(', ')}.`,
  );
}

/** Tables of one branch with the parts that are asked for. */
export async function showTables(
  meta: Meta,
  tables: readonly TableRow[],
  { origin, include }: { readonly origin: string; readonly include: readonly string[] },
): Promise<Record<string, Reply>[]> {
  const [first] = tables;
  if (first === undefined) return [];
  const branchId = first.branch_id;
  const isOneBucket = tables.every(({ bucket_id }) => bucket_id === first.bucket_id);
  const prefix = tables.length === 1 ? first.id : isOneBucket ? `${first.bucket_id}.` : '';
  const has = (part: string): boolean => include.includes(part);
  const withBuckets = has('buckets') || has('bucketsWithoutSourceTables');
  const buckets = withBuckets ? await bucketsById(meta, branchId) : undefined;
  const withColumns = has('columns') || has('columnMetadata');
  const columns = withColumns ? await listColumns(meta, branchId, prefix) : undefined;
  const ofTables = has('metadata') ? await metadataByOwner(meta, branchId, 'table', prefix) : undefined;
  const ofColumns = has('columnMetadata')
    ? await metadataByOwner(meta, branchId, 'column', prefix)
    : undefined;
  return tables.map((table) =>
    tableReply(table, {
      origin,
      bucket: buckets?.get(table.bucket_id),
      columns: has('columns') ? (columns?.get(table.id) ?? []) : undefined,
      metadata: ofTables === undefined ? undefined : (ofTables.get(table.id) ?? []),
      columnMetadata:
        ofColumns === undefined
          ? undefined
          : columnMetadata(table.id, columns?.get(table.id) ?? [], ofColumns),
    }),
  );
}

/** A table with everything. */
export async function showTable(meta: Meta, table: TableRow, origin: string): Promise<Record<string, Reply>> {
  const [shown] = await showTables(meta, [table], { origin, include: TABLE_PARTS });
  if (shown === undefined) throw new Error('A table was given.');
  return shown;
}

function columnMetadata(
  tableId: string,
  columns: readonly TableColumnRow[],
  all: ReadonlyMap<string, Reply[]>,
): Readonly<Record<string, readonly Reply[]>> {
  return Object.fromEntries(
    columns.flatMap(({ name }) => {
      const items = all.get(`${tableId}.${name}`);
      return items === undefined ? [] : [[name, items]];
    }),
  );
}

async function bucketsById(meta: Meta, branchId: number): Promise<Map<string, MeasuredBucket>> {
  return new Map((await listBuckets(meta, branchId)).map((bucket) => [bucket.id, bucket]));
}

async function metadataByOwner(
  meta: Meta,
  branchId: number,
  scope: 'column' | 'table',
  prefix: string,
): Promise<Map<string, Reply[]>> {
  const rows = await listMetadataOf(meta, branchId, scope, prefix);
  const byOwner = new Map<string, Reply[]>();
  for (const [owner, items] of Map.groupBy(rows, (row: MetadataRow) => row.owner))
    byOwner.set(
      owner,
      items.map((row) => metadataReply(row, true)),
    );
  return byOwner;
}
