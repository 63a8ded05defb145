import type { Env } from '../../../lib/env.ts';
import type { Meta } from '../metadata/database.ts';
import { ownClock } from '../metadata/timestamp.ts';
import { takeRun } from '../metadata/run-leases.ts';
import type { JobRow } from '../metadata/tables.ts';
import { takeJob } from '../metadata/leases.ts';
import type { Dispatch } from './dispatch.ts';
import { createQueue, type Queue } from './queue.ts';

/** The queue of a service in one process over one folder: the rows of the jobs are all there is. */
export function embeddedQueue(meta: Meta, env: Env): Queue {
  return createQueue(meta, env, embeddedDispatch(meta, env));
}

function embeddedDispatch(meta: Meta, env: Env): Dispatch {
  return {
    // The person who asked is there, and is told at once of what is in the way.
    pace: { leaseMs: 30_000, pollMs: 2000, checkMs: 2000, maxInterruptions: 3, maxRetries: 0 },
    clock: ownClock(env),
    add: async () => undefined,
    async take(queue, lease, count) {
      const taken: JobRow[] = [];
      while (taken.length < count) {
        const job = await takeJob(meta, queue, lease);
        if (job === undefined) break;
        taken.push(job);
      }
      return taken;
    },
    end: async () => undefined,
    putBack: async () => undefined,
    unlocked: async (meta, ids, work) => await work(meta, ids),
    // There is no other process.
    watch: () => () => undefined,
    repair: async () => undefined,
    runs: {
      pace: { pollMs: 1000, scheduleMs: 1000 },
      tell: async () => undefined,
      take: async (runner) => await takeRun(meta, { runner, now: env.now() }),
      plan: async () => undefined,
      takeLook: async () => await Promise.resolve(false),
      planLost: async () => undefined,
      now: async () => await Promise.resolve(env.now()),
    },
  };
}
