import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { ExtractorError, RunError } from '../../lib/errors.ts';
import { isObject, type AnyObject } from '../../lib/json/index.ts';
import { fileError } from '../../engine/sink/file-error.ts';
import { fileBody, type UploadBody, type UploadSlice } from '../../storage/client/index.ts';

/** Opens a local file to upload. @throws {RunError} `command.invalid` */
export async function localBody(file: string): Promise<UploadBody> {
  return await reading(file, async () => {
    if ((await stat(file)).isDirectory()) throw isFolder(file);
    // A file that may not be read is told now, and not by its upload.
    const handle = createReadStream(file, { end: 0 });
    for await (const _chunk of handle);
    return await fileBody(file);
  });
}

/** Opens the files of a folder as the slices of one file, in the order of their names. */
export async function localSlices(folder: string): Promise<UploadSlice[]> {
  return await reading(folder, async () => {
    if (!(await stat(folder)).isDirectory())
      throw new RunError('command.invalid', `${folder} is a file, and --sliced is for a folder.`, {
        where: { file: folder },
        hint: 'Leave --sliced out.',
      });
    const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted();
    if (names.length === 0)
      throw new RunError('command.invalid', `The folder ${folder} has no files.`, {
        hint: 'Each file in it becomes a slice; those whose name begins with a dot do not.',
      });
    const slices: UploadSlice[] = [];
    for (const name of names) slices.push({ name, body: await localBody(path.join(folder, name)) });
    return slices;
  });
}

function isFolder(file: string): RunError {
  return new RunError('command.invalid', `${file} is a folder.`, {
    where: { file },
    hint: 'Give a file; or upload a folder as one file in slices: gex storage files upload FOLDER --sliced',
  });
}

/**
 * Reads a JSON object from a file, or from stdin for `-`; exact. @throws {ConfigError} `config.syntax` with its place
 */
export async function readJson(file: string): Promise<AnyObject> {
  const isStdin = file === '-';
  const text = isStdin ? await textOf(process.stdin) : await reading(file, () => readFile(file, 'utf8'));
  const { parseGiven } = await import('../parse-given.ts');
  const { value } = parseGiven(text, isStdin ? 'stdin' : file);
  if (isObject(value)) return value;
  throw new RunError('command.invalid', `${isStdin ? 'stdin' : file} is no JSON object.`, {
    hint: 'A configuration and a state are objects: { … }',
  });
}

async function reading<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ExtractorError || !(error instanceof Error && 'code' in error)) throw error;
    const code = String(error.code);
    const message = code === 'ENOENT' ? `There is no ${file}.` : `${file} cannot be read (${code}).`;
    const hint = code === 'ENOENT' ? 'Check the path.' : 'Check the path and its permissions.';
    throw new RunError('command.invalid', message, { where: { file }, hint, cause: error });
  }
}

function isTaken(file: string): RunError {
  return new RunError('command.invalid', `${file} is a folder, so no file can be written there.`, {
    where: { file },
    hint: 'Give another path.',
  });
}

/** Writes something to a path; what the file system refuses is told with the path. */
export async function writing<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    const folder = path.dirname(path.resolve(file));
    if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is no folder`);
    if ((await stat(file).catch(() => undefined))?.isDirectory() === true) throw isTaken(file);
    return await work();
  } catch (error) {
    throw error instanceof ExtractorError ? error : fileError(file, error);
  }
}
