import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv } from './env.ts';
import { lockFile } from './file-lock.ts';

/** Folder below the temporary folder of the system. */
export interface TempFolder {
  readonly path: string;
  remove(): void;
}

/** Time that a folder of this kind has until its lock is certainly there. */
const YOUNG_MS = 10 * 60_000;

/**
 * Makes a folder that this process alone uses, and removes those of the same kind whose process was killed: the lock in
 * each ends with the process that made it, whatever number that had and in whatever container it was.
 */
export function makeTempFolder(kind: string): TempFolder {
  const prefix = `gex-${kind}-`;
  sweep(prefix);
  const root = mkdtempSync(path.join(tmpdir(), prefix));
  const lock = lockFile(lockOf(root), 0);
  const folder = path.join(root, 'data');
  mkdirSync(folder);
  return {
    path: folder,
    remove() {
      lock?.release();
      rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

const lockOf = (root: string): string => path.join(root, 'owner.lock');

function sweep(prefix: string): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const root = path.join(tmpdir(), name);
    try {
      const { uid, mtimeMs } = statSync(root);
      if (uid !== process.getuid?.() || systemEnv.now() - mtimeMs < YOUNG_MS) continue;
      const lock = lockFile(lockOf(root), 0);
      lock?.release();
      if (lock !== undefined) rmSync(root, { recursive: true, force: true });
    } catch {
      // Another process sweeps as well.
    }
  }
}
