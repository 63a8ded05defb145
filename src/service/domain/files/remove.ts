import type { DataContext } from '../data-context.ts';
import { deleteFiles } from '../../stores/metadata/files.ts';
import type { FileRow } from '../../stores/metadata/tables.ts';

/**
 * Removes a file with its bytes: the bytes first, so that what a killed process left can be deleted again, and
 * nothing stays on the disk that nobody knows of.
 */
export async function removeFile(
  { meta, objects }: Pick<DataContext, 'meta' | 'objects'>,
  file: Pick<FileRow, 'id' | 'is_sliced' | 'object_key'>,
): Promise<void> {
  if (file.is_sliced === 1) await objects.deletePrefix(file.object_key);
  else await objects.delete([file.object_key]);
  await deleteFiles(meta, [file.id]);
}
