import type { Env } from '../../../lib/env.ts';
import type { Meta } from '../metadata/database.ts';
import { postgresSchema } from '../metadata/dialect.ts';
import { databaseNow, momentOf } from '../metadata/timestamp.ts';
import { insertRun, type NewRun } from '../metadata/runs.ts';
import {
  cancelRun,
  finishRun,
  putOffRun,
  requeueRun,
  takeRun,
  type HeldRun,
  type PutOff,
  type RunEnd,
  type Taker,
} from '../metadata/run-leases.ts';
import { listDue } from '../metadata/schedules.ts';
import type { RunRow, ScheduleRow } from '../metadata/tables.ts';
import type { Transact } from '../metadata/transaction.ts';

/** Runs that wait, and their turns: as for jobs, the rows are all there is. Of a configuration one run is at work. */
export interface RunQueue {
  /** Puts a run in, within the transaction that makes it; `queue.wake('runs')` is to be called when it is committed. */
  submit(tx: Meta, run: NewRun): Promise<RunRow>;
  /** The run to do next, taken by the runner. */
  take(taker: Omit<Taker, 'now'>): Promise<RunRow | undefined>;
  /** Puts a run back, for any runner. @returns whether it was the taker's */
  giveBack(run: HeldRun): Promise<boolean>;
  /** Puts a run back for a while. */
  putOff(run: HeldRun, options: Omit<PutOff, 'now'>): ReturnType<typeof putOffRun>;
  /** Ends a run. @returns whether it was the taker's */
  finish(run: HeldRun, end: RunEnd): Promise<boolean>;
  /** Ends one that waits, asks one at work to end. @returns false when it had ended */
  cancel(transact: Transact, id: number): Promise<boolean>;
  /** Schedules whose time has come. */
  listDue(): Promise<ScheduleRow[]>;
  /** The time by which schedules are due: one for all processes. */
  now(): Promise<number>;
}

export function createRunQueue(meta: Meta, env: Env, wake: (name: 'runs') => void): RunQueue {
  const isShared = postgresSchema(meta) !== undefined;
  return {
    submit: async (tx, run) => await insertRun(tx, env, run),
    take: async (taker) => await takeRun(meta, { ...taker, now: env.now() }),
    async giveBack(run) {
      const isBack = await requeueRun(meta, run);
      if (isBack) wake('runs');
      return isBack;
    },
    putOff: async (run, options) => await putOffRun(meta, run, { ...options, now: env.now() }),
    async finish(run, end) {
      const isMine = await finishRun(meta, run, end, env.now());
      if (isMine) wake('runs');
      return isMine;
    },
    async cancel(transact, id) {
      const isAsked = await cancelRun(transact, id, env.now());
      if (isAsked) wake('runs');
      return isAsked;
    },
    listDue: async () => await listDue(meta, momentOf(meta, env.now(), 0)),
    now: async () => (isShared ? await databaseNow(meta) : env.now()),
  };
}
