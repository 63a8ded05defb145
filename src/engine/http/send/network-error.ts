import { reasonOf, HttpError, type ErrorCode } from '../../../lib/errors.ts';

/**
 * Numbers of network failures as `retryConfig.curl.codes` names them; they stand in
 * `details.curl` of an {@link HttpError}.
 */
export const CURL = {
  dns: 6,
  connect: 7,
  timeout: 28,
  tls: 35,
  redirects: 47,
  empty: 52,
  receive: 56,
  certificate: 60,
  encoding: 61,
  tooLarge: 63,
} as const;

/** Failures that may pass when the request is sent again. */
export const RETRYABLE_CURL: readonly number[] = [
  CURL.timeout,
  CURL.dns,
  CURL.connect,
  CURL.tls,
  CURL.empty,
  CURL.receive,
];

/** Facts about an attempt, besides its error. */
export interface FailedAttempt {
  /** `scheme://host`, for messages. */
  readonly origin: string;
  /** True from the moment the response's headers have arrived. */
  readonly answered?: boolean;
}

/** Gives an error of the network the class, the code and the number that the rest of the program knows it by. */
export function networkError(cause: unknown, attempt: FailedAttempt): HttpError {
  const known = causes(cause).find((error): error is HttpError => error instanceof HttpError);
  if (known !== undefined) return known;
  const code = codeOf(cause);
  const kind = kindOf(code, cause, attempt);
  return failure(kind.curl, `${kind.what} ${attempt.origin}${kind.why ?? ` (${code || reasonOf(cause)})`}.`, {
    cause,
    code: kind.code,
    hint: kind.hint,
    system: code,
  });
}

export interface FailureOptions {
  readonly code?: ErrorCode | undefined;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly system?: string;
}

/** Creates an {@link HttpError} with its number; `recovery` is `retry` if sending again may help. */
export function failure(curl: number, message: string, options: FailureOptions = {}): HttpError {
  return new HttpError(options.code ?? 'http.network', message, {
    recovery: RETRYABLE_CURL.includes(curl) ? 'retry' : 'stop',
    hint: options.hint,
    cause: options.cause,
    details: { curl, ...(options.system ? { system: options.system } : {}) },
  });
}

interface FailureKind {
  readonly curl: number;
  readonly what: string;
  readonly why?: string;
  readonly code?: ErrorCode;
  readonly hint?: string;
}

const CERTIFICATE = /CERT|UNABLE_TO_|SELF_SIGNED|CRL|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH|ALTNAME/;
const TLS = /^(?:EPROTO|ERR_SSL_|ERR_TLS_|ERR_OSSL_)/;
/** OpenSSL errors of an answer that is not TLS. */
const NO_TLS = /wrong version number|packet length too long|record layer failure|http request/;
const NO_TLS_HINT =
  'This port does not speak TLS: write http:// instead of https:// if the API is not encrypted, or correct the port.';
const NO_HTTP_HINT = 'Check the port: where TLS is spoken, write https:// instead of http:// in api.baseUrl.';
const CONNECT = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
]);

function kindOf(code: string, cause: unknown, attempt: FailedAttempt): FailureKind {
  if (code === 'ENOTFOUND' || code.startsWith('EAI_'))
    return {
      curl: CURL.dns,
      what: 'There is no address for',
      hint: 'Check the host name in api.baseUrl and the network.',
    };
  if (CONNECT.has(code))
    return {
      curl: CURL.connect,
      what: 'No connection to',
      hint: 'Check host and port, and whether a firewall or proxy is in between.',
    };
  if (code === 'ETIMEDOUT') return { curl: CURL.timeout, what: 'No answer in time from' };
  if (CERTIFICATE.test(code))
    return {
      curl: CURL.certificate,
      what: 'The certificate is not trusted of',
      code: 'http.tls',
      hint: 'If the server uses a private authority, put its certificate into api.caCertificate.',
    };
  if (TLS.test(code) || /before secure TLS connection/.test(reasonOf(cause)))
    return {
      curl: CURL.tls,
      what: 'No secure connection to',
      code: 'http.tls',
      ...(NO_TLS.test(reasonOf(cause)) ? { hint: NO_TLS_HINT } : {}),
    };
  if (code.startsWith('HPE_') && attempt.answered !== true)
    return { curl: CURL.receive, what: 'No HTTP comes from', hint: NO_HTTP_HINT };
  if (code.startsWith('HPE_'))
    return { curl: CURL.receive, what: 'What is no HTTP stands in the response of' };
  if (attempt.answered === true) return { curl: CURL.receive, what: 'The response was cut off by' };
  if (code === 'ECONNRESET' && !hasSystemNumber(cause))
    return {
      curl: CURL.empty,
      what: 'An empty reply came from',
      why: ', which closed the connection',
      ...(attempt.origin.startsWith('http://') ? { hint: NO_HTTP_HINT } : {}),
    };
  return { curl: CURL.receive, what: 'The connection broke to' };
}

/**
 * Tells whether the operating system reported the error; a connection that was closed in good order has no such number.
 */
function hasSystemNumber(cause: unknown): boolean {
  return causes(cause).some((error) => typeof (error as { errno?: unknown }).errno === 'number');
}

function codeOf(cause: unknown): string {
  for (const error of causes(cause)) {
    // The library's own codes say less than the system's below them.
    const { code } = error as { code?: unknown };
    if (typeof code === 'string' && !code.startsWith('ERR_GOT') && code !== 'ERR_READING_RESPONSE_STREAM')
      return code;
  }
  return '';
}

/** Returns the error, its causes, and the errors of all addresses that were tried. */
function causes(cause: unknown): Error[] {
  const found: Error[] = [];
  for (let at = cause; at instanceof Error && found.length < 10; at = at.cause) {
    found.push(at);
    if (at instanceof AggregateError) found.push(...at.errors.filter((error) => error instanceof Error));
  }
  return found;
}
