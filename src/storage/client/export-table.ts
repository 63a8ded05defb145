import { getKey, isObject, type Json } from '../../lib/json/value.ts';
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
  const asked = propertyOf(operationParams as Json, 'export'); // as it was parsed
  const columns = propertyOf(asked, 'columns');
  return {
    fileId,
    isCached: cacheHit === true,
    ...(query.at === undefined || !Array.isArray(columns)
      ? {}
      : { columns: columns.filter((name) => typeof name === 'string') }),
  };
}

const propertyOf = (value: Json | undefined, key: string): Json | undefined =>
  isObject(value) ? getKey(value, key) : undefined;
