import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Env } from '../../../../lib/env.ts';
import { openMeta, reclaimSpace } from '../../../stores/metadata/database.ts';
import { backUpRunning } from './backup-running.ts';
import { findHolder, lockFolder } from '../../../stores/folder/lock.ts';
import { refuseLostMetadata } from '../../../stores/folder/metadata-place.ts';
import { SEAL, writeTarball, type Written } from './tarball.ts';

/** Files that belong to a running process only, or to the tar file that the folder came from. */
const LEFT_OUT = new Set(['service.lock', 'service.lock-journal', 'service.json', SEAL]);

/**
 * Writes the whole folder of a service into one tar file; unpacked into an empty folder it is the same service. All parts
 * are of one moment: a service that runs over the folder copies them, else the folder is held meanwhile.
 *
 * @throws {RunError} `run.locked` while a process holds the folder that is no service
 */
export async function backUp(dir: string, file: string, env: Env): Promise<Written> {
  const holder = await findHolder(dir);
  if (holder?.address !== undefined) return await backUpRunning(dir, file, holder.address, env);
  const lock = await lockFolder(dir, env.now());
  try {
    refuseLostMetadata(dir);
    // The log of the database is merged into its file.
    const meta = await openMeta(join(dir, 'meta.sqlite'));
    while ((await reclaimSpace(meta)) > 0);
    await meta.destroy();
    const paths = await filesOf(dir, [file, `${file}.tmp`]);
    return await writeTarball(file, new Date(env.now()), async (tarball) => {
      for (const path of paths) await tarball.add(relative(dir, path).split(sep).join('/'), path);
    });
  } finally {
    await lock.release();
  }
}

async function filesOf(dir: string, without: readonly string[]): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !without.includes(path) && !LEFT_OUT.has(relative(dir, path)))
    .toSorted();
}
