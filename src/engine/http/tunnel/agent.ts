import type { Agent, ClientRequestArgs } from 'node:http';
import type { Agent as SecureAgent, RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import tls, { type ConnectionOptions } from 'node:tls';
import { tlsOptions, type BottomOptions } from '../send/bottom.ts';
import { http, https } from '../send/runtime.ts';
import { TunnelSocket } from './socket.ts';

/** Opens a byte stream to a host through a proxy; the name is looked up at the far end. */
export type Connect = (hostname: string, port: number) => Promise<Duplex>;

export interface Agents {
  readonly http: Agent;
  readonly https: SecureAgent;
}

/** Agents whose connections go through a tunnel, kept open for the next request. */
export function createTunnelAgents(connect: Connect, options: Pick<BottomOptions, 'secureContext'>): Agents {
  return {
    http: new TunnelAgent(connect),
    https: new SecureTunnelAgent(connect, tlsOptions(options)),
  };
}

class TunnelAgent extends http.Agent {
  readonly #connect: Connect;

  constructor(connect: Connect) {
    super({ keepAlive: true });
    this.#connect = connect;
  }

  override createConnection(options: ClientRequestArgs): Duplex {
    return new TunnelSocket(() => this.#connect(hostOf(options), Number(options.port)));
  }
}

class SecureTunnelAgent extends https().Agent {
  readonly #connect: Connect;
  readonly #tls: ConnectionOptions;

  constructor(connect: Connect, tlsOptions: ConnectionOptions) {
    super({ keepAlive: true, ...tlsOptions });
    this.#connect = connect;
    this.#tls = tlsOptions;
  }

  override createConnection(options: RequestOptions): Duplex {
    const socket = new TunnelSocket(() => this.#connect(hostOf(options), Number(options.port)));
    return tls.connect({ ...this.#tls, socket, host: hostOf(options), servername: options.servername ?? '' });
  }
}

function hostOf(options: ClientRequestArgs): string {
  return options.host ?? options.hostname ?? '';
}
