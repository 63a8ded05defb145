import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** The world outside: clock, randomness, waiting. No stage asks for them anywhere else. */
export interface Env {
  /** Milliseconds since 1970. */
  now(): number;
  randomBytes(count: number): Uint8Array;
  /** Waits; rejects with the signal's reason when it is aborted. */
  sleep(waitMs: number, signal?: AbortSignal): Promise<void>;
}

export const systemEnv: Env = {
  now: () => Date.now(),
  randomBytes: (count) => randomBytes(count),
  sleep: (waitMs, signal) => delay(waitMs, undefined, signal === undefined ? {} : { signal }),
};
