import path from 'node:path';
import type { Inputs } from '../mapping-types.ts';
import type { PullContext } from './context.ts';
import { fetchFailure } from './failure.ts';
import { fetchFile } from './fetch-file.ts';
import { fetchTable } from './fetch-table.ts';
import { fileManifest } from './file-manifest.ts';
import { openInputFolder, type Fetched, type InputFolder } from './input-folder.ts';
import { mapConcurrent } from './lanes.ts';
import { planInputs, type PlannedInputFile, type PlannedInputTable } from './plan.ts';
import { dateToRemember, nextInputState, type RememberedTable } from './next-state.ts';
import { tableManifest } from './table-manifest.ts';

/** Tables and files that are fetched at a time. */
const TRANSFERS = 4;

const MISSING_FILE =
  'It was announced but never uploaded, or it was deleted meanwhile. Delete it, or leave it out by its tags.';

/**
 * Fetches the inputs of one row: fills `in/tables` and `in/files`, each with a manifest.
 *
 * Everything is looked up and checked before anything is fetched, and fetched before anything in `in/` changes: after a
 * failure or an interruption the folder is as it was. Files from the mapping of the last run are removed, the user's
 * own stay ({@link InputFolder}).
 *
 * @throws {MappingError} `input.invalid` with all mistakes of the mapping; `input.failed` for what could not be fetched
 * @throws {StorageError} when the storage cannot be asked at all
 * @throws {SinkError} `output.failed` when the folder cannot be written
 */
export async function pullInputs(context: PullContext): Promise<Inputs> {
  const { folder: row, log, signal } = context;
  const folder = openInputFolder(row, log);
  try {
    const plan = await planInputs(context, folder);
    folder.clear();
    const tasks = [
      ...plan.tables.map((table, i) => pullTable(table, i, folder, context)),
      ...plan.files.map((file) => pullFile(file, folder, context)),
    ];
    const fetched = await mapConcurrent(tasks, TRANSFERS, signal, async (task, either) => await task(either));
    folder.publish(fetched);
    const tables = fetched.flatMap(({ remembered }) => remembered ?? []);
    return {
      state: nextInputState(context.state, { tables, files: plan.remembered }),
      processed: plan.processed,
      tables: plan.tables.length,
      files: plan.files.length,
    };
  } finally {
    folder.clear();
  }
}

type Fetch = (signal: AbortSignal) => Promise<Item>;

interface Item extends Fetched {
  /** State of an adaptive table; undefined for other tables and for files. */
  readonly remembered?: RememberedTable;
}

function pullTable(
  planned: PlannedInputTable,
  index: number,
  folder: InputFolder,
  context: PullContext,
): Fetch {
  const { mapping, found, since } = planned;
  return async (signal) => {
    const target = path.join(folder.work(), `table-${index}`);
    const { id } = found.table;
    try {
      // The table is looked up again: rows imported since the first look-up are in the export, and with the older time
      // they would come again in the next run.
      const table = mapping.isAdaptive ? await found.client.tables.detail(id) : found.table;
      const columns = mapping.columns ?? table.columns ?? [];
      const to = { target, columns, since };
      const { bytes, exportedAt } = await fetchTable(mapping, found, to, context, signal);
      context.log.info(`${id} is in/tables/${mapping.name}`, {
        bytes,
        ...(since === undefined ? {} : { changedSince: since }),
      });
      const date = table.lastImportDate;
      const lastImportDate = date === null ? since : dateToRemember(date, exportedAt);
      return {
        kind: 'tables',
        name: mapping.name,
        content: target,
        manifest: tableManifest(table, columns),
        ...(mapping.isAdaptive ? { remembered: { source: mapping.source, lastImportDate } } : {}),
      };
    } catch (error) {
      signal.throwIfAborted();
      const what = `The table “${id}”`;
      throw fetchFailure(error, { what, path: mapping.entry.path, target });
    }
  };
}

function pullFile(
  { file, name, path: at }: PlannedInputFile,
  folder: InputFolder,
  context: PullContext,
): Fetch {
  const { connection, log, onProgress } = context;
  return async (signal) => {
    const target = path.join(folder.work(), `file-${file.id}`);
    try {
      const { bytes } = await fetchFile(connection.client, file, target, { signal, onProgress });
      log.info(`The file ${file.id} is in/files/${name}`, { bytes });
    } catch (error) {
      signal.throwIfAborted();
      const what = `The file ${file.id}, “${file.name}”,`;
      throw fetchFailure(error, { what, path: at, target, hintIfMissing: MISSING_FILE });
    }
    return { kind: 'files', name, content: target, manifest: fileManifest(file) };
  };
}
