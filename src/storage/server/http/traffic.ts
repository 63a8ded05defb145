import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    isProbe?: boolean;
  }
}

/** Of a client that has gone before it was answered: no status was sent. */
const CLIENT_GONE = 499;

/** Counts the requests of an app, names them in their answers, and turns away what is too much at once. */
export function watchTraffic(app: FastifyInstance, { admission, readiness, metrics, log }: Context): void {
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
    reply.raw.once('close', () => done(reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE));
    reply.raw.once('close', admission.enter());
  });
}

/** One name for both forms of a route; what leads nowhere has none. */
function routeOf(url: string | undefined): string {
  return url?.replace('/branch/:branch', '') ?? 'none';
}
