import type { SendOptions } from '../../shared/message.ts';

/** Something that is opened when it is first needed, used by all, and opened anew when it has expired. */
export interface Session<T> {
  get(options: SendOptions): Promise<T>;
  /** Says that this one is no longer any good; a newer one is kept, and then it gives false. */
  drop(value: T): boolean;
}

/**
 * Shares one session between requests that run at the same time: they wait for the one login that is under way.
 * A failed login is not kept; the next request tries again.
 *
 * @param open logs in
 * @param isUsable asked before each use; what was just opened is used once in any case
 */
export function shareSession<T extends object>(
  open: (options: SendOptions) => Promise<T>,
  isUsable: (value: T) => boolean,
): Session<T> {
  let current: T | undefined;
  /** Sessions by the requests whose attempts used them. */
  const used = new WeakMap<object, T>();
  let pending: { readonly value: Promise<T>; readonly signal: AbortSignal } | undefined;

  async function start(options: SendOptions): Promise<T> {
    try {
      current = await open(options);
      return current;
    } finally {
      pending = undefined;
    }
  }

  async function usable(options: SendOptions): Promise<T> {
    for (;;) {
      options.signal.throwIfAborted();
      if (current !== undefined && isUsable(current)) return current;
      pending ??= { value: start(options), signal: options.signal };
      const { value, signal } = pending;
      try {
        return await (signal === options.signal ? value : unlessAborted(value, options.signal));
      } catch (error) {
        // Another request began this login and was aborted meanwhile: that is not our failure.
        if (signal.aborted && !options.signal.aborted) continue;
        throw error;
      }
    }
  }

  return {
    async get(options) {
      const { attempt } = options;
      // another request may have renewed it already
      if (attempt?.renewsLogin === true && current === used.get(attempt.of)) current = undefined;
      const value = await usable(options);
      if (attempt !== undefined) used.set(attempt.of, value);
      return value;
    },
    drop(value) {
      if (current !== value) return false;
      current = undefined;
      return true;
    },
  };
}

function unlessAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
