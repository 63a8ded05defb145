import { reclaimSpace } from '../meta/database.ts';
import { deleteFiles, listExpired } from '../meta/files.ts';
import type { FileRow } from '../meta/tables.ts';
import type { DataContext } from '../data-context.ts';
import { isoTime } from '../time.ts';

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

/** Credentials live for 12 hours: an upload that began before cannot be completed by anyone. */
const UPLOAD_MS = 13 * 3_600_000;

/** Removes files whose time is over and uploads that nobody ended, and gives freed space back to the disk. */
export async function sweep(context: DataContext): Promise<number> {
  const { meta, objects, engine, env } = context;
  let removed = 0;
  for (;;) {
    const expired = await listExpired(meta, isoTime(env.now()), 100);
    if (expired.length === 0) break;
    for (const file of expired) await removeFile(context, file);
    removed += expired.length;
  }
  await objects.dropUnfinished(new Date(env.now() - UPLOAD_MS));
  await engine.compact();
  await reclaimSpace(meta);
  return removed;
}
