import { badRequest, notFound } from '../../api-error.ts';
import { findBucket, type MeasuredBucket } from '../../../stores/metadata/buckets.ts';
import type { Meta } from '../../../stores/metadata/database.ts';
import {
  findTable,
  findTableByDisplayName,
  listTables,
  type StoredTable,
} from '../../../stores/metadata/stored-tables.ts';
import type { TableRow } from '../../../stores/metadata/tables.ts';
import type { Context } from '../../context.ts';
import type { TableId } from '../../../stores/tables/engine.ts';

/** `in.c-main.users` to `in.c-main` and `users`. */
export function splitTableId(id: string): { readonly bucket: string; readonly name: string } {
  const parts = id.split('.');
  return { bucket: parts.slice(0, 2).join('.'), name: parts.slice(2).join('.') };
}

/** Returns the table engine's name of a table: buckets of branches are separate. */
export function engineTable(branchId: number, tableId: string): TableId {
  const { bucket, name } = splitTableId(tableId);
  return { bucket: engineBucket(branchId, bucket), table: name };
}

/** Returns the table engine's name of a bucket. */
export function engineBucket(branchId: number, bucketId: string): string {
  return `${branchId}/${bucketId}`;
}

/** Returns the lock key of a table, whose jobs wait for each other. */
export function tableLock(branchId: number, tableId: string): string {
  return `table/${branchId}/${tableId}`;
}

type Project = Pick<Context, 'project'>;

/** @throws {ApiError} 404 `storage.buckets.notFound` */
export async function requireBucketRow(
  meta: Meta,
  { project }: Project,
  branchId: number,
  id: string,
): Promise<MeasuredBucket> {
  const bucket = await findBucket(meta, branchId, id);
  if (bucket !== undefined) return bucket;
  throw notFound(
    `The bucket "${id}" was not found in the project "${project.id}"`,
    'storage.buckets.notFound',
  );
}

/** @throws {ApiError} 404 `storage.tables.notFound`, or `storage.buckets.notFound` when even its bucket is missing */
export async function requireTableRow(
  meta: Meta,
  context: Project,
  branchId: number,
  id: string,
): Promise<StoredTable> {
  const table = await findTable(meta, branchId, id);
  if (table !== undefined) return table;
  const hasBucket = (await findBucket(meta, branchId, splitTableId(id).bucket)) !== undefined;
  throw tableNotFound(context, id, hasBucket ? 'storage.tables.notFound' : 'storage.buckets.notFound');
}

export function tableNotFound({ project }: Project, id: string, code = 'storage.tables.notFound'): Error {
  const { bucket, name } = splitTableId(id);
  return notFound(
    `The table "${name}" was not found in the bucket "${bucket}" in the project "${project.id}"`,
    code,
  );
}

/**
 * Refuses a name that the bucket has already, for an alias: a name that differs in case only is the same.
 *
 * @throws {ApiError} 400
 */
export async function requireFreeAlias(
  meta: Meta,
  place: { readonly branchId: number; readonly bucketId: string; readonly name: string },
): Promise<void> {
  await requireFreeTable(meta, place);
  const known = (await listTables(meta, place.branchId, place.bucketId)).find(
    ({ display_name }) => display_name.toLowerCase() === place.name.toLowerCase(),
  );
  if (known !== undefined) throw nameTaken(known, place.name);
}

/** @throws {ApiError} 400 when a table of the bucket has that name already, or is shown under it */
export async function requireFreeTable(
  meta: Meta,
  {
    branchId,
    bucketId,
    name,
  }: { readonly branchId: number; readonly bucketId: string; readonly name: string },
): Promise<void> {
  const shown = await findTableByDisplayName(meta, {
    branch_id: branchId,
    bucket_id: bucketId,
    display_name: name,
  });
  const known = shown ?? (await findTable(meta, branchId, `${bucketId}.${name}`));
  if (known !== undefined) throw nameTaken(known, name);
}

const nameTaken = (known: TableRow, name: string): Error =>
  badRequest(
    'storage.buckets.tableAlreadyExists',
    `The table "${known.name}" in the bucket already has the same display name "${name}".`,
  );
