import type { Reply } from '../http/answer.ts';
import { badRequest } from '../http/errors.ts';
import { listBuckets, type MeasuredBucket } from '../meta/buckets.ts';
import type { Meta } from '../meta/database.ts';
import { listMetadata, listMetadataOf } from '../meta/metadata.ts';
import { listColumns, listTables } from '../meta/stored-tables.ts';
import type { MetadataRow, TableRow } from '../meta/tables.ts';
import { metadataReply } from './metadata.ts';
import { tableReply } from './table.ts';

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

interface TableView {
  readonly origin: string;
  readonly include: readonly string[];
  /** The metadata of the bucket, shown in it. */
  readonly bucketMetadata?: readonly Reply[];
}

/** Tables of one branch with the parts that are asked for. */
export async function showTables(
  meta: Meta,
  tables: readonly TableRow[],
  { origin, include, bucketMetadata }: TableView,
): Promise<Record<string, Reply>[]> {
  const [first] = tables;
  if (first === undefined) return [];
  const branchId = first.branch_id;
  const isOneBucket = tables.every(({ bucket_id }) => bucket_id === first.bucket_id);
  const prefix = tables.length === 1 ? first.id : isOneBucket ? `${first.bucket_id}.` : '';
  const has = (part: string): boolean => include.includes(part);
  const withBuckets = has('buckets') || has('bucketsWithoutSourceTables');
  const buckets = withBuckets ? await bucketsById(meta, branchId) : undefined;
  const columns = has('columns') ? await listColumns(meta, branchId, prefix) : undefined;
  const ofTables = has('metadata') ? await metadataByOwner(meta, branchId, 'table', prefix) : undefined;
  const ofColumns = has('columnMetadata') ? await metadataByColumn(meta, branchId, prefix) : undefined;
  const sourceOf = await sourcesOf(meta, tables);
  return tables.map((table) =>
    tableReply(table, {
      origin,
      source: sourceOf(table),
      bucket: buckets?.get(table.bucket_id),
      bucketMetadata,
      columns: has('columns') ? (columns?.get(table.id) ?? []) : undefined,
      metadata: ofTables === undefined ? undefined : (ofTables.get(table.id) ?? []),
      columnMetadata: ofColumns === undefined ? undefined : (ofColumns.get(table.id) ?? {}),
    }),
  );
}

/** What each alias of a list stands for. */
async function sourcesOf(
  meta: Meta,
  tables: readonly TableRow[],
): Promise<(table: TableRow) => { table: TableRow; rows: TableRow } | undefined> {
  const alias = tables.find(({ alias_source }) => alias_source !== null);
  if (alias === undefined) return () => undefined;
  const all = new Map((await listTables(meta, alias.branch_id)).map((table) => [table.id, table]));
  return (table) => {
    const source = all.get(table.alias_source ?? '');
    if (source === undefined) return undefined;
    let rows = source;
    for (let next = all.get(rows.alias_source ?? ''); next !== undefined;) {
      rows = next;
      next = all.get(rows.alias_source ?? '');
    }
    return { table: source, rows };
  };
}

/** A table with everything. */
export async function showTable(meta: Meta, table: TableRow, origin: string): Promise<Record<string, Reply>> {
  const owner = { branch_id: table.branch_id, scope: 'bucket', owner: table.bucket_id } as const;
  const bucketMetadata = (await listMetadata(meta, owner)).map((row) => metadataReply(row, true));
  const [shown] = await showTables(meta, [table], { origin, include: TABLE_PARTS, bucketMetadata });
  if (shown === undefined) throw new Error('A table was given.');
  return shown;
}

/** Metadata of columns by table and column. That of a column goes with it, so columns need not be asked for. */
async function metadataByColumn(
  meta: Meta,
  branchId: number,
  prefix: string,
): Promise<Map<string, Readonly<Record<string, Reply[]>>>> {
  const byTable = new Map<string, Map<string, Reply[]>>();
  for (const row of await listMetadataOf(meta, branchId, 'column', prefix)) {
    // No name of a column has a dot.
    const dot = row.owner.lastIndexOf('.');
    const table = row.owner.slice(0, dot);
    const column = row.owner.slice(dot + 1);
    const columns = byTable.get(table) ?? new Map<string, Reply[]>();
    const items = columns.get(column) ?? [];
    byTable.set(table, columns.set(column, items));
    items.push(metadataReply(row, true));
  }
  return new Map(Array.from(byTable, ([table, columns]) => [table, Object.fromEntries(columns)]));
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
