import type { ClientRequest, IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { ApiRequest, ApiResponse, Send, SendOptions } from '../../shared/message.ts';
import { proxyAuthorization } from '../tunnel/proxy.ts';
import { createRoutes, type TunnelRoute, type RouteOptions } from '../tunnel/routes.ts';
import { BodyBuffer } from './body-buffer.ts';
import { decodeBody, tooLarge } from './decode.ts';
import { receivedHeaders, wireHeaders } from './headers.ts';
import { DEFAULT_LIMITS, watchTimes, type Limits } from './limits.ts';
import { CURL, failure, networkError } from './network-error.ts';
import { receive, type Received } from './receive.ts';
import { http, https } from './runtime.ts';
import { targetOf, type Target } from './target.ts';

/**
 * The innermost `Send`: sends one request over the network, follows no redirect, retries nothing. `send` rejects
 * with an {@link HttpError} that says whether sending again may help, or with the reason of an aborted signal.
 */
export interface Transport {
  readonly send: Send;
  /** Closes idle connections and those in use. Call it once, after the last request. */
  close(): Promise<void>;
}

export interface TransportOptions extends Limits, RouteOptions {
  /** `maxBodyBytes` was configured: it counts for bodies that go to files, too. */
  readonly isLimited?: boolean;
}

/** Room for long Link and cookie headers; the runtime's own limit is 16 KiB. */
const MAX_HEADER_BYTES = 131_072;

/** Creates a transport over the runtime's client: direct, through HTTP proxies, or in a tunnel, with kept connections. */
export function createTransport(given: Partial<TransportOptions> = {}): Transport {
  const options = { ...DEFAULT_LIMITS, ...given };
  const routes = createRoutes(options);

  async function send(request: ApiRequest, sendOptions: SendOptions): Promise<ApiResponse> {
    const target = targetOf(request.url);
    for (;;) {
      const exchanged = await exchange(request, target, routes.to(target), options, sendOptions);
      if (exchanged === 'stale') continue;
      const { response, body, file } = exchanged;
      const headers = receivedHeaders(response.headers);
      const head = { status: response.statusCode ?? 0, headers, url: request.url };
      if (file !== undefined) return { ...head, ...file };
      const attempt = { origin: target.origin, answered: true };
      const decoded = decodeBody(body, headers['content-encoding'], options.maxBodyBytes, attempt);
      return { ...head, body: decoded instanceof Uint8Array ? decoded : await decoded };
    }
  }

  return { send, close: async () => routes.close() };
}

type Exchanged =
  | { readonly response: IncomingMessage; readonly body: Uint8Array; readonly file?: never }
  | { readonly response: IncomingMessage; readonly body?: never; readonly file: Received }
  | 'stale';

function exchange(
  request: ApiRequest,
  target: Target,
  route: TunnelRoute,
  options: TransportOptions,
  { signal, file: rule }: SendOptions,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const { origin } = target;
    const req = startRequest(request, target, route);
    let answered = false;
    const watch = watchTimes(req, { origin, secure: (route.proxy ?? target).secure }, options, fail);
    const onAbort = (): void => fail(signal.reason);
    signal.addEventListener('abort', onAbort);

    function settle(exchanged: Exchanged): void {
      stop();
      resolve(exchanged);
    }
    function stop(): void {
      watch.end();
      signal.removeEventListener('abort', onAbort);
    }
    function fail(error: unknown): void {
      stop();
      req.destroy();
      if (signal.aborted) reject(signal.reason as Error);
      else if (!answered && isStale(error, req)) resolve('stale');
      else reject(networkError(error, { origin, answered }));
    }

    req.on('error', fail);
    req.once('response', (response) => {
      answered = true;
      if (rule !== undefined && (response.statusCode ?? 0) < 300) {
        const headers = receivedHeaders(response.headers);
        if (rule.takes(headers)) {
          const { maxBodyBytes: maxBytes, isLimited = false } = options;
          const parts = readParts(response, origin, () => watch.progress());
          receive(parts, { rule, headers, maxBytes, isLimited, attempt: { origin, answered } }).then(
            (file) => settle({ response, file }),
            fail,
          );
          return;
        }
      }
      collect(response, origin, options.maxBodyBytes, fail, (body) => settle({ response, body }));
    });
    req.end(request.body);
  });
}

function startRequest(request: ApiRequest, target: Target, { agent, proxy }: TunnelRoute): ClientRequest {
  const headers = wireHeaders(request, target);
  const { secure, hostname, port, servername } = proxy ?? target;
  const options: RequestOptions = {
    agent,
    method: request.method,
    host: hostname,
    port,
    path: proxy === undefined ? target.path : target.origin + target.path,
    servername,
    headers: proxy === undefined ? headers : { Host: target.host, ...headers, ...proxyAuthorization(proxy) },
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  return secure ? https().request(options) : http.request(options);
}

/**
 * Returns true when a kept connection turned out to be closed before the server read anything: sent again at once on
 * another one, as curl and browsers do. It ends, for each time takes a connection out of the pool.
 */
function isStale(error: unknown, req: ClientRequest): boolean {
  const { code } = error as { code?: unknown };
  return req.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
}

/** Reads a body part by part, as fast as it is used. */
async function* readParts(
  response: IncomingMessage,
  origin: string,
  onPart: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const part of response as AsyncIterable<Buffer>) {
    onPart();
    yield part;
  }
  if (!response.complete) throw failure(CURL.receive, `The response was cut off by ${origin}.`);
}

/** Reads a body into memory. */
function collect(
  response: IncomingMessage,
  origin: string,
  maxBytes: number,
  fail: (error: unknown) => void,
  done: (body: Uint8Array) => void,
): void {
  const announced = Number(response.headers['content-length'] ?? 0) || 0;
  if (announced > maxBytes) return fail(tooLarge(maxBytes, { origin }));
  const body = new BodyBuffer(announced);

  response.on('data', (chunk: Buffer) => {
    if (body.size + chunk.length > maxBytes) return fail(tooLarge(maxBytes, { origin }));
    body.add(chunk);
  });
  response.on('end', () => {
    if (!response.complete) return fail(failure(CURL.receive, `The response was cut off by ${origin}.`));
    done(body.take());
  });
  response.on('error', fail);
}
