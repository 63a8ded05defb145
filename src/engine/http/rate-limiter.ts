import type { Env } from '../../lib/env.ts';
import type { Send, SendWrapper } from '../shared/message.ts';
import { Semaphore } from './semaphore.ts';
import { targetOf } from './send/target.ts';

export interface RateLimits {
  /** Requests started per second, evenly spaced. Fractions are fine: 0.5 is one in two seconds. */
  readonly requestsPerSecond?: number | undefined;
  /** Requests under way at the same time. */
  readonly concurrency?: number | undefined;
}

export interface RateLimiter {
  /** Applies both limits. */
  readonly limit: SendWrapper;
  /** Applies the rate and the budgets alone: for logins, which happen inside a request that counts already. */
  readonly limitRate: SendWrapper;
}

/**
 * Creates a limiter that counts each host by itself, and serves requests in their order.
 *
 * @param budgets counts calls in periods of time; applied together with the rate
 * @param gates shared with other connections
 */
export function createRateLimiter(
  options: RateLimits,
  env: Env,
  budgets: SendWrapper = identity,
  gates = new Map<string, RateGate>(),
): RateLimiter {
  const { requestsPerSecond, concurrency } = options;
  const limitOf = (url: string): RateGate => {
    const { origin } = targetOf(url);
    const key = `${origin} ${concurrency ?? ''} ${requestsPerSecond ?? ''}`;
    let host = gates.get(key);
    if (host === undefined)
      gates.set(key, (host = { semaphore: new Semaphore(concurrency ?? Infinity), nextAt: -Infinity }));
    return host;
  };
  const spacingMs = requestsPerSecond === undefined ? 0 : 1000 / requestsPerSecond;

  const limitRate: SendWrapper = (next) => async (request, sendOptions) => {
    await waitForSlot(limitOf(request.url), spacingMs, env, sendOptions.signal);
    return next(request, sendOptions);
  };
  const limitConcurrency: SendWrapper = (next) => async (request, sendOptions) => {
    const { semaphore } = limitOf(request.url);
    await semaphore.acquire(sendOptions.signal);
    try {
      return await next(request, sendOptions);
    } finally {
      semaphore.release();
    }
  };
  const spaced = spacingMs === 0 ? identity : limitRate;
  const rate: SendWrapper = (next) => budgets(spaced(next));
  const limited = concurrency === undefined ? identity : limitConcurrency;
  return { limit: (next) => limited(rate(next)), limitRate: rate };
}

function identity(next: Send): Send {
  return next;
}

/** Places and times of the requests to a host. */
export interface RateGate {
  readonly semaphore: Semaphore;
  /** Milliseconds since 1970 from which the next request may start. */
  nextAt: number;
}

/** Reserves the next start time and waits for it, so that requests start in their order. */
async function waitForSlot(host: RateGate, spacingMs: number, env: Env, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const now = env.now();
  const at = Math.max(now, host.nextAt);
  const following = (host.nextAt = at + spacingMs);
  if (at === now) return;
  try {
    await env.sleep(at - now, signal);
  } catch (error) {
    // No request came after this one: the time is free again.
    if (host.nextAt === following) host.nextAt = at;
    throw error;
  }
}
