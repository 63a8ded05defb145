import type { Env } from '../../../lib/env.ts';
import type { Meta } from '../metadata/database.ts';
import { momentOf, type Moment } from '../metadata/timestamp.ts';
import { insertJob, type NewJob } from '../metadata/jobs.ts';
import type { JobRow, QueueName } from '../metadata/tables.ts';
import {
  askToEnd,
  endWaiting,
  finishJob,
  laneOf,
  listAbandoned,
  listHeld,
  listLeftBehind,
  reopenJob,
  renewLeases,
  requeueJob,
  takeJobs,
  type JobEnd,
  type Lease,
  type ReturnReason,
} from '../metadata/leases.ts';
import { paceOf, type Pace } from './pace.ts';
import { createRunQueue, type RunQueue } from './runs.ts';

/**
 * Work that waits, and turns of work. The rows of `jobs` are the truth about both: whether a job waits, is at work or
 * has ended, who has it, how often it was tried; and there is nothing beside them.
 *
 * Jobs of one lock key run one after another in the order of their numbers, others beside each other: the keys take turns,
 * however many jobs wait for one of them. A turn is a lease:
 * a worker that does not renew it is taken for dead, and the job is taken by another. Each turn has a higher fencing
 * number than the one before, and what comes from an earlier turn is turned away.
 */
export interface Queue {
  readonly pace: Pace;
  /** Runs of configurations, and their schedules. */
  readonly runs: RunQueue;
  /**
   * Puts work in, within the transaction that makes it: never one without the other. `wake` is to be called when it is
   * committed.
   */
  submit(tx: Meta, job: NewJob): Promise<JobRow>;
  /** There is work for workers of this process; those of others find it with their next look. */
  wake(queue: WorkKind): void;
  /** Listens for work that this process puts in or back, and for jobs of this process that are to end. @returns ends the listening */
  onNews(queue: WorkKind, listener: Listener): () => void;
  /** Listens for the end of a job that this process does; those of others are found with a look. @returns ends the listening */
  onEnd(id: number, listener: () => void): () => void;
  /** Says that a job of this process has ended, when that is committed. */
  tellEnd(id: number): void;
  /** Jobs that may run now, at most so many: each is the worker's until its lease is over. */
  take(queue: QueueName, holder: JobHolder, count: number): Promise<JobRow[]>;
  /** Says that the worker is alive. @returns of its jobs those that are still its own, and whether they are to end */
  renew(
    holder: JobHolder,
    jobs: readonly number[],
  ): Promise<Pick<JobRow, 'fencing' | 'id' | 'is_cancelled'>[]>;
  /** Ends a job in the transaction of what it changes. @returns whether the turn was not over */
  finish(tx: Meta, job: JobRow, end: JobEnd): Promise<boolean>;
  /** Puts a job back; after `retried` it waits the longer, the oftener. @returns whether the turn was not over */
  giveBack(job: JobRow, reason: ReturnReason): Promise<boolean>;
  /**
   * Lists jobs whose worker is gone. @param isAlone no other process can be at work: lists all jobs of earlier
   * processes
   */
  listAbandoned(queue: QueueName, isAlone: boolean): Promise<JobRow[]>;
  /**
   * Ends a job that waits, with that error (JSON); asks one at work to end.
   *
   * @returns what it was; undefined when it had ended
   */
  cancel(id: number, error: string): Promise<'processing' | 'waiting' | undefined>;
  /** Gives a job again that was given up. @returns undefined when it was not */
  retry(id: number): Promise<JobRow | undefined>;
}

/** Kind of work that listeners are notified of. */
export type WorkKind = QueueName | 'runs';

export type Listener = (news: 'cancelled' | 'work') => void;

/** A worker, and how long it counts as alive without a heartbeat. */
export interface JobHolder {
  readonly worker: string;
  readonly leaseMs: number;
}

/** How long a job waits that is tried again, for the first time and at most. */
const RETRY_MS = { first: 1000, most: 10_000 };

export function createQueue(meta: Meta, env: Env, pace = paceOf(meta)): Queue {
  const listeners = new Map<WorkKind, Set<Listener>>();
  const waiting = new Map<number, Set<() => void>>();
  /** The keys that were had last. */
  const lanes = new Map<QueueName, string>();

  return {
    pace,
    runs: createRunQueue(meta, env, wake),
    submit: async (tx, job) => await insertJob(tx, env, job),
    wake,
    onNews(queue, listener) {
      const all = listeners.get(queue) ?? new Set();
      listeners.set(queue, all.add(listener));
      return () => void all.delete(listener);
    },
    onEnd(id, listener) {
      const all = waiting.get(id) ?? new Set();
      waiting.set(id, all.add(listener));
      return () => {
        all.delete(listener);
        if (all.size === 0) waiting.delete(id);
      };
    },
    tellEnd,
    async take(queue, holder, count) {
      const after = lanes.get(queue) ?? '';
      const taken = await takeJobs(meta, { queue, count, after }, leaseOf(holder));
      if (taken.length < count && after !== '')
        taken.push(...(await takeJobs(meta, { queue, count: count - taken.length }, leaseOf(holder))));
      const last = taken.at(-1);
      // With fewer than asked for, each key has had its turn.
      lanes.set(queue, last === undefined || taken.length < count ? '' : laneOf(last));
      return taken;
    },
    async renew(holder, jobs) {
      const held = await listHeld(meta, holder.worker, jobs);
      const ids = held.map(({ id }) => id);
      await renewLeases(meta, leaseOf(holder), ids);
      return held;
    },
    finish: async (tx, job, end) => await finishJob(tx, job, end, clock(0)),
    async giveBack(job, reason) {
      const waitMs = Math.min(RETRY_MS.first * 2 ** job.retries, RETRY_MS.most);
      const isBack = await requeueJob(meta, job, reason, reason === 'retried' ? clock(waitMs) : null);
      if (isBack && reason !== 'retried') wake(job.queue);
      return isBack;
    },
    listAbandoned: async (queue, isAlone) =>
      isAlone ? await listLeftBehind(meta, queue) : await listAbandoned(meta, queue, clock(0)),
    async cancel(id, error) {
      // It may be taken, or be put back, between the two.
      for (let tries = 0; tries < 3; tries++) {
        if (await endWaiting(meta, id, error, clock(0))) {
          tellEnd(id);
          return 'waiting';
        }
        const asked = await askToEnd(meta, id);
        if (asked === undefined) continue;
        tell(asked.queue, 'cancelled');
        return 'processing';
      }
      return undefined;
    },
    async retry(id) {
      const job = await reopenJob(meta, id);
      if (job !== undefined) wake(job.queue);
      return job;
    },
  };

  function wake(queue: WorkKind): void {
    tell(queue, 'work');
  }

  function tell(queue: WorkKind, news: 'cancelled' | 'work'): void {
    for (const listener of listeners.get(queue) ?? []) listener(news);
  }

  function tellEnd(id: number): void {
    for (const listener of waiting.get(id) ?? []) listener();
  }

  function leaseOf({ worker, leaseMs }: JobHolder): Lease {
    return { worker, now: clock(0), until: clock(leaseMs) };
  }

  /** In the time that all processes have. */
  function clock(awayMs: number): Moment {
    return momentOf(meta, env.now(), awayMs);
  }
}
