import { createNowAndThen } from '../jobs/recurring-jobs.ts';
import type { DataContext } from '../data-context.ts';
import { lookAtAlerts } from './look.ts';
import { sendMessages, type MessageReach } from './send.ts';

/** Between two looks at what is wrong. */
const LOOK_MS = 15_000;

/** Makes what looks at alerts and sends their messages; one of several processes does it at a time. */
export function createAlerter(
  context: DataContext,
  {
    reach,
    lookMs = LOOK_MS,
  }: { readonly reach: MessageReach | undefined; readonly lookMs?: number | undefined },
): { start(): Promise<void>; stop(): Promise<void> } {
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      const publicUrl = context.publicUrl ?? (context.origin() || undefined);
      await lookAtAlerts({ ...context, publicUrl });
      await sendMessages(context, reach, signal);
    } catch (error) {
      if (!signal.aborted) context.log.error('Alerts could not be looked at', { detail: String(error) });
    }
  };
  if (context.database !== undefined)
    return createNowAndThen(
      () => context,
      [{ name: 'alerts', everyMs: lookMs, run }],
      Math.min(lookMs, 10_000),
    );
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  const stopping = new AbortController();
  const look = (): void => {
    looking ??= run(stopping.signal).finally(() => {
      looking = undefined;
    });
  };
  return {
    async start() {
      timer = setInterval(look, lookMs);
      look();
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await looking;
    },
  };
}
