import type { IncomingMessage } from 'node:http';

/** Tells whether a request names its host more than once (RFC 9112, 3.2): a proxy in front might have read another one. */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  return hosts > 1;
}
