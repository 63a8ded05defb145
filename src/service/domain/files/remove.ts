import type { DataContext } from '../data-context.ts';
import { deleteFiles } from '../../stores/metadata/files.ts';
import type { FileRow } from '../../stores/metadata/tables.ts';
import { transactionsOf } from '../../stores/metadata/transaction.ts';

/**
 * Removes a file with its bytes: the bytes first, so that what a killed process left can be deleted again, and
 * nothing stays on the disk that nobody knows of.
 *
 * @param transact the transactions of the request that asks for it
 */
export async function removeFile(
  { meta, objects }: Pick<DataContext, 'meta' | 'objects'>,
  file: Pick<FileRow, 'id' | 'is_sliced' | 'object_key'>,
  transact = transactionsOf(meta),
): Promise<void> {
  if (file.is_sliced === 1) await objects.deletePrefix(file.object_key);
  else await objects.delete([file.object_key]);
  await deleteFiles(transact, [file.id]);
}
