import { Readable } from 'node:stream';
import { Type, type Static } from 'typebox';
import type { DataContext } from '../../data-context.ts';
import type { Meta } from '../../../stores/metadata/database.ts';
import type { JobRow } from '../../../stores/metadata/tables.ts';
import {
  insertTable,
  NO_ALIAS,
  saveState,
  type StoredDefinition,
  type TableState,
} from '../../../stores/metadata/stored-tables.ts';
import { tableOf } from '../../../stores/metadata/transaction.ts';
import { LoadOrigin } from '../../../../storage/protocol/table.ts';
import { wholeTable } from '../../presenters/table.ts';
import { loadMicros } from '../../../stores/metadata/jobs.ts';
import { isoTime } from '../../../../lib/iso-time.ts';
import type { ImportOutcome, ImportRequest, TableId } from '../../../stores/tables/engine.ts';
import type { WantedTypes } from '../../../stores/tables/column-types.ts';
import { TableError } from '../../../stores/tables/table-error.ts';
import { storedTypes } from './column-types.ts';
import { defineOperation, fenceOf, isMarkOf, markOf, type JobMetrics } from './operation.ts';
import { refuseAlias } from './alias.ts';
import { withParquet } from './parquet.ts';
import { contentOf, type FileContent } from './slices.ts';
import {
  engineTable,
  requireBucketRow,
  requireFreeTable,
  requireTableRow,
  splitTableId,
} from './table-place.ts';

/** Shown by every load and export; there is no other one. */
export const QUEUE = Type.Optional(Type.Literal('main_fast'));

/** Parameters that `tables-async` and `import-async` store for the job. */
const LoadParams = Type.Object({
  params: Type.Partial(
    Type.Object({
      incremental: Type.Boolean(),
      source: Type.Array(Type.Unknown(), { description: 'Empty; older clients look for it.' }),
      delimiter: Type.String(),
      enclosure: Type.String(),
      escapedBy: Type.String(),
      columns: Type.Array(Type.String()),
      withoutHeaders: Type.Boolean(),
      ignoredLinesCount: Type.Integer(),
      treatValuesAsNull: Type.Array(Type.String()),
      useTimestampFromDataFile: Type.Boolean(),
      deduplicationStrategy: Type.Enum(['insert', 'upsert']),
      name: Type.String(),
      displayName: Type.String(),
      primaryKey: Type.Array(Type.String()),
    }),
  ),
  source: Type.Object({ fileId: Type.Integer(), type: Type.Literal('file') }),
  queue: QUEUE,
  origin: Type.Optional(
    Type.Object({
      ...LoadOrigin.properties,
      version: Type.Optional(Type.Integer({ description: 'Version of the configuration.' })),
    }),
  ),
});
export type LoadParams = Static<typeof LoadParams>;

/** Makes a table from a file; a failure leaves no table. */
export const tableCreate = defineOperation({
  name: 'tableCreate',
  params: LoadParams,
  async run({ params, source, origin }, job, context, signal) {
    const { meta, engine } = context;
    const id = job.table_id ?? '';
    const { bucket: bucketId, name } = splitTableId(id);
    const displayName = params.displayName ?? name;
    await requireBucketRow(meta, context, job.branch_id, bucketId);
    await requireFreeTable(meta, { branchId: job.branch_id, bucketId, name });
    const content = await contentOf(context, source.fileId, signal);
    const table = engineTable(job.branch_id, id);
    const request = {
      ...(await requestOf(job, context, { table, params, content, origin })),
      create: { primaryKey: params.primaryKey ?? [] },
    };
    const { outcome, definitions } = await withParquet(
      context,
      { content, request, signal },
      async ({ request: asked, slices, definitions: found }) => {
        const types = found === undefined ? undefined : typesIn(found);
        const imported = await engine.import(table, { ...asked, types }, slices).catch(refuseOfFile);
        return { outcome: imported, definitions: found };
      },
    );
    const now = isoTime(context.env.now());
    return {
      results: null,
      metrics: metricsOf(content, outcome),
      moved: { direction: 'import', rows: outcome.importedRows, bytes: outcome.importedBytes },
      commit: async (tx) => {
        // Both may have changed while the file was read.
        await requireBucketRow(tx, context, job.branch_id, bucketId);
        await requireFreeTable(tx, { branchId: job.branch_id, bucketId, name: displayName });
        const row = {
          branch_id: job.branch_id,
          id,
          bucket_id: bucketId,
          name,
          display_name: displayName,
          primary_key: JSON.stringify(outcome.primaryKey),
          is_typed: definitions === undefined ? 0 : 1,
          rows_count: outcome.totalRows,
          data_bytes: outcome.totalBytes,
          revision: 1,
          ...NO_ALIAS,
          creator_id: job.creator_id,
          creator_description: job.creator_description,
          created: now,
          last_import: now,
          last_change: now,
        } as const;
        await insertTable(tx, row, outcome.columns, definitions);
        await tx
          .updateTable('buckets')
          .set({ last_change: now })
          .where((where) => where.and({ branch_id: job.branch_id, id: bucketId }))
          .execute();
        const stored = await requireTableRow(tx, context, job.branch_id, id);
        await noteSize(tx, source.fileId, content);
        const bucket = await requireBucketRow(tx, context, job.branch_id, bucketId);
        return wholeTable(stored, { origin: context.origin(), bucket });
      },
      undo: async () => await engine.drop(table, fenceOf(job)),
    };
  },
});

/** Loads a file into a table. */
export const tableImport = defineOperation({
  name: 'tableImport',
  params: LoadParams,
  async run({ params, source, origin }, job, context, signal) {
    const id = job.table_id ?? '';
    const stored = await requireTableRow(context.meta, context, job.branch_id, id);
    refuseAlias(stored, 'aliasImportNotAllowed');
    const table = engineTable(job.branch_id, id);
    const content = await contentOf(context, source.fileId, signal).catch(async (error: unknown) => {
      // In a copy made between the load and the end of its job, the file may be gone: it is not needed any more.
      const { lastImport } = (await context.engine.describe(table)) ?? {};
      if (isMarkOf(job, lastImport?.mark)) return NO_CONTENT;
      throw error;
    });
    const types = storedTypes(stored);
    const request = { ...(await requestOf(job, context, { table, params, content, origin })), types };
    const { outcome, definitions } = await withParquet(
      context,
      { content, request, signal },
      async ({ request: asked, slices, definitions: found }) => {
        // Columns that a typed table does not have yet are added with the types of the file.
        const added = types === undefined ? undefined : without(found, stored.columns);
        const all = types === undefined ? undefined : new Map([...types, ...typesIn(added)]);
        return {
          outcome: await context.engine.import(table, { ...asked, types: all }, slices),
          definitions: added,
        };
      },
    );
    const now = isoTime(context.env.now());
    return {
      results: {
        transaction: null,
        importedColumns: [...outcome.importedColumns],
        warnings: [],
        newColumns: [...outcome.newColumns],
        totalRowsCount: outcome.totalRows,
        totalDataSizeBytes: outcome.totalBytes,
        importedRowsCount: outcome.importedRows,
        importedFilesCount: content.count,
      },
      metrics: metricsOf(content, outcome),
      moved: { direction: 'import', rows: outcome.importedRows, bytes: outcome.importedBytes },
      things: tableOf(job.branch_id, id),
      commit: async (tx) => {
        const stored = await requireTableRow(tx, context, job.branch_id, id);
        await saveState(tx, stored, stateOf(outcome), { last_change: now, last_import: now }, definitions);
        await noteSize(tx, source.fileId, content);
      },
    };
  },
});

type Definitions = ReadonlyMap<string, StoredDefinition>;

function typesIn(definitions: Definitions | undefined): WantedTypes {
  const columns = [...(definitions ?? [])].map(([name, definition]) => ({ name, ...definition }));
  return storedTypes({ is_typed: 1, columns }) ?? new Map();
}

function without(
  definitions: Definitions | undefined,
  columns: readonly { readonly name: string }[],
): Definitions {
  const known = new Set(columns.map(({ name }) => name));
  return new Map([...(definitions ?? [])].filter(([name]) => !known.has(name)));
}

/** Says what to do about a value that cannot be stored as its own file says, such as not a number. */
function refuseOfFile(error: unknown): never {
  if (!(error instanceof TableError) || error.code !== 'csvImport.invalidValue') throw error;
  const { row, column, value } = error.results;
  throw new TableError(
    error.code,
    `Load error: row ${String(row)}: the value "${String(value)}" of the column "${String(column)}" cannot be stored with the type that the Parquet file has. Make the table first, with this column as STRING, and load the file into it.`,
    { results: error.results, cause: error },
  );
}

/** Notes how large a file is that was made without its size, as one that is compressed while it is sent. */
async function noteSize(tx: Meta, id: number, { bytes, notedBytes }: FileContent): Promise<void> {
  if (bytes === 0 || notedBytes > 0) return;
  await tx
    .updateTable('files')
    .set({ size_bytes: bytes })
    .where((where) => where.and({ id, size_bytes: 0 }))
    .execute();
}

const NO_CONTENT: FileContent = {
  isSliced: false,
  isCompressed: false,
  bytes: 0,
  notedBytes: 0,
  count: 1,
  name: '',
  keys: [],
  slices: Readable.from([]),
};

async function requestOf(
  job: JobRow,
  { env, engine }: DataContext,
  {
    table,
    params,
    content,
    origin,
  }: {
    readonly table: TableId;
    readonly params: LoadParams['params'];
    readonly content: FileContent;
    readonly origin: LoadParams['origin'];
  },
): Promise<ImportRequest> {
  const { name: _name, displayName: _shown, primaryKey: _key, source: _source, ...given } = params;
  // The result of an earlier worker stays as it is, since its lease is over.
  const fence = fenceOf(job);
  const left = job.fencing > 1 ? (await engine.describe(table))?.lastImport?.mark : undefined;
  return {
    ...given,
    importedAt: new Date(env.now()),
    importMicros: loadMicros(job.id),
    isSliced: content.isSliced,
    mark: left !== undefined && isMarkOf(job, left) ? left : markOf(job),
    ...fence,
    origin: { ...fence.origin, ...origin },
  };
}

function stateOf(outcome: ImportOutcome): TableState {
  const { columns, primaryKey, totalRows, totalBytes } = outcome;
  return { columns, primaryKey, rows: totalRows, bytes: totalBytes };
}

function metricsOf(content: FileContent, outcome: ImportOutcome): Partial<JobMetrics> {
  return {
    inCompressed: content.isCompressed,
    inBytes: content.bytes,
    inBytesUncompressed: content.isCompressed ? outcome.importedBytes : content.bytes,
  };
}
