import { PassThrough, pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Shorter answers fit into a packet as they are. */
const MIN_BYTES = 1400;
/** Lists of the same fields shrink to a tenth by little work. */
const LEVEL = 3;

/** Compresses JSON for a client that takes it so. Streams of events and of lines are sent as they come. */
export function compressed(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (reply.getHeader('content-type') !== 'application/json' || reply.hasHeader('content-encoding'))
    return payload;
  const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
  if (!isText && !(payload instanceof Readable)) return payload;
  const bytes = isText ? Buffer.byteLength(payload) : Number(reply.getHeader('content-length') ?? MIN_BYTES);
  if (bytes < MIN_BYTES) return payload;
  reply.header('vary', 'Accept-Encoding');
  if (
    request.method === 'HEAD' ||
    !/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(request.headers['accept-encoding'] ?? '')
  )
    return payload;
  reply.removeHeader('content-length').header('content-encoding', 'gzip');
  const source = isText ? new PassThrough().end(payload) : payload;
  // A failure on either side ends the other.
  return pipeline(source, createGzip({ level: LEVEL }), () => undefined);
}
