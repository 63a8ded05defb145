import type { DataContext } from '../data-context.ts';
import { createNowAndThen } from '../jobs/recurring-jobs.ts';
import { upkeep } from './retention.ts';

/** Days after which finished jobs, runs and events are deleted. */
const KEEP_DAYS = 90;

/** Milliseconds between two cleanups of expired data. */
const UPKEEP_MS = 10 * 60_000;

/** Milliseconds that a cleanup at work may take when the service stops. */
const UPKEEP_GRACE_MS = 1000;

/** Makes the cleanup of expired data, which one of several processes does at a time. */
export function createKeeper(
  context: DataContext,
  keepDays = KEEP_DAYS,
): { start(): Promise<void>; stop(): Promise<void> } {
  const run = async (signal: AbortSignal): Promise<void> => {
    await upkeep(context, { keepDays, signal }).catch((error: unknown) =>
      context.log.error('Retention cleanup failed', { detail: String(error) }),
    );
  };
  if (context.database !== undefined)
    return createNowAndThen(() => context, [{ name: 'upkeep', everyMs: UPKEEP_MS, run }]);
  let timer: NodeJS.Timeout | undefined;
  let keeping: Promise<void> | undefined;
  const kept = new AbortController();
  const keepNext = (): void => {
    keeping ??= run(kept.signal).finally(() => {
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
