import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { networkError } from '../../engine/http/send/network-error.ts';
import { lateAnswer, PATIENCE_MS, type OpenCall, type SendCall } from './network.ts';

/** Sends by a `fetch` that is given, such as that of a service in this process. Redirects are not followed. */
export function sendBy(fetchIt: typeof fetch): SendCall {
  return async (request, { signal, openBody }) => {
    const { origin } = new URL(request.url);
    let isAnswered = false;
    const late = new AbortController();
    const timer = openBody === undefined ? setTimeout(() => late.abort(), PATIENCE_MS) : undefined;
    try {
      const response = await fetchIt(request.url, {
        method: request.method,
        headers: request.headers,
        redirect: 'manual',
        signal: AbortSignal.any([signal, late.signal]),
        // Text, or bytes over a plain buffer.
        ...(request.body === undefined ? {} : { body: request.body as NonNullable<RequestInit['body']> }),
        ...(openBody === undefined ? {} : { body: openBody(), duplex: 'half' }),
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
      throw late.signal.aborted ? lateAnswer(origin) : networkError(reason, { origin, answered: isAnswered });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Makes an {@link OpenCall}, whose answer is streamed. */
export function openBy(fetchIt: typeof fetch): OpenCall {
  return async ({ url, method, headers, body: sent }, { signal }) => {
    try {
      const answer = await fetchIt(url, {
        method,
        headers,
        redirect: 'manual',
        signal,
        // As above.
        ...(sent === undefined ? {} : { body: sent as NonNullable<RequestInit['body']> }),
      });
      const response = {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        url,
        body: answer.ok ? new Uint8Array(0) : new Uint8Array(await answer.arrayBuffer()),
      };
      if (!answer.ok) return { response };
      // One class under two names: that of the runtime and that of its library.
      const body = answer.body as ReadableStream<Uint8Array> | null;
      return { response, stream: body === null ? Readable.from([]) : Readable.fromWeb(body) };
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
      throw networkError(reason, { origin: new URL(url).origin, answered: false });
    }
  };
}
