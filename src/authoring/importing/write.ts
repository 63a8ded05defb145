import { mkdirSync, writeFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { RunError } from '../../lib/errors.ts';
import { guard } from '../../engine/sink/file-error.ts';
import { reportPage } from './report-page.ts';
import type { Imported, ImportReport } from './report.ts';

/**
 * Writes `config.json` and its report, `import-report.json` and `import-report.html`, into a folder, which is made where it is not there.
 *
 * @param isForced whether a configuration that is there already may be replaced
 * @returns the path of the configuration
 * @throws {RunError} `import.exists` for a configuration that is there already
 */
export function writeImported(imported: Imported, folder: string, isForced: boolean): string {
  const file = path.join(folder, 'config.json');
  if (!isForced && existsSync(file))
    throw new RunError('import.exists', `There is a configuration already: ${file}.`, {
      hint: 'Choose another folder by --out, or replace it by --force.',
    });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(imported.configuration, null, 2)}\n`);
  writeFileSync(path.join(folder, 'import-report.json'), `${JSON.stringify(imported.report, null, 2)}\n`);
  writeFileSync(path.join(folder, 'import-report.html'), reportPage(imported.report));
  return file;
}

/** Writes the report as a page that can be handed on. */
export function writeReportPage(report: ImportReport, file: string): void {
  guard(file, () => {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    writeFileSync(file, reportPage(report));
  });
}
