import type { ClientRequest } from 'node:http';
import { CURL, failure } from './network-error.ts';

export interface Limits {
  /** From the start of a request to a connection that can be used: lookup, proxy or tunnel, and TLS included. */
  readonly connectTimeoutMs: number;
  /** From the start of a request to the last byte of its response. */
  readonly requestTimeoutMs: number;
  /** Largest body, received and decoded. */
  readonly maxBodyBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  connectTimeoutMs: 30_000,
  requestTimeoutMs: 300_000,
  maxBodyBytes: 2 ** 30,
};

/** The timers of one request. */
export interface Watch {
  /** Starts the request timeout again: a part of a long body came, and from now on pauses are counted. */
  progress(): void;
  /** Stops the timers: the request has ended. */
  end(): void;
}

/** Calls `fail` when the connection is not ready, or the response not complete, in time. */
export function watchTimes(
  req: ClientRequest,
  { origin, secure }: { readonly origin: string; readonly secure: boolean },
  { connectTimeoutMs, requestTimeoutMs }: Limits,
  fail: (error: Error) => void,
): Watch {
  const total = setTimeout(
    () => fail(tooLate(`${origin} did not answer within ${requestTimeoutMs / 1000} s.`, 'requestTimeout')),
    requestTimeoutMs,
  );
  const stop = watchConnecting(req, secure, connectTimeoutMs, () =>
    fail(tooLate(`No connection to ${origin} within ${connectTimeoutMs / 1000} s.`, 'connectTimeout')),
  );
  return {
    progress: () => total.refresh(),
    end: () => {
      clearTimeout(total);
      stop();
    },
  };
}

/**
 * Calls `onLate` when a new request has no connection in time. Call it in the same turn as the request was made.
 *
 * @param secure the connection itself is over TLS
 * @returns a function that stops the timer
 */
export function watchConnecting(
  req: ClientRequest,
  secure: boolean,
  timeoutMs: number,
  onLate: () => void,
): () => void {
  if (req.reusedSocket) return () => {};
  const timer = setTimeout(onLate, timeoutMs);
  const stop = (): void => clearTimeout(timer);
  req.once('socket', (socket) => {
    if (secure) socket.once('secureConnect', stop);
    else if (socket.connecting) socket.once('connect', stop);
    else stop();
  });
  return stop;
}

function tooLate(message: string, option: string): Error {
  return failure(CURL.timeout, message, { hint: `api.http.${option} says how many seconds to wait.` });
}
