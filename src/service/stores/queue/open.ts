import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Meta } from '../metadata/database.ts';
import { embeddedQueue } from './embedded.ts';
import type { Queue } from './queue.ts';

/** A queue, and what it holds. */
export interface OpenedQueue {
  readonly queue: Queue;
  close(): Promise<void>;
}

/** The queue of a service: over its folder for itself, or over PostgreSQL for all processes. */
export async function openQueue({
  meta,
  env,
  log,
  database,
}: {
  readonly meta: Meta;
  readonly env: Env;
  readonly log: Log;
  readonly database?: Database | undefined;
}): Promise<OpenedQueue> {
  if (database !== undefined) {
    // Loaded where it is needed only.
    const { openSharedQueue } = await import('./pg-boss.ts');
    return await openSharedQueue({ database, meta, env, log });
  }
  return { queue: embeddedQueue(meta, env), close: async () => undefined };
}
