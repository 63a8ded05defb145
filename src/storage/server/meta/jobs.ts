import { currentRequestId } from '../care/correlation.ts';
import { brief } from '../shapes/brief.ts';
import { NO_METRICS } from '../shapes/job.ts';
import { isoTime } from '../shapes/time.ts';
import type { Env } from '../../../env.ts';
import { nextId } from './counter.ts';
import type { Meta } from './database.ts';
import { madeByRequest } from './claims.ts';
import type { Author, JobRow, JobStatus } from './tables.ts';

/** Work that is asked for. */
export interface NewJob {
  readonly branchId: number;
  readonly operation: string;
  /** JSON: all that the work needs, and what the API shows of it. */
  readonly params: unknown;
  readonly tableId?: string;
  /** Jobs with the same key run one after another, in the order they were asked for. */
  readonly lockKey?: string;
  readonly runId: string | null;
  readonly author: Author;
}

/** Writes down a job that waits for a worker. */
export async function insertJob(meta: Meta, env: Env, job: NewJob): Promise<JobRow> {
  return await meta.transaction().execute(async (tx) => {
    // Number and row in one transaction: the order of the numbers is the order of the work.
    const row: JobRow = {
      id: await nextId(tx),
      branch_id: job.branchId,
      operation: job.operation,
      status: 'waiting',
      table_id: job.tableId ?? null,
      lock_key: job.lockKey ?? null,
      params: JSON.stringify(job.params),
      results: null,
      error: null,
      metrics: NO_METRICS,
      run_id: job.runId,
      request_id: currentRequestId(),
      ...job.author,
      created: isoTime(env.now()),
      started: null,
      ended: null,
      attempt: 0,
      lease_until: null,
      fencing: 0,
      worker: null,
    };
    await tx.insertInto('jobs').values(row).execute();
    madeByRequest({ jobId: row.id });
    return row;
  });
}

export interface JobFilter {
  /** Only those of this token. */
  readonly creatorId?: number | undefined;
  readonly statuses?: readonly string[] | undefined;
  readonly excludedStatuses?: readonly string[] | undefined;
  /** ISO times by column, each from and to, both included. */
  readonly times?: readonly { readonly column: JobTime; readonly from?: string; readonly to?: string }[];
  readonly limit: number;
  readonly offset: number;
}

export type JobTime = 'created' | 'ended' | 'started';

/** Jobs, the newest first; long parameters and results are shortened. */
export async function listJobs(meta: Meta, filter: JobFilter): Promise<JobRow[]> {
  let query = meta.selectFrom('jobs').select('id');
  if (filter.creatorId !== undefined) query = query.where('creator_id', '=', filter.creatorId);
  if (filter.statuses !== undefined) query = query.where('status', 'in', filter.statuses as JobStatus[]);
  if (filter.excludedStatuses !== undefined)
    query = query.where('status', 'not in', filter.excludedStatuses as JobStatus[]);
  for (const { column, from, to } of filter.times ?? []) {
    if (from !== undefined) query = query.where(column, '>=', from);
    if (to !== undefined) query = query.where(column, '<=', to);
  }
  const found = await query.orderBy('id', 'desc').limit(filter.limit).offset(filter.offset).execute();
  const jobs: JobRow[] = [];
  // One by one: all of them in full may be more than there is memory.
  for (const { id } of found) {
    const job = await findJob(meta, id);
    if (job === undefined) continue;
    jobs.push({
      ...job,
      params: brief(job.params),
      results: job.results === null ? null : brief(job.results),
    });
  }
  return jobs;
}

/** Who holds a job and until when, unless it says so again. */
export interface Lease {
  readonly worker: string;
  readonly now: number;
  readonly until: number;
}

/** The oldest job that may run now, taken: none before it with the same lock key is unfinished. */
export async function takeJob(meta: Meta, lease: Lease): Promise<JobRow | undefined> {
  return await meta.transaction().execute(async (tx) => {
    const next = await tx
      .selectFrom('jobs as j')
      .select('j.id')
      .where('j.status', '=', 'waiting')
      .where((build) =>
        build.or([
          build('j.lock_key', 'is', null),
          build.not(
            build.exists(
              build
                .selectFrom('jobs as o')
                .select('o.id')
                .whereRef('o.lock_key', '=', 'j.lock_key')
                .whereRef('o.id', '<', 'j.id')
                .where('o.status', 'in', ['waiting', 'processing']),
            ),
          ),
        ]),
      )
      .orderBy('j.id')
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return undefined;
    return await tx
      .updateTable('jobs')
      .set((update) => ({
        status: 'processing' as const,
        started: isoTime(lease.now),
        worker: lease.worker,
        lease_until: isoTime(lease.until),
        attempt: update('attempt', '+', 1),
        fencing: update('fencing', '+', 1),
      }))
      .where('id', '=', next.id)
      .returningAll()
      .executeTakeFirst();
  });
}

/** Says that the worker is alive and at work on these jobs. */
export async function renewLeases(meta: Meta, lease: Lease, jobs: readonly number[]): Promise<void> {
  if (jobs.length === 0) return;
  await meta
    .updateTable('jobs')
    .set({ lease_until: isoTime(lease.until) })
    .where('status', '=', 'processing')
    .where('worker', '=', lease.worker)
    .where('id', 'in', jobs)
    .execute();
}

/** What became of a job. */
export interface JobEnd {
  readonly status: 'error' | 'success';
  readonly results: string | null;
  readonly error: string | null;
  readonly metrics: string;
}

/** @returns whether it was still the taker's; what comes back late is turned away */
export async function finishJob(
  meta: Meta,
  job: Pick<JobRow, 'fencing' | 'id' | 'params'>,
  end: JobEnd,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await meta
    .updateTable('jobs')
    // What the work needed is not needed any more, and would be kept for as long as the job is.
    .set({ ...end, params: brief(job.params), ended: isoTime(now), lease_until: null })
    .where((where) => where.and({ id: job.id, fencing: job.fencing, status: 'processing' }))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Jobs whose worker is gone: its lease is over, or it was one of an earlier start of a folder held alone. */
export async function listAbandoned(
  meta: Meta,
  { now, isAlone }: { now: number; isAlone: boolean },
): Promise<JobRow[]> {
  const processing = meta.selectFrom('jobs').selectAll().where('status', '=', 'processing');
  return await (isAlone ? processing : processing.where('lease_until', '<', isoTime(now))).execute();
}

/** Puts a job back in its place in the queue. The fencing number goes up, so its late worker is turned away. */
export async function requeueJob(meta: Meta, job: Pick<JobRow, 'fencing' | 'id'>): Promise<void> {
  await meta
    .updateTable('jobs')
    .set({ status: 'waiting', worker: null, lease_until: null, fencing: job.fencing + 1 })
    .where((where) => where.and({ id: job.id, fencing: job.fencing, status: 'processing' }))
    .execute();
}

/** Writes down a job whose work the API did itself while the client waited. */
export async function recordFinishedJob(
  meta: Meta,
  env: Env,
  job: {
    branchId: number;
    operation: string;
    params: unknown;
    tableId?: string;
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
    table_id: job.tableId ?? null,
    lock_key: null,
    params: brief(JSON.stringify(job.params)),
    results: job.results,
    error: null,
    metrics: NO_METRICS,
    run_id: job.runId,
    request_id: currentRequestId(),
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
