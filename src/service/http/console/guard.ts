import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../domain/api-error.ts';

/** Names that always mean this machine. */
const LOOPBACK = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/**
 * Refuses requests that a page of another site might have sent: a browser adds the cookie to each request. Our pages
 * send a header that no other site can send; for a mere GET the origin is enough, since a link to download and a
 * stream of events have no headers of their own.
 *
 * @throws {ApiError} 403
 */
export function requireOwnPage(request: FastifyRequest, publicUrl: string | undefined): void {
  const { method, headers } = request;
  requireOwnName(request, publicUrl);
  const isReading = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  // A typed address or a bookmark may only read; current browsers send the header wherever the connection is safe.
  const isFromHere = site === undefined || site === 'same-origin' || (isReading && site === 'none');
  const { origin } = headers;
  // `null`, from a page without an origin, is no address, and not ours.
  const from = hostIn(origin);
  const isOwnOrigin =
    origin === undefined || (from !== undefined && [headers.host, hostIn(publicUrl)].includes(from));
  if (isFromHere && isOwnOrigin && (isReading || headers['x-console'] === '1')) return;
  throw new ApiError(403, 'console.otherSite', 'A session of the console is taken from its own pages alone.');
}

/**
 * Refuses requests over the loopback interface under another name than one of that interface, or the public one. A
 * foreign site may let its name resolve to this machine, and its pages would then look like ours.
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

/** Returns host and port as a browser sends them; undefined for a text that is no address. */
function hostIn(address: string | undefined): string | undefined {
  return address === undefined ? undefined : URL.parse(address)?.host;
}
