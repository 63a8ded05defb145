import type { Context } from '../../context.ts';
import { embeddedQueue } from './embedded.ts';
import type { Queue } from './queue.ts';

/** A queue, and what it holds. */
export interface OpenedQueue {
  readonly queue: Queue;
  /** Whether workers of other processes take from it, too. */
  readonly isShared: boolean;
  /** Mends what nothing here leads to: in a database that was put together of several copies, or changed by hand. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

/** The queue of a service: over its folder for itself, or over PostgreSQL for all processes. */
export async function openQueue({
  meta,
  env,
  log,
  database,
}: Pick<Context, 'database' | 'env' | 'log' | 'meta'>): Promise<OpenedQueue> {
  if (database !== undefined) {
    // Loaded where it is needed only.
    const { openSharedQueue } = await import('./pg-boss.ts');
    return await openSharedQueue({ database, meta, env, log });
  }
  return { queue: embeddedQueue(meta, env), isShared: false, repair: nothing, close: nothing };
}

const nothing = (): Promise<void> => Promise.resolve();
