import { type ExtractorError, HttpError, RecordError } from '../errors.ts';
import type { ApiResponse } from '../http/message.ts';
import { shownText } from '../shown-text.ts';
import type { Target } from './target.ts';

/** Why the first request brought nothing, with what to write instead: there is no configuration yet to correct. */
export function firstFailure(
  failure: ExtractorError,
  target: Target,
  answer: ApiResponse | undefined,
): ExtractorError {
  const { status } = failure.details;
  const options = { details: failure.details, cause: failure, where: {} };
  if (failure.code === 'http.status' && typeof status === 'number')
    return new HttpError('http.status', failure.message, {
      ...options,
      hint: hintFor(status, target, answer),
    });
  if (failure.code === 'response.notJson')
    return new RecordError('response.notJson', failure.message, {
      ...options,
      hint: notJsonHint(target, answer),
    });
  return new HttpError(failure.code, failure.message, { ...options, hint: failure.hint });
}

function hintFor(status: number, { authentication }: Target, answer: ApiResponse | undefined): string[] {
  const challenge = answer?.headers['www-authenticate'];
  const wants = challenge === undefined ? [] : [`The API asks for: ${shownText(challenge).slice(0, 200)}`];
  if (status === 401 || (status === 403 && authentication === undefined)) {
    const how = /^basic/i.test(challenge ?? '')
      ? "--auth 'basic:USER:$PASSWORD'"
      : /^bearer/i.test(challenge ?? '')
        ? "--auth 'bearer:$API_TOKEN'"
        : LOGINS;
    return [
      ...wants,
      authentication === undefined
        ? `Give the login by ${how}.`
        : 'The login that was given is not accepted: is it right, and for this API? See --auth.',
    ];
  }
  if (status === 403)
    return [...wants, 'The login is known, but may not read this. Ask the API for more rights.'];
  if (status === 404 || status === 410)
    return ['Check the address: is it that of the API, with its version?'];
  if (status === 405)
    return ["The list may want a POST: give the request as a curl command, gex init 'curl -X POST …'."];
  if (status === 400 || status === 422)
    return [
      'The API does not accept the request: does it want a parameter in the address, or a header (--header)?',
    ];
  if (status === 429) return ['The API allows no more requests for now. Try it again later.'];
  return ['The fault is on the side of the API. Try it again later.'];
}

const LOGINS = "--auth 'bearer:$API_TOKEN', 'basic:USER:$PASSWORD', 'header:NAME=$KEY' or 'query:NAME=$KEY'";

function notJsonHint({ baseUrl, endpoint }: Target, answer: ApiResponse | undefined): string[] {
  const type = (answer?.headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  if (!/html/i.test(type))
    return [
      `It is of the type ${type === '' ? 'unknown' : shownText(type)}; a list in JSON is wanted. Does the API have a parameter or a header for it, such as --header 'Accept: application/json'?`,
    ];
  const isElsewhere =
    answer !== undefined && !answer.url.startsWith(`${baseUrl}${endpoint === '/' ? '' : endpoint}`);
  return [
    isElsewhere
      ? `It is a page for people, and the API led there: ${shownText(answer.url.split('?', 1)[0] ?? '')}. That is how a missing login looks: ${LOGINS}.`
      : "It is a page for people: is the address that of the API? In a browser's network tab the request for the data has it.",
  ];
}
