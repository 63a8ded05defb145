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

/** The time of one answer. */
export interface Watch {
  /** Starts the request timeout again: a part of a long body came, and from now on pauses are counted. */
  progress(): void;
  /** Stops the timer: the request has ended. */
  end(): void;
}

/** The timers of answers, one for each request at once: to make one for each request costs more than the rest of it. */
export class AnswerTimers {
  readonly #timeoutMs: number;
  readonly #idle: AnswerTimer[] = [];

  constructor({ requestTimeoutMs }: Limits) {
    this.#timeoutMs = requestTimeoutMs;
  }

  /** Calls `fail` when the response is not complete in time. */
  start(origin: string, fail: (error: Error) => void): Watch {
    const timer = this.#idle.pop() ?? new AnswerTimer(this.#timeoutMs);
    timer.start(() =>
      fail(tooLate(`${origin} did not answer within ${this.#timeoutMs / 1000} s.`, 'requestTimeout')),
    );
    let isEnded = false;
    return {
      progress: () => {
        if (!isEnded) timer.refresh();
      },
      // a request may end twice, and its timer be that of another one by then
      end: () => {
        if (isEnded) return;
        isEnded = true;
        timer.stop();
        this.#idle.push(timer);
      },
    };
  }

  /** Stops all that no request waits for. */
  close(): void {
    for (const timer of this.#idle.splice(0)) timer.close();
  }
}

class AnswerTimer {
  readonly #timer: NodeJS.Timeout;
  #onLate: (() => void) | undefined;

  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => this.#onLate?.(), timeoutMs);
  }

  start(onLate: () => void): void {
    this.#onLate = onLate;
    this.#timer.refresh().ref();
  }

  refresh(): void {
    this.#timer.refresh();
  }

  /** Lets it run on to no effect; it keeps no process alive. */
  stop(): void {
    this.#onLate = undefined;
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

/** Returns the error of a request that had no connection in time. */
export function notConnected(origin: string, { connectTimeoutMs }: Limits): Error {
  return tooLate(`No connection to ${origin} within ${connectTimeoutMs / 1000} s.`, 'connectTimeout');
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
