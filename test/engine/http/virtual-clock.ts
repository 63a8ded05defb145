import type { Env } from '../../../src/lib/env.ts';

/** A clock that moves to the next moment for which somebody waits, when nobody has anything else to do. */
export class VirtualClock implements Env {
  #now = 1_700_000_000_000;
  /** Moments at which it is set, and by how much. */
  #sets: readonly (readonly [at: number, ms: number])[];
  #number = 0;
  #timers: { readonly at: number; readonly number: number; readonly fire: () => void }[] = [];

  constructor(sets: readonly (readonly [at: number, ms: number])[] = []) {
    this.#sets = sets;
  }

  now(): number {
    return this.#sets.reduce((now, [at, ms]) => (this.passed() >= at ? now + ms : now), this.#now);
  }

  /** Returns the milliseconds that have passed, whatever the clock was set to. */
  passed(): number {
    return this.#now - 1_700_000_000_000;
  }

  randomBytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => (this.#number++ * 37) % 256);
  }

  async sleep(waitMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((fire) => {
      this.#timers.push({ at: this.#now + waitMs, number: this.#number++, fire });
    });
    signal?.throwIfAborted();
  }

  /** @param isIdle tells whether work outside of this clock, such as that of files, is done */
  async until<T>(work: Promise<T>, isIdle: () => boolean = () => true): Promise<T> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => undefined);
    for (;;) {
      await turn();
      if (isDone) return await done;
      if (this.#timers.length === 0 || !isIdle()) continue;
      const next = this.#timers.reduce((a, b) =>
        b.at < a.at || (b.at === a.at && b.number < a.number) ? b : a,
      );
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      next.fire();
    }
  }
}

/** Tells whether no file is read or written. */
export function noFiles(): boolean {
  return !process.getActiveResourcesInfo().some((name) => /^FSReq|^CloseReq|^Zlib/i.test(name));
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
