import type { Agent } from 'node:http';
import { tlsOptions, type BottomOptions } from '../send/bottom.ts';
import { http, https } from '../send/runtime.ts';
import type { Target } from '../send/target.ts';
import { createTunnelAgents, type Agents, type Connect } from './agent.ts';
import { connectThrough } from './proxy.ts';

export interface WaysOptions extends Pick<BottomOptions, 'secureContext'> {
  /** The HTTP proxy for a target; undefined: straight to it. */
  readonly proxyFor?: ((target: Target) => Target | undefined) | undefined;
  /** A tunnel for every connection; comes before `proxyFor`. */
  readonly connect?: Connect | undefined;
}

/** How a request gets to its host. */
export interface Way {
  /** With kept connections. */
  readonly agents: Agents;
  /** The proxy that is asked in the host's place, in absolute form; undefined: the host itself is asked. */
  readonly forward: Target | undefined;
}

export interface Ways {
  to(target: Target): Way;
  /** Closes all connections. New ones are made when they are needed. */
  close(): void;
}

/** http targets are asked of an HTTP proxy in absolute form, https targets through a tunnel. */
export function createWays(options: WaysOptions): Ways {
  const { connect, proxyFor } = options;
  const made = new Map<string, Agents>();
  const opened: Agent[] = [];
  const agentsOf = (key: string, open: Connect | undefined): Agents => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const agents = open === undefined ? directAgents(options, opened) : createTunnelAgents(open, options);
    if (open !== undefined) opened.push(agents.http, agents.https);
    made.set(key, agents);
    return agents;
  };
  return {
    to(target) {
      if (connect !== undefined) return { agents: agentsOf('tunnel', connect), forward: undefined };
      const proxy = proxyFor?.(target);
      if (proxy === undefined || !target.secure)
        return { agents: agentsOf('direct', undefined), forward: proxy };
      const through: Connect = (hostname, port) => connectThrough(proxy, hostname, port);
      return { agents: agentsOf(proxy.origin, through), forward: undefined };
    },
    close() {
      for (const agent of opened) agent.destroy();
    },
  };
}

/** Each is made for the first address that needs it: reading all authorities, for TLS, is slow. */
function directAgents(options: WaysOptions, opened: Agent[]): Agents {
  let plain: Agent | undefined;
  let secure: Agents['https'] | undefined;
  const noted = <T extends Agent>(agent: T): T => {
    opened.push(agent);
    return agent;
  };
  return {
    get http() {
      return (plain ??= noted(new http.Agent({ keepAlive: true })));
    },
    get https() {
      return (secure ??= noted(new (https().Agent)({ keepAlive: true, ...tlsOptions(options) })));
    },
  };
}
