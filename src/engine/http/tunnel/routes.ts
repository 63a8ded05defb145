import type { Agent, ClientRequestArgs } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { http, https } from '../send/runtime.ts';
import type { Target } from '../send/target.ts';
import { connectThrough } from './proxy.ts';

/** Opens a byte stream to a host through a proxy or a tunnel; the name is looked up at the far end. */
export type Connect = (hostname: string, port: number, signal: AbortSignal) => Promise<Duplex>;

export interface RouteOptions {
  /** Certificates for hosts. Asked for at the first secure request: reading all authorities is slow. */
  readonly secureContext?: (() => SecureContext | undefined) | undefined;
  /** Certificates for the proxy itself, when it is an https one; default: those of the runtime. */
  readonly proxyContext?: (() => SecureContext | undefined) | undefined;
  /** Looks up the names of hosts that are connected to directly; default: that of the runtime. */
  readonly lookup?: LookupFunction | undefined;
  /** Gives the HTTP proxy for a target; undefined: a direct connection. */
  readonly proxyFor?: ((target: Target) => Target | undefined) | undefined;
  /** Opens every connection in a tunnel; comes before `proxyFor`. */
  readonly connect?: Connect | undefined;
}

/** How a request gets to its host. */
export interface TunnelRoute {
  /** Opens connections, and keeps them for later requests. */
  readonly agent: Agent;
  /** The proxy that is asked in the host's place, in absolute form; undefined: the host itself is asked. */
  readonly proxy: Target | undefined;
}

export interface Routes {
  to(target: Target): TunnelRoute;
  /** Closes all connections, also those that are being opened. New ones are opened when they are needed. */
  close(): void;
}

/** Chooses direct connections, a tunnel, or an HTTP proxy: http targets in absolute form, https targets by CONNECT. */
export function createRoutes({
  connect,
  proxyFor,
  proxyContext,
  lookup,
  secureContext,
}: RouteOptions): Routes {
  const direct = new Agents({ secureContext, lookup });
  const forwarding = new Agents({ secureContext: proxyContext });
  const tunnels = new Map<string, Agents>();
  const tunnelAgent = (key: string, target: Target, open: Connect): Agent => {
    let agents = tunnels.get(key);
    if (agents === undefined) tunnels.set(key, (agents = new Agents({ secureContext, connect: open })));
    return agents.for(target);
  };
  return {
    to(target) {
      if (connect !== undefined) return { agent: tunnelAgent('', target, connect), proxy: undefined };
      const proxy = proxyFor?.(target);
      if (proxy === undefined) return { agent: direct.for(target), proxy };
      if (!target.secure) return { agent: forwarding.for(proxy), proxy };
      const open: Connect = (...to) => connectThrough(proxy, proxyContext, ...to);
      return { agent: tunnelAgent(proxy.origin, target, open), proxy: undefined };
    },
    close() {
      for (const agents of [direct, forwarding, ...tunnels.values()]) agents.destroy();
    },
  };
}

/** Agents for http and https, each made when it is first needed. */
class Agents {
  readonly #options: Pick<RouteOptions, 'connect' | 'lookup' | 'secureContext'>;
  #plain: Agent | undefined;
  #secure: Agent | undefined;
  #closing = new AbortController();

  constructor(options: Pick<RouteOptions, 'connect' | 'lookup' | 'secureContext'>) {
    this.#options = options;
  }

  for({ secure }: Target): Agent {
    return secure ? (this.#secure ??= this.#create(true)) : (this.#plain ??= this.#create(false));
  }

  destroy(): void {
    this.#closing.abort();
    this.#closing = new AbortController();
    this.#plain?.destroy();
    this.#secure?.destroy();
  }

  #create(secure: boolean): Agent {
    const { connect, lookup, secureContext } = this.#options;
    const options = { keepAlive: true, ...(lookup === undefined ? {} : { lookup }) };
    const context = secure ? secureContext?.() : undefined;
    const agent = secure
      ? new (https().Agent)({ ...options, ...(context === undefined ? {} : { secureContext: context }) })
      : new http.Agent(options);
    if (connect === undefined) return agent;
    const startTls = agent.createConnection.bind(agent);
    const open = async (to: ClientRequestArgs): Promise<Duplex> => {
      const stream = await connect(to.host ?? '', Number(to.port), this.#closing.signal);
      if (!secure) return asSocket(stream);
      const given = { ...to, socket: stream }; // which the https agent hands on to `tls.connect`
      return startTls(given) ?? stream;
    };
    agent.createConnection = (to, done) => {
      open(to).then(
        (socket) => done?.(null, socket),
        // Its second argument is not read then, although the types ask for one.
        (error: unknown) => (done as ((error: unknown) => void) | undefined)?.(error),
      );
      return undefined;
    };
    return agent;
  }
}

/** Adds the methods of sockets that agents call to a stream without them, such as a channel of SSH. */
function asSocket(stream: Duplex): Duplex {
  if ('setKeepAlive' in stream) return stream;
  const ignore = (): Duplex => stream;
  const methods = {
    setKeepAlive: ignore,
    setNoDelay: ignore,
    setTimeout: ignore,
    ref: ignore,
    unref: ignore,
  };
  return Object.assign(stream, methods);
}
