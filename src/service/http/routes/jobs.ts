import { Type } from 'typebox';
import { Job, JobsQuery } from '../../../storage/protocol/job.ts';
import { waitForJob } from '../enqueue-job.ts';
import type { Caller } from '../../domain/tokens/caller.ts';
import type { Context } from '../../domain/context.ts';
import { accessDenied, invalidField, notFound } from '../../domain/api-error.ts';
import { listJobs, type JobFilter, type JobTime } from '../../stores/metadata/jobs.ts';
import type { JobRow } from '../../stores/metadata/tables.ts';
import { splitTableId } from '../../domain/jobs/operations/table-place.ts';
import { mayUseBucket } from '../../domain/tokens/permissions.ts';
import { readTime } from '../../../storage/protocol/read-time.ts';
import { routesOf, type Route } from '../route.ts';
import { jobReply } from '../../domain/presenters/job.ts';

const route = routesOf('Jobs');

/** Milliseconds that a query for an unfinished job waits: small jobs are done by then, and clients don't ask again. */
const WAIT_MS = 500;

export function jobRoutes(context: Context): Route[] {
  const { meta } = context;
  return [
    route('GET', '/jobs', {
      isForRuns: true,
      summary: 'Jobs, the newest first: all for the master token, else those of the token',
      query: JobsQuery,
      response: Type.Array(Job),
      handle: async ({ query, caller, origin }) => {
        const jobs = await listJobs(meta, {
          creatorId: caller.isMaster ? undefined : caller.id,
          statuses: query.storage_job_status,
          excludedStatuses: query.excluded_storage_job_status,
          operations: query.operationName,
          tableId: query.tableId,
          times: timesOf(query, context.env.now()),
          limit: query.limit ?? 20,
          offset: query.offset ?? 0,
        });
        return jobs.map((job) => jobReply(job, origin));
      },
    }),
    route('GET', '/jobs/:job', {
      isForRuns: true,
      summary: 'A job; waits half a second for one that is not finished',
      response: Job,
      handle: async ({ params, caller, origin }) => {
        const job = /^\d{1,15}$/.test(params.job)
          ? await waitForJob(context, Number(params.job), WAIT_MS)
          : undefined;
        if (job?.queue !== 'storage') throw notFound(`Job ${params.job} not found`);
        if (!maySee(caller, job)) throw accessDenied();
        return jobReply(job, origin);
      },
    }),
  ];
}

function maySee(caller: Caller, job: JobRow): boolean {
  if (caller.isMaster || caller.id === job.creator_id) return true;
  return (
    job.table_id !== null && mayUseBucket(caller, job.branch_id, splitTableId(job.table_id).bucket, 'read')
  );
}

const TIMES: Readonly<Record<string, JobTime>> = { created: 'created', start: 'started', end: 'ended' };

/** Reads `created_time_from` and its like. A time without a range means the second that it names. */
function timesOf(query: Readonly<Record<string, unknown>>, now: number): NonNullable<JobFilter['times']> {
  return Object.entries(TIMES).flatMap(([name, column]) => {
    const at = moment(query, `${name}_time`, now);
    const from = moment(query, `${name}_time_from`, now) ?? at;
    const to = moment(query, `${name}_time_to`, now) ?? at;
    if (from === undefined && to === undefined) return [];
    return {
      column,
      ...(from === undefined ? {} : { from: from.toISOString() }),
      ...(to === undefined ? {} : { to: new Date(to.getTime() + 999).toISOString() }),
    };
  });
}

function moment(query: Readonly<Record<string, unknown>>, name: string, now: number): Date | undefined {
  const text = query[name];
  if (typeof text !== 'string' || text === '') return undefined;
  const time = readTime(text, now);
  if (time === undefined)
    throw invalidField('storage.validation', name, 'This value is not a valid datetime.');
  return time;
}
