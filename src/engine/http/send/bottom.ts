import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { ConnectionOptions, SecureContext } from 'node:tls';
import { headerOf, type ApiRequest, type Headers, type Send } from '../../shared/message.ts';
import { CURL, failure } from './network-error.ts';
import type { Target } from './target.ts';

/**
 * The end of the chain: sends one request over the network, follows no redirect, retries nothing. `send` rejects
 * with an {@link HttpError} that says whether sending again may help, or with the reason of an aborted signal.
 */
export interface Bottom {
  readonly send: Send;
  /** Closes idle connections and what is still under way. Call it once, when no request is expected any more. */
  close(): Promise<void>;
}

export interface BottomOptions {
  /** From looking up the name to a connection that can be used, TLS included. */
  readonly connectTimeoutMs: number;
  /** From the start of a request to the last byte of its response. */
  readonly requestTimeoutMs: number;
  /** Largest body, received and decoded. */
  readonly maxBodyBytes: number;
  /** Made once at the first secure request: reading all authorities is slow. */
  readonly secureContext?: () => SecureContext | undefined;
  /** Looks up the names of hosts that are connected to straight from here; default: that of the runtime. */
  readonly lookup?: LookupFunction | undefined;
}

export const DEFAULT_BOTTOM: BottomOptions = {
  connectTimeoutMs: 30_000,
  requestTimeoutMs: 300_000,
  maxBodyBytes: 2 ** 30,
};

/** Room for long Link and cookie headers; the runtime's own limit is 16 KiB. */
export const MAX_HEADER_BYTES = 131_072;

export function tlsOptions(options: Pick<BottomOptions, 'secureContext'>): ConnectionOptions {
  const secureContext = options.secureContext?.();
  return secureContext === undefined ? {} : { secureContext };
}

const ASCII = /^[\t\x20-\x7e]*$/;

/** Header fields as the runtime takes them: text beyond ASCII as the bytes of its UTF-8. */
export function wireHeaders(request: ApiRequest, target: Target): Record<string, string | number> {
  const headers: Record<string, string | number> = {};
  let hasAuthorization = target.authorization === undefined;
  for (const name of Object.keys(request.headers)) {
    const value = request.headers[name] ?? '';
    headers[name] = ASCII.test(value) ? value : Buffer.from(value).toString('latin1');
    if (!hasAuthorization && name.toLowerCase() === 'authorization') hasAuthorization = true;
  }
  if (!hasAuthorization && target.authorization !== undefined)
    headers['Authorization'] = target.authorization;
  if (request.body !== undefined) {
    if (headerOf(request.headers, 'Content-Length') === undefined)
      headers['Content-Length'] = Buffer.byteLength(request.body);
  }
  return headers;
}

/** Names in lower case; repeated fields are joined by commas; UTF-8 is read where it is UTF-8. */
export function receivedHeaders(received: IncomingHttpHeaders): Headers {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(received)) {
    const value = received[name];
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    headers[name] = ASCII.test(text) ? text : fromBytes(text);
  }
  return headers;
}

function fromBytes(latin1: string): string {
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? latin1 : text;
}

/** The clock of a request. */
export interface Watch {
  /** A part of a long body came: from now on, it is the pauses that are counted. */
  progress(): void;
  /** The request has ended, in whatever way. */
  end(): void;
}

/** Calls `fail` when the connection is not ready, or the response not complete, in time. */
export function watchTimes(
  req: ClientRequest,
  target: Target,
  options: BottomOptions,
  fail: (error: Error) => void,
): Watch {
  const total = setTimeout(
    () =>
      fail(
        tooLate(
          `${target.origin} did not answer within ${seconds(options.requestTimeoutMs)}.`,
          'requestTimeout',
        ),
      ),
    options.requestTimeoutMs,
  );
  let connecting: NodeJS.Timeout | undefined;
  const connected = (): void => clearTimeout(connecting);
  req.once('socket', (socket) => {
    if (req.reusedSocket || !(target.secure || socket.connecting)) return;
    connecting = setTimeout(
      () =>
        fail(
          tooLate(
            `No connection to ${target.origin} within ${seconds(options.connectTimeoutMs)}.`,
            'connectTimeout',
          ),
        ),
      options.connectTimeoutMs,
    );
    socket.once(target.secure ? 'secureConnect' : 'connect', connected);
  });
  return {
    progress: () => total.refresh(),
    end: () => {
      clearTimeout(total);
      clearTimeout(connecting);
    },
  };
}

function tooLate(message: string, option: string): Error {
  return failure(CURL.timeout, message, { hint: `api.http.${option} says how many seconds to wait.` });
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

/**
 * True when a kept connection turned out to be closed before the server read anything: sent again at once on
 * another one, as curl and browsers do. It ends, for each time takes a connection out of the pool.
 */
export function isStale(error: unknown, req: ClientRequest | undefined): boolean {
  const { code } = error as { code?: unknown };
  return req?.reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
}
