import type { RequestOptions } from 'node:https';
import { BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { HttpError } from '../../../lib/errors.ts';
import { CURL, failure } from '../send/network-error.ts';
import { http, https } from '../send/runtime.ts';
import { targetOf, type Target } from '../send/target.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy that the environment names for a URL: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, but not for hosts in NO_PROXY;
 * names in lower case come first, as with curl. Undefined: straight to the host.
 *
 * NO_PROXY is a list by commas or spaces: `*`, `example.com` (and all below it), `.example.com`, `host:8080`,
 * `10.1.2.3`, `10.0.0.0/8`, `[::1]`.
 *
 * @throws {HttpError} `http.proxy` when the proxy's address cannot be used
 */
export function proxyFor(target: Target, environment: Environment): Target | undefined {
  const read = (name: string): string => environment[name] || environment[name.toUpperCase()] || '';
  const address = read(target.secure ? 'https_proxy' : 'http_proxy') || read('all_proxy');
  if (address === '' || isExempt(target, read('no_proxy'))) return undefined;
  return parseProxy(address);
}

/** Creates a {@link proxyFor} that looks each origin up once. Undefined when the environment names no proxy, which is the usual case. */
export function rememberProxies(
  environment: Environment,
): ((target: Target) => Target | undefined) | undefined {
  const isNamed = Object.keys(environment).some(
    (name) => /^(?:https?|all)_proxy$/i.test(name) && environment[name],
  );
  if (!isNamed) return undefined;
  const known = new Map<string, Target | undefined>();
  return (target) => {
    if (!known.has(target.origin)) known.set(target.origin, proxyFor(target, environment));
    return known.get(target.origin);
  };
}

function parseProxy(address: string): Target {
  const url = address.includes('://') ? address : `http://${address}`;
  if (!/^https?:/i.test(url))
    throw new HttpError(
      'http.proxy',
      `A proxy with the scheme “${url.split(':', 1).join()}” cannot be used.`,
      {
        hint: 'Give an http:// or https:// proxy, or use sshProxy.',
      },
    );
  return targetOf(url);
}

function isExempt(target: Target, list: string): boolean {
  return list.split(/[\s,]+/).some((entry) => entry !== '' && matches(entry, target));
}

function matches(entry: string, { hostname, port }: Target): boolean {
  if (entry === '*') return true;
  const [, name = '', onlyPort] = /^(\[[^\]]+\]|[^:]+|[0-9a-f:.]+(?:\/\d+)?)(?::(\d+))?$/i.exec(entry) ?? [];
  if (onlyPort !== undefined && Number(onlyPort) !== port) return false;
  const wanted = name
    .replace(/^\[|\]$/g, '')
    .replace(/^\*?\./, '')
    .toLowerCase();
  if (wanted === '') return false;
  return isIP(hostname) === 0
    ? hostname === wanted || hostname.endsWith(`.${wanted}`)
    : isInside(hostname, wanted);
}

function isInside(address: string, range: string): boolean {
  const [network = '', bits] = range.split('/');
  const family = isIP(network);
  if (family === 0 || family !== isIP(address)) return false;
  const prefix = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits);
  if (!Number.isInteger(prefix) || prefix > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const block = new BlockList();
  block.addSubnet(network, prefix, type);
  return block.check(address, type);
}

/** Opens a tunnel through an HTTP proxy by CONNECT (RFC 9110 section 9.3.6). */
export function connectThrough(
  proxy: Target,
  secureContext: (() => SecureContext | undefined) | undefined,
  hostname: string,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
    const options: RequestOptions = {
      method: 'CONNECT',
      host: proxy.hostname,
      port: proxy.port,
      servername: proxy.servername,
      path: authority,
      agent: false,
      signal,
      headers: { Host: authority, ...proxyAuthorization(proxy) },
    };
    const context = proxy.secure ? secureContext?.() : undefined;
    const req = proxy.secure
      ? https().request({ ...options, ...(context === undefined ? {} : { secureContext: context }) })
      : http.request(options);
    req.once('connect', ({ statusCode = 0 }, socket: Duplex, head: Buffer) => {
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(refused(proxy, authority, statusCode));
    });
    req.once('error', (cause) => reject(unreachable(proxy, cause)));
    req.end();
  });
}

/** Returns the header for a proxy's user and password. */
export function proxyAuthorization(proxy: Target): Record<string, string> {
  return proxy.authorization === undefined ? {} : { 'Proxy-Authorization': proxy.authorization };
}

function refused(proxy: Target, authority: string, status: number): HttpError {
  const message = `The proxy ${proxy.origin} answered ${status} to a connection to ${authority}.`;
  const hint =
    status === 407 ? 'Put user and password into its address: http://user:password@proxy:3128' : undefined;
  if (status >= 500) return failure(CURL.receive, message, { code: 'http.proxy', hint });
  return new HttpError('http.proxy', message, { hint, details: { status } });
}

function unreachable(proxy: Target, cause: Error): HttpError {
  return failure(CURL.connect, `The proxy ${proxy.origin} cannot be reached (${cause.message}).`, {
    code: 'http.proxy',
    cause,
    hint: 'Check the proxy in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY.',
  });
}
