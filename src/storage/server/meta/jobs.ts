import { NO_METRICS } from '../shapes/job.ts';
import { isoTime } from '../time.ts';
import type { Env } from '../../../env.ts';
import { nextId } from './counter.ts';
import type { Meta } from './database.ts';
import type { Author, JobRow } from './tables.ts';

/** Writes down a job whose work the API did itself while the client waited. */
export async function recordFinishedJob(
  meta: Meta,
  env: Env,
  job: {
    branchId: number;
    operation: string;
    params: unknown;
    results: string;
    runId: string | null;
    author: Author;
  },
): Promise<JobRow> {
  const now = isoTime(env.now());
  const row: JobRow = {
    id: await nextId(meta),
    branch_id: job.branchId,
    operation: job.operation,
    status: 'success',
    table_id: null,
    lock_key: null,
    params: JSON.stringify(job.params),
    results: job.results,
    error: null,
    metrics: NO_METRICS,
    run_id: job.runId,
    ...job.author,
    created: now,
    started: now,
    ended: now,
    attempt: 1,
    lease_until: null,
    fencing: 0,
    worker: null,
  };
  await meta.insertInto('jobs').values(row).execute();
  return row;
}

export async function findJob(meta: Meta, id: number): Promise<JobRow | undefined> {
  return await meta.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
}
