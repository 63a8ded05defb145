import { existsSync } from 'node:fs';
import type { Env } from '../../../lib/env.ts';
import { RunError } from '../../../lib/errors.ts';
import { lockFolder } from './lock.ts';
import { setAsideLost } from './metadata-place.ts';

/**
 * Sets aside the contents of a folder whose metadata is lost; no other process may hold the folder.
 *
 * @returns the path of the folder that it is in now
 * @throws {RunError} `run.locked`; `command.invalid` when no metadata is missing
 */
export async function beginAnew(dir: string, env: Env): Promise<string> {
  if (!existsSync(dir))
    throw new RunError('command.invalid', 'There is no such folder.', {
      where: { file: dir },
      hint: 'Name the folder of a storage with --dir.',
    });
  const lock = await lockFolder(dir, env.now());
  try {
    return await setAsideLost(dir, env.now());
  } finally {
    await lock.release();
  }
}
