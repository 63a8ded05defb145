import type { FastifyInstance } from 'fastify';
import type { Visit } from './limits/visits.ts';
import type { HttpContext } from './http-context.ts';
import { discard } from '../platform/connections/discard.ts';
import { notFound } from '../domain/api-error.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Asked by anyone at any time. */
    isProbe?: boolean;
  }
  interface FastifyRequest {
    /** Not of an open probe, which takes nothing. */
    visit?: Visit;
  }
}

/** Of a client that has gone before it was answered: no status was sent. */
const CLIENT_GONE = 499;

/** Counts the requests of an app, names them in their answers, and turns away what is too much at once. */
export function watchTraffic(
  app: FastifyInstance,
  { admission, readiness, metrics, log }: HttpContext,
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    // A proxy that keeps connections open would go on sending here.
    if (readiness.isStopping) reply.header('connection', 'close');
    if (request.routeOptions.config.isProbe === true) return;
    const begin = performance.now();
    const done = (status: number): void => {
      const { method } = request;
      const route = routeOf(request.routeOptions.url);
      const seconds = (performance.now() - begin) / 1000;
      metrics.request({ method, route, status, seconds });
      const ms = Math.round(seconds * 1000);
      log.debug('A request was answered', { requestId: request.id, method, route, status, ms });
    };
    let isAnswered = false;
    // of a request of this process nothing is written to a socket that could be looked at
    reply.raw.once('finish', () => (isAnswered = true));
    reply.raw.once('close', () => done(isAnswered ? reply.statusCode : CLIENT_GONE));
    // What is unread of a body may hold the connection for a moment only.
    reply.raw.once('finish', () => discard(request.raw));
    const visit = admission.enter();
    request.visit = visit;
    reply.raw.once('close', () => visit.leave());
    // No body is read that nobody asked for.
    if (request.is404) throw notFound('Not found');
  });
  // Its answer may wait behind others of the same connection, and nobody else waits for that.
  app.addHook('onError', async (request) => await Promise.resolve(request.visit?.leave()));
}

/** One name for both forms of a route; what leads nowhere has none. */
function routeOf(url: string | undefined): string {
  return url?.replace('/branch/:branch', '') ?? 'none';
}
