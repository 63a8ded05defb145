import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import { mayPass } from './failure.ts';

/** How long a transfer puts up with an object store that fails. */
export interface Patience {
  /** State of the store, shared by all its transfers: one that has never answered is more likely wrong than busy. */
  readonly store: { isReached: boolean };
  /** “The upload of "a.csv"”, for the log. */
  readonly what: string;
  readonly env: Env;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** With the waits between them about a minute. */
const ATTEMPTS = 18;
const FIRST_ATTEMPTS = 3;
/** A store that is silent is waited for by each attempt, so that attempts alone would be no bound. */
const PATIENCE_MS = 180_000;
const FIRST_WAIT_MS = 1000;
/** A store that is started again is there after some seconds; one that waits much longer has not noticed. */
const LONGEST_WAIT_MS = 4000;

/**
 * Does one request until it succeeds, with waits of 1, 2, 4, 4 … seconds, as long as another attempt may help.
 *
 * @throws what the last attempt threw; the signal's reason
 */
export async function persist<T>(work: () => Promise<T>, patience: Patience): Promise<T> {
  const { store, what, env, log, signal } = patience;
  const begunMs = env.now();
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await work();
      store.isReached = true;
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (!isWorthwhile(error, { attempt, begunMs }, patience)) throw error;
      const waitMs = waitBehind(attempt, FIRST_WAIT_MS);
      log.info(`${what} was interrupted and resumes in ${waitMs / 1000} seconds.`, { attempt });
      await env.sleep(waitMs, signal);
    }
  }
}

/** The wait behind the `attempt`-th failure in a row. */
export function waitBehind(attempt: number, firstMs: number): number {
  return Math.min(firstMs * 2 ** (attempt - 1), LONGEST_WAIT_MS);
}

/** Tells whether to continue after a failure, the `attempt`-th in a row since `begunMs`. */
export function isWorthwhile(
  error: unknown,
  { attempt, begunMs }: { readonly attempt: number; readonly begunMs: number },
  { store, env }: Patience,
): boolean {
  const attempts = store.isReached ? ATTEMPTS : FIRST_ATTEMPTS;
  return attempt < attempts && env.now() - begunMs < PATIENCE_MS && mayPass(error);
}
