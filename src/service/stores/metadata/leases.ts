import { brief } from '../../../lib/json/truncate-json.ts';
import type { Meta } from './database.ts';
import type { Moment } from './timestamp.ts';
import type { JobRow, QueueName } from './tables.ts';
import { inTurn } from './transaction.ts';

/** Who holds a job and until when, unless it says so again. */
export interface Lease {
  readonly worker: string;
  readonly now: Moment;
  readonly until: Moment;
}

/** A turn of a job: what any later one makes invalid. */
export type Turn = Pick<JobRow, 'fencing' | 'id'>;

/** The oldest job that may run now, taken: none before it with the same lock key is unfinished. For SQLite alone. */
export async function takeJob(meta: Meta, queue: QueueName, lease: Lease): Promise<JobRow | undefined> {
  return await inTurn(meta, [], async (tx) => {
    const next = await tx
      .selectFrom('jobs as j')
      .select('j.id')
      .where('j.status', '=', 'waiting')
      .where('j.queue', '=', queue)
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
    return next === undefined ? undefined : await startTurn(tx, next.id, lease, null);
  });
}

/** @param ticket what the queue knows the turn by */
export async function startTurn(
  tx: Meta,
  id: number,
  lease: Lease,
  ticket: string | null,
): Promise<JobRow | undefined> {
  return await tx
    .updateTable('jobs')
    .set((update) => ({
      status: 'processing' as const,
      started: lease.now,
      worker: lease.worker,
      lease_until: lease.until,
      ticket,
      attempt: update('attempt', '+', 1),
      fencing: update('fencing', '+', 1),
    }))
    .where((where) => where.and({ id, status: 'waiting' }))
    .returningAll()
    .executeTakeFirst();
}

/** Says that the worker is alive and at work on these jobs. */
export async function renewLeases(
  meta: Meta,
  lease: Pick<Lease, 'until' | 'worker'>,
  jobs: readonly number[],
): Promise<void> {
  if (jobs.length === 0) return;
  await meta
    .updateTable('jobs')
    .set({ lease_until: lease.until })
    .where('status', '=', 'processing')
    .where('worker', '=', lease.worker)
    .where('id', 'in', jobs)
    .execute();
}

/** Of these jobs those that are still the worker's, and whether they are to end. */
export async function listHeld(
  meta: Meta,
  worker: string,
  jobs: readonly number[],
): Promise<Pick<JobRow, 'fencing' | 'id' | 'is_cancelled'>[]> {
  if (jobs.length === 0) return [];
  return await meta
    .selectFrom('jobs')
    .select(['id', 'fencing', 'is_cancelled'])
    .where('status', '=', 'processing')
    .where('worker', '=', worker)
    .where('id', 'in', jobs)
    .execute();
}

/** What became of a job. */
export interface JobEnd {
  readonly status: 'error' | 'success';
  readonly results: string | null;
  readonly error: string | null;
  readonly metrics: string;
  /** It may be given again; default: false. */
  readonly isGivenUp?: boolean;
}

/** @returns whether it was still the taker's; what comes back late is turned away */
export async function finishJob(
  meta: Meta,
  job: Pick<JobRow, 'fencing' | 'id' | 'params'>,
  end: JobEnd,
  now: Moment,
): Promise<boolean> {
  const { isGivenUp = false, ...ended } = end;
  const { numUpdatedRows } = await meta
    .updateTable('jobs')
    .set({
      ...ended,
      // What the work needed is not needed any more, and would be kept for as long as the job is.
      ...(isGivenUp ? {} : { params: brief(job.params) }),
      is_given_up: isGivenUp ? 1 : 0,
      ended: now,
      lease_until: null,
      ticket: null,
    })
    .where((where) => where.and({ id: job.id, fencing: job.fencing, status: 'processing' }))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Jobs whose worker is gone: its lease is over. */
export async function listAbandoned(meta: Meta, queue: QueueName, now: Moment): Promise<JobRow[]> {
  return await listProcessing(meta, queue).where('lease_until', '<', now).execute();
}

/** Jobs of an earlier start of a folder held alone. */
export async function listLeftBehind(meta: Meta, queue: QueueName): Promise<JobRow[]> {
  return await listProcessing(meta, queue).execute();
}

function listProcessing(meta: Meta, queue: QueueName) {
  return meta.selectFrom('jobs').selectAll().where('status', '=', 'processing').where('queue', '=', queue);
}

/** Why a turn ended without an end of the job. */
export type Reason =
  /** Its worker is gone. */
  | 'interrupted'
  /** Its worker stops, and that is nothing against the job. */
  | 'handedOn'
  /** What it needed was away. */
  | 'retried';

/**
 * Puts a job back in its place in the queue. The fencing number goes up, so its late worker is turned away.
 *
 * @returns whether it still was what was meant
 */
export async function requeueJob(meta: Meta, { id, fencing }: Turn, reason: Reason): Promise<boolean> {
  const { numUpdatedRows } = await meta
    .updateTable('jobs')
    .set((update) => ({
      status: 'waiting' as const,
      worker: null,
      lease_until: null,
      ticket: null,
      fencing: fencing + 1,
      ...(reason === 'handedOn' ? { attempt: update('attempt', '-', 1) } : {}),
      ...(reason === 'retried' ? { retries: update('retries', '+', 1) } : {}),
    }))
    .where((where) => where.and({ id, fencing, status: 'processing' }))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends a job that waits. @returns whether it did */
export async function endWaiting(meta: Meta, id: number, error: string, now: Moment): Promise<boolean> {
  const { numUpdatedRows } = await meta
    .updateTable('jobs')
    .set((update) => ({
      status: 'error' as const,
      is_cancelled: 1 as const,
      error,
      ended: now,
      fencing: update('fencing', '+', 1),
    }))
    .where((where) => where.and({ id, status: 'waiting' }))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Asks a job that is at work to end. @returns undefined when it is not */
export async function askToEnd(meta: Meta, id: number): Promise<Pick<JobRow, 'queue'> | undefined> {
  return await meta
    .updateTable('jobs')
    .set({ is_cancelled: 1 })
    .where((where) => where.and({ id, status: 'processing' }))
    .returning('queue')
    .executeTakeFirst();
}

/** A job that was given up waits again, as if it had not been tried. */
export async function reopenJob(meta: Meta, id: number): Promise<JobRow | undefined> {
  return await meta
    .updateTable('jobs')
    .set((update) => ({
      status: 'waiting' as const,
      is_given_up: 0 as const,
      is_cancelled: 0 as const,
      results: null,
      error: null,
      started: null,
      ended: null,
      attempt: 0,
      retries: 0,
      fencing: update('fencing', '+', 1),
    }))
    .where((where) => where.and({ id, status: 'error', is_given_up: 1 }))
    .returningAll()
    .executeTakeFirst();
}

/** Whether that turn of a job is not over. */
export async function isHeld(meta: Meta, { id, fencing }: Turn): Promise<boolean> {
  const found = await meta
    .selectFrom('jobs')
    .select('id')
    .where((where) => where.and({ id, fencing, status: 'processing' }))
    .executeTakeFirst();
  return found !== undefined;
}
