import type { Json } from '../../../lib/json/index.ts';
import { columnName, columnNameProblem, storageNameProblem } from '../../../lib/names.ts';
import { Job } from '../../../storage/protocol/job.ts';
import { Table, TableCreate, TableDefinitionCreate, TableImport } from '../../../storage/protocol/table.ts';
import { RawJson } from '../../domain/reply.ts';
import { enqueueJob, runJob } from '../enqueue-job.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { badRequest } from '../../domain/api-error.ts';
import { requireSourceFile } from '../../domain/files/permissions.ts';
import { removeFile } from '../../domain/files/remove.ts';
import { orRemove, receiveUpload } from '../upload.ts';
import { readFields } from '../parsing/fields.ts';
import { refuseAlias } from '../../domain/jobs/operations/alias.ts';
import {
  requireBucketRow,
  requireFreeTable,
  requireTableRow,
  splitTableId,
  tableLock,
} from '../../domain/jobs/operations/table-place.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import { type Who, routesOf, type Route } from '../route.ts';
import { plain } from '../../domain/row-query.ts';
import { showTable } from '../lists/table-detail.ts';
import { createWork, importWork, requireNameLength } from '../parsing/table.ts';
import { checkColumnNames, checkPrimaryKey } from '../../stores/tables/import-plan.ts';

const route = routesOf('Import');
const validationCode = 'storage.tables.validation';

/** Makes the routes that create tables from files, and load files into tables. */
export function tableImportRoutes(context: DataContext): Route[] {
  return [...asyncRoutes(context), definitionRoute(context), ...directRoutes(context)];
}

function asyncRoutes(context: DataContext): Route[] {
  const { meta } = context;
  return [
    route('POST', '/buckets/:bucket/tables-async', {
      isForRuns: true,
      summary: 'Makes a table from a file',
      status: 202,
      body: TableCreate,
      response: Job,
      validationCode,
      enqueues: ['tableCreate'],
      handle: async ({ params, body, ...asker }) => {
        await requireWritableBucket(context, params.bucket, asker);
        const work = createWork(asker.branch.id, params.bucket, { ...body, caller: asker.caller });
        await requireNewTable(context, asker.branch.id, params.bucket, body);
        await requireSource(context, asker, body.dataFileId);
        return await enqueueJob(context, asker, work);
      },
    }),
    route('POST', '/tables/:table/import-async', {
      isForRuns: true,
      summary: 'Loads a file into a table',
      status: 202,
      body: TableImport,
      response: Job,
      validationCode,
      enqueues: ['tableImport'],
      handle: async ({ params, body, ...asker }) => {
        requireBucket(asker.caller, asker.branch.id, splitTableId(params.table).bucket, 'write');
        const table = await requireTableRow(meta, context, asker.branch.id, params.table);
        refuseAlias(table, 'aliasImportNotAllowed');
        const work = importWork(asker.branch.id, table.id, { ...body, caller: asker.caller });
        await requireSource(context, asker, body.dataFileId);
        return await enqueueJob(context, asker, work);
      },
    }),
  ];
}

function definitionRoute(context: DataContext): Route {
  return route('POST', '/buckets/:bucket/tables-definition', {
    isForRuns: true,
    summary: 'Makes an empty table',

    status: 202,
    body: TableDefinitionCreate,
    response: Job,
    validationCode,
    enqueues: ['tableDefinitionCreate'],
    handle: async ({ params, body, ...asker }) => {
      await requireWritableBucket(context, params.bucket, asker);
      const problem = storageNameProblem(body.name);
      if (problem !== undefined) throw badRequest(validationCode, `Invalid data - name: ${problem}`);
      requireNameLength(body.name);
      const columns = body.columns.map((column) => ({
        name: requireColumnName(column.name),
        ...(column.definition === undefined ? {} : { definition: plain(column.definition) }),
        ...(column.basetype === undefined ? {} : { basetype: column.basetype }),
      }));
      const names = columns.map(({ name }) => name);
      checkColumnNames(names);
      const primaryKeysNames = body.primaryKeysNames ?? [];
      checkPrimaryKey(primaryKeysNames, names);
      await requireNewTable(context, asker.branch.id, params.bucket, body);
      const tableId = `${params.bucket}.${body.name}`;
      return await enqueueJob(context, asker, {
        operation: 'tableDefinitionCreate',
        params: {
          name: body.name,
          primaryKeysNames,
          columns,
          isTyped: columns.some((column) => column.basetype !== undefined || hasType(column.definition)),
        },
        tableId,
        lockKey: tableLock(asker.branch.id, tableId),
      });
    },
  });
}

/** Makes the routes of the older operations, which carry the rows themselves and answer when they are loaded. */
function directRoutes(context: DataContext): Route[] {
  const { meta } = context;
  return [
    route('POST', '/buckets/:bucket/tables', {
      summary: 'Makes a table from the file `data`, or from the text `dataString`',
      status: 201,
      response: Table,
      isRaw: true,
      takesFile: true,
      validationCode,
      enqueues: ['tableCreate'],
      handle: async ({ params, ...call }) => {
        await requireWritableBucket(context, params.bucket, call);
        const { file, fields } = await receiveUpload(context, { ...call, params }, 'dataString');
        return await orRemove(context, file, async () => {
          const input = inputOf(TableCreate, fields, file.id) as TableCreate;
          const work = createWork(call.branch.id, params.bucket, { ...input, caller: call.caller });
          await requireNewTable(context, call.branch.id, params.bucket, input);
          await runJob(context, call, work);
          await removeFile(context, file);
          const table = await requireTableRow(
            meta,
            context,
            call.branch.id,
            `${params.bucket}.${input.name}`,
          );
          return await showTable(meta, table, call.origin);
        });
      },
    }),
    route('POST', '/tables/:table/import', {
      summary: 'Loads the file `data`, or the text `dataString`, into a table',
      status: 200,
      isRaw: true,
      takesFile: true,
      validationCode,
      enqueues: ['tableImport'],
      handle: async ({ params, ...call }) => {
        requireBucket(call.caller, call.branch.id, splitTableId(params.table).bucket, 'write');
        const table = await requireTableRow(meta, context, call.branch.id, params.table);
        refuseAlias(table, 'aliasImportNotAllowed');
        const { file, fields } = await receiveUpload(context, { ...call, params }, 'dataString');
        return await orRemove(context, file, async () => {
          const input = inputOf(TableImport, fields, file.id) as TableImport;
          const job = await runJob(
            context,
            call,
            importWork(call.branch.id, table.id, { ...input, caller: call.caller }),
          );
          await removeFile(context, file);
          return new RawJson(job.results ?? 'null');
        });
      },
    }),
  ];
}

/** Reads the fields of a body that was passed unchanged, with the file that came with it. */
function inputOf(
  schema: typeof TableCreate | typeof TableImport,
  fields: Json,
  dataFileId: number,
): Readonly<Record<string, unknown>> {
  return { ...readFields(schema, fields), dataFileId };
}

async function requireWritableBucket(
  context: DataContext,
  id: string,
  { caller, branch }: Who,
): Promise<void> {
  requireBucket(caller, branch.id, id, 'write');
  await requireBucketRow(context.meta, context, branch.id, id);
}

async function requireNewTable(
  { meta }: DataContext,
  branchId: number,
  bucketId: string,
  { name, displayName }: { readonly name: string; readonly displayName?: string },
): Promise<void> {
  await requireFreeTable(meta, { branchId, bucketId, name });
  if (displayName !== undefined) await requireFreeTable(meta, { branchId, bucketId, name: displayName });
}

/** Checks that the file exists and the caller may read it, before a job is made. */
async function requireSource(context: DataContext, { caller }: Who, id: number | undefined): Promise<void> {
  if (id !== undefined) await requireSourceFile(context, caller, id);
}

function requireColumnName(given: string): string {
  const name = columnName(given);
  const problem = columnNameProblem(name);
  if (problem === undefined) return name;
  throw badRequest('storage.tables.validation.invalidColumnName', `The column name "${given}" ${problem}.`);
}

function hasType(definition: unknown): boolean {
  return (
    typeof definition === 'object' && definition !== null && 'type' in definition && definition.type !== null
  );
}
