import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { guardSlowBodies } from '../../../platform/connections/slow-body-guard.ts';
import { ObjectError } from '../errors.ts';
import type { S3Handler } from './handler.ts';
import { errorElement } from './reply.ts';
import { XML_DECLARATION, xmlText } from './xml.ts';

const IDLE_MS = 5 * 60_000;
const HEADERS_MS = 20_000;

/**
 * A server for the handler alone. Uploads may take as long as bytes keep coming, and come fast enough; headers have
 * twenty seconds. The caller listens and closes.
 */
export function createS3Server(handler: S3Handler): Server {
  // Without a time for whole requests there would be none for headers either, unless it is said.
  const times = { requestTimeout: 0, headersTimeout: HEADERS_MS, keepAliveTimeout: 65_000 };
  const server = createServer({ ...times, connectionsCheckingInterval: 5000 }, (request, response) => {
    void handler(request, response);
  });
  server.on('checkContinue', (request, response) => {
    void handler(request, response, { mustContinue: true });
  });
  server.on('clientError', refuse);
  server.setTimeout(IDLE_MS);
  guardSlowBodies(server);
  return server;
}

/** Answers what the parser of HTTP refuses, in the words of the protocol, and ends the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.writable && error.code !== 'ECONNRESET') {
    const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    const refusal = isSlow
      ? new ObjectError('RequestTimeout', 'The request did not come to its end in time, or came too slowly.')
      : new ObjectError('InvalidRequest', 'The request is no HTTP, or its headers are longer than allowed.');
    const body = XML_DECLARATION + xmlText(errorElement(refusal, '', ''));
    socket.write(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: application/xml\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
  }
  socket.destroy(error);
}
