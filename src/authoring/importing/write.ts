import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RunError } from '../../lib/errors.ts';
import type { Imported } from './report.ts';

/**
 * Writes `config.json` and `import-report.json` into a folder, which is made where it is not there.
 *
 * @param isForced whether a configuration that is there already may be replaced
 * @returns the path of the configuration
 * @throws {RunError} `import.exists` for a configuration that is there already
 */
export async function writeImported(imported: Imported, folder: string, isForced: boolean): Promise<string> {
  const file = path.join(folder, 'config.json');
  if (!isForced && existsSync(file))
    throw new RunError('import.exists', `There is a configuration already: ${file}.`, {
      hint: 'Choose another folder by --out, or replace it by --force.',
    });
  await mkdir(folder, { recursive: true });
  await writeFile(file, `${JSON.stringify(imported.configuration, null, 2)}\n`);
  await writeFile(path.join(folder, 'import-report.json'), `${JSON.stringify(imported.report, null, 2)}\n`);
  return file;
}
