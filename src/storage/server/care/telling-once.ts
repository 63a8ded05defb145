import type { Log } from '../../../log.ts';

/**
 * For work that is done again and again: it is told when it fails for the first time, and when it works again. Every
 * failure in between is the same one.
 *
 * @returns takes one piece of work, and is done when that is, however it ends
 */
export function tellingOnce(log: () => Log, message: string): (work: Promise<unknown>) => Promise<void> {
  let isFailing = false;
  return async (work) => {
    try {
      await work;
      if (isFailing) log().info('It works again', { what: message });
      isFailing = false;
    } catch (error) {
      const detail = String(error);
      if (isFailing) log().debug(message, { detail });
      else log().error(message, { detail });
      isFailing = true;
    }
  };
}
