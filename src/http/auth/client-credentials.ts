import { ConfigError } from '../../errors.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  isScalar,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../json/index.ts';
import { encodeForm } from '../encode.ts';
import type { SendOptions, SendWrapper } from '../message.ts';
import type { AuthContext, AuthType } from './auth.ts';
import { clientCredentialsSchema } from './client-credentials-options.ts';
import { parseLoginRequest } from './login-request.ts';
import { readLoginResponse } from './login-response.ts';
import { readToken, tokenPlace, withToken } from './tokens.ts';
import { optionalText, requiredText } from './values.ts';

/**
 * The client credentials grant of OAuth 2.0 (RFC 6749 4.4).
 *
 * ```
 * {"type": "oauth20.clientCredentials", "tokenUrl": "https://id.example.com/token",
 *  "clientId": "abc", "#clientSecret": "def", "scope": "read"}
 * ```
 * asks for `{"access_token": "t", "expires_in": 3600}` and sends `Authorization: Bearer t`. A new token is fetched
 * shortly before the old one expires, and once when a request is answered with 401.
 */
export const clientCredentials: AuthType = {
  type: 'oauth20.clientCredentials',
  options: clientCredentialsSchema,

  create(node, context): SendWrapper {
    const request = parseLoginRequest(objectOf([['loginRequest', tokenRequest(node, context)]]), context, {});
    const open = async (options: SendOptions) =>
      readToken(readLoginResponse(await request(options), 'json', context), context);
    return withToken(open, tokenPlace(node, context), context);
  },
};

/** The token request as a `loginRequest`. */
function tokenRequest(node: AnyObject, context: AuthContext): AnyObject {
  const clientId = client(node, ['clientId', '#clientId'], 'appKey', context);
  const secret = client(node, ['#clientSecret', 'clientSecret'], '#appSecret', context);
  const scope = scopeOf(getKey(node, 'scope'), context);
  const audience = optionalText(node, ['audience'], context);
  const style = getKey(node, 'authStyle') ?? 'header';
  if (style !== 'header' && style !== 'body') {
    throw new ConfigError('config.invalid', '“authStyle” must be "header" or "body".', {
      where: { path: `${context.at}.authStyle` },
    });
  }
  const params: [string, Json][] = [['grant_type', 'client_credentials']];
  if (scope !== '') params.push(['scope', scope]);
  if (audience !== undefined) params.push(['audience', audience]);
  if (style === 'body') params.push(['client_id', clientId], ['client_secret', secret]);
  const extra = getKey(node, 'params');
  const headers: [string, Json][] = [['Accept', 'application/json']];
  if (style === 'header') headers.push(['Authorization', basicHeader(clientId, secret, context)]);
  return objectOf([
    ['endpoint', requiredText(node, ['tokenUrl'], context)],
    ['method', 'FORM'],
    ['params', objectOf([...params, ...(isObject(extra) ? evaluated(extra, context) : [])])],
    ['headers', objectOf(headers)],
  ]);
}

function evaluated(extra: AnyObject, context: AuthContext): [string, Json][] {
  return entriesOf(extra).map(([name, value]) => [
    name,
    context.evaluate(value, { attr: context.attributes }, `${context.at}.params.${name}`),
  ]);
}

/** A part of the client: from the node, or else from the OAuth credentials of the configuration. */
function client(node: AnyObject, keys: readonly string[], stored: string, context: AuthContext): string {
  const value = optionalText(node, keys, context);
  if (value !== undefined) return value;
  const fallback =
    context.oauthCredentials === undefined ? undefined : getKey(context.oauthCredentials, stored);
  return isScalar(fallback) && fallback !== '' ? toText(fallback) : requiredText(node, keys, context);
}

/** Id and secret are form-encoded before they are joined (RFC 6749 2.3.1). */
function basicHeader(id: string, secret: string, { secrets }: AuthContext): string {
  const pair = `${formText(id)}:${formText(secret)}`;
  secrets?.add(pair);
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function formText(text: string): string {
  return encodeForm({ t: text }).slice(2);
}

/** One text, scopes separated by spaces. */
function scopeOf(scope: Json | undefined, context: AuthContext): string {
  if (isEmpty(scope)) return '';
  if (typeof scope === 'string') return scope;
  if (isList(scope) && scope.every((item) => typeof item === 'string')) return scope.join(' ');
  throw new ConfigError('config.invalid', '“scope” must be a text, or a list of texts.', {
    where: { path: `${context.at}.scope` },
  });
}
