import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RunRow } from '../../stores/metadata/tables.ts';

/**
 * Returns the data folder of a run. With checkpoints elsewhere, each attempt has its own, which may vanish with the
 * machine. Without them, a configuration has one, so that a run continues where one before it was stopped, as the
 * command does.
 */
export function folderOf(
  directory: string,
  run: Pick<RunRow, 'attempt' | 'id' | 'lock_key'>,
  { isOfAttempt }: { readonly isOfAttempt: boolean },
): string {
  const name = isOfAttempt
    ? `${run.id}-${run.attempt}`
    : createHash('sha256').update(run.lock_key).digest('hex').slice(0, 32);
  return path.join(directory, name);
}

/** Folders whose run is at its end. */
const leaving = new Map<string, Promise<void>>();

/**
 * Ends a run and removes its folder. The next run of the configuration may be claimed as soon as this one has ended:
 * it waits for the folder by {@link untilLeft}, or its first files would be removed with it.
 *
 * @param end returns whether the run has ended by it; else the folder stays
 */
export async function leaveFolder(folder: string, end: () => Promise<boolean>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<void>();
  leaving.set(folder, promise);
  try {
    const hasEnded = await end();
    if (hasEnded) await rm(folder, { recursive: true, force: true });
    return hasEnded;
  } finally {
    leaving.delete(folder);
    resolve();
  }
}

/** Waits while the run before is removing that folder. */
export async function untilLeft(folder: string): Promise<void> {
  await leaving.get(folder);
}

/** Milliseconds that the folder of a failed run is of use. */
const KEEP_MS = 7 * 24 * 3_600_000;

/** Removes folders that no run has touched for a week. */
export async function sweepFolders(directory: string, now: number): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    const folder = path.join(directory, name);
    // The folder below changes with every run.
    const found = await stat(path.join(folder, '.gex'))
      .catch(async () => await stat(folder))
      .catch(() => undefined);
    if (found !== undefined && now - found.mtimeMs > KEEP_MS)
      await rm(folder, { recursive: true, force: true });
  }
}
