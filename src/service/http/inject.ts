import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyInstance } from 'fastify';
import { addCaller, CALLER } from './waiting.ts';

/** Sends a request to the app as if it had come over the network: for a client in the same process. */
export async function injectFetch(app: FastifyInstance, request: Request): Promise<Response> {
  const { pathname, search, host } = new URL(request.url);
  const caller = addCaller(request.signal);
  const answer = await app
    .inject({
      // The app answers an unknown method with 404, as it does over the network.
      method: request.method as 'GET',
      url: pathname + search,
      headers: { ...Object.fromEntries(request.headers), host, [CALLER]: caller.name },
      signal: request.signal,
      // One class under two names: that of the runtime and that of its library.
      ...(request.body === null
        ? {}
        : { payload: Readable.fromWeb(request.body as ReadableStream<Uint8Array>) }),
    })
    .finally(() => caller.remove());
  // As over the network: a caller that ends a request gets its own reason, and no answer.
  if (answer.statusCode >= 400) request.signal.throwIfAborted();
  const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const hasBody = answer.statusCode !== 204 && answer.statusCode !== 304;
  return new Response(hasBody ? new Uint8Array(answer.rawPayload) : null, {
    status: answer.statusCode,
    headers,
  });
}
