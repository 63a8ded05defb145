import path from 'node:path';
import type { Inputs } from '../mapping-types.ts';
import type { PullContext } from './context.ts';
import { fetchFailure } from './failure.ts';
import { fetchTable } from './fetch-table.ts';
import { openInputFolder, type Fetched, type InputFolder } from './input-folder.ts';
import { mapConcurrent } from './lanes.ts';
import { planInputs, type PlannedInputFile, type PlannedInputTable } from './plan.ts';
import { dateToRemember, nextInputState, type RememberedTable } from './next-state.ts';
import { tableManifest } from './table-manifest.ts';
import { encodeExact } from '../../../lib/json/index.ts';
import type { File, StorageClient, TransferOptions } from '../../../storage/client/index.ts';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { sliceNames } from './file-name.ts';

/** Slices of one file that are fetched at a time. */
const SLICES = 4;

/**
 * Writes a file of the storage, as it is stored. A sliced one becomes a folder with its slices, named so that in the order
 * of their names they are in the order of the manifest.
 */
async function fetchFile(
  client: StorageClient,
  file: File,
  target: string,
  options: TransferOptions & { readonly signal: AbortSignal },
): Promise<{ readonly bytes: number }> {
  // A file left by an earlier attempt may come from another storage, so it is not resumed.
  if (!file.isSliced) return await client.files.downloadTo(file.id, target, { ...options, resume: false });
  await mkdir(target);
  const slices = await client.files.slices(file.id);
  const names = sliceNames(slices);
  const written = await mapConcurrent(
    [...slices.entries()],
    SLICES,
    options.signal,
    async ([i, slice], signal) => {
      const bytes = await client.files.readSlice(file.id, slice, { ...options, signal });
      const to = createWriteStream(path.join(target, names[i] ?? slice));
      await pipeline(bytes, to, { signal });
      return to.bytesWritten;
    },
  );
  return { bytes: written.reduce((sum, bytes) => sum + bytes, 0) };
}

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

/** Returns the text of `in/files/<name>.manifest`. */
function fileManifest(file: File): string {
  return encodeExact({
    id: file.id,
    created: file.created,
    is_public: file.isPublic,
    is_sliced: file.isSliced,
    is_encrypted: file.isEncrypted,
    name: file.name,
    size_bytes: file.sizeBytes,
    tags: file.tags,
    max_age_days: file.maxAgeDays,
  });
}
