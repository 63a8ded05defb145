import type * as Sqlite from 'node:sqlite';
import { sqlite } from './sqlite.ts';

/** Lock that this process holds. */
export interface FileLock {
  release(): void;
}

/** Open databases of all locks. The garbage collector would close an unreferenced one, and its lock would end. */
const held = new Set<Sqlite.DatabaseSync>();

/**
 * Locks a file for this process alone, by SQLite. It is a lock of the operating system, so it ends with the process,
 * however that ends; no process number and no host name is compared.
 *
 * The file is made when it is missing, and stays empty. Nothing else may open it in this process: closing it there
 * would end the lock, too.
 *
 * @param waitMs milliseconds to wait for another process; the thread is blocked meanwhile
 * @returns undefined when another process, or another place of this one, holds it
 */
export function lockFile(file: string, waitMs: number): FileLock | undefined {
  const { DatabaseSync } = sqlite();
  const database = new DatabaseSync(file, { timeout: waitMs });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    held.add(database);
    return {
      release() {
        if (held.delete(database)) database.close();
      },
    };
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
