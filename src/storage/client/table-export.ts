import { Readable } from 'node:stream';
import { StorageError } from '../../errors.ts';
import type { Json } from '../../json/index.ts';
import type { Api } from './api.ts';
import { path } from './encode.ts';
import type { Files } from './file-types.ts';
import { readJob } from './job.ts';
import type { Jobs, WaitOptions } from './jobs.ts';
import { shaped } from './shape.ts';
import type { ExportOptions, ReadTableOptions, Tables } from './table-types.ts';
import { saveStream, sizeOf } from './transfer/save.ts';

interface Parts {
  readonly api: Api;
  readonly files: Files;
  readonly jobs: Jobs;
  readonly tables: Pick<Tables, 'detail'>;
}

/** Asks for an export and waits for it (storage 4.1). The same question about an unchanged table gives the same file. */
export async function exportTable(
  api: Api,
  jobs: Jobs,
  id: string,
  { gzip = true, ...query }: ExportOptions = {},
  { signal, ...wait }: WaitOptions = {},
): Promise<{ fileId: number; isCached: boolean }> {
  const body = { ...query, gzip };
  const json = await api.call({ method: 'POST', path: path`tables/${id}/export-async`, body, signal });
  const { results } = await jobs.wait(readJob(json), { ...wait, signal });
  const { file, cacheHit } = shaped<{ file: Json; cacheHit?: boolean }>(
    results as Json, // as it was parsed
    'export',
    { file: 'object' },
  );
  const { id: fileId } = shaped<{ id: number }>(file, 'export', { id: 'number' });
  return { fileId, isCached: cacheHit === true };
}

/** The rows of a table as CSV. */
export async function readTable(parts: Parts, id: string, options: ReadTableOptions): Promise<Readable> {
  return Readable.from(await open(parts, id, options), { objectMode: false });
}

/** Writes the rows into a file. */
export async function saveTable(
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
  const columns = header ? (query.columns ?? (await columnsOf(tables, id))) : [];
  // Header and rows have the same columns, also when one is added meanwhile.
  const exported = header ? { ...query, columns } : query;
  const { fileId } = await exportTable(api, jobs, id, exported, { signal });
  const content = await files.read(fileId, { gunzip: true, header: columns, signal, onProgress });
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
