import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import type { Response } from 'got';
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
import { decodeBody, tooLarge } from './decode.ts';
import type { ApiRequest, ApiResponse } from './message.ts';
import { networkError } from './network-error.ts';
import { connectThrough, proxyAuthorization } from './proxy.ts';
import { targetOf, type Target } from './target.ts';
import { createTunnelAgents, type Agents, type Connect } from './tunnel-agent.ts';

export interface GotOptions extends BottomOptions {
  /** The HTTP proxy for a target; undefined: straight to it. */
  readonly proxyFor?: (target: Target) => Target | undefined;
  /** A tunnel for every connection; comes before `proxyFor`. */
  readonly connect?: Connect;
}

/**
 * A bottom over got, for requests that go through a proxy or a tunnel. http targets are asked of an HTTP proxy in
 * absolute form, https targets through CONNECT. Redirects, retries, decoding and the exact request target are ours:
 * the library would encode the target anew.
 */
export function createGotSend(given: Partial<GotOptions> = {}): Bottom {
  const options: GotOptions = { ...DEFAULT_BOTTOM, ...given };
  const agents = new Map<string, Agents>();
  const ways = {
    agents: (target: Target) => agentsFor(target, options, agents),
    forward: forwarder(options),
  };

  async function send(request: ApiRequest, { signal }: { signal: AbortSignal }): Promise<ApiResponse> {
    const target = targetOf(request.url);
    for (;;) {
      const response = await exchange(request, target, ways, options, signal);
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
    close: async () => {
      for (const pair of agents.values()) {
        pair.http.destroy();
        pair.https.destroy();
      }
    },
  };
}

interface Ways {
  readonly agents: (target: Target) => Agents;
  /** The proxy that is asked in absolute form. */
  readonly forward: (target: Target) => Target | undefined;
}

function forwarder(options: GotOptions): Ways['forward'] {
  return (target) =>
    target.secure || options.connect !== undefined ? undefined : options.proxyFor?.(target);
}

/** One pair of agents for each way out, made when first needed. */
function agentsFor(target: Target, options: GotOptions, made: Map<string, Agents>): Agents {
  const proxy = options.connect === undefined ? options.proxyFor?.(target) : undefined;
  const isTunnel = options.connect !== undefined || (proxy !== undefined && target.secure);
  const key = isTunnel ? `tunnel ${proxy?.origin ?? ''}` : 'direct';
  let agents = made.get(key);
  if (agents === undefined) {
    const connect = options.connect ?? (proxy === undefined ? undefined : viaProxy(proxy));
    agents =
      isTunnel && connect !== undefined
        ? createTunnelAgents(connect, options)
        : {
            http: new http.Agent({ keepAlive: true }),
            https: new https.Agent({ keepAlive: true, ...tlsOptions(options) }),
          };
    made.set(key, agents);
  }
  return agents;
}

function viaProxy(proxy: Target): Connect {
  return (hostname, port) => connectThrough(proxy, hostname, port);
}

async function exchange(
  request: ApiRequest,
  target: Target,
  ways: Ways,
  options: GotOptions,
  signal: AbortSignal,
): Promise<Response<Uint8Array> | 'stale'> {
  signal.throwIfAborted();
  const { default: got } = await import('got');
  const own = new AbortController();
  let req: ClientRequest | undefined;
  let unwatch: (() => void) | undefined;
  let answered = false;
  const wire = toWire(request, target, ways.forward(target));
  const agents = ways.agents(target);
  function refuseBeyond(bytes: number): void {
    if (bytes > options.maxBodyBytes) own.abort(tooLarge(options.maxBodyBytes, { origin: target.origin }));
  }
  try {
    const pending = got(`${target.origin}/`, {
      method: wire.method,
      ...(request.body === undefined ? {} : { body: request.body }),
      agent: wire.secure ? { https: agents.https } : { http: agents.http },
      responseType: 'buffer',
      signal: AbortSignal.any([signal, own.signal]),
      decompress: false,
      followRedirect: false,
      throwHttpErrors: false,
      allowGetBody: true,
      retry: { limit: 0 },
      request: (_url, fromLibrary, callback) => {
        const { protocol: _scheme, ...rest } = fromLibrary;
        const settings = { ...rest, ...wire.options, agent: wire.secure ? agents.https : agents.http };
        req = wire.secure ? https.request(settings, callback) : http.request(settings, callback);
        unwatch = watchTimes(req, target, options, (error) => own.abort(error));
        req.once('response', (response) => {
          answered = true;
          refuseBeyond(Number(response.headers['content-length'] ?? 0));
        });
        return req;
      },
    });
    void pending.on('downloadProgress', ({ transferred }) => refuseBeyond(transferred));
    return await pending;
  } catch (error) {
    signal.throwIfAborted();
    if (!own.signal.aborted && !answered && isStale(error, req)) return 'stale';
    throw networkError(own.signal.aborted ? own.signal.reason : error, { origin: target.origin, answered });
  } finally {
    unwatch?.();
  }
}

interface Wire {
  readonly method: string;
  readonly secure: boolean;
  readonly options: https.RequestOptions;
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
