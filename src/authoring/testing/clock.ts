import { systemEnv, type Env } from '../../lib/env.ts';
import type { FixtureSettings } from './fixture-settings.ts';

/** The world of a fixture: its own clock and randomness, and waiting that takes no time. */
export interface FixtureEnv extends Env {
  /** Moves a clock with several times on to the next; called when an answer was sent. */
  answered(): void;
}

/** Creates an environment in which waiting moves the clock instead of taking time. */
export function fixtureEnv({ clock, nonce }: FixtureSettings): FixtureEnv {
  const times = clock === undefined ? undefined : [clock].flat().map((text) => Date.parse(text));
  let answers = 0;
  let waitedMs = 0;
  return {
    now() {
      const at = times === undefined ? systemEnv.now() : (times[Math.min(answers, times.length - 1)] ?? 0);
      return at + waitedMs;
    },
    randomBytes(count) {
      if (nonce === undefined) return systemEnv.randomBytes(count);
      const pattern = Buffer.from(nonce, 'hex');
      return Uint8Array.from({ length: count }, (_, i) => pattern[i % pattern.length] ?? 0);
    },
    async sleep(waitMs, signal) {
      signal?.throwIfAborted();
      waitedMs += waitMs;
    },
    answered() {
      answers++;
    },
  };
}
