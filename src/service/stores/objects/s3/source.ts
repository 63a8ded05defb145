import type { IncomingMessage } from 'node:http';

/**
 * The bytes of a request. Leaving it early keeps the connection, unlike a plain `for await` over the request: the
 * client can still be told why.
 */
export async function* readSource(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  // A request without encoding yields buffers.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
}
