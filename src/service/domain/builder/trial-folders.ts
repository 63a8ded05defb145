import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PREFIX = 'gex-trial-';
/** Prefixes of trial folders, and of the folder of a recording that is being viewed. */
const PREFIXES: readonly string[] = [PREFIX, 'gex-recording-'];

/** Age of a folder that is certainly unused: no trial takes so long, whatever its timeout is. */
const OLD_MS = 6 * 3_600_000;

/** Makes the folder of one trial, below the temporary folder of the system. */
export async function makeTrialFolder(): Promise<string> {
  return await mkdtemp(path.join(tmpdir(), PREFIX));
}

export async function removeTrialFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the folders of trials whose processes, and the service with them, were killed. */
export async function sweepTrialFolders(now: number): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((each) => PREFIXES.some((prefix) => each.startsWith(prefix)))) {
    const folder = path.join(tmpdir(), name);
    const found = await stat(folder).catch(() => undefined);
    const isOwn = found?.isDirectory() === true && found.uid === process.getuid?.();
    if (isOwn && now - found.mtimeMs > OLD_MS) await removeTrialFolder(folder).catch(() => undefined);
  }
}
