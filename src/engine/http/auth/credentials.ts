import { ConfigError } from '../../../lib/errors.ts';
import {
  getKey,
  isEmpty,
  isList,
  isObject,
  isScalar,
  JsonSyntaxError,
  parseExact,
  toJsonText,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { AuthContext } from './auth.ts';

/** `authorization.oauth_api.credentials`, all three parts there. */
export interface OAuthCredentials {
  /** `#data`: what the user granted, a token or JSON text. */
  readonly data: string;
  readonly appKey: string;
  readonly appSecret: string;
}

export const CREDENTIALS_AT = 'authorization.oauth_api.credentials';

/** @throws {ConfigError} naming the key that is missing */
export function readCredentials({ oauthCredentials }: AuthContext): OAuthCredentials {
  return {
    data: part(oauthCredentials, '#data'),
    appKey: part(oauthCredentials, 'appKey'),
    appSecret: part(oauthCredentials, '#appSecret'),
  };
}

/** Parses `#data` as JSON. @throws {ConfigError} when it is none; the text itself is secret and not quoted */
export function parseData({ data }: OAuthCredentials): Json {
  try {
    return parseExact(data);
  } catch (cause) {
    const place = cause instanceof JsonSyntaxError ? ` (line ${cause.line}, column ${cause.column})` : '';
    throw new ConfigError('config.invalid', `The OAuth credentials “#data” are not JSON${place}.`, {
      where: { path: `${CREDENTIALS_AT}.#data` },
      hint: 'Authorize the configuration again, or write the JSON text of the token response there.',
    });
  }
}

/** Parses `#data` as a JSON object. @throws {ConfigError} */
export function parseDataObject(credentials: OAuthCredentials): AnyObject {
  const data = parseData(credentials);
  if (isObject(data)) return data;
  throw new ConfigError('config.invalid', 'The OAuth credentials “#data” must be a JSON object.', {
    where: { path: `${CREDENTIALS_AT}.#data` },
  });
}

function part(credentials: AnyObject | undefined, key: string): string {
  const value = credentials === undefined ? undefined : getKey(credentials, key);
  // A number for a key is taken as its text; a decoded `#data` as its JSON.
  if (isScalar(value) && value !== '') return toText(value);
  if (key === '#data' && (isObject(value) || isList(value)) && !isEmpty(value)) return toJsonText(value);
  throw new ConfigError('config.invalid', `The OAuth credentials lack “${key}”.`, {
    where: { path: `${CREDENTIALS_AT}.${key}` },
    hint: 'Authorize the configuration, so that "authorization.oauth_api.credentials" is filled.',
  });
}
