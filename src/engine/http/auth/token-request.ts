import { ConfigError } from '../../../lib/errors.ts';
import {
  getKey,
  isEmpty,
  isList,
  isScalar,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { encodeForm } from '../encode.ts';
import type { AuthContext } from './auth.ts';
import { evaluateMap, optionalText, requiredText } from './values.ts';

/** A client of a token endpoint, and what goes into every request to it. */
export interface TokenClient {
  readonly id: string;
  /**
   * A token request as a `loginRequest`: the parameters of the grant, the client, and further `params`.
   */
  readonly requestOf: (grant: readonly (readonly [string, Json])[]) => AnyObject;
}

/**
 * Reads the keys of a client: `tokenUrl`, `clientId`, `#clientSecret`, `authStyle`, `params`, `bodyFormat`.
 *
 * @param isPublic whether a client may have no secret; it is then named in the body (RFC 6749 3.2.1)
 * @throws {ConfigError}
 */
export function tokenClient(node: AnyObject, context: AuthContext, isPublic: boolean): TokenClient {
  const id = clientPart(node, ['clientId', '#clientId'], 'appKey', context);
  const given = optionalPart(node, ['#clientSecret', 'clientSecret'], '#appSecret', context);
  const secret =
    given ??
    (isPublic ? undefined : clientPart(node, ['#clientSecret', 'clientSecret'], '#appSecret', context));
  const style = getKey(node, 'authStyle') ?? 'header';
  if (style !== 'header' && style !== 'body')
    throw new ConfigError('config.invalid', '“authStyle” must be "header" or "body".', {
      where: { path: `${context.at}.authStyle` },
    });
  const format = getKey(node, 'bodyFormat') ?? 'form';
  if (format !== 'form' && format !== 'json')
    throw new ConfigError('config.invalid', '“bodyFormat” must be "form" or "json".', {
      where: { path: `${context.at}.bodyFormat` },
    });
  const attr = { attr: context.attributes };
  const more = evaluateMap(getKey(node, 'params'), attr, context, `${context.at}.params`);
  const headers: [string, Json][] = [['Accept', 'application/json']];
  if (secret !== undefined && style === 'header')
    headers.push(['Authorization', basicHeader(id, secret, context)]);
  const client: [string, Json][] =
    secret === undefined
      ? [['client_id', id]]
      : style === 'body'
        ? [
            ['client_id', id],
            ['client_secret', secret],
          ]
        : [];
  const endpoint = requiredText(node, ['tokenUrl'], context);
  return {
    id,
    requestOf: (grant) =>
      objectOf([
        ['endpoint', endpoint],
        ['method', format === 'form' ? 'FORM' : 'POST'],
        ['params', objectOf(new Map([...grant, ...client, ...more]))],
        ['headers', objectOf(headers)],
      ]),
  };
}

function optionalPart(
  node: AnyObject,
  keys: readonly string[],
  stored: string,
  context: AuthContext,
): string | undefined {
  const value = optionalText(node, keys, context);
  if (value !== undefined) return value;
  const fallback =
    context.oauthCredentials === undefined ? undefined : getKey(context.oauthCredentials, stored);
  return isScalar(fallback) && fallback !== '' ? toText(fallback) : undefined;
}

/** Returns the id or secret of the client: from the node, or else from the OAuth credentials of the configuration. */
function clientPart(node: AnyObject, keys: readonly string[], stored: string, context: AuthContext): string {
  return optionalPart(node, keys, stored, context) ?? requiredText(node, keys, context);
}

/**
 * Returns the header of basic authentication; id and secret are form-encoded before they are joined (RFC 6749 2.3.1).
 */
function basicHeader(id: string, secret: string, { secrets }: AuthContext): string {
  const pair = `${formText(id)}:${formText(secret)}`;
  secrets?.add(pair);
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function formText(text: string): string {
  return encodeForm({ t: text }).slice(2);
}

/** Returns the scopes as one text, separated by spaces; empty when there are none. */
export function scopeOf(node: AnyObject, context: AuthContext): string {
  const scope = getKey(node, 'scope');
  if (isEmpty(scope)) return '';
  if (typeof scope === 'string') return scope;
  if (isList(scope) && scope.every((item) => typeof item === 'string')) return scope.join(' ');
  throw new ConfigError('config.invalid', '“scope” must be a text, or a list of texts.', {
    where: { path: `${context.at}.scope` },
  });
}
