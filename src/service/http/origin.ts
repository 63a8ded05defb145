import type { FastifyRequest } from 'fastify';

/** A name or an address, and perhaps a port: addresses are made of it. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Scheme, host and port that a request was sent to: by its Host, or where it came in when that is none. */
export function originOf({ protocol, host, socket }: FastifyRequest): string {
  const named = `${protocol}://${host}`;
  if (HOST.test(host) && URL.canParse(named)) return named;
  const { localAddress = '127.0.0.1', localPort = 80 } = socket;
  return `${protocol}://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}
