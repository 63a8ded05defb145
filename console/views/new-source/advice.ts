import type { Advice, OpenPoint } from '../../data/client.ts';

/** Returns advice on a list that was not found, in terms of the controls on this page. */
export function adviceText(advice: Advice): string {
  switch (advice.code) {
    case 'login': {
      const { isRefused, kind, challenge, header, authorizationUrl } = advice;
      if (isRefused)
        return `${asked(challenge)}Is the login right, and for this API? Correct it above, and look again.`;
      if (header !== undefined)
        return `${asked(challenge)}It names the header ${header}: choose “Key in a header” above with that name, and look again.`;
      switch (kind) {
        case 'basic':
          return `${asked(challenge)}Choose “User and password” above, and look again.`;
        case 'bearer':
          return `${asked(challenge)}With a token that you have, choose “Token (bearer)” above; with the id and the secret of a client, “Client and secret (OAuth client credentials)”; where a person logs in, “A person, in the browser (OAuth)”. Then look again.`;
        case 'oauth':
          return `${asked(challenge)}Its tokens come from an authorization server: where a person logs in, choose “A person, in the browser (OAuth)” above${authorizationUrl === undefined ? '' : ` (the login page is ${authorizationUrl})`}; with the id and the secret of a client, “Client and secret (OAuth client credentials)”. Then look again.`;
        case 'other':
          return `${asked(challenge)}None of the logins above answers that. Does the API know keys or tokens, too?`;
        default:
          return `${asked(challenge)}Choose a login above, and look again.`;
      }
    }
    case 'rights':
      return `${asked(advice.challenge)}The login is known, but may not read this. Ask whoever runs the API for more rights, or give another login above.`;
    case 'address':
      return 'Check the address: is it that of the API, with its version?';
    case 'method':
      return 'The address may want data to be sent to it (POST). Paste the whole request as a curl command: the network tab of a browser copies it by “Copy as cURL”.';
    case 'request':
      return 'Something is missing in the request: a parameter in the address, or a header. A curl command can have both.';
    case 'limit':
      return 'The API allows no more requests for now. Look again later.';
    case 'fault':
      return 'The fault is on the side of the API. Look again later.';
    case 'format':
      return `It is of the type ${advice.type === '' ? 'unknown' : advice.type}, and a list in JSON is wanted. Does the API have a parameter for it, such as format=json? A curl command can ask by a header: -H 'Accept: application/json'.`;
    case 'page': {
      const what =
        'Give the address of the API itself: the network tab of the browser shows it, and “Copy as cURL” there gives all that is needed.';
      return advice.ledTo === undefined
        ? `This is a page for people. ${what}`
        : `This is a page for people, and the API led there: ${advice.ledTo}. That is how a missing login looks: choose one above. Otherwise: ${what}`;
    }
    case 'loginForm':
      return 'Fill in all fields of the login above.';
    case 'headerForm':
      return 'A header is written as “Name: value”.';
    default:
      return advice satisfies never;
  }
}

function asked(challenge: string | undefined): string {
  return challenge === undefined ? '' : `The API asks for: ${challenge}. `;
}

/** Describes an open point of a list. */
export function openText(point: OpenPoint): string {
  if (point.code === 'note') return point.text;
  if (point.code === 'requestsSpent')
    return 'Whether another way leads on: not everything could be tried with so few requests.';
  return point.isEndSeen
    ? 'Whether all pages between are whole: the list is longer than what was read of it. A run reads all of it, and says in the end whether it has everything.'
    : 'Whether it ends where it should: the list is longer than what was read of it. A run reads all of it, and says in the end whether it has everything.';
}

/** Tells whether more requests could answer what is open. */
export function wantsMore(points: readonly OpenPoint[]): boolean {
  return points.some(
    (point) => point.code === 'requestsSpent' || (point.code === 'longer' && !point.isEndSeen),
  );
}
