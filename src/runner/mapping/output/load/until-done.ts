import { StorageError } from '../../../../lib/errors.ts';
import type { Pushing } from '../pushing.ts';

const ATTEMPTS = 4;
const FIRST_WAIT_MS = 1000;

/**
 * Does what the client asks for once only, such as a change of a table. Whatever it fails with, it may be done all the
 * same: the answer was lost, or another run was quicker. When it was perhaps never taken, it is asked for again.
 */
export async function untilDone(
  { env, signal }: Pushing,
  work: () => Promise<void>,
  isDone: () => Promise<boolean>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (await isDone()) return;
      const isUnsure = error instanceof StorageError && error.recovery === 'retry';
      if (!isUnsure || attempt === ATTEMPTS) throw error;
      await env.sleep(FIRST_WAIT_MS * 2 ** (attempt - 1), signal);
    }
  }
}
