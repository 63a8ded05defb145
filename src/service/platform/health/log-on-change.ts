import type { Log } from '../../../lib/log.ts';

/**
 * Logs work that is repeated: once when it first fails, and once when it works again. Every failure in between is the
 * same one.
 *
 * @returns takes one piece of work, and is done when that is, however it ends. When there are several kinds of work,
 * success of one says nothing of another that fails: the work is good again when all kinds are.
 */
export function logOnChange(
  log: () => Log,
  message: string,
): (work: Promise<unknown>, kind?: string) => Promise<void> {
  const failing = new Set<string>();
  return async (work, kind = '') => {
    try {
      await work;
      if (failing.delete(kind) && failing.size === 0) log().info('Recovered', { what: message });
    } catch (error) {
      const detail = String(error);
      if (failing.size > 0) log().debug(message, { detail });
      else log().error(message, { detail });
      failing.add(kind);
    }
  };
}
