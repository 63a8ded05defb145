import type { EffectiveConfig, ExtractorConfig } from '../config/extractor-config.ts';
import { evaluatedBaseUrl, evaluatedHeaders } from '../config/evaluated.ts';
import type { Env } from '../../lib/env.ts';
import { ExtractorError } from '../../lib/errors.ts';
import type { Contexts, Evaluate } from '../shared/evaluate.ts';
import { allowedHosts } from '../http/trust/allowed-hosts.ts';
import {
  createAuth,
  type AuthType,
  type LoginKeeper,
  type NamedLogin,
  type UserAuthorization,
} from '../http/auth/index.ts';
import { parseBudgets } from '../http/budgets.ts';
import { createHttpClient, type HttpClient } from '../http/client.ts';
import type { ApiRequest, JobRequest, Send, SendWrapper } from '../shared/message.ts';
import type { LimitEvent } from '../http/auto-limiter.ts';
import type { HostLimits } from '../http/host-limits.ts';
import type { RequestsAtOnce } from '../shared/at-once.ts';
import type { FirstContact } from '../http/retry.ts';
import { buildRequest } from '../http/request.ts';
import { signAws } from '../http/sign.ts';
import { reachOf } from '../http/trust/reach.ts';
import { secretHeadersOf, trustedOriginsOf } from '../http/trust/sources.ts';
import { createTrust } from '../http/trust/trust.ts';
import { parseTrustedHosts } from '../http/trust/trusted-hosts.ts';
import { strtotime } from '../jobs/functions/index.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isList,
  isObject,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Progress } from './progress.ts';

export interface ConnectOptions {
  readonly config: ExtractorConfig;
  readonly effective: EffectiveConfig;
  readonly evaluate: Evaluate;
  readonly contexts: Contexts;
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly cacheFolder: string;
  /** Log requests and answers, as `config.debug` does. */
  readonly debug?: boolean | undefined;
  /** Told of every request and answer. */
  readonly progress?: Pick<Progress, 'request' | 'wait'> | undefined;
  readonly firstContact?: FirstContact | undefined;
  readonly authTypes?: readonly AuthType[] | undefined;
  /** Keeps logins whose tokens change; by default they end with the process. */
  readonly logins?: LoginKeeper | undefined;
  /** Is told of each login that a person can make. */
  readonly onUserAuthorization?: ((login: UserAuthorization) => void) | undefined;
  /** Is told of each login that is kept. */
  readonly onKeptLogin?: ((login: NamedLogin) => void) | undefined;
  readonly bottom?: Send | undefined;
  /** Limits of hosts that other connections share. */
  readonly hosts?: HostLimits | undefined;
  /** Is told of each change of a limit that is found out. */
  readonly onLimit?: ((event: LimitEvent) => void) | undefined;
  /** Sees every request as it leaves, with its credentials, and what came back. */
  readonly tap?: SendWrapper | undefined;
}

export interface ApiConnection {
  readonly send: Send;
  /** A job's request with base URL, default options and default headers applied. */
  readonly buildRequest: (request: JobRequest, label: string) => ApiRequest;
  readonly baseUrl: string;
  /** Requests to begin ahead; 1 unless the configuration says more. */
  readonly concurrency: RequestsAtOnce;
  close(): Promise<void>;
}

/** Evaluates the function of a login's address; one that fails is an error of the login, and names no address here. */
function addressOf(value: AnyObject, evaluate: Evaluate, attributes: Contexts): Json | undefined {
  try {
    return evaluate(value, attributes, 'parameters.api.authentication');
  } catch (error) {
    if (error instanceof ExtractorError) return undefined;
    throw error;
  }
}

/**
 * Creates the connection to the API of one configuration: authentication, trust, limits, certificates, tunnels.
 *
 * @throws {ConfigError} naming the key that is wrong
 */
export function connect(options: ConnectOptions): ApiConnection {
  const { config, effective, evaluate, contexts, env, log, secrets, progress } = options;
  const { api } = config;
  const attributes = { attr: contexts['attr'] ?? {} };
  const baseUrl = evaluatedBaseUrl(api.baseUrl, evaluate, attributes);
  const headers = evaluatedHeaders(effective, evaluate, attributes);
  const { requestsPerSecond, concurrency, maxBodyBytes } = api;
  const trust = createTrust({
    origins: trustedOriginsOf({
      baseUrl,
      api: api.node,
      jobs: effective.jobs,
      evaluate: (value) => addressOf(value, evaluate, attributes),
    }),
    hosts: parseTrustedHosts(getKey(api.node, 'trustedHosts')),
    secretHeaders: secretHeadersOf([effective.headers, ...jobHeaders(effective.jobs)]),
    holdsSecret: (text) => secrets.holds(text),
    log,
  });
  const held = new Set<Promise<unknown>>();
  // The client needs the authentication, whose logins go through the client.
  let client: HttpClient | undefined;
  const login: Send = (request, sendOptions) => {
    if (client === undefined) throw new Error('a login was asked for before the client was made');
    return client.plain(request, sendOptions);
  };
  const withoutDefaults = (job: JobRequest): ApiRequest =>
    buildRequest(job, { baseUrl, headers, lists: api.lists, label: 'login' });
  const auth = createAuth(
    api.node,
    {
      env,
      log,
      evaluate,
      attributes: attributes.attr,
      config: effective.node,
      oauthCredentials: config.oauthCredentials,
      login,
      secrets,
      logins: options.logins,
      hold: (work) => void held.add(work.catch(() => undefined)),
      onUserAuthorization: options.onUserAuthorization,
      onKeptLogin: options.onKeptLogin,
      buildRequest: withoutDefaults,
      parseTime: strtotime,
      at: 'parameters.api.authentication',
    },
    options.authTypes,
  );
  client = createHttpClient({
    env,
    log,
    secrets,
    debug: effective.debug || options.debug === true,
    retry: api.retry,
    onRequest: progress?.request?.bind(progress),
    onWait: progress?.wait?.bind(progress),
    firstContact: options.firstContact,
    ignoreErrors: api.ignoreErrors,
    rateLimits: { requestsPerSecond, concurrency },
    hosts: options.hosts,
    credentials: credentialsOf(config, { headers, attributes: attributes.attr }, secrets),
    onLimit: options.onLimit,
    budgets: parseBudgets(getKey(api.node, 'budgets')),
    network: {
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
      connectTimeoutMs: api.connectTimeoutMs,
      requestTimeoutMs: api.requestTimeoutMs,
      tls: { caCertificate: api.caCertificate, clientCertificate: api.clientCertificate },
      environment: process.env,
      reach: reachOf(process.env),
      sshProxy: config.sshProxy,
    },
    cache:
      config.cache === undefined
        ? undefined
        : { folder: options.cacheFolder, ttlSeconds: config.cache.ttlSeconds },
    auth: trust.guard(auth),
    guard: trust.guard(),
    allowedHosts: allowedHosts(config.allowedHosts, {
      redactUrl: (url) => secrets.redactUrl(url),
    }),
    sign: config.aws === undefined ? undefined : trust.guard(signAws(config.aws, env)),
    bottom: options.bottom,
    tap: options.tap,
  });
  const made = client;
  return {
    send: made.send,
    baseUrl,
    concurrency: concurrency === 'auto' ? made.ahead : Math.max(1, Math.floor(concurrency ?? 1)),
    buildRequest: (request, label) =>
      buildRequest(request, {
        baseUrl,
        headers,
        defaultOptions: api.defaultOptions,
        lists: api.lists,
        label,
      }),
    async close() {
      await Promise.all(held);
      await made.close();
    },
  };
}

/**
 * Returns what tells one user of the API from another: the authentication with the attributes that it names, and what
 * all requests have of secrets. Undefined where there is none of it.
 */
function credentialsOf(
  { api, oauthCredentials, aws }: ExtractorConfig,
  { headers, attributes }: { readonly headers: AnyObject; readonly attributes: AnyObject },
  secrets: Secrets,
): string | undefined {
  const login = getKey(api.node, 'authentication');
  const text = login === undefined ? '' : encodeExact(login);
  const used = entriesOf(attributes).filter(([name]) => text.includes(JSON.stringify(name)));
  const sent = [headers, api.defaultOptions].filter((part) => secrets.holds(encodeExact(part)));
  const parts = [
    text,
    ...[oauthCredentials, ...used.map(([, value]) => value), ...sent].map((part) =>
      encodeExact(part ?? null),
    ),
    JSON.stringify(aws ?? null),
  ];
  return parts.every((part) => part === '' || part === 'null') ? undefined : parts.join('\n');
}

function headersOf(request: Json): Json {
  return isObject(request) ? (getKey(request, 'headers') ?? null) : null;
}

function jobHeaders(jobs: Json | undefined): Json[] {
  const list = isList(jobs) ? jobs : isObject(jobs) ? entriesOf(jobs).map(([, job]) => job) : [];
  return list.flatMap((job) => {
    if (!isObject(job)) return [];
    const steps = getKey(job, 'export') ?? null;
    return [
      getKey(job, 'headers') ?? null,
      ...(isObject(steps) ? entriesOf(steps).map(([, step]) => headersOf(step)) : []),
      ...jobHeaders(getKey(job, 'children')),
    ];
  });
}
