import { adviceIn, type Advice, type OpenPoint } from '../storage/protocol/advice.ts';
import { ExtractorError } from '../lib/errors.ts';

/** Returns advice on a list that was not found, in options of `gex init`. */
function adviceLines(advice: Advice): readonly string[] {
  switch (advice.code) {
    case 'login': {
      const { kind, challenge, header, isRefused } = advice;
      const named = header === undefined ? LOGINS : `'header:${header}=$KEY'`;
      const how = kind === undefined ? named : HOW[kind];
      return [
        ...asked(challenge),
        isRefused
          ? 'The login that was given is not accepted: is it right, and for this API? See --auth.'
          : how === undefined
            ? 'No --auth answers that. Does the API know keys or tokens, too?'
            : `Give the login by --auth ${how}.`,
      ];
    }
    case 'rights':
      return [
        ...asked(advice.challenge),
        'The login is known, but may not read this. Ask the API for more rights.',
      ];
    case 'address':
      return ['Check the address: is it that of the API, with its version?'];
    case 'method':
      return ["The list may want a POST: give the request as a curl command, gex init 'curl -X POST …'."];
    case 'request':
      return [
        'The API does not accept the request: does it want a parameter in the address, or a header (--header)?',
      ];
    case 'limit':
      return ['The API allows no more requests for now. Try it again later.'];
    case 'fault':
      return ['The fault is on the side of the API. Try it again later.'];
    case 'format':
      return [
        `It is of the type ${advice.type === '' ? 'unknown' : advice.type}; a list in JSON is wanted. Does the API have a parameter or a header for it, such as --header 'Accept: application/json'?`,
      ];
    case 'page':
      return [
        advice.ledTo === undefined
          ? "It is a page for people: is the address that of the API? In a browser's network tab the request for the data has it."
          : `It is a page for people, and the API led there: ${advice.ledTo}. That is how a missing login looks: --auth ${LOGINS}.`,
      ];
    case 'loginForm':
      return [
        'Write --auth as one of bearer:$TOKEN, basic:USER:$PASSWORD, header:NAME=$KEY, query:NAME=$KEY, client:ID:$SECRET@https://TOKEN_ADDRESS, person:ID:$SECRET@https://LOGIN_ADDRESS,https://TOKEN_ADDRESS,SCOPES.',
        advice.isEmpty
          ? 'Is the variable set? The shell puts an empty text in its place when it is not; in single quotes it reaches gex as it is written.'
          : 'In single quotes the name of the variable goes into the configuration.',
      ];
    case 'headerForm':
      return ["Write it as in --header 'Accept-Language: cs'."];
    default:
      return advice satisfies never;
  }
}

const BASIC = "'basic:USER:$PASSWORD'";
const BEARER = "'bearer:$API_TOKEN'";
const CLIENT = "'client:ID:$SECRET@https://TOKEN_ADDRESS'";
const PERSON = "'person:ID:$SECRET@https://LOGIN_ADDRESS,https://TOKEN_ADDRESS,SCOPES'";
const LOGINS = `${BEARER}, ${BASIC}, 'header:NAME=$KEY', 'query:NAME=$KEY', ${CLIENT} or ${PERSON}`;

/** Logins that answer what an API asks for. */
const HOW = {
  basic: BASIC,
  bearer: `${BEARER}; or fetch one: ${CLIENT}, or ${PERSON} where a person logs in`,
  oauth: `${PERSON} where a person logs in, ${CLIENT} for a client, or ${BEARER} with a token at hand`,
  other: undefined,
} as const;

function asked(challenge: string | undefined): string[] {
  return challenge === undefined ? [] : [`The API asks for: ${challenge}`];
}

/** Describes an open point of a list, in terms of the command line. */
export function openText(point: OpenPoint): string {
  if (point.code === 'note') return point.text;
  if (point.code === 'requestsSpent')
    return 'Everything else that could be tried: all requests that are allowed were made. --max-requests allows more.';
  const about = point.isEndSeen
    ? 'Whether all pages between are whole: the list is longer than the requests that are allowed.'
    : 'Whether it ends where it should: the list is longer than the requests that are allowed. --max-requests allows more, and';
  return `${about} gex run says in the end whether it has everything.`;
}

/** Adds the hint that follows from an error's facts. */
export function withHint(error: unknown): unknown {
  if (!(error instanceof ExtractorError)) return error;
  const advice = adviceIn(error.details);
  return advice === undefined ? error : error.hinted(adviceLines(advice));
}
