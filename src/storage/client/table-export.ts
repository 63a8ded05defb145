import { Readable } from 'node:stream';
import { StorageError } from '../../lib/errors.ts';
import type { Api } from './api.ts';
import { exportTable } from './export-table.ts';
import type { Files } from './file-types.ts';
import type { Jobs } from './jobs.ts';
import type { ReadTableOptions, TableOperations, Tables } from './table-types.ts';
import { createTableOperations } from './tables.ts';
import { saveStream, sizeOf } from './transfer/save.ts';

interface Parts {
  readonly api: Api;
  readonly files: Files;
  readonly jobs: Jobs;
  readonly tables: Pick<TableOperations, 'detail'>;
}

export function createTables(api: Api, files: Files, jobs: Jobs): Tables {
  const tables = createTableOperations(api, jobs);
  const parts: Parts = { api, files, jobs, tables };
  return {
    ...tables,
    read: async (id, options = {}) => await readTable(parts, id, options),
    exportTo: async (id, target, options = {}) => await saveTable(parts, id, target, options),
  };
}

/** The rows of a table as CSV. */
async function readTable(parts: Parts, id: string, options: ReadTableOptions): Promise<Readable> {
  return Readable.from(await open(parts, id, options), { objectMode: false });
}

/** Writes the rows into a file. */
async function saveTable(
  parts: Parts,
  id: string,
  target: string,
  options: ReadTableOptions,
): Promise<{ bytes: number }> {
  const bytes = await open(parts, id, options);
  await saveStream(bytes, target, parts.api.signalOf(options.signal));
  return { bytes: await sizeOf(target) };
}

async function open(
  { api, files, jobs, tables }: Parts,
  id: string,
  { header = true, deleteFile, signal, onProgress, ...query }: ReadTableOptions,
): Promise<AsyncGenerator<Uint8Array, void>> {
  const isNow = query.at === undefined;
  const known = header && isNow ? (query.columns ?? (await columnsOf(tables, id))) : query.columns;
  // Header and rows have the same columns, also when one is added meanwhile.
  const exported = known === undefined ? query : { ...query, columns: known };
  const { fileId, columns = [] } = await exportTable(api, jobs, id, exported, { signal });
  const names = header ? (known ?? columns) : [];
  const content = await files.read(fileId, { gunzip: true, header: names, signal, onProgress });
  return andThen(content, async () => {
    if (deleteFile !== true) return;
    // All rows are there; a file that may not be deleted is no reason to fail.
    await files.delete(fileId).catch((error: unknown) => {
      if (!(error instanceof StorageError)) throw error;
      api.log.warn(`The exported file ${fileId} stays until its time is over: ${error.message}`);
    });
  });
}

async function columnsOf(tables: Parts['tables'], id: string): Promise<readonly string[]> {
  const { columns } = await tables.detail(id);
  if (columns !== undefined) return columns;
  throw new StorageError('storage.unexpected', `The storage service does not say which columns ${id} has.`, {
    hint: 'Name them, or read the rows without a header.',
  });
}

async function* andThen(content: Readable, done: () => Promise<void>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of content) yield chunk as Uint8Array; // a stream of bytes
  await done();
}
