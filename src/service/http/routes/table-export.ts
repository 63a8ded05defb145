import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { csvParts, csvText } from '../../../lib/csv/write.ts';
import { inSlices } from '../slices.ts';
import { Job } from '../../../storage/protocol/job.ts';
import { Answer } from '../answer.ts';
import { enqueueJob, runJob } from '../enqueue-job.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { ApiError, badRequest, invalidField } from '../../domain/api-error.ts';
import { attachmentOf } from '../../stores/objects/disposition.ts';
import type { StoredTable } from '../../stores/metadata/stored-tables.ts';
import { rowsOf, type AliasedRows } from '../../domain/jobs/operations/alias.ts';
import type { StorageJobRequest } from '../../domain/jobs/operations/all.ts';
import { FILE_TYPES, formOf, type ExportFileType } from '../../domain/jobs/operations/export-form.ts';
import { contentOf } from '../../domain/jobs/operations/slices.ts';
import {
  engineTable,
  requireTableRow,
  splitTableId,
  tableLock,
  tableNotFound,
} from '../../domain/jobs/operations/table-place.ts';
import { readVersion, requireVersions } from '../../domain/table-versions.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import { type Who, routesOf, type Route } from '../route.ts';
import {
  MAX_PREVIEW_ROWS,
  MAX_FILTER_BYTES,
  plain,
  readRowQuery,
  requireColumns,
  ROW_FILTER_FIELDS,
  ROW_QUERY_FIELDS,
  type RowQueryInput,
} from '../../domain/row-query.ts';
import { joinedParquet } from '../../stores/tables/parquet/join.ts';
import type { RowQuery } from '../../stores/tables/row-query.ts';
import type { TablesAtVersion } from '../../stores/tables/engine.ts';
import { filterFields } from './table-structure.ts';

const route = routesOf('Export');

const AT = Type.Optional(
  Type.String({
    description: 'Rows as they were, in a lake: number of a version, or a time such as `-2 hours`.',
  }),
);

const Export = Type.Object({
  ...ROW_QUERY_FIELDS,
  at: AT,
  gzip: Type.Optional(Type.Boolean()),
  format: Type.Optional(Type.Enum(['rfc', 'json', 'escaped', 'raw'])),
  fileType: Type.Optional(
    Type.Enum(FILE_TYPES, {
      description:
        'Form of each slice. All but `csv` have the types of the table, and take no heed of `gzip`: Parquet is compressed in itself. `jsonl` and `xlsx` are one slice. Default: csv.',
    }),
  ),
});

const Preview = Type.Object({
  ...ROW_QUERY_FIELDS,
  at: AT,
  format: Type.Optional(Type.String({ description: '`rfc` (default) or `json`.' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Rows that are passed over first.' })),
  cellLength: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Characters of a cell that `json` gives, 16,384 by default; `isTruncated` says where there are more.',
    }),
  ),
});

const Data = Type.Object({
  ...ROW_QUERY_FIELDS,
  at: AT,
  gzip: Type.Optional(Type.Boolean({ description: 'Compresses the file. Default: false.' })),
  fileType: Type.Optional(Type.Enum(FILE_TYPES, { description: 'Default: csv.' })),
});

/** Makes the routes that read rows of tables. */
export function tableExportRoutes(context: DataContext): Route[] {
  return [exportRoute(context), dataRoute(context), previewRoute(context), countRoute(context)];
}

function exportRoute(context: DataContext): Route {
  return route('POST', '/tables/:table/export-async', {
    isForRuns: true,
    isReading: true,
    summary: 'Exports a table into a sliced file: CSV without a header, Parquet, lines of JSON or a workbook',

    status: 202,
    body: Export,
    maxBodyBytes: MAX_FILTER_BYTES,
    response: Job,
    validationCode: 'storage.tables.validation',
    enqueues: ['tableExport'],
    handle: async ({ params, body, ...asker }) => {
      const table = await requireExported(context, params.table, asker);
      const query = readRowQuery(body, context.env.now());
      const source = await sourceOf(context, table, body.at);
      requireKnownColumns(source.columns, query);
      return await enqueueJob(context, asker, exportWork(source, query, body));
    },
  });
}

/**
 * Makes the route for people and simple programs: the rows of a sliced export, as one file that arrives as it is
 * read.
 */
function dataRoute(context: DataContext): Route {
  return route('GET', '/tables/:table/data', {
    summary:
      'Exports a table and sends its rows as one file: CSV with a header, Parquet, lines of JSON or a workbook',

    query: Data,
    response: Type.String(),
    validationCode: 'storage.tables.validation',
    enqueues: ['tableExport'],
    handle: async ({ params, query: asked, ...asker }) => {
      const table = await requireExported(context, params.table, asker);
      const query = readRowQuery(asked, context.env.now());
      const source = await sourceOf(context, table, asked.at);
      requireKnownColumns(source.columns, query);
      // Header and rows have the same columns, also when one is added meanwhile.
      const columns = query.columns ?? source.columns;
      const { fileType = 'csv' } = asked;
      const isGzip = asked.gzip === true && fileType === 'csv';
      const work = exportWork(source, { ...query, columns }, { ...asked, gzip: isGzip });
      const { results } = await runJob(context, asker, work);
      // Written by the job.
      const { file } = JSON.parse(results ?? '') as { file: { id: number } };
      // A client that disconnects ends the reading: the stream is destroyed with the connection.
      const { slices } = await contentOf(context, file.id, new AbortController().signal);
      const names = asked.includeInternalTimestamp === true ? [...columns, '_timestamp'] : columns;
      const whole = wholeFile(fileType, slices, { names, isGzip });
      const body = Readable.from(whole, { objectMode: false });
      const { contentType, ending } = formOf(fileType, isGzip);
      return new Answer(200, body, {
        'content-type': contentType === 'text/csv' ? 'text/csv; charset=utf-8' : contentType,
        'content-disposition': attachmentOf(`${table.id}${ending}`),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
    },
  });
}

/** Yields the bytes of one file that has the rows of all slices, CSV with a header. */
function wholeFile(
  fileType: ExportFileType,
  slices: AsyncIterable<AsyncIterable<Uint8Array>>,
  { names, isGzip }: { readonly names: readonly string[]; readonly isGzip: boolean },
): AsyncIterable<Uint8Array> {
  if (fileType === 'parquet') return joinedParquet(slices);
  if (fileType !== 'csv') return joined(undefined, slices);
  const header = csvText([names]);
  return joined(isGzip ? gzipSync(header) : Buffer.from(header), slices);
}

/** Yields gzip files one after another, which together are one (RFC 1952, 2.2). */
async function* joined(
  header: Uint8Array | undefined,
  slices: AsyncIterable<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array, void> {
  if (header !== undefined) yield header;
  for await (const slice of slices) yield* slice;
}

/** A table as it is read: now, or at an earlier version. */
interface Source {
  readonly table: StoredTable;
  readonly rows: AliasedRows;
  readonly columns: readonly string[];
  readonly reader: TablesAtVersion;
  /** Number of the version; undefined: as it is. */
  readonly at: number | undefined;
}

async function sourceOf(context: DataContext, table: StoredTable, at: string | undefined): Promise<Source> {
  const rows = await rowsOf(context.meta, context, table);
  const columns = table.columns.map(({ name }) => name);
  if (at === undefined) return { table, rows, columns, reader: context.engine, at };
  const versions = await requireVersions(context);
  const version = await readVersion(versions, at, context.env.now());
  const reader = versions.at(version);
  // An alias shows the columns that it has now.
  const then = await reader.describe(engineTable(rows.table.branch_id, rows.table.id));
  const isAlias = table.alias_source !== null;
  return { table, rows, columns: isAlias ? columns : (then?.columns ?? columns), reader, at: version };
}

function exportWork(
  { table, rows, at, columns }: Source,
  asked: RowQuery,
  body: RowQueryInput & {
    readonly gzip?: boolean;
    readonly format?: string;
    readonly fileType?: ExportFileType;
  },
): StorageJobRequest<'tableExport'> {
  // The job says the columns of an earlier version to its reader.
  const query = at === undefined ? asked : { ...asked, columns: asked.columns ?? columns };
  return {
    operation: 'tableExport',
    params: {
      export: {
        tableName: table.id,
        ...NO_QUERY,
        ...queryFields(body, query),
        gzipOutput: body.gzip ?? false,
        format: body.format ?? 'rfc',
        fileType: body.fileType ?? 'csv',
        ...(at === undefined ? {} : { atVersion: at }),
      },
      queue: 'main_fast',
    },
    tableId: table.id,
    // Not at the same time as jobs that change the rows.
    lockKey: tableLock(table.branch_id, rows.table.id),
  };
}

/** Fields that a job shows for an export without a query. */
const NO_QUERY = { columns: [], limit: null, changedSince: null, changedUntil: null, whereFilters: [] };

/** Most columns of a preview, and characters of a cell as JSON. */
const MAX_COLUMNS = 100;
const MAX_CELL = 16_384;

function previewRoute(context: DataContext): Route {
  return route('GET', '/tables/:table/data-preview', {
    summary: 'Rows of a table, the first ones by default, with a header',

    query: Preview,
    response: Type.String(),
    validationCode: 'storage.tables.validation',
    handle: async ({ params, query, ...who }) => {
      const format = query.format === undefined || query.format === '' ? 'rfc' : query.format;
      if (format !== 'rfc' && format !== 'json')
        throw badRequest(
          'storage.tables.validation.invalidFormat',
          `The format "${format}" is not supported. Available formats are [rfc|json]`,
        );
      const table = await requireReadable(context, params.table, who);
      const cellLength = query.cellLength ?? MAX_CELL;
      const asked = {
        ...(format === 'json' ? { cellLength } : {}),
        ...readRowQuery(query, context.env.now()),
        ...(query.offset === undefined ? {} : { offset: query.offset }),
      };
      if ((asked.limit ?? 0) > MAX_PREVIEW_ROWS)
        throw invalidField(
          'storage.tables.validation',
          'limit',
          `This value should be less than or equal to ${MAX_PREVIEW_ROWS}.`,
        );
      const source = await sourceOf(context, table, query.at);
      requireKnownColumns(source.columns, asked);
      if (asked.columns === undefined && source.columns.length > MAX_COLUMNS)
        throw badRequest(
          'storage.maxNumberOfColumnsExceed',
          `The table has ${source.columns.length} columns; a preview shows ${MAX_COLUMNS}. Name them in "columns".`,
        );
      const { columns, rows } = await source.reader.preview(
        engineTable(source.rows.table.branch_id, source.rows.table.id),
        source.rows.query(asked),
      );
      if (format === 'rfc') return await csvAnswer([columns, ...rows]);
      return {
        columns: [...columns],
        rows: rows.map((row) =>
          row.map((value, i) => ({
            columnName: columns[i] ?? '',
            value: value.slice(0, cellLength).toWellFormed(),
            isTruncated: value.length > cellLength,
          })),
        ),
      };
    },
  });
}

function countRoute(context: DataContext): Route {
  return route('GET', '/tables/:table/rows-count', {
    summary: 'How many rows of a table match',
    query: Type.Object({ ...ROW_FILTER_FIELDS, fulltextSearch: ROW_QUERY_FIELDS.fulltextSearch, at: AT }),
    response: Type.Object({ rowsCount: Type.Integer() }),
    validationCode: 'storage.tables.validation',
    handle: async ({ params, query, ...who }) => {
      const table = await requireReadable(context, params.table, who);
      const asked = readRowQuery(query, context.env.now());
      const { columns, rows, reader } = await sourceOf(context, table, query.at);
      requireKnownColumns(columns, asked);
      const place = engineTable(rows.table.branch_id, rows.table.id);
      return { rowsCount: await reader.count(place, rows.query(asked)) };
    },
  });
}

/** Answers with CSV; many megabytes of it, part by part. */
async function csvAnswer(rows: readonly (readonly string[])[]): Promise<Answer> {
  const parts: Buffer[] = [];
  for await (const part of csvParts(rows)) parts.push(part);
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return new Answer(200, inSlices(parts), { 'content-type': 'text/csv', 'content-length': String(bytes) });
}

async function requireReadable(
  context: DataContext,
  id: string,
  { caller, branch }: Who,
): Promise<StoredTable> {
  requireBucket(caller, branch.id, splitTableId(id).bucket, 'read');
  return await requireTableRow(context.meta, context, branch.id, id);
}

/** Returns the table. As in the public API, the error names the table also when even its bucket is missing. */
async function requireExported(context: DataContext, id: string, who: Who): Promise<StoredTable> {
  try {
    return await requireReadable(context, id, who);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'storage.buckets.notFound') throw error;
    throw tableNotFound(context, id);
  }
}

function requireKnownColumns(columns: readonly string[], query: RowQuery): void {
  requireColumns(query, columns, 'storage.tables.validation.columnNotExists');
}

/** Returns the fields of a query as plain values, to be stored in the job. */
function queryFields(input: RowQueryInput, { columns }: RowQuery): RowQueryInput {
  const { orderBy, limit, fulltextSearch, includeInternalTimestamp } = input;
  return {
    ...filterFields(input),
    ...(columns === undefined ? {} : { columns }),
    ...(orderBy === undefined ? {} : { orderBy: plain(orderBy) }),
    ...(limit === undefined ? {} : { limit }),
    ...(fulltextSearch === undefined ? {} : { fulltextSearch }),
    ...(includeInternalTimestamp === undefined ? {} : { includeInternalTimestamp }),
  };
}
