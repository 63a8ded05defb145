import type { Env } from '../../lib/env.ts';

/** A request waits before it is sent: for its turn by a limit of the configuration, or to be tried again. */
export interface WaitEvent {
  readonly why: 'pace' | 'retry';
  readonly ms: number;
}

/** Returns an environment that reports every wait. */
export function tellingWaits(
  env: Env,
  why: WaitEvent['why'],
  tell: ((event: WaitEvent) => void) | undefined,
): Env {
  if (tell === undefined) return env;
  return {
    now: () => env.now(),
    randomBytes: (count) => env.randomBytes(count),
    async sleep(ms, signal) {
      tell({ why, ms });
      await env.sleep(ms, signal);
    },
  };
}
