import type { IncomingMessage } from 'node:http';

const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;
const MAX_DISCARD_MS = 10_000;

/**
 * Reads on what a client still sends that was answered already, so that it sees the answer instead of a broken
 * connection; one that sends much more, or takes long, is cut off.
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
