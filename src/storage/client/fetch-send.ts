import { CURL, failure, networkError } from '../../http/network-error.ts';
import type { HttpError } from '../../errors.ts';
import type { ApiRequest, ApiResponse, Send, SendOptions } from '../../http/message.ts';

/** A body that is made anew for each attempt. */
export type OpenBody = () => ReadableStream<Uint8Array>;

/** For one attempt: answers are small, and what takes long is a job. Content that is sent has its own pace. */
const PATIENCE_MS = 120_000;

/**
 * The bottom of the client: one request by `fetch`. Redirects are not followed: the token would go along with them.
 */
export function fetchSend(fetchIt: typeof fetch, openBody?: OpenBody): Send {
  return async (request: ApiRequest, { signal }: SendOptions): Promise<ApiResponse> => {
    const { origin } = new URL(request.url);
    let isAnswered = false;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), PATIENCE_MS);
    try {
      const response = await fetchIt(request.url, {
        method: request.method,
        headers: request.headers,
        redirect: 'manual',
        signal: openBody === undefined ? AbortSignal.any([signal, late.signal]) : signal,
        ...bodyOf(request, openBody),
      });
      isAnswered = true;
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        url: request.url,
        body: new Uint8Array(await response.arrayBuffer()),
      };
    } catch (error) {
      signal.throwIfAborted();
      // `fetch` says “fetch failed” and keeps the reason below it.
      const reason = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
      throw (
        timedOut(reason, origin, late.signal.aborted) ??
        networkError(reason, { origin, answered: isAnswered })
      );
    } finally {
      clearTimeout(timer);
    }
  };
}

/** By the timer here, or by one of the runtime's own. */
function timedOut(reason: unknown, origin: string, isLate: boolean): HttpError | undefined {
  const { code } = reason as { code?: unknown }; // of whatever was thrown
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return failure(CURL.connect, `No connection to ${origin} in time.`);
  const isSilent = isLate || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  return isSilent ? failure(CURL.timeout, `No answer in time from ${origin}.`) : undefined;
}

function bodyOf(request: ApiRequest, openBody: OpenBody | undefined): RequestInit {
  if (openBody !== undefined) return { body: openBody(), duplex: 'half' };
  return request.body === undefined ? {} : { body: request.body as NonNullable<RequestInit['body']> }; // text or bytes over a plain buffer
}
