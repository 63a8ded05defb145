import type { DataContext } from '../data-context.ts';
import type { Chore } from '../jobs/recurring-jobs.ts';
import { createLook } from './look.ts';
import { sendMessages, type MessageWays } from './send.ts';

/** Between two looks at what is wrong. */
const LOOK_MS = 15_000;

/** Makes what looks at alerts and sends their messages. */
export function createAlerter(context: DataContext, ways: MessageWays): Chore {
  const lookAtAlerts = createLook();
  return {
    name: 'alerts',
    everyMs: LOOK_MS,
    run: async (signal) => {
      try {
        const publicUrl = context.publicUrl ?? (context.origin() || undefined);
        await lookAtAlerts({ ...context, publicUrl });
        await sendMessages(context, ways, signal);
      } catch (error) {
        if (!signal.aborted) context.log.error('Alerts could not be looked at', { detail: String(error) });
      }
    },
  };
}
