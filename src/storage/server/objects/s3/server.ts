import { createServer, type Server } from 'node:http';
import type { S3Handler } from './handler.ts';

const IDLE_MS = 5 * 60_000;

/** A server for the handler alone. Uploads may take as long as bytes keep coming; the caller listens and closes. */
export function createS3Server(handler: S3Handler): Server {
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, (request, response) => {
    void handler(request, response);
  });
  server.on('checkContinue', (request, response) => {
    void handler(request, response, { mustContinue: true });
  });
  server.setTimeout(IDLE_MS);
  return server;
}
