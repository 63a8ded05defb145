import type { IncomingMessage } from 'node:http';
import { ApiError } from '../domain/api-error.ts';

/**
 * Header of a request from this process: it names the signal that its caller ends it with. From outside it can end the
 * request alone that has it.
 */
export const CALLER = 'gex-caller';

/** Status that proxies log for a client that closed its request. */
const CLIENT_LEFT = 499;

const callers = new Map<string, AbortSignal>();
let called = 0;

/** Keeps the signal of a request that comes over no connection, which would close; returns its name. */
export function addCaller(signal: AbortSignal): { readonly name: string; remove(): void } {
  const name = String(++called);
  callers.set(name, signal);
  return { name, remove: () => callers.delete(name) };
}

/** Does work for as long as somebody waits for the answer of a request: nobody else needs it. */
export async function whileWaited<Result>(
  { socket, headers }: IncomingMessage,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  const caller = callers.get(String(headers[CALLER]));
  socket.once('close', leave);
  caller?.addEventListener('abort', leave, { once: true });
  if (caller?.aborted === true) leave();
  try {
    return await work(left.signal);
  } catch (error) {
    // Nobody reads the answer, and nothing went wrong that the log should tell.
    throw left.signal.aborted ? new ApiError(CLIENT_LEFT, 'storage.clientLeft', 'The client left.') : error;
  } finally {
    // The connection may be used again.
    socket.off('close', leave);
    caller?.removeEventListener('abort', leave);
  }
}
