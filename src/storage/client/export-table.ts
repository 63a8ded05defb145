import { digKeys, type Json } from '../../lib/json/index.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { readJob } from './job.ts';
import type { Jobs, WaitOptions } from './jobs.ts';
import { shaped } from './shape.ts';
import type { ExportOptions, TableExport } from './table-types.ts';

/** Asks for an export and waits for it. The same question about an unchanged table gives the same file. */
export async function exportTable(
  api: ApiCore,
  jobs: Jobs,
  id: string,
  { gzip = true, search, ...query }: ExportOptions = {},
  { signal, ...wait }: WaitOptions = {},
): Promise<TableExport> {
  const body = { ...query, ...(search === undefined ? {} : { fulltextSearch: search }), gzip };
  const json = await api.call({ method: 'POST', path: path`tables/${id}/export-async`, body, signal });
  const { results, operationParams } = await jobs.wait(readJob(json), { ...wait, signal });
  const { file, cacheHit } = shaped<{ file: Json; cacheHit?: boolean }>(
    results as Json, // as it was parsed
    'export',
    { file: 'object' },
  );
  const { id: fileId } = shaped<{ id: number }>(file, 'export', { id: 'number' });
  // As it was parsed.
  const columns = digKeys(['export', 'columns'], operationParams as Json);
  return {
    fileId,
    isCached: cacheHit === true,
    ...(query.at === undefined || !Array.isArray(columns)
      ? {}
      : { columns: columns.filter((name) => typeof name === 'string') }),
  };
}
