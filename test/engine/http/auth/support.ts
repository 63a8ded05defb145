import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Env } from '../../../../src/lib/env.ts';
import { ExtractorError } from '../../../../src/lib/errors.ts';
import { createAuth, type AuthContext } from '../../../../src/engine/http/auth/index.ts';
import type { LoginKeeper } from '../../../../src/engine/http/auth/kept-login.ts';
import { createHttpClient } from '../../../../src/engine/http/client.ts';
import type { ApiResponse, Send } from '../../../../src/engine/shared/message.ts';
import { buildRequest } from '../../../../src/engine/http/request.ts';
import { createTrust, type TrustOptions } from '../../../../src/engine/http/trust/trust.ts';
import { trustedOriginsOf } from '../../../../src/engine/http/trust/sources.ts';
import { createEvaluator, strtotime } from '../../../../src/engine/jobs/functions/index.ts';
import {
  entriesOf,
  flattenContext,
  getKey,
  isObject,
  objectOf,
  parseExact,
  type AnyObject,
  type Json,
} from '../../../../src/lib/json/index.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';

/** A request as a server saw it. */
export interface Seen {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface TestServer {
  /** With a slash at the end. */
  readonly url: string;
  readonly host: string;
  readonly seen: readonly Seen[];
}

/** An API on loopback; it ends with the test. By default it answers `{}`. */
export async function startApi(
  answer: (request: Seen) => Answer | undefined = () => undefined,
): Promise<TestServer> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.on('end', () => {
      const one = { line: `${request.method} ${request.url}`, headers: request.headers, body };
      seen.push(one);
      const { status = 200, headers = {}, body: text = '{}' } = answer(one) ?? {};
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, host: `127.0.0.1:${port}`, seen };
}

/** A clock that only waiting moves, and random bytes 0, 1, 2 … */
export function fakeEnv(startSeconds = 1_500_000_000): Env & { pass(seconds: number): void } {
  let nowMs = startSeconds * 1000 + 400;
  let byte = 0;
  return {
    now: () => nowMs,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => byte++ % 256),
    sleep: async (waitMs) => {
      nowMs += waitMs;
    },
    pass: (seconds) => {
      nowMs += seconds * 1000;
    },
  };
}

export interface Warnings extends Log {
  readonly warnings: readonly string[];
}

export function collectWarnings(): Warnings {
  const warnings: string[] = [];
  return { warnings, debug() {}, info() {}, error() {}, warn: (message) => void warnings.push(message) };
}

export interface Setup {
  readonly baseUrl: string;
  /** The `authentication` node, or the whole `api` section where it has the key `authentication`. */
  readonly auth: Json;
  readonly config?: AnyObject;
  readonly credentials?: AnyObject;
  readonly headers?: AnyObject;
  readonly env?: Env;
  readonly log?: Log;
  readonly trust?: Partial<TrustOptions>;
  readonly secrets?: Secrets;
  readonly logins?: LoginKeeper;
}

/** A client as the product puts it together: status, redirects, retries, trust, authentication, network. */
export function clientOf(setup: Setup): {
  get(endpoint: string): Promise<ApiResponse>;
  send: Send;
  context: AuthContext;
} {
  const {
    baseUrl,
    env = fakeEnv(),
    log = collectWarnings(),
    secrets = new Secrets(),
    config = {},
    headers = {},
  } = setup;
  const api =
    isObject(setup.auth) && getKey(setup.auth, 'authentication') !== undefined
      ? setup.auth
      : objectOf([['authentication', setup.auth]]);
  const trust = createTrust({ origins: trustedOriginsOf({ baseUrl, api, jobs: [] }), log, ...setup.trust });
  const context: AuthContext = {
    env,
    log,
    evaluate: createEvaluator(env),
    attributes: flattenContext(objectOf(entriesOf(config).filter(([key]) => key !== 'jobs'))),
    config,
    oauthCredentials: setup.credentials,
    login: (request, options) => client.plain(request, options),
    buildRequest: (job) => buildRequest(job, { baseUrl, headers }),
    parseTime: strtotime,
    secrets,
    logins: setup.logins,
    at: 'parameters.api.authentication',
  };
  const client = createHttpClient({
    env,
    log,
    secrets,
    retry: { maxRetries: 2 },
    auth: trust.guard(createAuth(api, context)),
    guard: trust.guard(),
  });
  onTestFinished(() => client.close());
  const { send } = client;
  const { signal } = new AbortController();
  const get = (endpoint: string): Promise<ApiResponse> =>
    send(buildRequest({ endpoint, method: 'GET', params: {}, headers: {} }, { baseUrl, headers }), {
      signal,
    });
  return { get, send, context };
}

/** The error that is thrown, as the user is told of it. */
export async function failure(
  run: () => unknown,
): Promise<{ code: string; path: string | undefined; message: string; hint: string | undefined }> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ExtractorError)) throw error;
    return { code: error.code, path: error.where.path, message: error.message, hint: error.hint };
  }
  throw new Error('Nothing was thrown');
}

export const json = (text: string): AnyObject => {
  const value = parseExact(text);
  if (!isObject(value)) throw new Error('No object');
  return value;
};

export const { signal } = new AbortController();
