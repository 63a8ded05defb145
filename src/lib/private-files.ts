import { existsSync, chmodSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** Makes a folder for its user alone, whatever the umask is; those above it are as the umask has them. */
export function makePrivateFolder(folder: string): void {
  const above = path.dirname(folder);
  // a file in its place is for the next line to refuse, in the words of a path that leads through one
  if (!existsSync(above)) mkdirSync(above, { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/**
 * Takes the rights of others from a file or a folder.
 *
 * @returns `closed` when others had some until now, `open` when they still have, since it is another user's; undefined when
 *   it is private, or not there
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
