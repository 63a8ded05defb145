import { object, typeNamed } from '../kinds.ts';
import { createHmac } from 'node:crypto';
import { ConfigError } from '../../../lib/errors.ts';
import { getKey, isScalar, toText } from '../../../lib/json/index.ts';
import { headerOf, withHeader, type ApiRequest } from '../../shared/message.ts';
import { targetOf } from '../send/target.ts';
import { randomHex, secondsOf, signing, type AuthType } from './auth.ts';
import { CREDENTIALS_AT, parseDataObject, readCredentials } from './credentials.ts';
import { splitQuery } from './url-query.ts';
import { formDecoded } from '../../../lib/percent.ts';

/**
 * OAuth 1.0a (RFC 5849) with HMAC-SHA1 in the `Authorization` header.
 *
 * The consumer is `appKey` and `#appSecret` of the OAuth credentials, the token is `oauth_token` and
 * `oauth_token_secret` in their `#data`, a JSON object.
 */
export const oauth10: AuthType = {
  type: 'oauth10',
  options: object(
    'OAuth 1.0a',
    'Signs every request with HMAC-SHA1, with the keys of `authorization.oauth_api.credentials`; `#data` is JSON text with `oauth_token` and `oauth_token_secret`.',
    {
      required: ['type'],
      properties: {
        type: typeNamed('oauth10', 'OAuth 1.0a signatures.'),
      },
      examples: [{ type: 'oauth10' }],
    },
  ),

  create(_node, context) {
    const credentials = readCredentials(context);
    const data = parseDataObject(credentials);
    const tokenPart = (key: string): string => {
      const value = getKey(data, key);
      if (isScalar(value) && value !== '') return toText(value);
      throw new ConfigError('config.invalid', `The OAuth credentials “#data” lack “${key}”.`, {
        where: { path: `${CREDENTIALS_AT}.#data.${key}` },
        hint: 'Authorize the configuration again: OAuth 1.0 needs oauth_token and oauth_token_secret.',
      });
    };
    const token = tokenPart('oauth_token');
    const key = `${encode(credentials.appSecret)}&${encode(tokenPart('oauth_token_secret'))}`;

    return signing((request) => {
      const parameters: Pair[] = [
        ['oauth_consumer_key', credentials.appKey],
        ['oauth_nonce', randomHex(context.env, 20)],
        ['oauth_signature_method', 'HMAC-SHA1'],
        ['oauth_timestamp', String(secondsOf(context.env))],
        ['oauth_token', token],
        ['oauth_version', '1.0'],
      ];
      const signature = createHmac('sha1', key).update(baseString(request, parameters)).digest('base64');
      const header = [...parameters, ['oauth_signature', signature] as const]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => `${name}="${encode(value)}"`)
        .join(', ');
      return { ...request, headers: withHeader(request.headers, 'Authorization', `OAuth ${header}`) };
    });
  },
};

type Pair = readonly [name: string, value: string];

/** Returns the signature base string (RFC 5849 3.4.1). */
export function baseString(request: ApiRequest, parameters: readonly Pair[]): string {
  const { origin, path } = targetOf(request.url);
  const { base, query } = splitQuery(path);
  const all = [...parameters, ...decodeForm(query ?? ''), ...decodeForm(formOf(request))]
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  return [request.method.toUpperCase(), origin + base, all].map(encode).join('&');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the body if it is a form, because that is part of the signature (RFC 5849 3.4.1.3.1). */
function formOf({ headers, body }: ApiRequest): string {
  const type = headerOf(headers, 'content-type') ?? '';
  if (body === undefined || !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return '';
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
}

/** Parses a form: name and value of each part, in order; names may come more than once. */
function decodeForm(text: string): Pair[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals < 0
        ? [formDecoded(part), '']
        : [formDecoded(part.slice(0, equals)), formDecoded(part.slice(equals + 1))];
    });
}

/** Percent-encodes all but the RFC 3986 unreserved characters (RFC 5849 3.6). */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
