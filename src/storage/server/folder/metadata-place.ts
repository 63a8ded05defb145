import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../../errors.ts';

const MARK = 'service.database';

/**
 * Keeps a folder to one kind of metadata: the files in it belong to those that know of them, and others would take
 * them for left over, and remove them.
 *
 * @throws {RunError} `database.otherFiles` for a folder whose metadata is elsewhere than it is now looked for
 */
export async function claimFolder(dir: string, isInDatabase: boolean): Promise<void> {
  if (isInDatabase && existsSync(join(dir, 'meta.sqlite')))
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
    return await writeFile(mark, 'The metadata of these files is in a PostgreSQL database.\n');
  if (!existsSync(mark)) return;
  throw new RunError('database.otherFiles', 'The metadata of this folder is in a PostgreSQL database.', {
    where: { file: dir },
    hint: 'Name that database with --database, or another folder.',
  });
}
