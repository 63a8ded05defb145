import type { ClientRequest, IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { ApiRequest, ApiResponse, FileRule, Send, SendOptions } from '../../shared/message.ts';
import { proxyAuthorization } from '../tunnel/proxy.ts';
import { createRoutes, type TunnelRoute, type RouteOptions } from '../tunnel/routes.ts';
import { BodyReader, type ReceivedBody } from './body-reader.ts';
import { decodeBody, isEncoded, tooLarge } from './decode.ts';
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
      const { response, received } = exchanged;
      const headers = receivedHeaders(response.headers);
      const head = { status: response.statusCode ?? 0, headers, url: request.url };
      if (exchanged.isDecoded || received.large !== undefined) return { ...head, ...received };
      const decoded = decodeBody(received.body, headers['content-encoding'], {
        maxBytes: options.maxBodyBytes,
        open: openOf(sendOptions, response),
        attempt: { origin: target.origin, answered: true },
      });
      return { ...head, ...(decoded instanceof Promise ? await decoded : decoded) };
    }
  }

  return { send, close: async () => routes.close() };
}

type Exchanged =
  | {
      readonly response: IncomingMessage;
      readonly received: Received;
      /** Its content encoding is undone. */
      readonly isDecoded: boolean;
    }
  | 'stale';

/** Returns what makes the file of a body that becomes too large for memory; only a page that succeeded has one. */
function openOf({ file }: SendOptions, { statusCode = 0 }: IncomingMessage): FileRule['open'] {
  return statusCode < 300 ? file?.open : undefined;
}

function exchange(
  request: ApiRequest,
  target: Target,
  route: TunnelRoute,
  options: TransportOptions,
  sendOptions: SendOptions,
): Promise<Exchanged> {
  const { signal, file: rule } = sendOptions;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const { origin } = target;
    const req = startRequest(request, target, route);
    let answered = false;
    let body: BodyReader | undefined;
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
      body?.abandon();
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
            (received) => settle({ response, received, isDecoded: true }),
            fail,
          );
          return;
        }
      }
      const isAsItCame = !isEncoded(response.headers['content-encoding']);
      body = collect(response, origin, {
        maxBytes: options.maxBodyBytes,
        open: isAsItCame ? openOf(sendOptions, response) : undefined,
        fail,
        done: (received) => settle({ response, received, isDecoded: false }),
      });
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

interface CollectOptions {
  readonly maxBytes: number;
  readonly open: FileRule['open'];
  readonly fail: (error: unknown) => void;
  readonly done: (received: ReceivedBody) => void;
}

/** Reads a body into memory, or into a file where it is too large for that. */
function collect(
  response: IncomingMessage,
  origin: string,
  { maxBytes, open, fail, done }: CollectOptions,
): BodyReader | undefined {
  const announced = Number(response.headers['content-length'] ?? 0) || 0;
  if (announced > maxBytes) {
    fail(tooLarge(maxBytes, { origin }));
    return undefined;
  }
  const body = new BodyReader(open, announced);

  response.on('data', (chunk: Buffer) => {
    if (body.bytes + chunk.length > maxBytes) return fail(tooLarge(maxBytes, { origin }));
    try {
      body.add(chunk);
    } catch (error) {
      fail(error);
    }
  });
  response.on('end', () => {
    if (!response.complete) return fail(failure(CURL.receive, `The response was cut off by ${origin}.`));
    try {
      done(body.take());
    } catch (error) {
      fail(error);
    }
  });
  response.on('error', fail);
  return body;
}
