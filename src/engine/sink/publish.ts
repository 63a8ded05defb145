import { mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { guard } from './file-error.ts';
import { writeFileAtomic } from './atomic.ts';

/** A whole file of the work folder that is to become an output table. */
export interface Publication {
  /** File name in the output folder, bucket included. */
  readonly name: string;
  readonly file: string;
  readonly manifest: string;
  /** Data rows of the file. */
  readonly rows: number;
}

/**
 * Moves finished tables to their final names, each by one rename, so that nothing half-written is ever there.
 *
 * @param folder `out/tables`, on the file system of the files
 * @throws {SinkError} naming the file
 */
export function publish(tables: readonly Publication[], folder: string): void {
  guard(folder, () => mkdirSync(folder, { recursive: true }));
  for (const { name, file, manifest } of tables) {
    const target = path.join(folder, name);
    guard(target, () => renameSync(file, target));
    writeFileAtomic(`${target}.manifest`, manifest);
  }
}
