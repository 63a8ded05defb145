import { createHash } from 'node:crypto';
import type { Env } from '../../../lib/env.ts';
import { ApiError } from '../../domain/api-error.ts';
import type { Metrics, Refusal } from '../../platform/health/metrics.ts';
import { createClients, type Clients } from './clients.ts';
import { createRateLimit } from './rate-limit.ts';
import { createVisits, type Visit } from './visits.ts';

export interface AdmissionOptions {
  /** Requests a minute of each token, and of each address without one; no limit when undefined. */
  readonly requestsPerMinute?: number | undefined;
  /** Requests that are answered at the same time; more are refused for now. Default 500. */
  readonly maxRequests?: number | undefined;
  /** Bytes of bodies that are in memory at the same time; requests with more are refused for now. Default 192 MB. */
  readonly maxHeldBytes?: number | undefined;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Overload control: the limits of one process, which no single client may use up. */
export interface Admission {
  /** Connections of one server that may be open; many of them are idle. */
  readonly maxConnections: number;
  /** Connections among these from one address. */
  readonly maxConnectionsOfAddress: number;
  readonly clients: Clients;
  readonly inProgress: number;
  /** Begins a request. @throws {ApiError} 503 when there are too many */
  enter(): Visit;
  /** Admits a request without a token. @throws {ApiError} 429, and 503 when the address has its share of the places */
  admitAddress(address: string, visit?: Visit): void;
  /**
   * Admits a request with a token, which is looked up unless it, or its address, has asked too often.
   * @param from.visit takes a place of the token; without it the request has one already
   * @throws {ApiError} 429, 503 when the token has its share of the places, and the errors of the lookup
   */
  admitToken<T extends { readonly id: number }>(
    from: { readonly address: string; readonly secret: string; readonly visit?: Visit | undefined },
    lookUp: () => Promise<T>,
  ): Promise<T>;
}

const MAX_REQUESTS = 500;
const MAX_HELD_BYTES = 192 * 1024 * 1024;

const CONNECTIONS_PER_REQUEST = 4;

/** Connections that are allowed in any case, however small the service is: so few are no attack. */
const FEW_CONNECTIONS = 16;

/**
 * Wrong tokens that an address may send in a minute. Tokens are too long to be guessed; the limit only saves the
 * database the lookups.
 */
const WRONG_TOKENS_PER_MINUTE = 600;

/**
 * Valid tokens that are remembered, by their hash: a flood of wrong ones from the same proxy does not shut them out.
 */
const MAX_KNOWN = 10_000;

export function createAdmission(env: Env, metrics: Metrics, options: AdmissionOptions = {}): Admission {
  const { requestsPerMinute, maxRequests = MAX_REQUESTS, maxHeldBytes = MAX_HELD_BYTES } = options;
  const limit = requestsPerMinute === undefined ? undefined : createRateLimit(requestsPerMinute);
  const wrong = createRateLimit(WRONG_TOKENS_PER_MINUTE);
  const known = new Map<string, number>();
  const maxConnections = CONNECTIONS_PER_REQUEST * maxRequests;
  const visits = createVisits({ requests: maxRequests, bytes: maxHeldBytes }, (why) =>
    refuse('busy', 1000, why),
  );

  function refuse(reason: Refusal, waitMs: number, message: string): never {
    metrics.refused(reason);
    const retryAfter = Math.max(1, Math.ceil(waitMs / 1000));
    if (reason === 'busy') throw new ApiError(503, 'storage.busy', message, { retryAfter });
    throw new ApiError(429, 'storage.tooManyRequests', message, { retryAfter });
  }

  function count(key: string, reason: Refusal, whose: string): void {
    if (limit === undefined) return;
    const waitMs = limit.take(key, env.now());
    if (waitMs > 0) refuse(reason, waitMs, tooMany(whose, limit.perMinute));
  }

  return {
    maxConnections,
    maxConnectionsOfAddress: Math.max(FEW_CONNECTIONS, maxConnections / 2),
    clients: createClients(options.trustedProxies),
    get inProgress() {
      return visits.inProgress;
    },
    enter: () => visits.enter(),
    admitAddress(address, visit) {
      count(`address ${address}`, 'address', 'from this address without a token');
      visit?.belongsTo({ kind: 'address', id: address });
    },
    async admitToken({ address, secret, visit }, lookUp) {
      const hash = createHash('sha256').update(secret).digest('base64');
      const id = known.get(hash);
      const now = env.now();
      if (id === undefined) {
        const waitMs = wrong.wait(address, now);
        if (waitMs > 0)
          refuse('address', waitMs, tooMany('with wrong tokens from this address', wrong.perMinute));
      } else if (limit !== undefined && limit.wait(`token ${id}`, now) > 0) {
        count(`token ${id}`, 'token', 'with this token');
      }
      const caller = await lookUp().catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 401) {
          known.delete(hash);
          wrong.take(address, now);
        }
        throw error;
      });
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(hash, caller.id);
      count(`token ${caller.id}`, 'token', 'with this token');
      visit?.belongsTo({ kind: 'token', id: caller.id });
      return caller;
    },
  };
}

const tooMany = (whose: string, perMinute: number): string =>
  `There are too many requests ${whose}: ${perMinute} a minute are allowed. Ask again when Retry-After says so.`;
