import type { ClientRequest } from 'node:http';
import type { RequestOptions } from 'node:https';
import got, { type Response } from 'got';
import {
  DEFAULT_BOTTOM,
  isStale,
  MAX_HEADER_BYTES,
  receivedHeaders,
  watchTimes,
  wireHeaders,
  type Bottom,
  type BottomOptions,
  type Watch,
} from './bottom.ts';
import { decodeBody, tooLarge } from './decode.ts';
import type { ApiRequest, ApiResponse } from '../../shared/message.ts';
import { networkError } from './network-error.ts';
import { proxyAuthorization } from '../tunnel/proxy.ts';
import { http, https } from './runtime.ts';
import { targetOf, type Target } from './target.ts';
import { createWays, type Way, type WaysOptions } from '../tunnel/ways.ts';

export interface GotOptions extends BottomOptions, WaysOptions {}

/**
 * A bottom over got, for requests that go through a proxy or a tunnel. http targets are asked of an HTTP proxy in
 * absolute form, https targets through CONNECT. Redirects, retries, decoding and the exact request target are ours:
 * the library would encode the target anew.
 */
export function createGotSend(given: Partial<GotOptions> = {}): Bottom {
  const options: GotOptions = { ...DEFAULT_BOTTOM, ...given };
  const ways = createWays(options);

  async function send(request: ApiRequest, { signal }: { signal: AbortSignal }): Promise<ApiResponse> {
    const target = targetOf(request.url);
    for (;;) {
      const response = await exchange(request, target, ways.to(target), options, signal);
      if (response === 'stale') continue;
      const headers = receivedHeaders(response.headers);
      const attempt = { origin: target.origin, answered: true };
      const body = await decodeBody(
        response.rawBody,
        headers['content-encoding'],
        options.maxBodyBytes,
        attempt,
      );
      if (body.length > options.maxBodyBytes) throw tooLarge(options.maxBodyBytes, attempt);
      return { status: response.statusCode, headers, url: request.url, body };
    }
  }

  return {
    send,
    close: async () => ways.close(),
  };
}

async function exchange(
  request: ApiRequest,
  target: Target,
  { agents, forward }: Way,
  options: GotOptions,
  signal: AbortSignal,
): Promise<Response<Uint8Array> | 'stale'> {
  signal.throwIfAborted();
  let req: ClientRequest | undefined;
  let watch: Watch | undefined;
  let answered = false;
  const wire = toWire(request, target, forward);
  try {
    const pending = plain(`${target.origin}/`, {
      method: wire.method,
      ...(request.body === undefined ? {} : { body: request.body }),
      signal,
      request: (_url, { protocol: _scheme, ...given }, answer) => {
        const settings = { ...given, ...wire.options, agent: wire.secure ? agents.https : agents.http };
        const sent = wire.secure ? https().request(settings, answer) : http.request(settings, answer);
        watch = watchTimes(sent, target, options, (error) => sent.destroy(error));
        sent.once('response', () => (answered = true));
        return (req = sent);
      },
    });
    void pending.on('downloadProgress', ({ transferred, total = 0 }) => {
      const isTooLarge = Math.max(transferred, total) > options.maxBodyBytes;
      if (isTooLarge) req?.destroy(tooLarge(options.maxBodyBytes, { origin: target.origin }));
    });
    return await pending;
  } catch (error) {
    signal.throwIfAborted();
    if (!answered && isStale(error, req)) return 'stale';
    throw networkError(error, { origin: target.origin, answered });
  } finally {
    watch?.end();
  }
}

/** All that the chain above decides, and the body as it was sent. */
const plain = got.extend({
  responseType: 'buffer',
  decompress: false,
  followRedirect: false,
  throwHttpErrors: false,
  allowGetBody: true,
  retry: { limit: 0 },
});

interface Wire {
  readonly method: string;
  readonly secure: boolean;
  readonly options: RequestOptions;
}

/** What is said to the host itself, or to the proxy that forwards it. */
function toWire(request: ApiRequest, target: Target, proxy: Target | undefined): Wire {
  const next = proxy ?? target;
  const headers = wireHeaders(request, target);
  return {
    method: request.method,
    secure: next.secure,
    options: {
      method: request.method,
      host: next.hostname,
      hostname: next.hostname,
      port: next.port,
      servername: next.servername,
      path: proxy === undefined ? target.path : target.origin + target.path,
      headers:
        proxy === undefined ? headers : { Host: target.host, ...headers, ...proxyAuthorization(proxy) },
      maxHeaderSize: MAX_HEADER_BYTES,
    },
  };
}
