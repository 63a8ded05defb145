import type { Caller } from '../tokens/caller.ts';
import { accessDenied, notFound } from '../api-error.ts';
import type { DataContext } from '../data-context.ts';
import { findFile, type TaggedFile } from '../../stores/metadata/files.ts';
import { splitTableId } from '../jobs/operations/table-place.ts';
import { mayChangeFile, mayReadFile, mayUseBucket } from '../tokens/permissions.ts';

/**
 * A file that the caller may read: its own, every one for some tokens, and an export of a table whose bucket it may
 * read.
 *
 * @throws {ApiError} 404 `storage.files.notFound`, 403
 */
export async function requireReadableFile(
  context: Pick<DataContext, 'env' | 'meta'>,
  caller: Caller,
  id: number | string,
): Promise<TaggedFile> {
  const file = await requireFile(context, id);
  if (mayReadFile(caller, file.creator_id)) return file;
  if (
    file.table_id !== null &&
    mayUseBucket(caller, file.branch_id, splitTableId(file.table_id).bucket, 'read')
  )
    return file;
  throw accessDenied();
}

/** A file that the caller may change and delete: its own, or any for the master token. */
export async function requireOwnFile(
  context: Pick<DataContext, 'env' | 'meta'>,
  caller: Caller,
  id: string,
): Promise<TaggedFile> {
  const file = await requireFile(context, id);
  if (!mayChangeFile(caller, file.creator_id)) throw accessDenied();
  return file;
}

async function requireFile(
  { meta, env }: Pick<DataContext, 'env' | 'meta'>,
  id: number | string,
): Promise<TaggedFile> {
  const file = /^\d{1,15}$/.test(String(id)) ? await findFile(meta, Number(id)) : undefined;
  const isOver = file?.expires != null && Date.parse(file.expires) <= env.now();
  if (file === undefined || isOver) throw notFound('File not found', 'storage.files.notFound');
  return file;
}
