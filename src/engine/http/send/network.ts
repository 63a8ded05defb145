import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import { DEFAULT_BOTTOM, type Bottom, type BottomOptions } from './bottom.ts';
import { rememberProxies, type Environment } from '../tunnel/proxy.ts';
import type { GotOptions } from './got.ts';
import { createNodeSend } from './node.ts';
import type { Reach } from '../trust/reach.ts';
import type { SshProxy } from '../tunnel/ssh-tunnel.ts';
import { targetOf } from './target.ts';
import { secureContextOf, type TlsSettings } from './tls.ts';

export interface NetworkOptions {
  /** Default: 30,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Default: 300,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** Default: 1 GiB. */
  readonly maxBodyBytes?: number | undefined;
  readonly tls?: TlsSettings | undefined;
  /** Where HTTP_PROXY and the others are looked for, usually `process.env`. Default: no proxy. */
  readonly environment?: Environment | undefined;
  /** Where requests may go at all. Default: anywhere. */
  readonly reach?: Reach | undefined;
  /** A tunnel for every request; it comes before any proxy of the environment. */
  readonly sshProxy?: SshProxy | undefined;
}

/**
 * The bottom that fits: the runtime's client straight to the host, got through a proxy or an SSH tunnel. What is not
 * needed is not loaded.
 *
 * @throws {HttpError} `http.tls` when a given certificate cannot be read
 */
export function createNetwork(options: NetworkOptions, env: Env, log: Log): Bottom {
  const { tls = {}, environment = {}, sshProxy, reach } = options;
  const hasOwnTls = tls.caCertificate !== undefined || tls.clientCertificate !== undefined;
  let context = hasOwnTls ? secureContextOf(tls) : undefined;
  const bottom: BottomOptions = {
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_BOTTOM.connectTimeoutMs,
    requestTimeoutMs: options.requestTimeoutMs ?? DEFAULT_BOTTOM.requestTimeoutMs,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_BOTTOM.maxBodyBytes,
    secureContext: () => (context ??= secureContextOf(tls)),
  };
  const direct = createNodeSend({
    ...bottom,
    isLimited: options.maxBodyBytes !== undefined,
    lookup: reach?.lookup,
  });
  const proxyOf = rememberProxies(environment);
  let indirect: Promise<Bottom> | undefined;

  return {
    send: async (request, sendOptions) => {
      const target = targetOf(request.url);
      if (sshProxy === undefined && proxyOf?.(target) === undefined) {
        reach?.requireHost(target.hostname);
        return direct.send(request, sendOptions);
      }
      if (sshProxy === undefined) await reach?.requireThroughProxy(target.hostname);
      else reach?.requireThroughTunnel(target.hostname);
      indirect ??= openIndirect(bottom, proxyOf, { sshProxy, reach }, env, log);
      return (await indirect).send(request, sendOptions);
    },
    close: async () => {
      await direct.close();
      await (await indirect)?.close();
    },
  };
}

async function openIndirect(
  bottom: BottomOptions,
  proxyOf: GotOptions['proxyFor'],
  { sshProxy, reach }: Pick<NetworkOptions, 'reach' | 'sshProxy'>,
  env: Env,
  log: Log,
): Promise<Bottom> {
  const { createGotSend } = await import('./got.ts');
  if (sshProxy === undefined)
    return createGotSend({ ...bottom, ...(proxyOf === undefined ? {} : { proxyFor: proxyOf }) });
  const { createSshTunnel } = await import('../tunnel/ssh-tunnel.ts');
  const tunnel = createSshTunnel(sshProxy, env, log, reach);
  const got = createGotSend({ ...bottom, connect: (hostname, port) => tunnel.connect(hostname, port) });
  return {
    send: got.send,
    close: async () => {
      await got.close();
      await tunnel.close();
    },
  };
}
