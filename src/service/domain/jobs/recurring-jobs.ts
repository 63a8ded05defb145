import { logOnChange } from '../../platform/health/log-on-change.ts';
import type { DataContext } from '../data-context.ts';
import { isDue } from '../../stores/metadata/due.ts';
import { databaseNow } from '../../stores/metadata/timestamp.ts';
import { withLocks, jobsOf } from '../../stores/metadata/transaction.ts';
import type { Operation } from './operations/operation.ts';
import { createWorker } from './worker.ts';

/** Recurring job, done by one of all processes. */
export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** Does the work. It ends when the signal is aborted; the rest is for the next time. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Runs recurring jobs through the queue that processes share: each is enqueued by the first process that sees it due,
 * claimed by one, and released when that one dies. A job still at work is not enqueued again.
 *
 * @param lookMs milliseconds between two checks for due jobs, in each process
 */
export function createNowAndThen(
  context: () => DataContext,
  chores: readonly Chore[],
  lookMs = 10_000,
): { start(): Promise<void>; stop(): Promise<void> } {
  const operations = Object.fromEntries(chores.map((chore) => [chore.name, operationOf(chore)]));
  const worker = createWorker(context, {
    queue: 'upkeep',
    operations,
    // One that takes long holds up no other.
    concurrency: chores.length,
    pollMs: 2000,
  });
  const telling = logOnChange(() => context().log, 'Recurring jobs unavailable');
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  return {
    async start() {
      await worker.start();
      timer = setInterval(look, lookMs);
      look();
    },
    async stop() {
      clearInterval(timer);
      await looking;
      // It can be ended at any point, and another process continues.
      await worker.stop(0);
    },
  };

  function look(): void {
    looking ??= telling(askForAll()).finally(() => {
      looking = undefined;
    });
  }

  async function askForAll(): Promise<void> {
    const { meta, queue } = context();
    for (const { name, everyMs } of chores) {
      if (!(await isDue(meta, `upkeep ${name}`, await databaseNow(meta), everyMs))) continue;
      const lockKey = `upkeep ${name}`;
      const atWork = meta
        .selectFrom('jobs')
        .select('id')
        .where('queue', '=', 'upkeep')
        .where('lock_key', '=', lockKey)
        .where('ended', 'is', null)
        .limit(1);
      if ((await atWork.executeTakeFirst()) !== undefined) continue;
      const job = {
        queue: 'upkeep',
        branchId: 0,
        operation: name,
        params: {},
        lockKey,
        runId: null,
      } as const;
      await withLocks(
        meta,
        jobsOf(lockKey),
        async (tx) => await queue.submit(tx, { ...job, author: { creator_id: 0, creator_description: '' } }),
      );
      queue.wake('upkeep');
    }
  }
}

function operationOf({ run }: Chore): Operation {
  return async ({ id, operation }, _context, signal) => {
    await run(signal);
    signal.throwIfAborted();
    return {
      results: null,
      things: [],
      // Only the last one is of interest.
      commit: async (tx) =>
        void (await tx
          .deleteFrom('jobs')
          .where('table_id', 'is', null)
          .where('operation', '=', operation)
          .where('id', '<', id)
          .where('queue', '=', 'upkeep')
          .where('ended', 'is not', null)
          .execute()),
    };
  };
}
