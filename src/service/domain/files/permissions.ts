import type { Caller } from '../tokens/caller.ts';
import { accessDenied, notFound } from '../api-error.ts';
import type { DataContext } from '../data-context.ts';
import { findFile, findFileRow, type TaggedFile } from '../../stores/metadata/files.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { FileRow } from '../../stores/metadata/tables.ts';
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
  return requireRead(caller, await requireFile(context, id, findFile));
}

/** Checks that there is such a file. @throws {ApiError} as {@link requireReadableFile} does */
export async function requireSourceFile(
  context: Pick<DataContext, 'env' | 'meta'>,
  caller: Caller,
  id: number,
): Promise<void> {
  requireRead(caller, await requireFile(context, id, findFileRow));
}

function requireRead<File extends FileRow>(caller: Caller, file: File): File {
  if (mayReadFile(caller, file.creator_id)) return file;
  const bucket = file.table_id === null ? undefined : splitTableId(file.table_id).bucket;
  if (bucket !== undefined && mayUseBucket(caller, file.branch_id, bucket, 'read')) return file;
  throw accessDenied();
}

/** A file that the caller may change and delete: its own, or any for the master token. */
export async function requireOwnFile(
  context: Pick<DataContext, 'env' | 'meta'>,
  caller: Caller,
  id: string,
): Promise<TaggedFile> {
  const file = await requireFile(context, id, findFile);
  if (!mayChangeFile(caller, file.creator_id)) throw accessDenied();
  return file;
}

async function requireFile<File extends FileRow>(
  { meta, env }: Pick<DataContext, 'env' | 'meta'>,
  id: number | string,
  find: (meta: Meta, id: number) => Promise<File | undefined>,
): Promise<File> {
  const file = /^\d{1,15}$/.test(String(id)) ? await find(meta, Number(id)) : undefined;
  const isOver = file?.expires != null && Date.parse(file.expires) <= env.now();
  if (file === undefined || isOver) throw notFound('File not found', 'storage.files.notFound');
  return file;
}
