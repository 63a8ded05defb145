import path from 'node:path';
import { systemEnv } from '../../lib/env.ts';
import { RunError } from '../../lib/errors.ts';
import type { RestoredStorage } from '../../service/domain/transfer/restore-into.ts';
import { boundYoungMemory } from '../heap-tuning.ts';
import type { Args, Io } from '../command.ts';
import { formatBytes, plural } from '../format.ts';
import { openLog } from '../shared.ts';
import { isOfFile } from './backup-file.ts';
import { isDatabase, placeArg } from './database-address.ts';
import { LITTLE, tell } from './move.ts';
import { interrupted, openEnd } from './open-end.ts';
import { createTeller } from './teller.ts';

/** Runs `gex storage restore`. */
export async function restore(args: Args, io: Io): Promise<number> {
  const [file, to] = [args.word('file'), placeArg(args, io, 'to')];
  if (to === undefined)
    throw new RunError('command.invalid', 'Say where it goes: --to DIR.', {
      hint: `Write for example gex storage restore ${file} --to storage.`,
    });
  if (isDatabase(to)) return await restoreShared(file, to, args, io);
  if (args.text('to-s3') !== undefined)
    throw new RunError('command.invalid', '--to-s3 goes with a database, and not with a folder.', {
      hint: 'Restore into a folder, and move that: gex storage migrate … --to-s3 URL.',
    });
  if (args.text('to-tables') !== undefined)
    throw new RunError('command.invalid', '--to-tables goes with a database, and not with a folder.', {
      hint: 'A folder has its tables as the backup has them; move it afterwards: gex storage migrate … --to-tables lake.',
    });
  return await restoreFolderOf(file, to, io);
}

async function restoreFolderOf(file: string, to: string, io: Io): Promise<number> {
  const [{ restoreFolder }, { fileError }] = await Promise.all([
    import('../../service/domain/transfer/backup/restore.ts'),
    import('../../service/open/folder.ts'),
  ]);
  const dir = path.resolve(to);
  const written = await restoreFolder(path.resolve(file), dir, systemEnv).catch((error: unknown) => {
    throw isOfFile(file, error) && 'path' in error ? unreadable(error) : fileError(error, dir);
  });
  io.note(`${to}: ${plural(written.files, 'file')}, ${formatBytes(written.bytes)}`);
  if (written.missingKey !== undefined) io.note(keyNote(written.missingKey, false, file));
  return 0;
}

async function restoreShared(file: string, to: string, args: Args, io: Io): Promise<number> {
  boundYoungMemory(LITTLE);
  const log = await openLog(args, io);
  const { restoreInto } = await import('../../service/domain/transfer/restore-into.ts');
  const target = await openEnd('to', to, { args, io, log });
  try {
    const options = { file: path.resolve(file), to: target, env: systemEnv, signal: io.signal };
    const result = await restoreInto({ ...options, told: createTeller(io, log) });
    io.live('');
    tell(result, args, io);
    noteKey(result, file, io);
    return 0;
  } catch (error) {
    io.live('');
    if (io.signal.aborted) throw interrupted('restore', GO_ON, error);
    const { troubleOfCopy } = await import('../../service/domain/transfer/trouble.ts');
    const told = troubleOfCopy(error, {
      file: `${file}.parts`,
      database: to,
      again: 'it goes on where it was. Metadata and tables need their space once more beside the backup.',
    });
    throw isOfFile(file, told) ? unreadable(told) : told;
  } finally {
    await target.close();
  }
}

const GO_ON = 'Give the same command again: it goes on where it was.';

function noteKey({ encryptionKey, hasKey }: RestoredStorage, file: string, io: Io): void {
  if (encryptionKey !== undefined) io.note(keyNote(encryptionKey, hasKey, file));
}

function keyNote(key: string, isThere: boolean, file: string): string {
  const where = isThere ? ` It is in the backup: tar -xOf ${file} encryption.key` : '';
  return `The values of # keys stay encrypted: the service needs the key ${key}, in GEX_ENCRYPTION_KEY.${where}`;
}

function unreadable(error: Error): RunError {
  return new RunError('command.invalid', `The backup cannot be read: ${error.message}`, { cause: error });
}
