import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../domain/api-error.ts';

/** The names that only this machine has for itself. */
const LOOPBACK = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/**
 * Refuses what a page of another site might have sent: a browser adds the cookie whoever asks. What a page of ours sends
 * says so, by a header that no other site's may have; of a mere GET it is enough where it comes from, since a link to
 * download and a stream of events have no headers of their own.
 *
 * @throws {ApiError} 403
 */
export function requireOwnPage(request: FastifyRequest, publicUrl: string | undefined): void {
  const { method, headers } = request;
  requireOwnName(request, publicUrl);
  const isReading = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  // By hand (an address that was typed, a bookmark) one may look; browsers of today say it wherever the connection is safe.
  const isFromHere = site === undefined || site === 'same-origin' || (isReading && site === 'none');
  const { origin } = headers;
  // `null` of a page without an origin is no address, and not ours.
  const from = hostIn(origin);
  const isOwnOrigin =
    origin === undefined || (from !== undefined && [headers.host, hostIn(publicUrl)].includes(from));
  if (isFromHere && isOwnOrigin && (isReading || headers['x-console'] === '1')) return;
  throw new ApiError(403, 'console.otherSite', 'A session of the console is taken from its own pages alone.');
}

/**
 * A site may have its name lead to this machine, and its pages then ask as if they were ours. So whoever comes over the
 * loopback interface calls the service by a name of the loopback interface, or by the one that it was given.
 *
 * @throws {ApiError} 403
 */
function requireOwnName({ headers, socket }: FastifyRequest, publicUrl: string | undefined): void {
  const host = headers.host ?? '';
  if (LOOPBACK.test(host.replace(/:\d+$/, '')) || host === hostIn(publicUrl)) return;
  if (publicUrl === undefined && !isLoopback(socket.localAddress ?? '')) return;
  throw new ApiError(
    403,
    'console.otherName',
    'The console is not known by the name in this address. Start the service with --public-url and the address that browsers use.',
  );
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

/** Host and port as a browser sends them; undefined of what is no address. */
function hostIn(address: string | undefined): string | undefined {
  return address === undefined ? undefined : URL.parse(address)?.host;
}
