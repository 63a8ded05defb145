import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Agent as SecureAgent, RequestOptions } from 'node:https';
import {
  DEFAULT_BOTTOM,
  isStale,
  MAX_HEADER_BYTES,
  receivedHeaders,
  tlsOptions,
  watchTimes,
  wireHeaders,
  type Bottom,
  type BottomOptions,
} from './bottom.ts';
import { BodyBuffer } from './body-buffer.ts';
import { decodeBody, tooLarge } from './decode.ts';
import type { ApiRequest, ApiResponse, SendOptions } from '../../shared/message.ts';
import { CURL, failure, networkError } from './network-error.ts';
import { receive, type Received } from './receive.ts';
import { http, https } from './runtime.ts';
import { targetOf, type Target } from './target.ts';

export interface NodeOptions extends BottomOptions {
  /** The limit of bodies was given, and is not the usual one: it counts for files too. */
  readonly isLimited?: boolean;
}

/** A bottom over the runtime's own client, with kept connections: the usual way, and the fastest. */
export function createNodeSend(given: Partial<NodeOptions> = {}): Bottom {
  const options = { ...DEFAULT_BOTTOM, ...given };
  const lookup = options.lookup === undefined ? {} : { lookup: options.lookup };
  const plain = new http.Agent({ keepAlive: true, ...lookup });
  let secure: SecureAgent | undefined;
  const agentFor = (target: Target): Agent =>
    target.secure
      ? (secure ??= new (https().Agent)({ keepAlive: true, ...lookup, ...tlsOptions(options) }))
      : plain;

  async function send(request: ApiRequest, sendOptions: SendOptions): Promise<ApiResponse> {
    const target = targetOf(request.url);
    for (;;) {
      const { response, body, file, stale } = await exchange(
        request,
        target,
        agentFor(target),
        options,
        sendOptions,
      );
      if (stale) continue;
      const headers = receivedHeaders(response.headers);
      if (file !== undefined) return { status: response.statusCode ?? 0, headers, url: request.url, ...file };
      const attempt = { origin: target.origin, answered: true };
      const decoded = decodeBody(body, headers['content-encoding'], options.maxBodyBytes, attempt);
      return {
        status: response.statusCode ?? 0,
        headers,
        url: request.url,
        body: decoded instanceof Uint8Array ? decoded : await decoded,
      };
    }
  }

  return {
    send,
    close: async () => {
      plain.destroy();
      secure?.destroy();
    },
  };
}

type Exchanged =
  | {
      readonly response: IncomingMessage;
      readonly body: Uint8Array;
      readonly file?: never;
      readonly stale?: never;
    }
  | {
      readonly response: IncomingMessage;
      readonly body?: never;
      readonly file: Received;
      readonly stale?: never;
    }
  | { readonly response?: never; readonly body?: never; readonly file?: never; readonly stale: true };

function exchange(
  request: ApiRequest,
  target: Target,
  agent: Agent,
  options: NodeOptions,
  { signal, file: rule }: SendOptions,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const req = startRequest(request, target, agent);
    let answered = false;
    const watch = watchTimes(req, target, options, fail);
    const onAbort = (): void => fail(signal.reason);
    signal.addEventListener('abort', onAbort);

    function settle(): void {
      watch.end();
      signal.removeEventListener('abort', onAbort);
    }
    function fail(error: unknown): void {
      settle();
      req.destroy();
      if (signal.aborted) reject(signal.reason as Error);
      else if (!answered && isStale(error, req)) resolve({ stale: true });
      else reject(networkError(error, { origin: target.origin, answered }));
    }

    req.on('error', fail);
    req.once('response', (response) => {
      answered = true;
      const status = response.statusCode ?? 0;
      if (rule !== undefined && status < 300) {
        const headers = receivedHeaders(response.headers);
        if (rule.takes(headers)) {
          const { maxBodyBytes: maxBytes, isLimited = false } = options;
          const attempt = { origin: target.origin, answered };
          receive(
            partsOf(response, target, () => watch.progress()),
            {
              rule,
              headers,
              maxBytes,
              isLimited,
              attempt,
            },
          ).then((file) => {
            settle();
            resolve({ response, file });
          }, fail);
          return;
        }
      }
      collect(response, target, options.maxBodyBytes, fail, (body) => {
        settle();
        resolve({ response, body });
      });
    });
    req.end(request.body);
  });
}

function startRequest(request: ApiRequest, target: Target, agent: Agent): ClientRequest {
  const options: RequestOptions = {
    agent,
    method: request.method,
    host: target.hostname,
    port: target.port,
    path: target.path,
    servername: target.servername,
    headers: wireHeaders(request, target),
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  return target.secure ? https().request(options) : http.request(options);
}

/** The body part by part, as fast as it is used. */
async function* partsOf(
  response: IncomingMessage,
  target: Target,
  onPart: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const part of response as AsyncIterable<Buffer>) {
    onPart();
    yield part;
  }
  if (!response.complete) throw failure(CURL.receive, `The response was cut off by ${target.origin}.`);
}

function collect(
  response: IncomingMessage,
  target: Target,
  maxBytes: number,
  fail: (error: unknown) => void,
  done: (body: Uint8Array) => void,
): void {
  const announced = Number(response.headers['content-length'] ?? 0) || 0;
  if (announced > maxBytes) return fail(tooLarge(maxBytes, { origin: target.origin }));
  const body = new BodyBuffer(announced);

  response.on('data', (chunk: Buffer) => {
    if (body.size + chunk.length > maxBytes) return fail(tooLarge(maxBytes, { origin: target.origin }));
    body.add(chunk);
  });
  response.on('end', () => {
    if (!response.complete)
      return fail(failure(CURL.receive, `The response was cut off by ${target.origin}.`));
    done(body.take());
  });
  response.on('error', fail);
}
