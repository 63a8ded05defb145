import type { Log } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { withoutHeader, type ApiRequest, type ApiResponse, type SendWrapper } from '../shared/message.ts';
import { CURL, failure } from './send/network-error.ts';
import { originOf, resolveUrl } from './url.ts';

const MAX_REDIRECTS = 5;

/**
 * Follows redirects: up to five, http and https. After 301, 302 and 303 a POST becomes a GET
 * without a body, 307 and 308 keep both. Each hop is a request of its own, with everything that is inside this wrapper
 * done afresh; at another origin it has no cookie and no authorization.
 */
export function redirect({ log, secrets }: { readonly log: Log; readonly secrets: Secrets }): SendWrapper {
  return (next) => async (request, options) => {
    let current = request;
    for (let hops = 0; ; hops++) {
      const response = await next(current, options);
      const location = locationOf(response);
      if (location === undefined) return response;
      if (hops === MAX_REDIRECTS)
        throw failure(CURL.redirects, `The API redirects more than ${MAX_REDIRECTS} times.`, {
          hint: 'Put the final address into the configuration.',
        }).at({ url: secrets.redactUrl(request.url) });
      current = follow(current, response.status, location);
      log.debug('Following a redirect.', { status: response.status, url: secrets.redactUrl(current.url) });
    }
  };
}

const FOLLOWED = new Set([300, 301, 302, 303, 307, 308]);

function locationOf({ status, headers }: ApiResponse): string | undefined {
  return FOLLOWED.has(status) ? headers['location'] || undefined : undefined;
}

/** Tells whether an answer only leads to another one. */
export function isRedirect(response: ApiResponse): boolean {
  return locationOf(response) !== undefined;
}

function follow(request: ApiRequest, status: number, location: string): ApiRequest {
  const url = resolveUrl(request.url, location);
  let { method, body, headers } = request;
  if (becomesGet(status, method)) {
    method = 'GET';
    body = undefined;
    headers = without(headers, ['Content-Type', 'Content-Length', 'Content-Encoding', 'Transfer-Encoding']);
  }
  if (!isSamePlace(request.url, url))
    headers = without(headers, ['Authorization', 'Cookie', 'Proxy-Authorization', 'Host']);
  const { body: _sent, ...rest } = request;
  return { ...rest, method, url, headers, ...(body === undefined ? {} : { body }) };
}

/** Tells whether a redirect changes the method to GET, as browsers do: only 303 changes other methods than POST. */
function becomesGet(status: number, method: string): boolean {
  if (status === 307 || status === 308) return false;
  return method === 'POST' || status === 303;
}

/**
 * Tells whether two addresses have the same origin, or the same host changing from http to https on their usual ports.
 */
function isSamePlace(from: string, to: string): boolean {
  const [before, after] = [originOf(from), originOf(to)];
  return before === after || before.replace(/^http:/, 'https:') === after;
}

function without(headers: ApiRequest['headers'], names: readonly string[]): ApiRequest['headers'] {
  return names.reduce((rest, name) => withoutHeader(rest, name), headers);
}
