import { reclaimSpace } from '../meta/database.ts';
import { isDue } from '../meta/due.ts';
import { forgetOld } from '../meta/retention.ts';
import { deleteFiles, keysOfFiles, listExpired } from '../meta/files.ts';
import { forgetOldKeys } from '../meta/request-keys.ts';
import type { FileRow } from '../meta/tables.ts';
import type { DataContext } from '../data-context.ts';
import { isoTime } from '../shapes/time.ts';

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

const DAY_MS = 24 * 3_600_000;

/**
 * Removes files whose time is over, uploads that nobody ended, objects without a file and what is older than so many
 * days, and gives freed space back to the disk.
 */
export async function sweep(context: DataContext, keepDays: number): Promise<number> {
  const { meta, objects, engine, env } = context;
  let removed = 0;
  for (;;) {
    const expired = await listExpired(meta, isoTime(env.now()), 100);
    if (expired.length === 0) break;
    for (const file of expired) await removeFile(context, file);
    removed += expired.length;
  }
  await forgetOldKeys(meta, env.now());
  await forgetOld(meta, isoTime(env.now() - keepDays * DAY_MS));
  await objects.dropUnfinished(new Date(env.now() - UPLOAD_MS));
  // To look at every object takes a while.
  if (await isDue(meta, 'unknown objects', env.now(), DAY_MS))
    await objects.dropUnknown(new Date(env.now() - UPLOAD_MS), (keys) => keysOfFiles(meta, keys));
  await engine.compact();
  await reclaimSpace(meta);
  return removed;
}
