import type { SecureContext } from 'node:tls';
import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Send } from '../../shared/message.ts';
import type { Reach } from '../trust/reach.ts';
import { rememberProxies, type Environment } from '../tunnel/proxy.ts';
import type { Connect } from '../tunnel/routes.ts';
import type { SshProxy, SshTunnel } from '../tunnel/ssh-tunnel.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { targetOf } from './target.ts';
import { proxyContextOf, secureContextOf, type TlsSettings } from './tls.ts';
import { createTransport, type Transport } from './transport.ts';

export interface NetworkOptions {
  /** Default: 30,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Default: 300,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Default: 1 GiB. */
  readonly maxBodyBytes?: number | undefined;
  readonly tls?: TlsSettings | undefined;
  /** Environment with HTTP_PROXY and the like, usually `process.env`. Default: no proxy. */
  readonly environment?: Environment | undefined;
  /** Rules on the hosts that requests may go to. Default: any host. */
  readonly reach?: Reach | undefined;
  /** A tunnel for every request; it comes before any proxy of the environment. */
  readonly sshProxy?: SshProxy | undefined;
}

/**
 * Creates the transport of a configuration, which asks its rules where a request may go.
 *
 * @throws {HttpError} `http.tls` when a given certificate cannot be read
 */
export function createNetwork(options: NetworkOptions, env: Env, log: Log): Transport {
  const { tls = {}, environment = {}, sshProxy, reach } = options;
  const hasOwnTls = tls.caCertificate !== undefined || tls.clientCertificate !== undefined;
  let context = hasOwnTls ? secureContextOf(tls) : undefined;
  const proxyFor = sshProxy === undefined ? rememberProxies(environment) : undefined;
  let proxyContext: SecureContext | undefined;
  let tunnel: Promise<SshTunnel> | undefined;
  const connect = async (proxy: SshProxy, ...[hostname, port]: Parameters<Connect>) => {
    // Loaded here: few runs need it.
    tunnel ??= import('../tunnel/ssh-tunnel.ts').then((ssh) => ssh.createSshTunnel(proxy, env, log, reach));
    return await (await tunnel).connect(hostname, port);
  };
  const transport = createTransport({
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_LIMITS.connectTimeoutMs,
    requestTimeoutMs: options.requestTimeoutMs ?? DEFAULT_LIMITS.requestTimeoutMs,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_LIMITS.maxBodyBytes,
    isLimited: options.maxBodyBytes !== undefined,
    secureContext: () => (context ??= secureContextOf(tls)),
    proxyContext: () => (proxyContext ??= proxyContextOf(tls)),
    lookup: reach?.lookup,
    proxyFor,
    connect: sshProxy === undefined ? undefined : (...to) => connect(sshProxy, ...to),
  });

  const within =
    (reach: Reach): Send =>
    async (request, sendOptions) => {
      const target = targetOf(request.url);
      if (sshProxy !== undefined) reach.requireThroughTunnel(target.hostname);
      else if (proxyFor?.(target) === undefined) reach.requireHost(target.hostname);
      else await reach.requireThroughProxy(target.hostname);
      return await transport.send(request, sendOptions);
    };
  return {
    send: reach === undefined ? transport.send : within(reach),
    close: async () => {
      await transport.close();
      await (await tunnel)?.close();
    },
  };
}
