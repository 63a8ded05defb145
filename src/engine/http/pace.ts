import type { Env } from '../../lib/env.ts';
import type { Send, SendWrapper } from '../shared/message.ts';
import { targetOf } from './send/target.ts';

export interface PaceOptions {
  /** Requests started per second, evenly spaced. Fractions are fine: 0.5 is one in two seconds. */
  readonly requestsPerSecond?: number | undefined;
  /** Requests under way at the same time. */
  readonly concurrency?: number | undefined;
}

export interface Pacer {
  /** Both limits. */
  readonly pace: SendWrapper;
  /** The rate and the budgets alone: for logins, which happen inside a request that has its place already. */
  readonly paceRate: SendWrapper;
}

/**
 * Keeps within what a host allows. Each host is counted by itself; whoever asks first goes first.
 *
 * @param budgets counts calls in stretches of time; asked where the rate is asked
 */
export function createPacer(options: PaceOptions, env: Env, budgets: SendWrapper = identity): Pacer {
  const { requestsPerSecond, concurrency } = options;
  const gates = new Map<string, Gate>();
  const gateOf = (url: string): Gate => {
    const { origin } = targetOf(url);
    let gate = gates.get(origin);
    if (gate === undefined)
      gates.set(origin, (gate = { places: new Places(concurrency ?? Infinity), nextAt: -Infinity }));
    return gate;
  };
  const spacingMs = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond;

  const paceRate: SendWrapper = (next) => async (request, sendOptions) => {
    await waitForTurn(gateOf(request.url), spacingMs, env, sendOptions.signal);
    return next(request, sendOptions);
  };
  const pacePlaces: SendWrapper = (next) => async (request, sendOptions) => {
    const { places } = gateOf(request.url);
    await places.take(sendOptions.signal);
    try {
      return await next(request, sendOptions);
    } finally {
      places.give();
    }
  };
  const spaced = spacingMs === 0 ? identity : paceRate;
  const rate: SendWrapper = (next) => budgets(spaced(next));
  const limit = concurrency === undefined ? identity : pacePlaces;
  return { pace: (next) => limit(rate(next)), paceRate: rate };
}

function identity(next: Send): Send {
  return next;
}

interface Gate {
  readonly places: Places;
  /** Milliseconds since 1970 from which the next request may start. */
  nextAt: number;
}

/** Reserves the next moment and waits for it, so that the order of asking is the order of going. */
async function waitForTurn(gate: Gate, spacingMs: number, env: Env, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const now = env.now();
  const at = Math.max(now, gate.nextAt);
  const following = (gate.nextAt = at + spacingMs);
  if (at === now) return;
  try {
    await env.sleep(at - now, signal);
  } catch (error) {
    // Nobody came after: the moment is free again.
    if (gate.nextAt === following) gate.nextAt = at;
    throw error;
  }
}

/** A queue in front of a number of places. */
class Places {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(enter);
    });
  }

  give(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
