import { mkdir, open, rename, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '../errors.ts';

/** Moves a file to its final name, making directories as needed; on return a loss of power does not undo it. */
export async function moveDurably(from: string, to: string): Promise<void> {
  const directory = path.dirname(to);
  for (let attempt = 1; ; attempt++) {
    let firstMade: string | undefined;
    try {
      firstMade = await mkdir(directory, { recursive: true, mode: 0o700 });
      await rename(from, to);
    } catch (error) {
      // A delete beside us may have taken a directory away again, as it was empty, also while we were making those in it.
      if (errnoOf(error) === 'ENOENT' && attempt < MAX_ATTEMPTS && (await exists(from))) continue;
      throw error;
    }
    await syncUpTo(directory, firstMade === undefined ? directory : path.dirname(firstMade));
    return;
  }
}

const MAX_ATTEMPTS = 100;

/** Removes a file and the directories above it that become empty, up to `root`. False when there was no such file. */
export async function removeFile(file: string, root: string): Promise<boolean> {
  try {
    await unlink(file);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return false;
    throw error;
  }
  let directory = path.dirname(file);
  while (directory !== root && (await removeIfEmpty(directory))) directory = path.dirname(directory);
  await syncDirectory(directory);
  return true;
}

export async function syncDirectory(directory: string): Promise<void> {
  try {
    const handle = await open(directory, 'r');
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    // Some systems cannot sync a directory, and a delete may have taken it away.
    if (!['EPERM', 'EISDIR', 'EINVAL', 'EACCES', 'ENOENT'].includes(errnoOf(error) ?? '')) throw error;
  }
}

async function syncUpTo(directory: string, top: string): Promise<void> {
  for (let current = directory; ; current = path.dirname(current)) {
    await syncDirectory(current);
    if (current === top || current === path.dirname(current)) return;
  }
}

async function removeIfEmpty(directory: string): Promise<boolean> {
  return rmdir(directory).then(
    () => true,
    () => false,
  );
}

async function exists(file: string): Promise<boolean> {
  return open(file, 'r').then(
    (handle) => handle.close().then(() => true),
    () => false,
  );
}
