import type { Env } from '../../lib/env.ts';
import { HttpError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { ApiRequest, ApiResponse, SendWrapper } from '../shared/message.ts';
import { AutoLimit, MOST_AT_ONCE, type LimitOutcome } from './auto-limit.ts';
import type { AutoGate, HostLimits } from './host-limits.ts';
import type { LimitChange, LimitSubject } from './limit-trace.ts';
import { rateFacts } from './rate-fields.ts';
import type { FreeRetry } from './retry.ts';
import { retryAfterMs } from './retry-after.ts';
import { Semaphore } from './semaphore.ts';
import { CURL } from './send/network-error.ts';
import { targetOf } from './send/target.ts';

/** Limits that follow what the hosts of an API take. */
export interface AutoLimiter {
  /** Waits for a place, sends, and learns from what came. */
  readonly wrap: SendWrapper;
  /** Tells whether a refusal costs no retry: the limit waits for the API, as long as it takes requests at times. */
  readonly freeOf: (request: ApiRequest, response: ApiResponse) => FreeRetry | undefined;
  /** Requests to begin ahead, so that every place of the limit is used. */
  readonly ahead: () => number;
}

export interface AutoLimiterOptions {
  readonly env: Env;
  readonly log: Log;
  /** Name of the header that says how long to wait. */
  readonly retryHeader: string;
  readonly hosts: Pick<HostLimits, 'auto' | 'keeper'>;
  /** The credentials that the requests are sent with, in any form; undefined without any. */
  readonly credentials?: string | undefined;
  /** Is told of each change of a limit that a request of this limiter led to. */
  readonly onLimit?: ((event: LimitEvent) => void) | undefined;
}

/** A change of the limit of a host. */
export interface LimitEvent extends LimitSubject, LimitChange {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Bursts of refusals without an answer between them, and the time of their pauses, after which each costs a retry. */
const STALLED = { refusals: 12, ms: 120_000 };

/** Refusals of a request while others are taken, after which each costs a retry, and says nothing of the others. */
const MOST_BESIDE = 5;

/** A request that was refused. */
interface Refused {
  /** How often it was refused while others were taken. */
  readonly times: number;
  /** Requests that were taken until it was refused last. */
  readonly taken: number;
}

export function createAutoLimiter(options: AutoLimiterOptions): AutoLimiter {
  const { env, log, retryHeader, hosts, credentials, onLimit } = options;
  const credential = credentials === undefined ? undefined : hosts.keeper.nameOf(credentials);
  const own = new Set<AutoGate>();
  const random = (): number => (env.randomBytes(1)[0] ?? 0) / 256;
  const limitOf = (url: string): AutoGate => {
    const { origin } = targetOf(url);
    const key = `${origin} ${credential ?? ''}`;
    let found = hosts.auto.get(key);
    if (found === undefined) {
      const subject = { origin, ...(credential === undefined ? {} : { credential }) };
      found = {
        ...subject,
        limit: new AutoLimit({ start: hosts.keeper.startOf(subject), random }),
        head: new Semaphore(1),
        ended: Promise.withResolvers(),
      };
      hosts.auto.set(key, found);
    }
    own.add(found);
    return found;
  };
  const refused = new WeakMap<ApiRequest, Refused>();
  const refuse = (request: ApiRequest, { limit }: AutoGate): void => {
    const { times, taken } = refused.get(request) ?? { times: 0, taken: -1 };
    const isBeside = limit.refusals === 0 || limit.taken > taken;
    refused.set(request, { times: times + Number(isBeside), taken: limit.taken });
  };
  const tell = ({ origin }: AutoGate, change: LimitChange): void => {
    const { from, to, sent, why } = change;
    log[to < from ? 'info' : 'debug'](
      `Requests at once: ${from === to ? `still ${to}` : `${from} → ${to}`} after ${sent} requests (${why})`,
      { limit: to },
    );
    onLimit?.({
      origin,
      ...(credential === undefined ? {} : { credential }),
      ...change,
      at: env.now(),
    });
  };
  return {
    wrap: (next) => async (request, options) => {
      const origin = limitOf(request.url);
      const ticket = await enter(origin, request.label, env, options.signal);
      const leave = (outcome: LimitOutcome): void => {
        for (const change of origin.limit.end(ticket, outcome, env.now())) tell(origin, change);
        origin.ended.resolve();
        origin.ended = Promise.withResolvers();
      };
      try {
        const response = await next(request, options);
        const outcome = outcomeOf(response, retryHeader, env.now());
        if (outcome.kind !== 'refused') leave(outcome);
        else {
          const times = refused.get(request)?.times ?? 0;
          leave(times < MOST_BESIDE ? { ...outcome, isAgain: times > 0 } : { kind: 'failed' });
          refuse(request, origin);
        }
        return response;
      } catch (error) {
        leave(
          isTimeout(error)
            ? { kind: 'refused', why: 'time-out', isOfRate: false, facts: { quotas: [] } }
            : { kind: 'failed' },
        );
        throw error;
      }
    },
    freeOf: (request, { status, headers }) => {
      // a login is not known here, and waits like any other retry
      const { times } = refused.get(request) ?? { times: Infinity };
      if (!REFUSALS.has(status) || times > MOST_BESIDE) return undefined;
      const { refusals, pausedMs } = limitOf(request.url).limit;
      if (refusals > 0) return refusals < STALLED.refusals || pausedMs < STALLED.ms ? 'together' : undefined;
      // others are not kept waiting for the time that it names
      if (headers[retryHeader.toLowerCase()] === undefined) return 'now';
      return status === 503 ? undefined : 'later';
    },
    ahead: () => {
      const most = Math.max(1, ...[...own].map(({ limit }) => limit.limit));
      return Math.max(4, Math.min(2 * most, 2 * MOST_AT_ONCE));
    },
  };
}

/** Waits for a place and for the time to send. */
async function enter(
  origin: AutoGate,
  job: string | undefined,
  env: Env,
  signal: AbortSignal,
): Promise<ReturnType<AutoLimit['begin']>> {
  await origin.head.acquire(signal);
  try {
    for (;;) {
      signal.throwIfAborted();
      const now = env.now();
      const waitMs = origin.limit.waitMs(now);
      if (waitMs === 0) return origin.limit.begin(now, job);
      if (waitMs === undefined) await orAborted(origin.ended.promise, signal);
      else await sleepOrEnded(origin, env, Math.ceil(waitMs), signal);
    }
  } finally {
    origin.head.release();
  }
}

/** Sleeps, but not on when an answer comes: it may say something else of the time to wait. */
async function sleepOrEnded(
  { ended }: AutoGate,
  env: Env,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const awake = new AbortController();
  const sleep = env.sleep(waitMs, AbortSignal.any([signal, awake.signal]));
  sleep.catch(() => undefined);
  await Promise.race([sleep, ended.promise]);
  awake.abort();
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
  // a time that has passed is no pause
  const waitMs = told !== undefined && told > 0 ? told : undefined;
  return { kind: 'refused', why: String(status), retryAfterMs: waitMs, isOfRate: status !== 503, facts };
}

function isTimeout(error: unknown): boolean {
  return error instanceof HttpError && error.details['curl'] === CURL.timeout;
}
