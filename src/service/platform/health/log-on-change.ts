import type { Log } from '../../../lib/log.ts';

/**
 * For work that is done again and again: it is told when it fails for the first time, and when it works again. Every
 * failure in between is the same one.
 *
 * @returns takes one piece of work, and is done when that is, however it ends. Of several kinds of work, one that goes on
 * says nothing of another that fails: it works again when all kinds do.
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
