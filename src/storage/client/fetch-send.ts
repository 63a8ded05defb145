import { networkError } from '../../http/network-error.ts';
import type { ApiRequest, ApiResponse, Send, SendOptions } from '../../http/message.ts';

/** A body that is made anew for each attempt. */
export type OpenBody = () => ReadableStream<Uint8Array>;

/**
 * The bottom of the client: one request by `fetch`. Redirects are not followed: the token would go along with them.
 */
export function fetchSend(fetchIt: typeof fetch, openBody?: OpenBody): Send {
  return async (request: ApiRequest, { signal }: SendOptions): Promise<ApiResponse> => {
    const { origin } = new URL(request.url);
    let isAnswered = false;
    try {
      const response = await fetchIt(request.url, {
        method: request.method,
        headers: request.headers,
        redirect: 'manual',
        signal,
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
      throw networkError(reason, { origin, answered: isAnswered });
    }
  };
}

function bodyOf(request: ApiRequest, openBody: OpenBody | undefined): RequestInit {
  if (openBody !== undefined) return { body: openBody(), duplex: 'half' };
  return request.body === undefined ? {} : { body: request.body as NonNullable<RequestInit['body']> }; // text or bytes over a plain buffer
}
