import { HttpError, type Where } from '../errors.ts';
import type { Secrets } from '../secrets.ts';
import { oneLine } from '../shown-text.ts';
import type { ApiRequest, ApiResponse, SendWrapper } from './message.ts';
import { http } from './send/runtime.ts';

export interface StatusOptions {
  /** `api.http.ignoreErrors`: statuses that are handed on like a success (spec extractor 6.6). */
  readonly ignoreErrors?: readonly number[];
  readonly secrets: Secrets;
}

/** Bytes of an error's body that are shown. */
const SHOWN_BYTES = 500;

/**
 * Turns a final status from 400 on into an error (spec extractor 6.4), and tells every error which job and address
 * it belongs to.
 *
 * @throws {HttpError} `http.status`, with `status` and the start of the `body` in `details`
 */
export function status({ ignoreErrors = [], secrets }: StatusOptions): SendWrapper {
  return (next) => async (request, options) => {
    const response = await next(request, options).catch((error: unknown) => {
      throw error instanceof HttpError ? error.at(placeOf(request, request.url, secrets)) : error;
    });
    const isFine = response.status < 400 || response.isTaken === true;
    if (isFine || ignoreErrors.includes(response.status)) return response;
    throw statusError(request, response, secrets);
  };
}

function statusError(request: ApiRequest, response: ApiResponse, secrets: Secrets): HttpError {
  const url = secrets.redactUrl(response.url);
  const name = http.STATUS_CODES[response.status];
  const answer = `${response.status}${name === undefined ? '' : ` ${name}`}`;
  const body = startOf(response.body, secrets);
  return new HttpError(
    'http.status',
    `The API answered ${answer} to ${request.method} ${url}${body === '' ? '.' : `: ${body}`}`,
    {
      hint: hintFor(response.status),
      where: placeOf(request, response.url, secrets),
      details: { status: response.status, method: request.method, body },
    },
  );
}

function placeOf({ label }: ApiRequest, url: string, secrets: Secrets): Where {
  return { url: secrets.redactUrl(url), ...(label === undefined ? {} : { job: label }) };
}

/** Redacted before it is cut, so that no half of a secret is left at the end. */
function startOf(body: Uint8Array, secrets: Secrets): string {
  const decoder = new TextDecoder();
  const text = oneLine(
    secrets.redactMessage(decoder.decode(body.subarray(0, 4 * SHOWN_BYTES), { stream: true })).trim(),
  );
  const start = Buffer.from(text).subarray(0, SHOWN_BYTES);
  return start.length < SHOWN_BYTES ? text : `${new TextDecoder().decode(start, { stream: true })}…`;
}

function hintFor(code: number): string | undefined {
  if (code === 401) return 'Check the credentials and api.authentication.';
  if (code === 403) return 'The credentials are known but may not read this. Ask the API for more rights.';
  if (code === 404)
    return 'Check api.baseUrl and the endpoint of the job. To go on without, put 404 into api.http.ignoreErrors.';
  if (code === 429)
    return 'Set api.http.requestsPerSecond to what the API allows, or raise api.retryConfig.maxRetries.';
  if (code >= 500)
    return 'The fault is on the side of the API. Try again later, or raise api.retryConfig.maxRetries.';
  if (code === 400 || code === 422)
    return 'The API does not accept the request: check params and method of the job.';
  return undefined;
}
