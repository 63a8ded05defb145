import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../../lib/errors.ts';
import { sqlite } from '../../../lib/sqlite.ts';

const MARK = 'service.database';

/**
 * Keeps a folder to one kind of metadata: the files in it belong to those that know of them, and others would take
 * them for left over, and remove them.
 *
 * @throws {RunError} `database.otherFiles` for a folder whose metadata is elsewhere than it is now looked for,
 *   `database.lost` for one whose metadata is gone
 */
export async function claimFolder(dir: string, isInDatabase: boolean): Promise<void> {
  if (isInDatabase && existsSync(join(dir, META)))
    throw new RunError(
      'database.otherFiles',
      'The folder has metadata of its own, and so has the database.',
      {
        where: { file: dir },
        hint: 'Move it into the database with gex storage migrate, or name another folder with --dir.',
      },
    );
  const mark = join(dir, MARK);
  if (isInDatabase)
    return await writeFile(mark, 'The metadata of these files is in a PostgreSQL database.\n', {
      mode: 0o600,
    });
  if (existsSync(mark))
    throw new RunError('database.otherFiles', 'The metadata of this folder is in a PostgreSQL database.', {
      where: { file: dir },
      hint: 'Name that database with --database, or another folder.',
    });
  refuseLostMetadata(dir);
}

/**
 * Makes sure that the metadata of a folder with tables or objects is there. New metadata would give their names and
 * numbers a second time, and let what it doesn't know be removed as left over.
 *
 * @throws {RunError} `database.lost`
 */
export function refuseLostMetadata(dir: string): void {
  const found = contentsOf(dir);
  if (found.length === 0 || hasProject(dir)) return;
  throw lost(dir, found, [
    `Put ${META} back where it was, with ${META}-wal when that is there.`,
    'Or restore a backup into an empty folder: gex storage restore FILE --to DIR',
    'Or begin anew: “gex serve --dir DIR --new-metadata” sets aside what is there, and deletes nothing of it.',
  ]);
}

/**
 * Refuses a used folder when its metadata is in a database that has no storage in it yet.
 *
 * @throws {RunError} `database.lost`
 */
export function refuseUsedFolder(dir: string): void {
  const found = contentsOf(dir);
  if (found.length === 0) return;
  throw lost(dir, found, [
    'Name the database that it had before, or restore that database from its backup.',
    'For a new storage name an empty folder with --dir.',
  ]);
}

/**
 * Moves tables and objects whose metadata is gone into a folder beside them, so that the next start begins empty.
 *
 * @returns the path of that folder
 * @throws {RunError} `command.invalid` when no metadata is missing
 */
export async function setAsideLost(dir: string, now: number): Promise<string> {
  const found = contentsOf(dir);
  if (found.length === 0 || hasProject(dir))
    throw new RunError('command.invalid', 'The folder has its metadata: there is nothing to be set aside.', {
      where: { file: dir },
      hint: 'Leave out --new-metadata. For a new storage name an empty folder with --dir.',
    });
  const aside = join(dir, `lost-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`);
  await mkdir(aside, { mode: 0o700 });
  // The tables go last: while they are there, a call that was cut short can be given again.
  for (const name of [`${META}-shm`, `${META}-wal`, META, 'objects', 'tables'])
    if (existsSync(join(dir, name))) await rename(join(dir, name), join(aside, name));
  return aside;
}

const META = 'meta.sqlite';

/** Names what a storage has put into a folder beside its metadata. */
function contentsOf(dir: string): string[] {
  const objects = join(dir, 'objects', 'objects');
  const hasObjects = existsSync(objects) && readdirSync(objects).length > 0;
  return [
    ...(existsSync(join(dir, 'tables', 'tables.duckdb')) ? ['tables'] : []),
    ...(hasObjects ? ['objects of files'] : []),
  ];
}

/** The project is made in the first start, before tables and objects are. */
function hasProject(dir: string): boolean {
  const file = join(dir, META);
  if (!existsSync(file)) return false;
  const database = new (sqlite().DatabaseSync)(file, { readOnly: true, timeout: 10_000 });
  try {
    return database.prepare('SELECT 1 FROM projects').get() !== undefined;
  } catch (error) {
    if (error instanceof Error && error.message.includes('no such table')) return false;
    throw error;
  } finally {
    database.close();
  }
}

function lost(dir: string, found: readonly string[], hint: readonly string[]): RunError {
  return new RunError(
    'database.lost',
    `The folder has ${found.join(' and ')}, and the metadata that tells of them is gone.`,
    { where: { file: dir }, hint },
  );
}
