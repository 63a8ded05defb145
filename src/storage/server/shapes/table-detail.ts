import type { RawJson, Reply } from '../http/answer.ts';
import { badRequest } from '../http/errors.ts';
import { listBuckets } from '../meta/buckets.ts';
import type { Meta } from '../meta/database.ts';
import { listMetadata, listShownMetadata, type ShownMetadata } from '../meta/metadata.ts';
import { listColumns, listTables } from '../meta/stored-tables.ts';
import type { TableRow } from '../meta/tables.ts';
import { metadataReply } from './metadata.ts';
import { bucketText, columnMetadataText, metadataText, tableText } from './table-text.ts';

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

/** Tables of one branch with the parts that are asked for, as JSON. */
export async function showTables(
  meta: Meta,
  tables: readonly TableRow[],
  { origin, include, bucketMetadata }: TableView,
): Promise<RawJson[]> {
  const [first] = tables;
  if (first === undefined) return [];
  const branchId = first.branch_id;
  const isOneBucket = tables.every(({ bucket_id }) => bucket_id === first.bucket_id);
  const prefix = tables.length === 1 ? first.id : isOneBucket ? `${first.bucket_id}.` : '';
  const has = (part: string): boolean => include.includes(part);
  const withBuckets = has('buckets') || has('bucketsWithoutSourceTables');
  const buckets = withBuckets
    ? await bucketTexts(meta, branchId, { origin, metadata: bucketMetadata })
    : NONE;
  const columns = has('columns') ? await listColumns(meta, branchId, prefix) : undefined;
  const ofTables = has('metadata') ? await metadataByTable(meta, branchId, 'table', prefix) : undefined;
  const ofColumns = has('columnMetadata')
    ? await metadataByTable(meta, branchId, 'column', prefix)
    : undefined;
  const sourceOf = await sourcesOf(meta, tables);
  return tables.map((table) => {
    const parts = {
      origin,
      source: sourceOf(table),
      columns: has('columns') ? (columns?.get(table.id) ?? []) : undefined,
    };
    return tableText(table, parts, {
      metadata: ofTables && metadataText(ofTables.get(table.id) ?? []),
      columnMetadata: ofColumns && columnMetadataText(ofColumns.get(table.id) ?? []),
      bucket: buckets.get(table.bucket_id),
    });
  });
}

const NONE: ReadonlyMap<string, RawJson> = new Map();

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
export async function showTable(meta: Meta, table: TableRow, origin: string): Promise<RawJson> {
  const owner = { branch_id: table.branch_id, scope: 'bucket', owner: table.bucket_id } as const;
  const bucketMetadata = (await listMetadata(meta, owner)).map((row) => metadataReply(row, true));
  const [shown] = await showTables(meta, [table], { origin, include: TABLE_PARTS, bucketMetadata });
  if (shown === undefined) throw new Error('A table was given.');
  return shown;
}

/** Metadata of tables, or of their columns, by the id of the table. */
async function metadataByTable(
  meta: Meta,
  branchId: number,
  scope: 'column' | 'table',
  prefix: string,
): Promise<Map<string, ShownMetadata[]>> {
  const rows = await listShownMetadata(meta, branchId, scope, prefix);
  // That of a column goes with it, so columns need not be asked for; and no name of a column has a dot.
  return Map.groupBy(rows, ({ owner }) =>
    scope === 'table' ? owner : owner.slice(0, owner.lastIndexOf('.')),
  );
}

async function bucketTexts(
  meta: Meta,
  branchId: number,
  shown: Parameters<typeof bucketText>[1],
): Promise<ReadonlyMap<string, RawJson>> {
  const buckets = await listBuckets(meta, branchId);
  return new Map(buckets.map((bucket) => [bucket.id, bucketText(bucket, shown)]));
}
