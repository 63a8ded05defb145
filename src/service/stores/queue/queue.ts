import type { Env } from '../../../lib/env.ts';
import type { Meta } from '../metadata/database.ts';
import { insertJob, type NewJob } from '../metadata/jobs.ts';
import type { JobRow, QueueName } from '../metadata/tables.ts';
import { inTurn } from '../metadata/transaction.ts';
import {
  askToEnd,
  endWaiting,
  finishJob,
  listAbandoned,
  listHeld,
  listLeftBehind,
  reopenJob,
  renewLeases,
  requeueJob,
  type JobEnd,
  type Lease,
  type Reason,
} from '../metadata/leases.ts';
import type { Dispatch, Pace, TicketName } from './dispatch.ts';
import { createRunQueue, type RunQueue } from './runs.ts';

/**
 * Work that waits, and turns of work. The rows of `jobs` are the truth about both: whether a job waits, is at work or
 * has ended, who has it, how often it was tried. A dispatch says which of them a worker may take next.
 *
 * Jobs of one lock key run one after another in the order of their numbers, others beside each other. A turn is a lease:
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
  /** There is work for workers of this process; those of others are led to it. */
  wake(queue: TicketName): void;
  /** Listens for work, wherever it comes from, and for jobs of this process that are to end. @returns ends the listening */
  onNews(queue: TicketName, listener: Listener): () => void;
  /** Jobs that may run now, at most so many: each is the worker's until its lease is over. */
  take(queue: QueueName, holder: Holder, count: number): Promise<JobRow[]>;
  /** Says that the worker is alive. @returns of its jobs those that are still its own, and whether they are to end */
  renew(holder: Holder, jobs: readonly number[]): Promise<Pick<JobRow, 'fencing' | 'id' | 'is_cancelled'>[]>;
  /** Ends a job in the transaction of what it changes. @returns whether the turn was not over */
  finish(tx: Meta, job: JobRow, end: JobEnd): Promise<boolean>;
  /** Puts a job back; after `retried` it waits the longer, the oftener. @returns whether the turn was not over */
  giveBack(job: JobRow, reason: Reason): Promise<boolean>;
  /** Jobs whose worker is gone. @param isAlone nobody else can be at work: all that an earlier process had */
  listAbandoned(queue: QueueName, isAlone: boolean): Promise<JobRow[]>;
  /**
   * Ends a job that waits, with that error (JSON); asks one at work to end.
   *
   * @returns what it was; undefined when it had ended
   */
  cancel(id: number, error: string): Promise<'processing' | 'waiting' | undefined>;
  /** Gives a job again that was given up. @returns undefined when it was not */
  retry(id: number): Promise<JobRow | undefined>;
  /** Mends what nothing leads to: in a database that was put together of several copies, or changed by hand. */
  repair(): Promise<void>;
}

export type Listener = (news: 'cancelled' | 'work') => void;

/** A worker, and how long it is believed in without a sign of life. */
export interface Holder {
  readonly worker: string;
  readonly leaseMs: number;
}

/** Turns over the rows of `jobs`, in the order that the dispatch gives. */
export function createQueue(meta: Meta, env: Env, dispatch: Dispatch): Queue {
  const { clock } = dispatch;
  const listeners = new Map<TicketName, Set<Listener>>();
  const watches = new Map<TicketName, () => void>();

  return {
    pace: dispatch.pace,
    runs: createRunQueue({ meta, env, dispatch: dispatch.runs, wake }),
    repair: async () => await dispatch.repair(),
    async submit(tx, job) {
      const row = await insertJob(tx, env, job);
      await dispatch.add(tx, row);
      return row;
    },
    wake,
    onNews(queue, listener) {
      const all = listeners.get(queue) ?? new Set();
      listeners.set(queue, all.add(listener));
      if (!watches.has(queue))
        watches.set(
          queue,
          dispatch.watch(queue, () => wake(queue)),
        );
      return () => {
        all.delete(listener);
        if (all.size > 0) return;
        watches.get(queue)?.();
        watches.delete(queue);
      };
    },
    async take(queue, holder, count) {
      return await dispatch.take(queue, leaseOf(holder), count);
    },
    async renew(holder, jobs) {
      const held = await listHeld(meta, holder.worker, jobs);
      await dispatch.unlocked(
        meta,
        held.map(({ id }) => id),
        async (tx, ids) => await renewLeases(tx, leaseOf(holder), ids),
      );
      return held;
    },
    async finish(tx, job, end) {
      if (!(await finishJob(tx, job, end, clock(0)))) return false;
      await dispatch.end(tx, job);
      return true;
    },
    async giveBack(job, reason) {
      let isBack = false;
      await dispatch.unlocked(meta, [job.id], async (tx) => {
        isBack = await requeueJob(tx, job, reason);
        if (isBack) await dispatch.putBack(tx, job, reason);
      });
      if (isBack && reason !== 'retried') wake(job.queue);
      return isBack;
    },
    async listAbandoned(queue, isAlone) {
      return isAlone ? await listLeftBehind(meta, queue) : await listAbandoned(meta, queue, clock(0));
    },
    async cancel(id, error) {
      // It may be taken, or be put back, between the two.
      for (let tries = 0; tries < 3; tries++) {
        if (await endWaiting(meta, id, error, clock(0))) return 'waiting';
        const asked = await askToEnd(meta, id);
        if (asked === undefined) continue;
        tell(asked.queue, 'cancelled');
        return 'processing';
      }
      return undefined;
    },
    async retry(id) {
      const job = await inTurn(meta, [], async (tx) => {
        const row = await reopenJob(tx, id);
        if (row !== undefined) await dispatch.add(tx, row);
        return row;
      });
      if (job !== undefined) wake(job.queue);
      return job;
    },
  };

  function wake(queue: TicketName): void {
    tell(queue, 'work');
  }

  function tell(queue: TicketName, news: 'cancelled' | 'work'): void {
    for (const listener of listeners.get(queue) ?? []) listener(news);
  }

  function leaseOf({ worker, leaseMs }: Holder): Lease {
    return { worker, now: clock(0), until: clock(leaseMs) };
  }
}
