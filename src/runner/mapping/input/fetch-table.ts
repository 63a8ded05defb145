import { reasonOf, StorageError } from '../../../lib/errors.ts';
import type { ExportOptions } from '../../../storage/client/index.ts';
import type { MappingContext } from '../mapping-types.ts';
import type { FoundTable } from './find-table.ts';
import type { InputTableMapping } from './table-mapping.ts';

export interface FetchedTable {
  readonly bytes: number;
  /** When the service had made the exported file, by its own clock; asked for adaptive tables alone. */
  readonly exportedAt: string | undefined;
}

type Context = Pick<MappingContext, 'connection' | 'log' | 'onProgress'>;

/**
 * Exports a table and writes it as CSV with a header.
 *
 * The exported file is deleted afterwards, or goes by itself after two days. One that the service had already, for the
 * same question about the same rows, is left to whoever else reads it; should that one delete it, it is exported again.
 */
export async function fetchTable(
  mapping: InputTableMapping,
  { client, table }: FoundTable,
  to: { readonly target: string; readonly columns: readonly string[]; readonly since: string | undefined },
  { connection: { isLocal }, log, onProgress }: Context,
  signal: AbortSignal,
): Promise<FetchedTable> {
  const { target, columns, since } = to;
  const query: ExportOptions = {
    // Header, manifest and rows have the same columns, also when one is added meanwhile.
    columns,
    gzip: !isLocal,
    ...(mapping.limit === undefined ? {} : { limit: mapping.limit }),
    ...(mapping.where === undefined ? {} : { whereFilters: [mapping.where] }),
    ...(since === undefined ? {} : { changedSince: since }),
    ...(mapping.changedUntil === undefined ? {} : { changedUntil: mapping.changedUntil }),
  };
  for (let attempt = 1; ; attempt++) {
    const { fileId, isCached } = await client.tables.export(table.id, query, { signal });
    try {
      const { created } = mapping.isAdaptive ? await client.files.detail(fileId, { signal }) : {};
      const options = { gunzip: !isLocal, header: columns, signal, onProgress };
      const { bytes } = await client.files.downloadTo(fileId, target, options);
      if (!isCached)
        await client.files.delete(fileId).catch((error: unknown) => noteLeft(log, fileId, error));
      return { bytes, exportedAt: created };
    } catch (error) {
      const isGone = error instanceof StorageError && error.code === 'storage.notFound';
      if (!isGone || !isCached || attempt > 1) throw error;
    }
  }
}

function noteLeft(log: Context['log'], fileId: number, error: unknown): void {
  const why = reasonOf(error);
  log.debug(`The exported file ${fileId} stays until its time is over: ${why}`);
}
