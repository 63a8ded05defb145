import type { Meta } from '../metadata/database.ts';
import type { Clock } from '../metadata/timestamp.ts';
import type { TellRunners } from '../metadata/run-leases.ts';
import type { JobRow, QueueName, RunRow, ScheduleRow } from '../metadata/tables.ts';
import type { Lease, Reason } from '../metadata/leases.ts';

/** What there may be news of. */
export type TicketName = QueueName | 'runs' | 'schedules';

/** What says which job is next. All of it happens in the transactions that change the rows of the jobs. */
export interface Dispatch {
  readonly pace: Pace;
  /** Whose time leases are counted in. */
  readonly clock: Clock;
  add(tx: Meta, job: JobRow): Promise<void>;
  /** Jobs that may run now, at most so many, with their turn begun. */
  take(queue: QueueName, lease: Lease, count: number): Promise<JobRow[]>;
  end(tx: Meta, job: JobRow): Promise<void>;
  putBack(tx: Meta, job: JobRow, reason: Reason): Promise<void>;
  /** Does work, in a transaction, on those of the jobs that no other transaction has in its hands; it waits for none. */
  unlocked(
    meta: Meta,
    ids: readonly number[],
    work: (tx: Meta, ids: readonly number[]) => Promise<void>,
  ): Promise<void>;
  /** Calls `wake` whenever there is work, whoever asked for it. @returns ends that */
  watch(name: TicketName, wake: () => void): () => void;
  /** Mends what nothing here leads to: in a database that was put together of several copies, or changed by hand. */
  repair(): Promise<void>;
  readonly runs: RunDispatch;
}

/** What leads runners to runs and to schedules, in the transactions that change their rows. */
export interface RunDispatch {
  readonly pace: RunPace;
  readonly tell: TellRunners;
  /** The next run that something leads to, taken by the runner. */
  take(runner: string): Promise<RunRow | undefined>;
  /** Has somebody look at the schedules at the next time of this one. */
  plan(tx: Meta, schedule: Planned): Promise<void>;
  /** Whether it is time to look at the schedules; of several that ask one is told so. */
  takeLook(): Promise<boolean>;
  /** Plans what nobody has planned. */
  planLost(): Promise<void>;
  /** The time by which schedules are due. */
  now(): Promise<number>;
}

export type Planned = Pick<ScheduleRow, 'id' | 'next_occurrence'>;

export interface RunPace {
  /** How often runs are looked for that nothing leads to. */
  readonly pollMs: number;
  /** How often the schedules are looked at without being told. */
  readonly scheduleMs: number;
}

export interface Pace {
  /** Without a sign of life for that long, a worker is taken for dead. */
  readonly leaseMs: number;
  /** How often the queue is looked at without being told. */
  readonly pollMs: number;
  /** How often it is looked whether a worker is gone. */
  readonly checkMs: number;
  /** Taken up that often, a job that ends its process is given up. */
  readonly maxInterruptions: number;
  /** How often a job is tried again because what it needs is away; 0: who asked is told at once. */
  readonly maxRetries: number;
}
