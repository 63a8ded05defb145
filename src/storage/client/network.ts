import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { BeforeErrorHook, BeforeRequestHook, Got, Response } from 'got';
import type { HttpError } from '../../lib/errors.ts';
import type { ApiRequest, ApiResponse, SendOptions } from '../../engine/shared/message.ts';
import { receivedHeaders } from '../../engine/http/send/headers.ts';
import { CURL, failure, networkError } from '../../engine/http/send/network-error.ts';
import { http, https } from '../../engine/http/send/runtime.ts';
import { targetOf } from '../../engine/http/send/target.ts';
import { watchConnecting } from '../../engine/http/send/limits.ts';
import { secureContextOf } from '../../engine/http/send/tls.ts';
import { proxyAuthorization, rememberProxies, type Environment } from '../../engine/http/tunnel/proxy.ts';
import { createRoutes, type Routes } from '../../engine/http/tunnel/routes.ts';
import { queryText, type Query } from './encode.ts';

/** Opens the body again for each attempt. */
export type OpenBody = () => AsyncIterable<Uint8Array>;

export interface CallOptions extends SendOptions {
  /** Content in the place of the request's own body. It has its own pace. */
  readonly openBody?: OpenBody | undefined;
}

/** Sends one request, once. Redirects are not followed: the token would go along with them. */
export type SendCall = (request: ApiRequest, options: CallOptions) => Promise<ApiResponse>;

/** Like {@link SendCall}, with a streamed answer; the stream is there when it was a success. */
export type OpenCall = (
  request: ApiRequest,
  options: SendOptions,
) => Promise<{ readonly response: ApiResponse; readonly stream?: Readable }>;

/** The way to the service and to its object store: over kept connections, and by the proxies of the environment. */
export interface Network {
  readonly send: SendCall;
  readonly open: OpenCall;
  /** The request handler for the SDK of the object store. */
  readonly objects: {
    handle(request: ObjectRequest, options?: ObjectOptions): Promise<{ response: ObjectResponse }>;
  };
  /** Closes the open connections; they are opened again when needed. */
  close(): void;
}

/** A signed request, as the SDK makes it. */
interface ObjectRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query: Query;
  readonly headers: Record<string, string>;
  readonly body?: Uint8Array | string;
}

interface ObjectOptions {
  readonly abortSignal?: AbortSignal;
}

interface ObjectResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

const CONNECT_MS = 10_000;
/** For one call: answers are small, and what takes long is a job. Content may take longer, as long as it moves. */
export const PATIENCE_MS = 120_000;
const SILENT_MS = 60_000;

/**
 * Sends by got, which is loaded for the first request. It repeats nothing: what may be sent again, only those know who
 * ask.
 *
 * @param silentMs a connection with the object store on which nothing moves for that long is given up
 */
export function createNetwork(environment: Environment, silentMs: number = SILENT_MS): Network {
  const proxyFor = rememberProxies(environment);
  const routes = createRoutes({
    secureContext: () => secureContextOf({}),
    proxyContext: () => secureContextOf({}),
    proxyFor: (target) => (LOOPBACK.test(target.hostname) ? undefined : proxyFor?.(target)),
  });
  let loading: Promise<Got> | undefined;
  const load = (): Promise<Got> => (loading ??= loadGot(routes));

  return {
    async send(request, { signal, openBody }) {
      const got = await load();
      signal.throwIfAborted();
      const body = openBody?.() ?? request.body;
      const whole = openBody === undefined ? { request: PATIENCE_MS } : { socket: PATIENCE_MS };
      try {
        const { statusCode, headers, rawBody } = await got(request.url, {
          method: request.method as 'POST', // one of those that the library knows, which are all
          headers: request.headers,
          ...(body === undefined ? {} : { body }),
          responseType: 'buffer',
          timeout: { response: PATIENCE_MS, ...whole },
          signal,
        });
        return { status: statusCode, headers: receivedHeaders(headers), url: request.url, body: rawBody };
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
    async open({ method, url, headers, body }, { signal }) {
      const got = await load();
      signal.throwIfAborted();
      const stream = got.stream(url, {
        method: method as 'GET', // as above
        headers,
        ...(body === undefined ? {} : { body }),
        timeout: { response: PATIENCE_MS, socket: silentMs },
        signal,
      });
      stream.on('error', () => {}); // for whoever reads it, also when that is later
      const [{ statusCode, headers: received }] = (await once(stream, 'response')) as [Response]; // what that event brings
      const response = { status: statusCode, headers: receivedHeaders(received), url, body: NOTHING };
      if (statusCode >= 200 && statusCode < 300) return { response, stream };
      return { response: { ...response, body: await buffer(stream) } };
    },
    objects: {
      async handle({ method, protocol, hostname, port, path, query, headers, body }, { abortSignal } = {}) {
        const got = await load();
        const host = port === undefined ? hostname : `${hostname}:${port}`;
        const stream = got.stream(`${protocol}//${host}${path}${queryText(query)}`, {
          method: method as 'POST', // as above
          headers,
          ...(method === 'GET' ? {} : { body: body ?? '' }),
          decompress: false,
          timeout: { socket: silentMs },
          ...(abortSignal === undefined ? {} : { signal: abortSignal }),
        });
        stream.on('error', () => {}); // for whoever reads it, also when that is later
        const [response] = (await once(stream, 'response')) as [Response]; // what that event brings
        return {
          response: {
            statusCode: response.statusCode,
            headers: receivedHeaders(response.headers),
            body: stream,
          },
        };
      },
    },
    close: () => routes.close(),
  };
}

const NOTHING = new Uint8Array(0);

/** Nothing of this machine is asked of a proxy. */
const LOOPBACK = /^(?:127(?:\.\d+){3}|::1|(?:.+\.)?localhost)$/;

async function loadGot(routes: Routes): Promise<Got> {
  const { default: got } = await import('got');
  return got.extend({
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    hooks: { beforeRequest: [sendOver(routes)], beforeError: [explain] },
  });
}

/** Gives a request its connections; one that a proxy is asked for in the host's place gets that address. */
function sendOver(routes: Routes): BeforeRequestHook {
  return (options) => {
    const target = targetOf(String(options.url));
    const { agent, proxy } = routes.to(target);
    const { secure, hostname, port, servername } = proxy ?? target;
    const absolute = proxy !== undefined && {
      protocol: secure ? 'https:' : 'http:',
      hostname,
      port,
      servername,
      path: target.origin + target.path,
      headers: { ...options.headers, host: target.host, ...proxyAuthorization(proxy) },
    };
    options.request = (url, given, answer) => {
      const settings = { ...given, ...absolute, agent };
      const req = secure ? https().request(url, settings, answer) : http.request(url, settings, answer);
      const stop = watchConnecting(req, secure, CONNECT_MS, () =>
        req.destroy(failure(CURL.connect, `No connection to ${target.origin} in time.`)),
      );
      return req.once('close', stop);
    };
  };
}

const explain: BeforeErrorHook = (error) => {
  const { origin } = targetOf(String(error.options.url));
  const phase = 'event' in error ? error.event : undefined;
  if (phase !== undefined) return lateAnswer(origin, error);
  return networkError(error, { origin, answered: error.response !== undefined });
};

export function lateAnswer(origin: string, cause?: unknown): HttpError {
  return failure(CURL.timeout, `No answer in time from ${origin}.`, { cause });
}
