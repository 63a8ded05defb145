import { closeSync, fdatasync, fsync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import { fileError, guard } from './file-error.ts';

/** Writes a file as {@link writeFileAtomic}. On return the new name is on the disk, too, with these permissions. */
export function writeFileDurably(file: string, text: string, mode: number): void {
  writeFileAtomic(file, text, mode);
  guard(file, () => {
    const folder = openSync(path.dirname(file), 'r');
    try {
      fsyncSync(folder);
    } catch {
      // some systems have no such call for folders
    } finally {
      closeSync(folder);
    }
  });
}

/** Writes a whole file: under a temporary name beside it, then renamed. */
export function writeFileAtomic(file: string, text: string, mode = 0o666): void {
  guard(file, () => {
    const fd = writeTemporary(file, text, mode);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporaryOf(file), file);
  });
}

/** A file to be written whole. */
export interface WholeFile {
  readonly file: string;
  readonly text: string;
}

/** Files that are brought to the disk at once: there are tables in thousands, and each is open meanwhile. */
const AT_ONCE = 64;

/**
 * Writes whole files under temporary names beside them. They are brought to the disk at once, which takes little longer
 * than for one of them.
 *
 * @returns a function that gives one of them its name
 */
export async function stageFiles(files: readonly WholeFile[]): Promise<(file: string) => void> {
  for (let i = 0; i < files.length; i += AT_ONCE)
    await Promise.all(
      files.slice(i, i + AT_ONCE).map(async ({ file, text }) => {
        try {
          const fd = writeTemporary(file, text, 0o666);
          await synced(fd).finally(() => closeSync(fd));
        } catch (error) {
          throw fileError(file, error);
        }
      }),
    );
  return (file) => guard(file, () => renameSync(temporaryOf(file), file));
}

/**
 * Brings the content of files to the disk. A name that they get afterwards, and a state that follows from them, are then
 * of whole files even when the power fails.
 */
export async function syncFiles(files: readonly string[]): Promise<void> {
  for (let i = 0; i < files.length; i += AT_ONCE)
    await Promise.all(
      files.slice(i, i + AT_ONCE).map(async (file) => {
        try {
          const fd = openSync(file, 'r+');
          await synced(fd, fdatasync).finally(() => closeSync(fd));
        } catch (error) {
          throw fileError(file, error);
        }
      }),
    );
}

function temporaryOf(file: string): string {
  return path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
}

/** @returns the descriptor, still open */
function writeTemporary(file: string, text: string, mode: number): number {
  mkdirSync(path.dirname(file), { recursive: true });
  const fd = openSync(temporaryOf(file), 'w', mode);
  try {
    const bytes = Buffer.from(text, 'utf8');
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

async function synced(fd: number, sync: typeof fsync = fsync): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    sync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}
