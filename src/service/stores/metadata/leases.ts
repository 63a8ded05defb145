import { brief } from '../../../lib/json/truncate-json.ts';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';
import { isTaken } from './is-taken.ts';
import type { Moment } from './timestamp.ts';
import type { JobRow, QueueName } from './tables.ts';

/** Worker that holds a job, and the time until which it does unless it extends the lease. */
export interface Lease {
  readonly worker: string;
  readonly now: Moment;
  readonly until: Moment;
}

/**
 * A turn of a job: what any later one makes invalid. A standby that takes over may have missed a turn, and give its number
 * again to another worker: so the worker counts as well.
 */
export type Turn = Pick<JobRow, 'fencing' | 'id' | 'worker'>;

const held = ({ id, fencing, worker }: Turn) => ({ id, fencing, worker, status: 'processing' as const });

/** Selection of jobs to claim. */
export interface Taking {
  readonly queue: QueueName;
  /** At most so many. */
  readonly count: number;
  /** Only of keys behind this one; default: of all. */
  readonly after?: string;
}

/**
 * Takes jobs that may run now, one of each key, in the order of the keys: of a key the one that is at work, or else the
 * oldest, is all that is looked at, by one look into the index for each. So it matters how many keys are busy, and not how
 * many jobs wait. In PostgreSQL, what another transaction has in its hands is left to that.
 */
export async function takeJobs(
  meta: Meta,
  { queue, count, after = '' }: Taking,
  lease: Lease,
): Promise<JobRow[]> {
  const taken = await meta
    .withRecursive('lanes(lock_key)', (cte) =>
      cte
        .selectFrom('jobs as j')
        .select(({ fn }) => fn.min('j.lock_key').as('lock_key'))
        .where('j.queue', '=', queue)
        .where('j.ended', 'is', null)
        .where('j.lock_key', '>', after)
        .unionAll(
          cte
            .selectFrom('lanes')
            .select((build) =>
              build
                .selectFrom('jobs as j')
                .select(({ fn }) => fn.min('j.lock_key').as('lock_key'))
                .where('j.queue', '=', queue)
                .where('j.ended', 'is', null)
                .whereRef('j.lock_key', '>', 'lanes.lock_key')
                .as('lock_key'),
            )
            .where('lanes.lock_key', 'is not', null),
        ),
    )
    .with('heads', (cte) =>
      cte.selectFrom('lanes').select((build) =>
        build
          .selectFrom('jobs as j')
          .select((job) =>
            job
              .case()
              .when(
                job.and([
                  job('j.status', '=', 'waiting'),
                  job.or([job('j.not_before', 'is', null), job('j.not_before', '<=', lease.now)]),
                ]),
              )
              .then(job.ref('j.id'))
              .end()
              .as('id'),
          )
          .where('j.queue', '=', queue)
          .where('j.ended', 'is', null)
          .whereRef('j.lock_key', '=', 'lanes.lock_key')
          // `processing` comes before `waiting`.
          .orderBy('j.status')
          .orderBy('j.id')
          .limit(1)
          .as('id'),
      ),
    )
    .with('ready', (cte) =>
      cte
        .selectFrom('heads')
        .select('heads.id')
        .where('heads.id', 'is not', null)
        // So few that also a planner without figures asks for each.
        .limit(count + SPARE),
    )
    .with('next', (cte) =>
      cte
        .selectFrom('ready')
        .innerJoin('jobs as j', 'j.id', 'ready.id')
        .select('j.id')
        // With `=` it might make a list of all that wait.
        .where('j.status', 'is not distinct from', 'waiting')
        .limit(count)
        .$if(isShared(meta), (rows) => rows.forUpdate().skipLocked()),
    )
    .updateTable('jobs')
    .set((update) => ({
      status: 'processing' as const,
      started: lease.now,
      worker: lease.worker,
      lease_until: lease.until,
      attempt: update('attempt', '+', 1),
      fencing: update('fencing', '+', 1),
    }))
    .where('status', '=', 'waiting')
    .where('id', 'in', (build) => build.selectFrom('next').select('next.id'))
    .returningAll()
    .execute()
    .catch((error: unknown) => {
      // One of the key was given again, and taken, at the same moment.
      if (isTaken(error)) return [];
      throw error;
    });
  return taken.toSorted((a, b) => (laneOf(a) < laneOf(b) ? -1 : 1));
}

/** Jobs in place of those that another process is just taking. */
const SPARE = 16;

/** Returns the lock key by which a job is ordered; empty for a job without one. */
export const laneOf = ({ lock_key }: JobRow): string => lock_key ?? '';

/** Tells whether a service can have several processes, and so transactions at the same time. */
const isShared = (meta: Meta): boolean => postgresSchema(meta) !== undefined;

/** Selects the jobs that no other transaction has locked, without waiting for one. */
const unlocked = (meta: Meta, ids: readonly number[]) =>
  meta
    .selectFrom('jobs')
    .select('id')
    .where('id', 'in', ids)
    .$if(isShared(meta), (jobs) => jobs.orderBy('id').forUpdate().skipLocked());

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
    .where('id', 'in', unlocked(meta, jobs))
    .execute();
}

/** Returns those of the jobs that the worker still holds, and whether each is to end. */
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

/** Result of a job. */
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
  job: Pick<JobRow, 'params'> & Turn,
  end: JobEnd,
  now: Moment,
): Promise<boolean> {
  const { isGivenUp = false, ...ended } = end;
  const { numUpdatedRows } = await meta
    .updateTable('jobs')
    .set({
      ...ended,
      // The parameters aren't needed any more, and would otherwise be stored for as long as the job is.
      ...(isGivenUp ? {} : { params: brief(job.params) }),
      is_given_up: isGivenUp ? 1 : 0,
      ended: now,
      lease_until: null,
    })
    .where((where) => where.and(held(job)))
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
export type ReturnReason =
  /** Its worker is gone. */
  | 'interrupted'
  /** Its worker stops, and that is nothing against the job. */
  | 'handedOn'
  /** A resource that it needed was unavailable. */
  | 'retried';

/**
 * Puts a job back in its place in the queue. The fencing number goes up, so its late worker is turned away.
 *
 * @param notBefore until when neither it nor a job behind it is claimed; null: for no time
 * @returns whether it still was what was meant, and is not just being ended
 */
export async function requeueJob(
  meta: Meta,
  turn: Turn,
  reason: ReturnReason,
  notBefore: Moment | null = null,
): Promise<boolean> {
  const { numUpdatedRows } = await meta
    .updateTable('jobs')
    .set((update) => ({
      status: 'waiting' as const,
      worker: null,
      lease_until: null,
      not_before: notBefore,
      fencing: turn.fencing + 1,
      ...(reason === 'handedOn' ? { attempt: update('attempt', '-', 1) } : {}),
      ...(reason === 'retried' ? { retries: update('retries', '+', 1) } : {}),
    }))
    .where((where) => where.and(held(turn)))
    .where('id', 'in', unlocked(meta, [turn.id]))
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
      not_before: null,
      attempt: 0,
      retries: 0,
      fencing: update('fencing', '+', 1),
    }))
    .where((where) => where.and({ id, status: 'error', is_given_up: 1 }))
    .returningAll()
    .executeTakeFirst();
}

/** Tells whether that lease of a job is still valid. */
export async function isHeld(meta: Meta, turn: Turn): Promise<boolean> {
  const found = await meta
    .selectFrom('jobs')
    .select('id')
    .where((where) => where.and(held(turn)))
    .executeTakeFirst();
  return found !== undefined;
}
