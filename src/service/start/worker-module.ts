import { upkeep } from '../domain/maintenance/retention.ts';
import type { DataContext } from '../domain/data-context.ts';
import { createNowAndThen } from '../domain/jobs/recurring-jobs.ts';
import { OPERATIONS } from '../domain/jobs/operations/all.ts';
import { createWorker } from '../domain/jobs/worker.ts';
import { GRACE_MS, type Part, type ServiceOptions } from './service-options.ts';

/** Days after which finished jobs, runs and events are deleted. */
const KEEP_DAYS = 90;

/** Milliseconds between two cleanups of expired data. */
const UPKEEP_MS = 10 * 60_000;

/** Milliseconds that a cleanup at work may take when the service stops. */
const UPKEEP_GRACE_MS = 1000;

/** Makes the part that does the storage jobs and removes expired data. */
export function dataWork(context: DataContext, options: ServiceOptions): Part {
  const { graceMs = GRACE_MS, keepDays = KEEP_DAYS, concurrency } = options;
  const worker = createWorker(() => context, {
    operations: OPERATIONS,
    ...(concurrency === undefined ? {} : { concurrency }),
  });
  const keeper =
    context.database !== undefined ? sharedKeeper(context, keepDays) : ownKeeper(context, keepDays);
  return {
    async start() {
      await worker.start();
      await keeper.start();
    },
    stop: async () => void (await Promise.all([worker.stop(graceMs), keeper.stop()])),
  };
}

interface Keeper {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes the cleanup that one of several processes does at a time. */
function sharedKeeper(context: DataContext, keepDays: number): Keeper {
  const run = async (signal: AbortSignal): Promise<void> => await keepUp(context, keepDays, signal);
  return createNowAndThen(() => context, [{ name: 'upkeep', everyMs: UPKEEP_MS, run }]);
}

function ownKeeper(context: DataContext, keepDays: number): Keeper {
  let timer: NodeJS.Timeout | undefined;
  let keeping: Promise<void> | undefined;
  const kept = new AbortController();
  const keepNext = (): void => {
    keeping ??= keepUp(context, keepDays, kept.signal).finally(() => {
      keeping = undefined;
    });
  };
  return {
    async start() {
      timer = setInterval(keepNext, UPKEEP_MS);
      keepNext();
    },
    async stop() {
      clearInterval(timer);
      // Without this time, a service with a short life would never finish the cleanup that begins at its start.
      const late = setTimeout(() => kept.abort(), UPKEEP_GRACE_MS);
      await keeping;
      clearTimeout(late);
    },
  };
}

async function keepUp(context: DataContext, keepDays: number, signal: AbortSignal): Promise<void> {
  try {
    await upkeep(context, { keepDays, signal });
  } catch (error) {
    context.log.error('Retention cleanup failed', { detail: String(error) });
  }
}
