import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Env } from '../../../../lib/env.ts';
import { RunError } from '../../../../lib/errors.ts';
import { makePrivateFolder } from '../../../../lib/private-files.ts';
import { encryptionKey } from '../../storage-identity.ts';
import { connectMeta } from '../../../stores/metadata/database.ts';
import { refuseUnknown } from '../../../stores/metadata/migrate.ts';
import { lockFolder } from '../../../stores/folder/lock.ts';
import { readBackup, type BackupEntry } from './read-backup.ts';
import { META } from './snapshot.ts';
import type { Written } from './tarball.ts';

/** Folder that a backup is unpacked into until it is known to be whole. */
const STAGING = '.restoring';

/** Files that processes leave in a folder that they hold. */
const OF_PROCESSES = /^(?:service\.|lost\+found$|\.)/;

export interface RestoredFolder extends Written {
  /** Id of the key of `#` values, when it is not in the backup: the service has to be given it. */
  readonly missingKey: string | undefined;
}

/**
 * Unpacks a backup into a folder that is new, empty, or was left by a call that was cut short. The folder is no storage
 * before all of the backup was read and found whole.
 *
 * @throws {StorageError} `storage.differs` for a file that is cut, damaged or no backup
 * @throws {RunError} `command.invalid` for a folder that has something in it, `database.newer` or `database.older` for what another version wrote
 */
export async function restoreFolder(file: string, dir: string, env: Env): Promise<RestoredFolder> {
  makePrivateFolder(dir);
  const lock = await lockFolder(dir, env.now());
  try {
    await clear(dir);
    const staging = join(dir, STAGING);
    await mkdir(staging, { mode: 0o700 });
    const written = await readBackup(file, async (entry) => await writeEntry(entry, staging));
    const missingKey = await lookInto(staging);
    const names = (await readdir(staging)).filter((name) => name !== META);
    for (const name of [...names, META]) await rename(join(staging, name), join(dir, name));
    await rm(staging, { recursive: true });
    return { ...written, missingKey };
  } finally {
    await lock.release();
  }
}

async function clear(dir: string): Promise<void> {
  const names = await readdir(dir);
  // The folder was empty when the call began that was cut short.
  const isOurs = names.includes(STAGING) && !names.includes(META);
  const stray = names.filter((name) => !OF_PROCESSES.test(name));
  if (stray.length > 0 && !isOurs)
    throw new RunError('command.invalid', `The folder is not empty: it has ${stray[0]}.`, {
      where: { file: dir },
      hint: 'Name a folder that is new or empty.',
    });
  for (const name of [...stray, STAGING]) await rm(join(dir, name), { recursive: true, force: true });
}

/** @returns the id of the key that the folder needs and has not */
async function lookInto(dir: string): Promise<string | undefined> {
  const meta = connectMeta(join(dir, META));
  try {
    const done = await refuseUnknown(meta);
    if (existsSync(join(dir, 'encryption.key')) || done.length === 0) return undefined;
    return await encryptionKey(meta);
  } finally {
    await meta.destroy();
  }
}

/** Writes a file of a backup below a folder. */
export async function writeEntry({ parts, content }: BackupEntry, dir: string): Promise<void> {
  const path = join(dir, ...parts);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const target: FileHandle = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of content) await target.writeFile(chunk);
    await target.sync();
  } finally {
    await target.close();
  }
}
