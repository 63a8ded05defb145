import type { DataContext } from '../data-context.ts';
import { createNowAndThen, type Chore } from '../jobs/recurring-jobs.ts';
import { upkeep } from './retention.ts';

/** Days after which finished jobs, runs and events are deleted. */
const KEEP_DAYS = 90;

/** Milliseconds between two cleanups of expired data. */
const UPKEEP_MS = 10 * 60_000;

/** Milliseconds that work may take when the service stops. */
const GRACE_MS = 1000;

/** Makes the cleanup of expired data. */
export function createCleanup(context: DataContext, keepDays = KEEP_DAYS): Chore {
  return {
    name: 'upkeep',
    everyMs: UPKEEP_MS,
    run: async (signal) => {
      await upkeep(context, { keepDays, signal }).catch((error: unknown) =>
        context.log.error('Retention cleanup failed', { detail: String(error) }),
      );
    },
  };
}

/** Makes what does recurring jobs: one of several processes does each of them at a time. */
export function createKeeper(
  context: DataContext,
  chores: readonly Chore[],
): { start(): Promise<void>; stop(): Promise<void> } {
  if (context.database !== undefined) return createNowAndThen(() => context, chores);
  const timers: NodeJS.Timeout[] = [];
  const atWork = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const doNext = ({ name, run }: Chore): void => {
    if (atWork.has(name)) return;
    atWork.set(
      name,
      run(stopping.signal).finally(() => atWork.delete(name)),
    );
  };
  return {
    async start() {
      for (const chore of chores) {
        timers.push(setInterval(() => doNext(chore), chore.everyMs));
        doNext(chore);
      }
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      // Without this time, a service with a short life would never finish the cleanup that begins at its start.
      const late = setTimeout(() => stopping.abort(), GRACE_MS);
      await Promise.all(atWork.values());
      clearTimeout(late);
    },
  };
}
