import type { IncomingMessage } from 'node:http';

/**
 * The bytes of a request. Leaving it early keeps the connection, unlike a plain `for await` over the request: the
 * client can still be told why.
 */
export async function* readSource(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  // A request without encoding yields buffers.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
}

const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;
const MAX_DISCARD_MS = 10_000;

/**
 * Reads on what a refused client still sends, so that it sees the answer instead of a broken connection; one that
 * sends much more is cut off.
 */
export function discard(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), MAX_DISCARD_MS);
  timer.unref();
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
