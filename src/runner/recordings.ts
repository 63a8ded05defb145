import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { makeTempFolder } from '../lib/temp-folder.ts';
import { reasonOf, RunError } from '../lib/errors.ts';
import { unpack } from '../engine/recording/pack.ts';
import { RecordFile } from '../engine/recording/record-file.ts';
import { scan, type RecordingScan } from '../engine/recording/scan.ts';
import { rowFolder } from './row-folder.ts';

/** Recording of one row, open for reading. */
export interface OpenRecording {
  /** Undefined for a configuration without rows. */
  readonly row: string | undefined;
  /** The file as it was given or found. */
  readonly source: string;
  readonly file: RecordFile;
  readonly scanned: RecordingScan;
  /** Bytes at the end that are not whole. */
  readonly damagedBytes: number;
}

export interface WhichRecordings {
  readonly dataFolder: string;
  /** A file that `--record` wrote; the last run over the data folder by default. */
  readonly recording?: string | undefined;
  /** All by default. */
  readonly rows?: readonly string[];
}

/**
 * Opens recordings for somebody who reads them, and closes them behind him.
 *
 * @throws {RunError} `recording.missing` or `recording.invalid`
 */
export async function withRecordings<T>(
  which: WhichRecordings,
  use: (recordings: readonly OpenRecording[]) => Promise<T>,
): Promise<T> {
  const { recording: given, rows = [] } = which;
  const folder = given === undefined ? undefined : makeTempFolder('recording');
  const opened: OpenRecording[] = [];
  try {
    if (given === undefined || folder === undefined)
      for (const file of lastFiles(which)) opened.push(...sectionsOf(file, file));
    else opened.push(...sectionsOf(await plainOf(given, folder.path), given));
    const chosen = rows.length === 0 ? opened : opened.filter(({ row = '' }) => rows.includes(row));
    const unknown = rows.find((id) => !opened.some(({ row }) => row === id));
    if (unknown !== undefined) throw noRow(unknown, opened, given);
    return await use(chosen);
  } finally {
    for (const { file } of opened) file.close();
    folder?.remove();
  }
}

/**
 * Returns for each row the file that was written last: a run that was stopped may have come after one that succeeded.
 */
function lastFiles({ dataFolder, rows = [] }: WhichRecordings): readonly string[] {
  const rowsFolder = path.join(dataFolder, 'rows');
  const ids = existsSync(rowsFolder) ? readdirSync(rowsFolder).toSorted() : [];
  const found = [undefined, ...ids].flatMap((id) => {
    const { unfinished, lastRecording } = rowFolder(dataFolder, id);
    return [unfinished, lastRecording]
      .filter((file) => existsSync(file))
      .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
      .slice(0, 1);
  });
  if (found.length > 0) return found;
  const of = rows.length === 0 ? '' : ` of the row “${rows.join('”, “')}”`;
  throw new RunError('recording.missing', `There is no recording of a last run${of} in this data folder.`, {
    where: { file: path.resolve(dataFolder) },
    hint: [
      'Run it once, or name the data folder with --data, or a file that `gex run --record` wrote with --recording.',
      'A recording above 100 MB is kept with --keep-recording.',
    ],
  });
}

async function plainOf(source: string, folder: string): Promise<string> {
  if (!existsSync(source))
    throw new RunError('recording.missing', `There is no recording ${source}.`, {
      where: { file: source },
      hint: 'Name a file that `gex run --record` wrote.',
    });
  const plain = path.join(folder, 'recording');
  try {
    await unpack(source, plain);
    return plain;
  } catch (error) {
    throw invalid(source, `it is damaged (${reasonOf(error)})`);
  }
}

function sectionsOf(plain: string, source: string): readonly OpenRecording[] {
  const found: OpenRecording[] = [];
  for (let at = 0; ;) {
    // one for each, so that each may be read on its own
    const file = RecordFile.open(plain, 'r');
    const scanned = scan(file, at);
    if (scanned === undefined) {
      const damagedBytes = file.end - at;
      file.close();
      const last = found.at(-1);
      if (last === undefined) throw invalid(source, 'it is none, it is damaged, or it is of another version');
      return [...found.slice(0, -1), { ...last, damagedBytes }];
    }
    found.push({ row: scanned.head.row, source, file, scanned, damagedBytes: 0 });
    at = scanned.end;
  }
}

function invalid(source: string, why: string): RunError {
  return new RunError('recording.invalid', `The recording cannot be read: ${why}.`, {
    where: { file: source },
    hint: 'Name a file that `gex run --record` wrote with this version, or run it again.',
  });
}

function noRow(row: string, opened: readonly OpenRecording[], given: string | undefined): RunError {
  const names = opened.map((each) => (each.row === undefined ? 'one without rows' : `“${each.row}”`));
  return new RunError('recording.missing', `There is no recording of the row “${row}”.`, {
    ...(given === undefined ? {} : { where: { file: given } }),
    hint: `There is ${names.join(', ')}.`,
  });
}
