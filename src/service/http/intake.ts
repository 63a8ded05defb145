import type { IncomingMessage, Server } from 'node:http';
import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import type { Env } from '../../lib/env.ts';
import { endSlow } from '../platform/connections/slow-body-guard.ts';

/** Limits of the body of a route. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** Milliseconds from the first byte to the last. */
  readonly withinMs: (bytes: number) => number;
}

/** Bytes of a body that a client may send without a token. */
const PUBLIC_BODY_BYTES = 8 * 1024;
const PUBLIC_BODY_MS = 10_000;

const START_MS = 60_000;
/** Lowest rate of a body: 64 kbit a second. */
const BYTES_PER_MS = 8;

/**
 * Returns the limits of a body. Those of open routes are small and must come at once; the others may be as long and
 * as slow as slow networks need.
 */
export function boundsOf(isOpen: boolean, maxBytes: number): BodyBounds {
  if (!isOpen) return { maxBytes, withinMs: (bytes) => START_MS + bytes / BYTES_PER_MS };
  return { maxBytes: Math.min(maxBytes, PUBLIC_BODY_BYTES), withinMs: () => PUBLIC_BODY_MS };
}

/** Requests whose client sends its body only after `100 Continue`. */
const waiting = new WeakSet<object>();

/** Lets requests with `Expect: 100-continue` be checked before their bodies are requested. */
export function askForBodies(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => {
    waiting.add(request);
    app.server.emit('request', request, response);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    // A client that got no `100 Continue` may send the body or not: only a new connection is safe.
    if (waiting.has(request.raw)) reply.header('connection', 'close');
    return await Promise.resolve(payload);
  });
}

function askForBody(request: FastifyRequest, reply: FastifyReply): void {
  if (waiting.delete(request.raw)) reply.raw.writeContinue();
}

/**
 * Lets in a body that is read into memory: within its time, and as far as there is memory for it.
 *
 * @param isStream true when the route reads a multipart body as a stream
 * @throws {ApiError} 503
 */
export function takeIn(
  { server }: FastifyInstance,
  env: Env,
  { maxBytes, withinMs }: BodyBounds,
  {
    request,
    reply,
    payload,
    isStream,
  }: {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly payload: RequestPayload;
    readonly isStream: boolean;
  },
): RequestPayload {
  const { headers, method, raw, visit } = request;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const length = isChunked ? maxBytes : Number(headers['content-length'] ?? 0);
  const isRead = method !== 'GET' && method !== 'HEAD' && length > 0;
  if (!isRead) return payload;
  const isMultipart = /^multipart\/form-data/i.test(headers['content-type'] ?? '');
  if (!isMultipart && !isChunked) {
    // The parser refuses it.
    if (length > maxBytes) return payload;
    visit?.hold(length);
  }
  askForBody(request, reply);
  if (!raw.complete && !(isMultipart && isStream)) endAfter(server, env, raw, withinMs(length));
  // The readers of a multipart body count the bytes that they hold.
  return isMultipart || !isChunked ? payload : counted(payload, (bytes) => visit?.hold(bytes));
}

/** Counts the bytes of a body whose length is not known before it has come. */
function counted(body: RequestPayload, onBytes: (bytes: number) => void): RequestPayload {
  const through = Object.assign(
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        through.receivedEncodedLength += chunk.length;
        try {
          onBytes(chunk.length);
        } catch (error) {
          done(error instanceof Error ? error : new Error(String(error)));
          return;
        }
        done(null, chunk);
      },
    }),
    { receivedEncodedLength: 0 },
  );
  body.once('error', (error) => through.destroy(error));
  return body.pipe(through);
}

function endAfter(server: Server, env: Env, request: IncomingMessage, waitMs: number): void {
  const over = new AbortController();
  request.once('close', () => over.abort());
  env.sleep(waitMs, over.signal).then(
    () => {
      if (!request.complete) endSlow(server, request.socket);
    },
    () => undefined, // It came.
  );
}
