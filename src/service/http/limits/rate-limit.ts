/** Rate limit: each key may send so many requests a minute, and as many at once after a minute of silence. */
export interface RateLimit {
  readonly perMinute: number;
  /** Counts a request. @returns 0 when it is allowed, else how long to wait, in ms; a refused one does not count */
  take(key: string, now: number): number;
  /** Returns the milliseconds that the next request would have to wait. */
  wait(key: string, now: number): number;
}

/** Keys that are remembered; those with the longest silence are dropped first, which changes nothing for them. */
const MAX_KEYS = 10_000;

/**
 * Makes a rate limit by the generic cell rate algorithm (ITU-T I.371, appendix I): for each key only the time is
 * stored at which its requests so far would be through, one after the other. Unlike counting in fixed windows, it
 * tells to the millisecond when the next request is allowed, and clients that wait do not all come back at the same
 * time.
 */
export function createRateLimit(perMinute: number): RateLimit {
  const intervalMs = 60_000 / perMinute;
  const toleranceMs = 60_000 - intervalMs;
  const throughAt = new Map<string, number>();

  /**
   * Returns the stored time, unless it is more than a minute ahead: that one was stored before the clock went back,
   * and is replaced so that the key may continue at once.
   */
  function through(key: string, now: number): number | undefined {
    const at = throughAt.get(key);
    if (at === undefined || at <= now + 60_000) return at;
    throughAt.set(key, now + toleranceMs);
    return now + toleranceMs;
  }

  const wait = (key: string, now: number): number =>
    Math.max(0, (through(key, now) ?? now) - now - toleranceMs);

  function makeRoom(now: number): void {
    for (const [key, at] of throughAt) if (at <= now) throughAt.delete(key);
    const [oldest] = throughAt.keys();
    if (throughAt.size >= MAX_KEYS && oldest !== undefined) throughAt.delete(oldest);
  }

  return {
    perMinute,
    wait,
    take(key, now) {
      const waitMs = wait(key, now);
      if (waitMs > 0) return waitMs;
      const before = through(key, now);
      if (before === undefined && throughAt.size >= MAX_KEYS) makeRoom(now);
      throughAt.set(key, Math.max(now, before ?? now) + intervalMs);
      return 0;
    },
  };
}
