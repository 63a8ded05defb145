import { HttpError, type Where } from '../../lib/errors.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { bodyStart } from './body-start.ts';
import type { ApiRequest, ApiResponse, SendWrapper } from '../shared/message.ts';
import { http } from './send/runtime.ts';

/** Bytes of an error's body that are shown. */
const SHOWN_BYTES = 500;

export interface StatusOptions {
  /** `api.http.ignoreErrors`: statuses that are handed on like a success. */
  readonly ignoreErrors?: readonly number[];
  readonly secrets: Secrets;
}

/**
 * Turns a final status from 400 on into an error, and tells every error which job and address
 * it belongs to.
 *
 * @throws {HttpError} `http.status`, with `status` and the start of the `body` in `details`
 */
export function status({ ignoreErrors = [], secrets }: StatusOptions): SendWrapper {
  return (next) => async (request, options) => {
    let response: ApiResponse;
    try {
      response = await next(request, options);
    } catch (error) {
      throw error instanceof HttpError ? error.at(placeOf(request, request.url, secrets)) : error;
    }
    const isFine = response.status < 400 || response.isTaken === true;
    if (isFine || ignoreErrors.includes(response.status)) return response;
    throw statusError(request, response, secrets);
  };
}

function statusError(request: ApiRequest, response: ApiResponse, secrets: Secrets): HttpError {
  const url = secrets.redactUrl(response.url);
  const name = http.STATUS_CODES[response.status];
  const answer = `${response.status}${name === undefined ? '' : ` ${name}`}`;
  const body = bodyStart(response.body, SHOWN_BYTES, secrets);
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
