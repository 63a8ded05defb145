import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Access to clock, randomness and waiting. No stage gets them anywhere else. */
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
  async sleep(waitMs, signal) {
    try {
      await delay(waitMs, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted(); // the runtime rejects with an error of its own
      throw error;
    }
  },
};
