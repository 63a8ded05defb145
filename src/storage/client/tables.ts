import { StorageError } from '../../lib/errors.ts';
import { getKey, isObject, type Json } from '../../lib/json/value.ts';
import type {
  RowOrigin,
  Orphans,
  Table,
  TableBriefs,
  TableDifference,
  TableLoad,
  TableProfile,
  TableSources,
  TableVersion,
} from '../protocol/index.ts';
import type { ApiCore } from './api-core.ts';
import { path, type Query } from './encode.ts';
import { readJob, type Job } from './job.ts';
import type { Jobs, WaitOptions } from './jobs.ts';
import { metadataAt } from './metadata.ts';
import type { OnceOptions } from './client-options.ts';
import { deleteOnce, isOwnDoing, orUndefined } from './repeated.ts';
import { listOf, shaped } from './shape.ts';
import { startImport } from './start-import.ts';
import { exportTable } from './export-table.ts';
import type { ImportResult, Preview, RowsQuery, TableOperations } from './table-types.ts';

const FIELDS = { id: 'string', name: 'string' } as const;

/** All but what reads the rows of a whole table, for which it takes a runtime with files and streams. */
export function createTableOperations(api: ApiCore, jobs: Jobs): TableOperations {
  const known = new Set<Job['id']>();
  const run = async (
    call: Parameters<ApiCore['call']>[0],
    { signal, key, ...wait }: WaitOptions & OnceOptions = {},
  ): Promise<Job> => {
    const json = await api.call({ ...call, key, signal });
    return await jobs.wait(readJob(json), { ...wait, signal });
  };
  const tables: TableOperations = {
    async list({ bucket, include, changedLast } = {}) {
      const at = bucket === undefined ? 'tables' : path`buckets/${bucket}/tables`;
      const query = { include: include?.join(','), changedLast };
      return listOf<Table>(await api.call({ method: 'GET', path: at, query }), 'table', FIELDS);
    },
    async brief(query = {}) {
      const json = await api.call({ method: 'GET', path: 'tables/brief', query: { ...query } });
      return shaped<TableBriefs>(json, 'table briefs', { total: 'number', tables: 'list' });
    },
    detail: async (id) => asTable(await api.call({ method: 'GET', path: path`tables/${id}` })),
    find: async (id) => await orUndefined(tables.detail(id)),
    async create(bucketId, table, options = {}) {
      const job = await tables.startCreate(bucketId, table, options);
      return asTable((await jobs.wait(job, options)).results);
    },
    async startCreate(bucketId, { primaryKey, ...table }, options = {}) {
      // A list is refused here.
      const body = { ...table, primaryKey: primaryKey?.join(',') };
      return await startImport(api, jobs, known, {
        ...options,
        path: path`buckets/${bucketId}/tables-async`,
        body,
        operation: 'tableCreate',
        tableId: `${bucketId}.${table.name}`,
      });
    },
    async define(bucketId, { name, primaryKey = [], columns }, options = {}) {
      const body = {
        name,
        primaryKeysNames: primaryKey,
        columns: columns.map((column) => (typeof column === 'string' ? { name: column } : column)),
      };
      try {
        const at = path`buckets/${bucketId}/tables-definition`;
        return asTable((await run({ method: 'POST', path: at, body }, options)).results);
      } catch (error) {
        if (!isOwnDoing(error, /alreadyExists$/i)) throw error;
        return await tables.detail(`${bucketId}.${name}`);
      }
    },
    async load(id, load, options = {}) {
      const job = await tables.startLoad(id, load, options);
      return importResultOf(await jobs.wait(job, options));
    },
    startLoad: async (id, body, options = {}) =>
      await startImport(api, jobs, known, {
        ...options,
        path: path`tables/${id}/import-async`,
        body,
        operation: 'tableImport',
        tableId: id,
      }),
    export: async (id, options, wait) => await exportTable(api, jobs, id, options, wait),
    async preview(id, { search, ...query } = {}, { signal } = {}) {
      const at = path`tables/${id}/data-preview`;
      const json = await api.call({
        method: 'GET',
        path: at,
        query: { ...rowsQuery(query), fulltextSearch: search, format: 'json' },
        signal,
      });
      return previewOf(json);
    },
    async count(id, { search, ...query } = {}, { signal } = {}) {
      const at = path`tables/${id}/rows-count`;
      const json = await api.call({
        method: 'GET',
        path: at,
        query: { ...rowsQuery(query), fulltextSearch: search },
        signal,
      });
      return shaped<{ readonly rowsCount: number }>(json, 'count', { rowsCount: 'number' }).rowsCount;
    },
    async rowOrigin(id, query, { signal } = {}) {
      const at = path`tables/${id}/row-origin`;
      const json = await api.call({ method: 'GET', path: at, query: rowsQuery(query), signal });
      return shaped<RowOrigin>(json, 'row origin', { columns: 'list', values: 'list', loads: 'list' });
    },
    async versions(id, query = {}) {
      const json = await api.call({ method: 'GET', path: path`tables/${id}/versions`, query });
      return listOf<TableVersion>(json, 'version', { version: 'number', change: 'string' });
    },
    async difference(id, query, { signal } = {}) {
      const at = path`tables/${id}/difference`;
      const json = await api.call({ method: 'GET', path: at, query: { ...query }, signal });
      return shaped<TableDifference>(json, 'difference', { columns: 'list', rows: 'list' });
    },
    async restore(id, at, options) {
      const call = { method: 'POST', path: path`tables/${id}/restore`, body: { at }, isOnce: true } as const;
      const { results } = await run(call, options);
      // As it was parsed.
      return shaped<{ version: number; totalRowsCount: number }>(results as Json, 'restored table', {
        version: 'number',
        totalRowsCount: 'number',
      });
    },
    async orphans({ jobId, ...options } = {}) {
      const call = { method: 'POST', path: 'orphaned-files', body: { jobId }, isOnce: true } as const;
      const { id, results } = await run(call, options);
      // As it was parsed.
      const found = shaped<Orphans>(results as Json, 'orphaned files', { count: 'number', files: 'list' });
      return { jobId: id, ...found };
    },
    async profile(id, { columns } = {}, options = {}) {
      const call = { method: 'POST', path: path`tables/${id}/profile`, body: { columns } } as const;
      await run(call, options);
      return asProfile(await api.call({ method: 'GET', path: path`tables/${id}/profile/latest` }));
    },
    lastProfile: async (id) =>
      await orUndefined(api.call({ method: 'GET', path: path`tables/${id}/profile/latest` }).then(asProfile)),
    async sources(id) {
      const json = await api.call({ method: 'GET', path: path`tables/${id}/sources` });
      return shaped<TableSources>(json, 'sources', { table: 'string', sources: 'list', hidden: 'number' });
    },
    async loads(id, query = {}) {
      const json = await api.call({ method: 'GET', path: path`tables/${id}/loads`, query: { ...query } });
      return listOf<TableLoad>(json, 'load', { job: 'id', rows: 'number' });
    },
    update: async (id, body) => asTable(await api.call({ method: 'PUT', path: path`tables/${id}`, body })),
    async delete(id, { force } = {}) {
      const query = { force, async: true };
      const json = await deleteOnce(api.call({ method: 'DELETE', path: path`tables/${id}`, query }));
      if (json !== undefined) await jobs.wait(readJob(json));
    },
    async addColumn(id, body, options) {
      await run({ method: 'POST', path: path`tables/${id}/columns`, body, isOnce: true }, options);
    },
    async defineColumn(id, { name, ...body }, options) {
      const at = path`tables/${id}/columns/${name}/definition`;
      await run({ method: 'PUT', path: at, body }, options);
    },
    async deleteColumn(id, column, { force, ...options } = {}) {
      const call = {
        method: 'DELETE',
        path: path`tables/${id}/columns/${column}`,
        query: { force },
      } as const;
      await run({ ...call, isOnce: true }, options);
    },
    async setPrimaryKey(id, columns, options) {
      const call = { method: 'POST', path: path`tables/${id}/primary-key`, body: { columns } } as const;
      await run({ ...call, isOnce: true }, options);
    },
    async deletePrimaryKey(id, options) {
      await run({ method: 'DELETE', path: path`tables/${id}/primary-key` }, options);
    },
    async deleteRows(id, rows, options) {
      const { results } = await run({ method: 'DELETE', path: path`tables/${id}/rows`, body: rows }, options);
      return shaped<{ deletedRows: number }>(results as Json, 'deletion', { deletedRows: 'number' }); // as it was parsed
    },
    metadata: (id) => metadataAt(api, path`tables/${id}/`),
    columnMetadata: (id, column) => metadataAt(api, path`columns/${`${id}.${column}`}/`),
  };
  return tables;
}

function asTable(json: unknown): Table {
  return shaped<Table>(json as Json | undefined, 'table', FIELDS); // as it was parsed
}

/** Returns the result of a load from its finished job. */
export function importResultOf(job: Job): ImportResult {
  return shaped<ImportResult>(job.results as Json, 'import', { importedColumns: 'list' }); // as it was parsed
}

function asProfile(json: Json | undefined): TableProfile {
  return shaped<TableProfile>(json, 'profile', { tableId: 'string', columns: 'list' });
}

/** Returns a selection of rows as it stands in an address. */
export function rowsQuery({ columns, ...rest }: RowsQuery): Query {
  // Types that say the same: interfaces have no index signature.
  return { ...(rest as unknown as Query), columns: columns?.join(',') };
}

function previewOf(json: Json | undefined): Preview {
  const { columns, rows } = shaped<{
    columns: readonly string[];
    rows: readonly (readonly Json[])[];
  }>(json, 'preview', { columns: 'list', rows: 'list' });
  const cut: { row: number; column: number }[] = [];
  const texts = rows.map((cells, row) =>
    cells.map((cell, column) => {
      if (isObject(cell) && getKey(cell, 'isTruncated') === true) cut.push({ row, column });
      return cellOf(cell);
    }),
  );
  return { columns, rows: texts, cut };
}

function cellOf(cell: Json): string {
  const value = isObject(cell) ? getKey(cell, 'value') : undefined;
  if (typeof value === 'string') return value;
  if (value === null) return '';
  throw new StorageError(
    'storage.unexpected',
    'The answer of the storage service has a cell without a value.',
  );
}
