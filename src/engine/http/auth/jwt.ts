import { ConfigError } from '../../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isObject,
  isScalar,
  JsonSyntaxError,
  numberOf,
  isNumber,
  objectOf,
  parseExact,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { SendOptions, SendWrapper } from '../../shared/message.ts';
import { randomHex, secondsOf, type AuthContext, type AuthType } from './auth.ts';
import { jwtSchema } from './jwt-options.ts';
import {
  hmacSigner,
  isHmac,
  JWT_ALGORITHMS,
  keySigner,
  signJwt,
  type JwtAlgorithm,
  type SignBytes,
} from './jwt-sign.ts';
import { parseLoginRequest } from './login-request.ts';
import { readLoginResponse } from './login-response.ts';
import { readToken, tokenPlace, withToken } from './tokens.ts';
import { evaluateMap, optionalText, requiredText, type NamedValue } from './values.ts';

/**
 * A signed JSON Web Token (RFC 7519), as service accounts have them.
 *
 * ```
 * {"type": "jwt", "#privateKey": {"attr": "#key"}, "claims": {"iss": "robot", "scope": "read"},
 *  "tokenUrl": "https://id.example.com/token"}
 * ```
 * sends `grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=<token>` there, and the `access_token` of the
 * answer with every request. Without `tokenUrl` the signed token itself is sent with every request.
 */
export const jwt: AuthType = {
  type: 'jwt',
  options: jwtSchema,

  create(node, context): SendWrapper {
    const account = serviceAccount(node, context);
    const tokenUrl = optionalText(node, ['tokenUrl'], context);
    const sign = tokenSigner(node, account, tokenUrl, context);
    const put = tokenPlace(node, context);
    if (tokenUrl === undefined) {
      const open = async () => await Promise.resolve({ value: sign(), renewAt: renewal(node, context) });
      return withToken(open, put, context);
    }
    const exchange = exchangeOf(node, context);
    const open = async (options: SendOptions) => {
      const request = parseLoginRequest(
        objectOf([['loginRequest', exchangeRequest(tokenUrl, exchange, sign(), node, context)]]),
        context,
        {},
      );
      return readToken(readLoginResponse(await request(options), 'json', context), context);
    };
    return withToken(open, put, context);
  },
};

/** Makes a new token each time it is called. */
function tokenSigner(
  node: AnyObject,
  account: ReadonlyMap<string, string>,
  tokenUrl: string | undefined,
  context: AuthContext,
): () => string {
  const algorithm = algorithmOf(node, context);
  const signBytes = signerOf(algorithm, node, account, context);
  const lifetime = wholeNumber(node, 'lifetime', DEFAULT_LIFETIME, context);
  const backdate = wholeNumber(node, 'backdate', 0, context);
  const attr = { attr: context.attributes };
  const kid = account.get('private_key_id');
  const header: readonly NamedValue[] = [
    ...(kid === undefined ? [] : ([['kid', kid]] as NamedValue[])),
    ...evaluateMap(getKey(node, 'headers'), attr, context, `${context.at}.headers`),
  ];
  const claims = (): Map<string, Json> => {
    const issuedAt = secondsOf(context.env) - backdate;
    const issuer = account.get('client_email');
    const times = objectOf([
      ['issuedAt', issuedAt],
      ['expiresAt', issuedAt + lifetime],
      ['id', randomHex(context.env, 16)],
    ]);
    return new Map<string, Json>([
      ...(issuer === undefined ? [] : ([['iss', issuer]] as NamedValue[])),
      ...(tokenUrl === undefined ? [] : ([['aud', tokenUrl]] as NamedValue[])),
      ['iat', issuedAt],
      ['exp', issuedAt + lifetime],
      ...evaluateMap(getKey(node, 'claims'), { ...attr, jwt: times }, context, `${context.at}.claims`),
    ]);
  };
  claims(); // a wrong function is known before anything is sent
  return () => {
    const token = signJwt(algorithm, withoutNull(header), withoutNull(claims()), signBytes);
    context.secrets?.add(token);
    return token;
  };
}

const DEFAULT_LIFETIME = 600;

/** Returns the time before its end at which a token is renewed: a tenth of its lifetime, at most a minute. */
function renewal(node: AnyObject, context: AuthContext): number {
  const lifetime = wholeNumber(node, 'lifetime', DEFAULT_LIFETIME, context);
  const backdate = wholeNumber(node, 'backdate', 0, context);
  return secondsOf(context.env) - backdate + Math.floor(lifetime - Math.min(60, lifetime / 10));
}

function signerOf(
  algorithm: JwtAlgorithm,
  node: AnyObject,
  account: ReadonlyMap<string, string>,
  context: AuthContext,
): SignBytes {
  if (!isHmac(algorithm)) {
    const key =
      optionalText(node, ['#privateKey'], context) ??
      account.get('private_key') ??
      requiredText(node, ['#privateKey'], context);
    return keySigner(
      algorithm,
      key,
      optionalText(node, ['#passphrase'], context),
      `${context.at}.#privateKey`,
    );
  }
  const encoding = getKey(node, 'secretEncoding') ?? 'text';
  if (encoding !== 'text' && encoding !== 'base64' && encoding !== 'hex')
    throw new ConfigError('config.invalid', '“secretEncoding” must be "text", "base64" or "hex".', {
      where: { path: `${context.at}.secretEncoding` },
    });
  const secret = Buffer.from(
    requiredText(node, ['#secret'], context),
    encoding === 'text' ? 'utf8' : encoding,
  );
  if (secret.length === 0)
    throw new ConfigError('config.invalid', `“#secret” is not ${encoding}.`, {
      where: { path: `${context.at}.#secret` },
    });
  return hmacSigner(algorithm, secret);
}

function algorithmOf(node: AnyObject, context: AuthContext): JwtAlgorithm {
  const word = getKey(node, 'algorithm');
  if (isEmpty(word)) return isEmpty(getKey(node, '#secret')) ? 'RS256' : 'HS256';
  const found = JWT_ALGORITHMS.find((algorithm) => algorithm === word);
  if (found !== undefined) return found;
  throw new ConfigError('config.invalid', 'There is no such “algorithm” for signing a token.', {
    where: { path: `${context.at}.algorithm` },
    hint: `Use one of ${JWT_ALGORITHMS.join(', ')}.`,
  });
}

type Exchange = 'assertion' | 'clientAssertion';

function exchangeOf(node: AnyObject, context: AuthContext): Exchange {
  const word = getKey(node, 'exchange') ?? 'assertion';
  if (word === 'assertion' || word === 'clientAssertion') return word;
  throw new ConfigError('config.invalid', '“exchange” must be "assertion" or "clientAssertion".', {
    where: { path: `${context.at}.exchange` },
  });
}

const ASSERTION: Readonly<Record<Exchange, (token: string) => [string, Json][]>> = {
  assertion: (token) => [
    ['grant_type', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
    ['assertion', token],
  ],
  clientAssertion: (token) => [
    ['grant_type', 'client_credentials'],
    ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
    ['client_assertion', token],
  ],
};

function exchangeRequest(
  tokenUrl: string,
  exchange: Exchange,
  token: string,
  node: AnyObject,
  context: AuthContext,
): AnyObject {
  const more = evaluateMap(
    getKey(node, 'params'),
    { attr: context.attributes },
    context,
    `${context.at}.params`,
  );
  return objectOf([
    ['endpoint', tokenUrl],
    ['method', 'FORM'],
    ['params', objectOf(new Map<string, Json>([...ASSERTION[exchange](token), ...more]))],
    ['headers', objectOf([['Accept', 'application/json']])],
  ]);
}

/** Returns the texts of a key file, by their names; empty when there is none. */
function serviceAccount(node: AnyObject, context: AuthContext): ReadonlyMap<string, string> {
  const at = `${context.at}.#serviceAccount`;
  const written = getKey(node, '#serviceAccount');
  if (isEmpty(written)) return new Map();
  const isFile = isObject(written) && getKey(written, 'private_key') !== undefined;
  const value = isFile ? written : parsed(requiredText(node, ['#serviceAccount'], context), at);
  if (!isObject(value) || getKey(value, 'private_key') === undefined) throw noAccount(at);
  return new Map(
    entriesOf(value).flatMap(([key, item]) =>
      isScalar(item) && item !== '' ? [[key, toText(item)] as const] : [],
    ),
  );
}

function parsed(text: string, at: string): Json {
  try {
    return parseExact(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw noAccount(at);
    throw error;
  }
}

function noAccount(at: string): ConfigError {
  return new ConfigError('config.invalid', '“#serviceAccount” is not the JSON text of a key file.', {
    where: { path: at },
    hint: 'Put the whole content of the file there, as one text, or take it from a variable: "$env:NAME". It has "private_key" and "client_email".',
  });
}

function wholeNumber(node: AnyObject, key: string, usual: number, context: AuthContext): number {
  const value = getKey(node, key);
  if (value === undefined || value === null) return usual;
  if (isNumber(value) && Number.isSafeInteger(numberOf(value)) && numberOf(value) >= 0)
    return numberOf(value);
  throw new ConfigError('config.invalid', `“${key}” must be a whole number of seconds.`, {
    where: { path: `${context.at}.${key}` },
  });
}

function withoutNull(entries: Iterable<readonly [string, Json]>): Map<string, Json> {
  return new Map(Array.from(entries).filter(([, value]) => value !== null));
}
