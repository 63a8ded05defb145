import type { Env } from '../../../lib/env.ts';
import type { Meta } from '../metadata/database.ts';
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
} from '../metadata/run-leases.ts';
import type { RunRow } from '../metadata/tables.ts';
import type { Planned, RunDispatch, RunPace, TicketName } from './dispatch.ts';

/**
 * Runs that wait, and their turns: as for jobs, the rows are the truth, and the dispatch leads to them. Of a configuration
 * one run is at work, and the oldest that waits is the next; its end leads to the one behind it.
 */
export interface RunQueue {
  readonly pace: RunPace;
  /** Puts a run in, within the transaction that makes it; `queue.wake('runs')` is to be called when it is committed. */
  submit(tx: Meta, run: NewRun): Promise<RunRow>;
  /** The run to do next, taken by the runner. @param isSweep also one that nothing leads to any more */
  take(runner: string, isSweep: boolean): Promise<RunRow | undefined>;
  /** Puts a run back, for any runner. @returns whether it was the taker's */
  giveBack(run: HeldRun): Promise<boolean>;
  /** Puts a run back for a while. */
  putOff(run: HeldRun, options: Omit<PutOff, 'now'>): ReturnType<typeof putOffRun>;
  /** Ends a run. @returns whether it was the taker's */
  finish(run: HeldRun, end: RunEnd): Promise<boolean>;
  /** Ends one that waits, asks one at work to end. @returns false when it had ended */
  cancel(id: number): Promise<boolean>;
  /** The time by which schedules are due: one for all processes. */
  now(): Promise<number>;
  /** Within the transaction that sets the next time of a schedule: the schedules are looked at then. */
  plan(tx: Meta, schedule: Planned): Promise<void>;
  /** Whether somebody is to look at the schedules now; of several that ask one is told so. */
  takeLook(): Promise<boolean>;
  /** Plans what was not planned, or was planned too late. */
  planLost(): Promise<void>;
}

interface Options {
  readonly meta: Meta;
  readonly env: Env;
  readonly dispatch: RunDispatch;
  readonly wake: (name: TicketName) => void;
}

export function createRunQueue({ meta, env, dispatch, wake }: Options): RunQueue {
  const { tell } = dispatch;
  return {
    pace: dispatch.pace,
    async submit(tx, run) {
      const row = await insertRun(tx, env, run);
      await tell(tx, row);
      return row;
    },
    async take(runner, isSweep) {
      const led = await dispatch.take(runner);
      return led === undefined && isSweep ? await takeRun(meta, { runner, now: env.now() }) : led;
    },
    async giveBack(run) {
      const isBack = await requeueRun(meta, run, tell);
      if (isBack) wake('runs');
      return isBack;
    },
    putOff: async (run, options) => await putOffRun(meta, run, { ...options, now: env.now() }, tell),
    async finish(run, end) {
      const isMine = await finishRun(meta, run, end, env.now(), tell);
      if (isMine) wake('runs');
      return isMine;
    },
    async cancel(id) {
      const isAsked = await cancelRun(meta, id, env.now(), tell);
      if (isAsked) wake('runs');
      return isAsked;
    },
    now: async () => await dispatch.now(),
    plan: async (tx, schedule) => await dispatch.plan(tx, schedule),
    takeLook: async () => await dispatch.takeLook(),
    planLost: async () => await dispatch.planLost(),
  };
}
