import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { onAbort } from '../../../lib/reused-abort.ts';
import type { ApiRequest, ApiResponse, FileRule, Headers, Send, SendOptions } from '../../shared/message.ts';
import { proxyAuthorization } from '../tunnel/proxy.ts';
import { createRoutes, type TunnelRoute, type RouteOptions } from '../tunnel/routes.ts';
import { BodyReader, type ReceivedBody } from './body-reader.ts';
import { decodeBody, isEncoded, tooLarge } from './decode.ts';
import { receivedHeaders, wireHeaders } from './headers.ts';
import { DEFAULT_LIMITS, AnswerTimers, notConnected, watchConnecting, type Limits } from './limits.ts';
import { CURL, failure, networkError } from './network-error.ts';
import { PlainPool, type PlainConnection, type PlainOutcome } from './plain-connection.ts';
import { isPlain, plainRequest, type PlainHead } from './plain-message.ts';
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

  const pools = new Map<string, PlainPool>();
  const timers = new AnswerTimers(options);

  async function send(request: ApiRequest, sendOptions: SendOptions): Promise<ApiResponse> {
    const target = targetOf(request.url);
    const route = routes.to(target);
    const pool = route.proxy === undefined ? poolOf(route.agent, target) : undefined;
    const text = pool && plainRequest(request, target);
    const plain = text === undefined ? undefined : pool;
    for (;;) {
      const connection = plain?.take();
      const kept = connection && { connection, text: text ?? '' };
      const exchanged = await exchange({ request, target, route, kept, plain, timers }, options, sendOptions);
      if (exchanged === 'stale') continue;
      const { status, headers, received } = exchanged;
      const head = { status, headers, url: request.url };
      if (exchanged.isDecoded || received.large !== undefined) return { ...head, ...received };
      const decoded = decodeBody(received.body, headers['content-encoding'], {
        maxBytes: options.maxBodyBytes,
        open: openOf(sendOptions, status),
        attempt: { origin: target.origin, answered: true },
      });
      return { ...head, ...(decoded instanceof Promise ? await decoded : decoded) };
    }
  }

  function poolOf(agent: Agent, { origin, hostname, port, servername }: Target): PlainPool {
    let pool = pools.get(origin);
    if (pool === undefined) {
      const name = agent.getName({ host: hostname, port, ...(servername === '' ? {} : { servername }) });
      pools.set(origin, (pool = new PlainPool(agent, name)));
    }
    return pool;
  }

  return {
    send,
    close: async () => {
      routes.close();
      for (const pool of pools.values()) pool.destroy();
      timers.close();
    },
  };
}

/** One request, and the way that it takes. */
interface Exchange {
  readonly request: ApiRequest;
  readonly target: Target;
  readonly route: TunnelRoute;
  /** Sends the request on this connection. */
  readonly kept: { readonly connection: PlainConnection; readonly text: string } | undefined;
  /** Connections that requests of this form may take over. */
  readonly plain: PlainPool | undefined;
  readonly timers: AnswerTimers;
}

type Exchanged =
  | {
      readonly status: number;
      readonly headers: Headers;
      readonly received: Received;
      /** Its content encoding is undone. */
      readonly isDecoded: boolean;
    }
  | 'stale';

/** Returns what makes the file of a body that becomes too large for memory; only a page that succeeded has one. */
function openOf({ file }: SendOptions, status: number): FileRule['open'] {
  return status < 300 ? file?.open : undefined;
}

function exchange(
  { request, target, route, kept, plain, timers }: Exchange,
  options: TransportOptions,
  sendOptions: SendOptions,
): Promise<Exchanged> {
  const { signal, file: rule } = sendOptions;
  const { maxBodyBytes: maxBytes, isLimited = false } = options;
  const isAccepted = ({ status, headers, from, to }: PlainHead): boolean =>
    to - from <= maxBytes && !(status < 300 && rule?.takes(headers) === true);
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const { origin } = target;
    let answered = false;
    let req: ClientRequest | undefined;
    let body: BodyReader | undefined;
    let stopConnecting: (() => void) | undefined;

    if (kept === undefined) start();
    else kept.connection.send(kept.text, isAccepted, end);
    const watch = timers.start(origin, fail);
    const unwatch = onAbort(signal, () => fail(signal.reason));

    function settle(exchanged: Exchanged): void {
      stop();
      resolve(exchanged);
    }
    function stop(): void {
      watch.end();
      stopConnecting?.();
      unwatch();
    }
    function fail(error: unknown): void {
      stop();
      if (req === undefined) kept?.connection.destroy();
      req?.destroy();
      body?.abandon();
      const isReused = kept !== undefined || req?.reusedSocket === true;
      if (signal.aborted) reject(signal.reason as Error);
      else if (!answered && isReused && isStale(error)) resolve('stale');
      else reject(networkError(error, { origin, answered }));
    }

    function end(outcome: PlainOutcome): void {
      if ('stream' in outcome) start(outcome.stream);
      else if ('head' in outcome)
        settle({ ...outcome.head, received: { body: outcome.body }, isDecoded: false });
      else if (outcome.error === undefined) settle('stale');
      else fail(outcome.error);
    }

    /** @param stream connection on which the request has gone out */
    function start(stream?: Duplex): void {
      req = startRequest(request, target, route, stream);
      if (stream === undefined) {
        const { secure } = route.proxy ?? target;
        const late = (): void => fail(notConnected(origin, options));
        stopConnecting = watchConnecting(req, secure, options.connectTimeoutMs, late);
      }
      req.on('error', fail);
      req.once('response', onResponse);
      req.end(request.body);
    }
    function onResponse(response: IncomingMessage): void {
      answered = true;
      const status = response.statusCode ?? 0;
      const headers = receivedHeaders(response.headers);
      if (status < 300 && rule?.takes(headers) === true) {
        const parts = readParts(response, origin, () => watch.progress());
        receive(parts, { rule, headers, maxBytes, isLimited, attempt: { origin, answered } }).then(
          (received) => settle({ status, headers, received, isDecoded: true }),
          fail,
        );
        return;
      }
      const isAsItCame = !isEncoded(headers['content-encoding']);
      body = collect(response, origin, {
        maxBytes,
        open: isAsItCame ? openOf(sendOptions, status) : undefined,
        fail,
        done: (received) => {
          if (req !== undefined) plain?.note(req, isPlain(response));
          settle({ status, headers, received, isDecoded: false });
        },
      });
    }
  });
}

function startRequest(
  request: ApiRequest,
  target: Target,
  { agent, proxy }: TunnelRoute,
  stream: Duplex | undefined,
): ClientRequest {
  const headers = wireHeaders(request, target);
  const { secure, hostname, port, servername } = proxy ?? target;
  const options: RequestOptions = {
    ...(stream === undefined ? { agent } : { createConnection: () => stream }),
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
function isStale(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ECONNRESET' || code === 'EPIPE';
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
