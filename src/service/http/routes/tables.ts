import { Type } from 'typebox';
import { AsyncQuery, DeleteQuery } from '../../../storage/protocol/bucket.ts';
import { namesOf, type Names } from '../../../storage/protocol/common.ts';
import { TableBriefs, TableBriefsQuery } from '../../../storage/protocol/table-brief.ts';
import { AllTablesQuery, Table, TablesQuery, TableUpdate } from '../../../storage/protocol/table.ts';
import { storageNameProblem } from '../../../lib/names.ts';
import { Answer } from '../answer.ts';
import { enqueueJob, runJob } from '../enqueue-job.ts';
import type { StorageJobRequest } from '../../domain/jobs/operations/all.ts';
import { authorOf } from '../../domain/tokens/caller.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { doerOf, recordEvent } from '../../domain/events/system-event.ts';
import { encodeReply } from '../../domain/encode-reply.ts';
import { badRequest } from '../../domain/api-error.ts';
import { RawJson } from '../../domain/reply.ts';
import { readTableBriefs } from '../../domain/table-briefs.ts';
import { refuseAliased } from '../../domain/jobs/operations/alias.ts';
import { listOfPages, longJson } from '../lists/long-list.ts';
import { listTables } from '../lists/tables.ts';
import type { TableRef } from '../lists/table-pages.ts';
import { tablesByChange } from '../lists/table-stamps.ts';
import { recordFinishedJob } from '../../stores/metadata/jobs.ts';
import { findTableByDisplayName, updateTable } from '../../stores/metadata/stored-tables.ts';
import {
  requireBucketRow,
  requireTableRow,
  splitTableId,
  tableLock,
} from '../../domain/jobs/operations/table-place.ts';
import { mayUseBucket, requireBucket } from '../../domain/tokens/permissions.ts';
import { routesOf, type Route } from '../route.ts';
import { jobReply } from '../../domain/presenters/job.ts';
import { requireParts, showTable } from '../lists/table-detail.ts';
import { catalogueOf } from '../../stores/metadata/transaction.ts';

const route = routesOf('Tables');

/** Makes the routes of tables: lists, detail, name, deletion. */
export function tableRoutes(context: DataContext): Route[] {
  return [...readRoutes(context), ...writeRoutes(context)];
}

function readRoutes(context: DataContext): Route[] {
  const { meta } = context;
  return [
    route('GET', '/tables', {
      isForRuns: true,
      summary: 'All tables that the token may read',
      query: AllTablesQuery,
      response: Type.Array(Table),
      handle: async ({ query, caller, branch, origin }) => {
        const include = includeOf(query.include, ['buckets', 'metadata', 'columnMetadata']);
        context.observer.observe(doerOf(branch.id, caller), {
          name: 'tablesListed',
          message: 'Listed tables',
          params: { include: [...include] },
        });
        const mayRead = ({ bucket_id }: TableRef): boolean =>
          mayUseBucket(caller, branch.id, bucket_id, 'read');
        const last =
          query.changedLast === undefined
            ? undefined
            : new Set(
                (await tablesByChange(meta, branch.id)).filter(mayRead).slice(0, query.changedLast).map(idOf),
              );
        const isShown = last === undefined ? mayRead : ({ id }: TableRef): boolean => last.has(id);
        const of = { branchId: branch.id, isShown };
        return await longJson(listOfPages(listTables(meta, of, { origin, include })));
      },
    }),
    route('GET', '/tables/brief', {
      summary: 'Tables page by page, with what lists show of each',
      query: TableBriefsQuery,
      response: TableBriefs,
      handle: async ({ query, caller, branch }) => {
        const mayRead = (bucket: string): boolean => mayUseBucket(caller, branch.id, bucket, 'read');
        return new RawJson(JSON.stringify(await readTableBriefs(meta, branch.id, mayRead, query)));
      },
    }),
    route('GET', '/buckets/:bucket/tables', {
      isForRuns: true,
      summary: 'The tables of a bucket',
      query: TablesQuery,
      response: Type.Array(Table),
      handle: async ({ params, query, caller, branch, origin }) => {
        requireBucket(caller, branch.id, params.bucket, 'read');
        await requireBucketRow(meta, context, branch.id, params.bucket);
        const include = includeOf(query.include, ['metadata', 'columnMetadata']);
        context.observer.observe(doerOf(branch.id, caller), {
          name: 'tablesListed',
          message: 'Listed tables',
          object: { type: 'bucket', id: params.bucket, name: params.bucket },
          params: { include: [...include] },
        });
        const of = { branchId: branch.id, bucketId: params.bucket };
        return await longJson(listOfPages(listTables(meta, of, { origin, include })));
      },
    }),
    route('GET', '/tables/:table', {
      isForRuns: true,
      summary: 'A table',
      query: TablesQuery,
      response: Table,
      handle: async ({ params, caller, branch, origin }) => {
        requireBucket(caller, branch.id, splitTableId(params.table).bucket, 'read');
        const table = await requireTableRow(meta, context, branch.id, params.table);
        return await showTable(meta, table, origin);
      },
    }),
  ];
}

function writeRoutes(context: DataContext): Route[] {
  const { meta, env } = context;
  return [
    route('PUT', '/tables/:table', {
      summary: 'Changes the name that a table is shown under',
      query: AsyncQuery,
      body: TableUpdate,
      response: Table,
      validationCode: 'storage.tables.validation',
      handle: async ({ params, query, body, caller, branch, origin, runId, transact }) => {
        requireBucket(caller, branch.id, splitTableId(params.table).bucket, 'write');
        await transact([catalogueOf(branch.id)], async (tx) => {
          const table = await requireTableRow(tx, context, branch.id, params.table);
          const { displayName } = body;
          if (displayName === undefined || displayName === table.display_name) return;
          const problem = storageNameProblem(displayName);
          if (problem !== undefined)
            throw badRequest('storage.tables.validation', `Invalid data - displayName: ${problem}`);
          const key = { branch_id: branch.id, bucket_id: table.bucket_id, display_name: displayName };
          const other = await findTableByDisplayName(tx, key);
          if (other !== undefined)
            throw badRequest(
              'storage.buckets.tableAlreadyExists',
              `The table "${other.name}" in the bucket already has the same display name "${displayName}".`,
            );
          await updateTable(tx, branch.id, table.id, { display_name: displayName });
          await recordEvent(tx, env, doerOf(branch.id, caller), {
            name: 'tableUpdated',
            message: `Changed the table "${table.name}"`,
            object: { type: 'table', id: table.id, name: table.name },
            params: { displayName },
          });
        });
        const table = await requireTableRow(meta, context, branch.id, params.table);
        const reply = await showTable(meta, table, origin);
        if (query.async !== true) return reply;
        const job = await recordFinishedJob(meta, env, {
          branchId: branch.id,
          operation: 'tableUpdate',
          tableId: table.id,
          params: body,
          results: encodeReply(reply),
          runId,
          author: authorOf(caller),
        });
        return new Answer(202, jobReply(job, origin));
      },
    }),
    route('DELETE', '/tables/:table', {
      summary: 'Deletes a table',
      query: DeleteQuery,
      enqueues: ['tableDrop'],
      handle: async ({ params, query, ...asker }) => {
        requireBucket(asker.caller, asker.branch.id, splitTableId(params.table).bucket, 'write');
        const table = await requireTableRow(meta, context, asker.branch.id, params.table);
        const { id } = table;
        if (query.force !== true) await refuseAliased(meta, table);
        const work: StorageJobRequest<'tableDrop'> = {
          operation: 'tableDrop',
          tableId: id,
          lockKey: tableLock(asker.branch.id, id),
          params: { force: query.force === true ? 'true' : 'false' },
        };
        if (query.async === true) return await enqueueJob(context, asker, work);
        await runJob(context, asker, work);
        return undefined;
      },
    }),
  ];
}

const idOf = ({ id }: TableRef): string => id;

function includeOf(given: Names | undefined, fallback: readonly string[]): readonly string[] {
  return given === undefined ? fallback : requireParts(namesOf(given));
}
