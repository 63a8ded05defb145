import type { Env } from '../../../lib/env.ts';
import { DatabaseUnavailable } from './failures.ts';

/** A server that is started again, or its successor, is there long before. */
const PATIENCE_MS = 2 * 60_000;
const PAUSE_MS = 500;

/** Does work that may be done twice, and does it again for as long as the database is away, some minutes at most. */
export async function whenDatabaseIsBack<T>(env: Env, work: () => Promise<T>): Promise<T> {
  const until = env.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || env.now() >= until) throw error;
      await env.sleep(PAUSE_MS);
    }
  }
}
