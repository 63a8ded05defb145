import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface LeastRate {
  /** How often bodies are looked at; default a minute. One is ended after two looks at the latest. */
  readonly everyMs?: number;
  /** Bytes of a body that must arrive between two checks; default 64 kB, about one kB a second. */
  readonly bytes?: number;
}

/**
 * Ends connections whose body hardly arrives, and those whose client hardly takes the answer: each holds memory and a
 * place, and a client that sends or takes a byte now and then could hold as many as it likes. Delays of this service
 * itself do not count.
 */
export function guardSlowBodies(
  server: Server,
  { everyMs = 60_000, bytes = 64 * 1024 }: LeastRate = {},
): void {
  const bodies = new Map<IncomingMessage, number | undefined>();
  const answers = new Map<ServerResponse, number | undefined>();
  const watch = (request: IncomingMessage, response: ServerResponse): void => {
    answers.set(response, undefined);
    response.once('close', () => answers.delete(response));
    if (request.complete) return;
    bodies.set(request, undefined);
    request.once('close', () => bodies.delete(request));
  };
  server.prependListener('request', watch);
  server.prependListener('checkContinue', watch);
  server.once('listening', () => {
    const timer = setInterval(look, everyMs);
    timer.unref();
    server.once('close', () => clearInterval(timer));
  });

  function look(): void {
    for (const [request, before] of bodies) {
      const { socket } = request;
      if (request.complete) bodies.delete(request);
      else if (request.readableLength > 0) bodies.set(request, undefined);
      else if (before !== undefined && socket.bytesRead - before < bytes) endSlow(server, socket);
      else bodies.set(request, socket.bytesRead);
    }
    for (const [response, before] of answers) {
      const { socket } = response;
      if (socket === null || socket.writableLength === 0) {
        answers.set(response, undefined);
        continue;
      }
      const taken = socket.bytesWritten - socket.writableLength;
      if (before !== undefined && taken - before < bytes) socket.destroy();
      else answers.set(response, taken);
    }
  }
}

/** Refuses what comes too slowly, in the way of requests that the parser of HTTP gives up: the server has its own words for them. */
export function endSlow(server: Server, socket: Socket): void {
  const error = Object.assign(new Error('The body of a request came too slowly.'), {
    code: 'ERR_HTTP_REQUEST_TIMEOUT',
  });
  server.emit('clientError', error, socket);
}
