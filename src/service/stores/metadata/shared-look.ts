import type { Meta } from './database.ts';

/**
 * Coalesces equal queries of the same time. A query under way is not shared: its result may be older than the request
 * that would join it. Requests that come meanwhile wait for the next one together, so a process asks for its token and
 * its branch as often as the database answers, and not for every request.
 *
 * @param look reads only, by keys of one line each; its result is not changed by any caller
 */
export function sharedLook<Keys extends readonly string[], Found>(
  look: (meta: Meta, ...keys: Keys) => Promise<Found>,
): (meta: Meta, ...keys: Keys) => Promise<Found> {
  const looksOf = new WeakMap<Meta, Map<string, Look<Found>>>();
  return async (meta, ...keys) => {
    const key = keys.join('\n');
    const looks = looksOf.get(meta) ?? new Map<string, Look<Found>>();
    looksOf.set(meta, looks);
    const begin = async (): Promise<Found> => {
      const mine: Look<Found> = { under: look(meta, ...keys), next: undefined };
      looks.set(key, mine);
      try {
        return await mine.under;
      } finally {
        if (mine.next === undefined) looks.delete(key);
      }
    };
    const now = looks.get(key);
    if (now === undefined) return await begin();
    now.next ??= now.under.then(begin, begin);
    return await now.next;
  };
}

interface Look<Found> {
  readonly under: Promise<Found>;
  /** The query after it, as soon as a caller waits for it. */
  next: Promise<Found> | undefined;
}
