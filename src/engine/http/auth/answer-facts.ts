import { getKey, isScalar, jsonOf, isObject, toText, type AnyObject } from '../../../lib/json/index.ts';
import { shownText } from '../../../lib/shown-text.ts';
import { findText } from './tokens.ts';

/** Facts of a token answer that tell people about a login. */
export interface AnswerFacts {
  /** Unix seconds at which the refresh token ends. */
  readonly refreshUntil: number | undefined;
  /** Person who logged in. */
  readonly account: string | undefined;
}

/** Names of the seconds that a refresh token holds: RFC 6749 has none, so providers chose their own. */
const REFRESH_SECONDS = [
  'refresh_token_expires_in',
  'refresh_expires_in',
  'x_refresh_token_expires_in',
] as const;

/** Claims of an ID token that name a person, the most telling one first (OpenID Connect Core 5.1). */
const NAMES = ['email', 'preferred_username', 'name'] as const;

const MOST_LETTERS = 200;

/** Reads the end of the refresh token and the person from an answer. */
export function factsOf(answer: AnyObject, nowSeconds: number): AnswerFacts {
  const seconds = REFRESH_SECONDS.map((name) => Number(findText(answer, name) ?? Number.NaN)).find(
    // 0 stands for a token that does not end
    (each) => Number.isFinite(each) && each > 0,
  );
  return {
    refreshUntil: seconds === undefined ? undefined : nowSeconds + Math.floor(seconds),
    account: accountIn(findText(answer, 'id_token')),
  };
}

/**
 * Reads the name in an ID token. Its signature need not be checked: it came from the token endpoint itself, and the name is
 * only shown (OpenID Connect Core 3.1.3.7).
 */
function accountIn(idToken: string | undefined): string | undefined {
  const payload = idToken?.split('.')[1];
  const claims =
    payload === undefined ? undefined : jsonOf(Buffer.from(payload, 'base64url').toString('utf8'));
  if (!isObject(claims)) return undefined;
  for (const name of NAMES) {
    const value = getKey(claims, name);
    if (isScalar(value) && value !== '') return shownText(toText(value)).slice(0, MOST_LETTERS);
  }
  return undefined;
}
