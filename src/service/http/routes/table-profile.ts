import { namesOf } from '../../../storage/protocol/common.ts';
import { Job } from '../../../storage/protocol/job.ts';
import { ProfileQuery, TableProfile } from '../../../storage/protocol/profile.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { notFound } from '../../domain/api-error.ts';
import { type Who, routesOf, type Route } from '../route.ts';
import { requireColumns } from '../../domain/row-query.ts';
import { enqueueJob } from '../enqueue-job.ts';
import { rowsOf } from '../../domain/jobs/operations/alias.ts';
import { requireTableRow, splitTableId, tableLock } from '../../domain/jobs/operations/table-place.ts';
import { lastJobOf } from '../../stores/metadata/jobs.ts';
import type { StoredTable } from '../../stores/metadata/stored-tables.ts';
import { apiTime } from '../../domain/presenters/time.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';

const route = routesOf('Tables');

/** Makes the routes of the profile of a table: statistics of its values. */
export function tableProfileRoutes(context: DataContext): Route[] {
  return [
    route('POST', '/tables/:table/profile', {
      isReading: true,
      summary: 'Looks at the values of a table, or of some of its columns: 200 at most',
      status: 202,
      body: ProfileQuery,
      response: Job,
      enqueues: ['tableProfile'],
      handle: async ({ params, body, ...asker }) => {
        const table = await readable(context, params.table, asker);
        const columns = body.columns === undefined ? null : namesOf(body.columns);
        const known = table.columns.map(({ name }) => name);
        requireColumns({ columns: columns ?? [] }, known, 'storage.tables.validation.columnNotExists');
        return await enqueueJob(context, asker, {
          operation: 'tableProfile',
          params: { columns },
          tableId: table.id,
          // Not at the same time as jobs that change the rows.
          lockKey: tableLock(table.branch_id, (await rowsOf(context.meta, context, table)).table.id),
        });
      },
    }),
    route('GET', '/tables/:table/profile/latest', {
      summary: 'The last profile of a table',
      response: TableProfile,
      handle: async ({ params, ...asker }) => {
        const table = await readable(context, params.table, asker);
        const job = await lastJobOf(context.meta, {
          branchId: table.branch_id,
          tableId: table.id,
          operation: 'tableProfile',
        });
        // A table that was created again has none.
        if (job?.results == null || job.created < table.created)
          throw notFound(
            `The table "${table.name}" has no profile yet: ask for one with POST.`,
            'storage.tables.profileNotFound',
          );
        // Written by the job.
        const { revision, ...profile } = JSON.parse(job.results) as Omit<TableProfile, 'tableId'> & {
          readonly revision: number;
        };
        const { table: rows } = await rowsOf(context.meta, context, table);
        return {
          tableId: table.id,
          ...profile,
          created: apiTime(job.ended),
          isCurrent: revision === rows.revision,
        };
      },
    }),
  ];
}

async function readable(context: DataContext, id: string, { caller, branch }: Who): Promise<StoredTable> {
  requireBucket(caller, branch.id, splitTableId(id).bucket, 'read');
  return await requireTableRow(context.meta, context, branch.id, id);
}
