import type { Env } from '../../lib/env.ts';
import type { Log } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { keepBudgets, type Budget } from './budgets.ts';
import { cache, type CacheOptions } from './cache.ts';
import { files } from './files.ts';
import { logRequests } from './log-requests.ts';
import type { Send, SendWrapper } from '../shared/message.ts';
import { watchRequests, type RequestEvent } from './watch-requests.ts';
import { tellingWaits, type WaitEvent } from './wait-event.ts';
import { createNetwork, type NetworkOptions } from './send/network.ts';
import type { Transport } from './send/transport.ts';
import { createAutoLimiter, type LimitEvent } from './auto-limiter.ts';
import { createHostLimits, type HostLimits } from './host-limits.ts';
import { createRateLimiter, type RateLimits } from './rate-limiter.ts';
import { redirect } from './redirect.ts';
import { DEFAULT_RETRY, retry, type FirstContact, type RetryOptions } from './retry.ts';
import { status } from './status.ts';

export interface HttpClientOptions {
  readonly env: Env;
  readonly log: Log;
  /** Keeps secrets out of messages and logs. */
  readonly secrets: Secrets;
  /** Log every request, in short. Default: false. */
  readonly debug?: boolean;
  /** Told of every request and answer, without secrets. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Told when a request is about to wait. */
  readonly onWait?: ((event: WaitEvent) => void) | undefined;
  readonly retry?: Partial<RetryOptions>;
  readonly firstContact?: FirstContact | undefined;
  /** Statuses from 400 on that are handed on like a success. */
  readonly ignoreErrors?: readonly number[];
  /** With the concurrency `auto` it follows what each host takes. */
  readonly rateLimits?: Omit<RateLimits, 'concurrency'> & {
    readonly concurrency?: number | 'auto' | undefined;
  };
  /** Limits of hosts that are shared with other clients; its own by default. */
  readonly hosts?: HostLimits | undefined;
  /** The credentials of its requests, in any form; limits that are found out are kept apart by them. */
  readonly credentials?: string | undefined;
  /** Told of each change of a limit that is found out. */
  readonly onLimit?: ((event: LimitEvent) => void) | undefined;
  /** Calls in a stretch of time. */
  readonly budgets?: readonly Budget[] | undefined;
  readonly network?: NetworkOptions;
  readonly cache?: Pick<CacheOptions, 'folder' | 'ttlSeconds'> | undefined;
  /** Adds credentials. */
  readonly auth?: SendWrapper | undefined;
  /** Stands where `auth` stands, for requests that have no authentication. */
  readonly guard?: SendWrapper | undefined;
  readonly allowedHosts?: SendWrapper | undefined;
  readonly sign?: SendWrapper | undefined;
  /** Sees every request as it leaves, signed and with credentials, and what came back. */
  readonly tap?: SendWrapper | undefined;
  /** In the network's place: to record, to replay. The client does not close it. */
  readonly bottom?: Send | undefined;
}

export interface HttpClient {
  readonly send: Send;
  /** The same without authentication and cache, and no status is ignored: for logins. */
  readonly plain: Send;
  /** Returns how many requests to begin ahead where the concurrency is `auto`. */
  readonly ahead: () => number;
  /** Closes connections and tunnels. Call it once, at the end. */
  close(): Promise<void>;
}

/**
 * Puts the concerns of a request around the network. What stands inside of `retry`
 * and `redirect` is done again for every attempt and every hop: authentication, allowed hosts, signing.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { env, log, secrets, firstContact, onWait } = options;
  const limitedEnv = tellingWaits(env, 'pace', onWait);
  const retryOptions: RetryOptions = { ...DEFAULT_RETRY, ...options.retry };
  const { hosts = createHostLimits(env), credentials, onLimit } = options;
  const budgets = keepBudgets(options.budgets ?? [], limitedEnv, log, hosts.accounts);
  const { concurrency, ...rates } = options.rateLimits ?? {};
  const { retryHeader } = retryOptions;
  const auto =
    concurrency === 'auto'
      ? createAutoLimiter({ env: limitedEnv, log, retryHeader, hosts, credentials, onLimit })
      : undefined;
  const fixed = concurrency === 'auto' ? rates : { ...rates, concurrency };
  const limiter = createRateLimiter(fixed, limitedEnv, budgets, hosts.gates);
  const network: Transport =
    options.bottom === undefined
      ? createNetwork(options.network ?? {}, env, log)
      : { send: options.bottom, close: async () => {} };

  const again = tellingWaits(env, 'retry', onWait);
  const outer = [
    redirect({ log, secrets }),
    retry(retryOptions, { env: again, log, secrets, firstContact, freeOf: auto?.freeOf }),
  ];
  const watch =
    options.onRequest === undefined ? undefined : watchRequests(options.onRequest, { env, secrets });
  const inner = (watched: SendWrapper | undefined): readonly (SendWrapper | undefined)[] => [
    options.allowedHosts,
    options.sign,
    options.debug === true ? logRequests({ env, log, secrets }) : undefined,
    watched,
    options.tap,
  ];
  const kept =
    options.cache === undefined
      ? undefined
      : cache({ ...options.cache, except: retryOptions.codes, env, log });

  return {
    send: compose(network.send, [
      status({ ignoreErrors: options.ignoreErrors ?? [], secrets }),
      ...outer,
      files(options.network?.maxBodyBytes),
      auto?.wrap,
      limiter.limit,
      options.auth,
      ...inner(watch?.requests),
      kept,
    ]),
    // A login happens while the request that needs it holds its place, so only rate and budgets count for it.
    plain: compose(network.send, [
      // Drops the further options of a request: the answer of a login is no file, and no `react` rule applies to it.
      (next) =>
        async (request, { signal }) =>
          await next(request, { signal }),
      status({ secrets }),
      ...outer,
      limiter.limitRate,
      options.guard,
      ...inner(watch?.logins),
    ]),
    ahead: () => auto?.ahead() ?? 1,
    async close() {
      if (auto !== undefined) hosts.keeper.keep(hosts.traces());
      await network.close();
    },
  };
}

/** Composes wrappers around a transport, the first one outermost. */
function compose(transport: Send, wrappers: readonly (SendWrapper | undefined)[]): Send {
  return wrappers.reduceRight<Send>((next, wrapper) => wrapper?.(next) ?? next, transport);
}
