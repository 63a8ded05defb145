import type { FastifyInstance } from 'fastify';
import type { Visit } from './limits/visits.ts';
import type { HttpContext } from './http-context.ts';
import { discard } from '../platform/connections/discard.ts';
import { notFound } from '../domain/api-error.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that any client may ask at any time. */
    isProbe?: boolean;
  }
  interface FastifyRequest {
    /** Absent for an open probe, which takes no resources. */
    visit?: Visit;
  }
}

/** Status in the metrics for a client that has gone before it was answered: none was sent. */
const CLIENT_GONE = 499;

/** Counts the requests of an app, adds their ids to the answers, and refuses those beyond the limits. */
export function watchTraffic(
  app: FastifyInstance,
  { admission, readiness, metrics, log }: HttpContext,
): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    // A proxy that keeps connections open would continue to send here.
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
    // for a request from this process nothing is written to a socket that could be checked
    reply.raw.once('finish', () => (isAnswered = true));
    reply.raw.once('close', () => done(isAnswered ? reply.statusCode : CLIENT_GONE));
    // The unread rest of a body may hold the connection only shortly.
    reply.raw.once('finish', () => discard(request.raw));
    const visit = admission.enter();
    request.visit = visit;
    reply.raw.once('close', () => visit.leave());
    // The body of an unknown address is not read.
    if (request.is404) throw notFound('Not found');
  });
  // Its answer may wait behind others of the same connection, and other requests must not wait for that.
  app.addHook('onError', async (request) => await Promise.resolve(request.visit?.leave()));
}

/** Returns one name for both forms of a route; an unknown address has none. */
function routeOf(url: string | undefined): string {
  return url === undefined || url === '/*' ? 'none' : url.replace('/branch/:branch', '');
}
