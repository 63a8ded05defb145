import { existsSync, chmodSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** Makes a folder for its user alone, whatever the umask is; missing parent folders follow the umask. */
export function makePrivateFolder(folder: string): void {
  const above = path.dirname(folder);
  // a file in the place of the parent is left to the next line, whose error names a path that leads through a file
  if (!existsSync(above)) mkdirSync(above, { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/**
 * Removes the permissions of other users from a file or a folder.
 *
 * @returns `closed` when others had some until now, `open` when they still have, since another user owns it; undefined
 *   when it is private, or does not exist
 */
export function closeToOthers(file: string): 'closed' | 'open' | undefined {
  // Windows has other rights, which are inherited.
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined;
  try {
    chmodSync(file, mode & 0o700);
    return 'closed';
  } catch {
    return 'open';
  }
}
