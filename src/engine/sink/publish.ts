import { mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { guard } from './file-error.ts';
import { stageFiles, syncFiles, type WholeFile } from './atomic.ts';

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
 * Moves finished tables to their final names, each by one rename, so that nothing half-written is ever there. All of them
 * are on the disk before, with what stands beside them: a state is never ahead of its tables, not even after a power cut.
 *
 * @param folder `out/tables`, on the file system of the files
 * @param beside further files, which get their names after all tables
 * @throws {SinkError} naming the file
 */
export async function publish(
  tables: readonly Publication[],
  folder: string,
  beside: readonly WholeFile[],
): Promise<void> {
  guard(folder, () => mkdirSync(folder, { recursive: true }));
  const manifestOf = ({ name }: Publication): string => `${path.join(folder, name)}.manifest`;
  const manifests = tables.map((table) => ({ file: manifestOf(table), text: table.manifest }));
  const [named] = await Promise.all([
    stageFiles([...manifests, ...beside]),
    syncFiles(tables.map(({ file }) => file)),
  ]);
  for (const table of tables) {
    const target = path.join(folder, table.name);
    guard(target, () => renameSync(table.file, target));
    named(manifestOf(table));
  }
  for (const { file } of beside) named(file);
}
