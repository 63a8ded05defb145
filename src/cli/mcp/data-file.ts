import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { RunError } from '../../lib/errors.ts';

const MAX_BYTES = 20_000_000;

/**
 * Reads a file of the data folder.
 *
 * @throws {RunError} `command.invalid` for one that lies elsewhere, also by a link, and for one that cannot be read
 */
export async function readDataFile(dataFolder: string, file: string | undefined): Promise<string> {
  if (file === undefined)
    throw new RunError('command.invalid', 'Neither a text nor a file is given.', {
      hint: 'Give one of them.',
    });
  const folder = await realpath(dataFolder);
  const found = await realpath(path.resolve(folder, file)).catch(() => undefined);
  const inside = found === undefined ? '' : path.relative(folder, found);
  if (found === undefined || inside === '' || inside.startsWith('..') || path.isAbsolute(inside))
    throw new RunError('command.invalid', `There is no file “${file}” in the data folder.`, {
      hint: 'Only files in the folder of --data are read: the user may put it there, or give its text.',
    });
  if (/(?:^|[\\/])\.|^config\.json$/.test(inside))
    throw new RunError('command.invalid', `“${file}” is not read: it may hold secrets.`, {
      hint: 'read_configuration shows the configuration without them.',
    });
  const { size } = await stat(found);
  if (size > MAX_BYTES)
    throw new RunError('command.invalid', `“${file}” is larger than ${MAX_BYTES / 1_000_000} MB.`);
  return await readFile(found, 'utf8');
}

/** Most files of Python of a connector; those that are known have fewer than 30. */
const MAX_FILES = 100;

/** Reads the files of Python in the folder of a file of the data folder, by their paths from there. */
export async function readPythonBeside(
  dataFolder: string,
  file: string,
): Promise<Readonly<Record<string, string>>> {
  const folder = path.dirname(file);
  const inside = await readdir(path.resolve(dataFolder, folder), { recursive: true });
  const names = inside.filter((name) => /^(?:[\w-]+[\\/]){0,3}\w+\.py$/.test(name)).slice(0, MAX_FILES);
  const texts = await Promise.all(
    names.map(async (name) => {
      const text = await readDataFile(dataFolder, path.join(folder, name));
      return [name.replaceAll('\\', '/'), text] as const;
    }),
  );
  return Object.fromEntries(texts);
}
