import type { IncomingMessage, Server } from 'node:http';
import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import type { Env } from '../../lib/env.ts';
import { endSlow } from '../platform/connections/slow-body-guard.ts';

/** What a route takes of a body. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** From the first byte to the last. */
  readonly withinMs: (bytes: number) => number;
}

/** Anybody may send these. */
const PUBLIC_BODY_BYTES = 8 * 1024;
const PUBLIC_BODY_MS = 10_000;

const START_MS = 60_000;
/** 64 kbit a second. */
const BYTES_PER_MS = 8;

/** Bodies of open routes are small and come at once; the others may be as long and as slow as there are slow networks. */
export function boundsOf(isOpen: boolean, maxBytes: number): BodyBounds {
  if (!isOpen) return { maxBytes, withinMs: (bytes) => START_MS + bytes / BYTES_PER_MS };
  return { maxBytes: Math.min(maxBytes, PUBLIC_BODY_BYTES), withinMs: () => PUBLIC_BODY_MS };
}

/** Requests whose client sends its body only when it is asked to. */
const waiting = new WeakSet<object>();

/** Lets requests with `Expect: 100-continue` be judged before their bodies are asked for. */
export function askForBodies(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => {
    waiting.add(request);
    app.server.emit('request', request, response);
  });
  app.addHook('onSend', async (request, reply, payload) => {
    // Whoever was never asked for the body may send it or not: only a new connection is clear.
    if (waiting.has(request.raw)) reply.header('connection', 'close');
    return await Promise.resolve(payload);
  });
}

function askForBody(request: FastifyRequest, reply: FastifyReply): void {
  if (waiting.delete(request.raw)) reply.raw.writeContinue();
}

/**
 * Lets the body of a request come that is read into memory: in its time, and as far as there is memory for it.
 *
 * @param isStream whether the route takes a multipart body as it comes
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
  // Of a multipart body, those who read it say what they keep.
  return isMultipart || !isChunked ? payload : counted(payload, (bytes) => visit?.hold(bytes));
}

/** A body whose length is not known before it has come. */
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
