import { Errors } from 'typebox/value';
import { Job } from '../../../storage/protocol/job.ts';
import { Orphans, OrphansAsked } from '../../../storage/protocol/orphans.ts';
import { accessDenied, badRequest } from '../../domain/api-error.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { orphanedFiles, requireOrphans } from '../../domain/jobs/operations/orphans.ts';
import { findJob } from '../../stores/metadata/jobs.ts';
import { enqueueJob } from '../enqueue-job.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Tables');

/** Makes the route that lists files without a table, and deletes those that were listed. */
export function orphanRoutes(context: DataContext): Route[] {
  return [
    route('POST', '/orphaned-files', {
      summary:
        'Lists the files of a lake that no table has, or deletes those that a job has listed; the master token may',
      scope: 'plain',
      status: 202,
      body: OrphansAsked,
      response: Job,
      judge: ({ caller }) => {
        if (!caller.isMaster) throw accessDenied();
      },
      enqueues: [orphanedFiles.name],
      handle: async ({ body: { jobId }, ...asker }) => {
        await requireOrphans(context);
        const listed = jobId === undefined ? undefined : await listedBy(context, jobId);
        return await enqueueJob(context, asker, {
          operation: 'orphanedFiles',
          params: listed === undefined ? {} : { listed },
          lockKey: 'orphaned files',
        });
      },
    }),
  ];
}

/** @throws {ApiError} 400 for a job that has listed none */
async function listedBy({ meta }: DataContext, id: number): Promise<Pick<Orphans, 'before' | 'count'>> {
  const job = await findJob(meta, id);
  const results: unknown = JSON.parse(job?.results ?? 'null');
  const [wrong] = Errors(Orphans, results);
  if (job?.operation !== orphanedFiles.name || wrong !== undefined)
    throw badRequest(
      'storage.validation',
      `jobId: job ${id} has listed no files; one that lists them has no jobId.`,
    );
  const { before, count } = results as Orphans; // it was checked
  return { before, count };
}
