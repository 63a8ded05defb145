import path from 'node:path';
import { systemEnv } from '../../lib/env.ts';
import { RunError } from '../../lib/errors.ts';
import type {
  DatabaseBackup,
  DatabaseBackupOptions,
} from '../../service/domain/transfer/back-up-database.ts';
import { boundYoungMemory } from '../heap-tuning.ts';
import type { Args, Io } from '../command.ts';
import { formatBytes, formatCount, plural } from '../format.ts';
import { openLog } from '../shared.ts';
import { isOfFile } from './backup-file.ts';
import { isDatabase, placeArg } from './database-address.ts';
import { LITTLE } from './move.ts';
import { databaseOf, interrupted } from './open-end.ts';
import { createTeller } from './teller.ts';

/** Runs `gex storage backup`. */
export async function backUp(args: Args, io: Io): Promise<number> {
  const file = args.word('file');
  const given = args.text('storage');
  if (given !== undefined && args.text('from') !== undefined)
    throw new RunError('command.invalid', '--storage and --from both name the storage.', {
      hint: `Leave one of them out: gex storage backup ${file} --storage ${given}`,
    });
  const from = given ?? placeArg(args, io, 'from');
  if (from !== undefined && isDatabase(from))
    return await backUpShared(databaseOf('from', from, args, io), file, args, io);
  const { checkFolder, fileError } = await import('../../service/open/folder.ts');
  const storage = from ?? 'storage';
  if (args.text('from-s3') !== undefined)
    throw new RunError('command.invalid', '--from-s3 goes with a database, and not with a folder.', {
      hint: 'The bucket of a folder with an object store of its own is kept by the means of that store.',
    });
  const dir = path.resolve(storage);
  checkFolder(dir, { storage, mustExist: true });
  try {
    return await backUpFolder(dir, file, io);
  } catch (error) {
    throw fileError(error, dir);
  }
}

/** Writes a folder into a tar file, also for `gex serve --backup`. */
export async function backUpFolder(dir: string, file: string, io: Io): Promise<number> {
  const { backUp: write } = await import('../../service/domain/transfer/backup/backup.ts');
  const target = path.resolve(file);
  const written = await write(dir, target, systemEnv).catch(async (error: unknown) => {
    throw await errorOf(error, file);
  });
  io.note(`${file}: ${plural(written.files, 'file')}, ${formatBytes(written.bytes)}`);
  if (written.damaged.length === 0) return 0;
  const { damaged } = await import('../../service/domain/transfer/trouble.ts');
  io.note('The backup is whole, and has these files as they are in the folder.');
  throw damaged(written.damaged);
}

/** Writes a database with its object store into a tar file, also for `gex serve --backup`. */
export async function backUpShared(
  place: Pick<DatabaseBackupOptions, 'database' | 'objects'>,
  file: string,
  args: Args,
  io: Io,
): Promise<number> {
  boundYoungMemory(LITTLE);
  const log = await openLog(args, io);
  const { backUpDatabase } = await import('../../service/domain/transfer/back-up-database.ts');
  const told = createTeller(io, log);
  try {
    const options = { ...place, file: path.resolve(file), env: systemEnv, log, signal: io.signal, told };
    const result = await backUpDatabase(options);
    io.live('');
    tellOf(result, file, io);
    return 0;
  } catch (error) {
    io.live('');
    if (io.signal.aborted) throw interrupted('backup', 'Give the same command again: it begins anew.', error);
    throw await errorOf(error, file, place.database.url);
  }
}

function tellOf(
  { files, bytes, tables, rows, deleted, encryptionKey }: DatabaseBackup,
  file: string,
  io: Io,
): void {
  const content = `${plural(tables, 'table')} with ${formatCount(rows)} rows`;
  io.note(`${file}: ${content}, ${plural(files, 'file')}, ${formatBytes(bytes)}`);
  if (deleted.length > 0)
    io.note(
      `${plural(deleted.length, 'file')} expired or were deleted meanwhile, and are not in it: ${namesOf(deleted)}`,
    );
  if (encryptionKey !== undefined)
    io.note(
      `The values of # keys stay encrypted, and the key ${encryptionKey} is not in it: keep GEX_ENCRYPTION_KEY beside it.`,
    );
}

const NAMES = 5;

function namesOf(names: readonly string[]): string {
  const more = names.length - NAMES;
  return `${names.slice(0, NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the error of a backup; a problem of the tar file names that, and not the storage. */
async function errorOf(error: unknown, file: string, database?: string): Promise<unknown> {
  const [{ fileError }, { troubleOfCopy }] = await Promise.all([
    import('../../engine/sink/file-error.ts'),
    import('../../service/domain/transfer/trouble.ts'),
  ]);
  const again = 'it begins anew. Until it is done, metadata and tables need their space twice.';
  const told = troubleOfCopy(error, { file, database, isRead: true, again });
  return isOfFile(file, told) ? fileError(file, told) : told;
}
