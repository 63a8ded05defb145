import { createServer, type Server } from 'node:http';
import type { Log } from '../../../lib/log.ts';
import type { Probe } from './probes.ts';

const TIMES = { headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 5000 };
const MAX_CONNECTIONS = 100;

/**
 * Answers the probes alone, without a token: on a port that clients need not reach, also of a process without the API.
 * The caller listens and closes.
 */
export function createProbeServer(probes: readonly Probe[], log: Log): Server {
  const server = createServer({ ...TIMES, connectionsCheckingInterval: 5000 }, (request, response) => {
    const { method = '', url = '' } = request;
    const probe = probes.find(({ path }) => path === url.split('?')[0]);
    const isAsked = method === 'GET' || method === 'HEAD';
    if (probe === undefined || !isAsked) {
      response.writeHead(probe === undefined ? 404 : 405).end();
      return;
    }
    probe.answer().then(
      ({ status, contentType, text }) => {
        response.writeHead(status, {
          'content-type': contentType,
          'content-length': Buffer.byteLength(text),
        });
        response.end(method === 'HEAD' ? undefined : text);
      },
      (error: unknown) => {
        log.error('Probe failed', { path: probe.path, detail: String(error) });
        response.writeHead(500).end();
      },
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}
