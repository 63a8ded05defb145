import type { FastifyRequest } from 'fastify';

/** Name or address, perhaps with a port: addresses are made of it. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Returns scheme, host and port of a request: by its Host, or by its local address when that is invalid. */
export function originOf({ protocol, host, socket }: FastifyRequest): string {
  const named = `${protocol}://${host}`;
  if (HOST.test(host) && URL.canParse(named)) return named;
  const { localAddress = '127.0.0.1', localPort = 80 } = socket;
  return `${protocol}://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}
