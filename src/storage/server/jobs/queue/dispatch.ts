import type { Meta } from '../../meta/database.ts';
import type { Clock } from '../../meta/moment.ts';
import type { JobRow, QueueName } from '../../meta/tables.ts';
import type { Lease, Reason } from '../../meta/turns.ts';

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
