import path from 'node:path';
import { systemEnv } from '../../env.ts';
import { RunError } from '../../errors.ts';
import type { Args, Io } from '../command.ts';
import { formatBytes, plural } from '../format.ts';

/** `gex storage backup`. */
export async function backUp(args: Args, io: Io): Promise<number> {
  const { checkFolder, fileError } = await import('../../storage/open/folder.ts');
  const storage = args.text('storage') ?? 'storage';
  const dir = path.resolve(storage);
  checkFolder(dir, { storage, mustExist: true });
  try {
    return await backUpFolder(dir, args.word('file'), io);
  } catch (error) {
    throw fileError(error, dir);
  }
}

/** Writes a folder into a tar file, also for `gex serve --backup`. */
export async function backUpFolder(dir: string, file: string, io: Io): Promise<number> {
  const { backUp: write } = await import('../../storage/server/folder/backup.ts');
  const target = path.resolve(file);
  const written = await write(dir, target, systemEnv).catch(async (error: unknown) => {
    throw await errorOf(error, file);
  });
  io.note(`${file}: ${plural(written.files, 'file')}, ${formatBytes(written.bytes)}`);
  return 0;
}

/** `gex storage restore`. */
export async function restore(args: Args, io: Io): Promise<number> {
  const [{ restoreFolder }, { fileError }] = await Promise.all([
    import('../../storage/server/folder/restore.ts'),
    import('../../storage/open/folder.ts'),
  ]);
  const [file, to] = [args.word('file'), args.text('to')];
  if (to === undefined)
    throw new RunError('command.invalid', 'Say where it goes: --to DIR.', {
      hint: `Write for example gex storage restore ${file} --to storage.`,
    });
  const dir = path.resolve(to);
  const written = await restoreFolder(path.resolve(file), dir, systemEnv).catch((error: unknown) => {
    if (!isOf(file, error)) throw fileError(error, dir);
    throw new RunError('command.invalid', `The backup cannot be read: ${error.message}`, { cause: error });
  });
  io.note(`${to}: ${plural(written.files, 'file')}, ${formatBytes(written.bytes)}`);
  return 0;
}

/** What is wrong with the tar file is told of it, and not of the folder. */
async function errorOf(error: unknown, file: string): Promise<unknown> {
  const { fileError } = await import('../../sink/file-error.ts');
  return isOf(file, error) ? fileError(file, error) : error;
}

function isOf(file: string, error: unknown): error is Error {
  return error instanceof Error && 'path' in error && String(error.path).startsWith(path.resolve(file));
}
