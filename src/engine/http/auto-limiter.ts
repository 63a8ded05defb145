import type { Env } from '../../lib/env.ts';
import { HttpError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { ApiResponse, SendWrapper } from '../shared/message.ts';
import {
  AutoLimit,
  MOST_AT_ONCE,
  type LimitKeeper,
  type LimitOutcome,
  type LimitTrace,
} from './auto-limit.ts';
import { rateFacts } from './rate-fields.ts';
import { retryAfterMs } from './retry-after.ts';
import { Semaphore } from './semaphore.ts';
import { CURL } from './send/network-error.ts';
import { targetOf } from './send/target.ts';

/** Limits that follow what the hosts of an API take. */
export interface AutoLimiter {
  /** Waits for a place, sends, and learns from what came. */
  readonly wrap: SendWrapper;
  /** Tells whether a refusal costs no retry: the limit waits for the API, as long as it takes requests at times. */
  readonly isFree: (url: string, status: number) => boolean;
  /** Requests to begin ahead, so that every place of the limit is used. */
  readonly ahead: () => number;
  traces(): readonly LimitTrace[];
}

export interface AutoLimiterOptions {
  readonly env: Env;
  readonly log: Log;
  /** Name of the header that says how long to wait. */
  readonly retryHeader: string;
  readonly limits?: Pick<LimitKeeper, 'startOf'> | undefined;
}

/** Bursts of refusals without an answer between them, after which each costs a retry. */
const STALLED = 8;

interface OriginLimit {
  readonly limit: AutoLimit;
  /** Lets one request wait for its place, and others behind it in their order. */
  readonly head: Semaphore;
  ended: PromiseWithResolvers<void>;
}

export function createAutoLimiter({ env, log, retryHeader, limits }: AutoLimiterOptions): AutoLimiter {
  const origins = new Map<string, OriginLimit>();
  const random = (): number => (env.randomBytes(1)[0] ?? 0) / 256;
  const limitOf = (url: string): OriginLimit => {
    const { origin } = targetOf(url);
    let found = origins.get(origin);
    if (found === undefined) {
      found = {
        limit: new AutoLimit({ start: limits?.startOf(origin), random }),
        head: new Semaphore(1),
        ended: Promise.withResolvers(),
      };
      origins.set(origin, found);
    }
    return found;
  };
  const tell = (limit: AutoLimit, before: number): void => {
    const change = limit.trace('').changes.at(-1);
    if (limit.limit === before || change === undefined) return;
    const say = limit.limit < before ? 'info' : 'debug';
    log[say](
      `Requests at once: ${change.from} → ${change.to} after ${change.sent} requests (${change.why})`,
      { limit: change.to },
    );
  };
  return {
    wrap: (next) => async (request, options) => {
      const origin = limitOf(request.url);
      const ticket = await enter(origin, env, options.signal);
      const leave = (outcome: LimitOutcome): void => {
        const before = origin.limit.limit;
        origin.limit.end(ticket, outcome, env.now());
        tell(origin.limit, before);
        origin.ended.resolve();
        origin.ended = Promise.withResolvers();
      };
      try {
        const response = await next(request, options);
        leave(outcomeOf(response, retryHeader, env.now()));
        return response;
      } catch (error) {
        leave(
          isTimeout(error) ? { kind: 'refused', why: 'time-out', facts: { quotas: [] } } : { kind: 'failed' },
        );
        throw error;
      }
    },
    isFree: (url, status) => status === 429 && limitOf(url).limit.refusals < STALLED,
    ahead: () => {
      const most = Math.max(1, ...[...origins.values()].map(({ limit }) => limit.limit));
      return Math.max(4, Math.min(2 * most, 2 * MOST_AT_ONCE));
    },
    traces: () => [...origins].map(([origin, { limit }]) => limit.trace(origin)),
  };
}

/** Waits for a place and for the time to send. */
async function enter(
  origin: OriginLimit,
  env: Env,
  signal: AbortSignal,
): Promise<ReturnType<AutoLimit['begin']>> {
  await origin.head.acquire(signal);
  try {
    for (;;) {
      signal.throwIfAborted();
      const now = env.now();
      const waitMs = origin.limit.waitMs(now);
      if (waitMs === 0) return origin.limit.begin(now);
      if (waitMs === undefined) await orAborted(origin.ended.promise, signal);
      else await env.sleep(Math.ceil(waitMs), signal);
    }
  } finally {
    origin.head.release();
  }
}

async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  signal.addEventListener('abort', end, { once: true });
  await Promise.race([work, promise]);
  signal.removeEventListener('abort', end);
}

const REFUSALS = new Set([420, 429, 503]);

function outcomeOf({ status, headers }: ApiResponse, retryHeader: string, nowMs: number): LimitOutcome {
  const facts = rateFacts(headers, nowMs);
  if (!REFUSALS.has(status)) return status >= 500 ? { kind: 'failed' } : { kind: 'taken', facts };
  const told = retryAfterMs(headers[retryHeader.toLowerCase()], nowMs);
  const spent = facts.quotas.find(({ left }) => left === 0);
  return { kind: 'refused', why: String(status), retryAfterMs: told ?? spent?.resetMs, facts };
}

function isTimeout(error: unknown): boolean {
  return error instanceof HttpError && error.details['curl'] === CURL.timeout;
}
