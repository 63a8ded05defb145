import { createHash } from 'node:crypto';
import { ConfigError } from '../../../lib/errors.ts';
import {
  jsonOf,
  getKey,
  isObject,
  isScalar,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { isHttpUrl } from '../url.ts';
import type { SendOptions, SendWrapper } from '../../shared/message.ts';
import { secondsOf, type AuthContext, type AuthType } from './auth.ts';
import { memoryLogins, type Tokens } from './kept-login.ts';
import { parseLoginRequest } from './login-request.ts';
import { readLoginResponse } from './login-response.ts';
import type { UserAuthorization } from './user-authorization.ts';
import { keepTokens, refreshing, type RefreshPaths } from './refresh.ts';
import { refreshTokenSchema } from './refresh-token-options.ts';
import { scopeOf, tokenClient, type TokenClient } from './token-request.ts';
import { tokenPlace, withToken } from './tokens.ts';
import { overrideQuery } from './url-query.ts';
import { evaluateMap, optionalText, requiredText } from './values.ts';

/**
 * The refresh token grant of OAuth 2.0 (RFC 6749 6), also where each refresh token is for one use.
 *
 * ```
 * {"type": "oauth20.refreshToken", "tokenUrl": "https://id.example.com/token",
 *  "clientId": "abc", "#clientSecret": "def", "#refreshToken": "r-1"}
 * ```
 * sends `grant_type=refresh_token&refresh_token=r-1`; the answer `{"access_token": "a-1", "refresh_token": "r-2",
 * "expires_in": 3600}` is kept, encrypted, before `a-1` is used, and the next refresh sends `r-2`. With
 * `authorizationUrl` a person logs in (`gex login`), and no token stands in the configuration.
 */
export const refreshToken: AuthType = {
  type: 'oauth20.refreshToken',
  options: refreshTokenSchema,

  create(node, context): SendWrapper {
    const client = tokenClient(node, context, true);
    const paths = pathsOf(node, context);
    const first = optionalText(node, ['#refreshToken', 'refreshToken'], context) ?? storedToken(context);
    const authorizationUrl = optionalText(node, ['authorizationUrl'], context);
    const isKept = getKey(node, 'keep') !== false;
    if (first === undefined && (authorizationUrl === undefined || !isKept))
      throw new ConfigError('config.invalid', 'There is no refresh token, and no way to log in.', {
        where: { path: `${context.at}.#refreshToken` },
        hint: 'Set "#refreshToken" to one that the API gave, or "authorizationUrl" to the address where a person logs in with gex login.',
      });
    const keeper = (isKept ? context.logins : undefined) ?? memoryLogins();
    const scope = scopeOf(node, context);
    const name = nameOf([requiredText(node, ['tokenUrl'], context), client.id, first ?? '']);
    if (isKept) context.onKeptLogin?.({ at: context.at, name, isOfPerson: authorizationUrl !== undefined });
    const ask = async (grant: Grant, options: SendOptions): Promise<AnyObject> => {
      const job = objectOf([['loginRequest', client.requestOf(grant)]]);
      return readLoginResponse(await parseLoginRequest(job, context, {})(options), 'json', context);
    };
    const request = async (token: string, options: SendOptions): Promise<AnyObject> =>
      await ask(
        [
          ['grant_type', 'refresh_token'],
          ['refresh_token', token],
          ...(scope === '' || authorizationUrl !== undefined ? [] : [['scope', scope] as const]),
        ],
        options,
      );
    if (authorizationUrl !== undefined)
      context.onUserAuthorization?.(
        userAuthorization(
          node,
          { client, authorizationUrl, scope, ask, keep: keepTokens({ name, keeper, paths }, context) },
          context,
        ),
      );
    return withToken(
      refreshing({ name, keeper, first: () => firstTokens(node, first, context), paths, request }, context),
      tokenPlace(node, context),
      context,
    );
  },
};

type Grant = readonly (readonly [string, Json])[];

interface Authorizing {
  readonly client: TokenClient;
  readonly authorizationUrl: string;
  readonly scope: string;
  readonly ask: (grant: Grant, options: SendOptions) => Promise<AnyObject>;
  readonly keep: ReturnType<typeof keepTokens>;
}

function userAuthorization(
  node: AnyObject,
  { client, authorizationUrl, scope, ask, keep }: Authorizing,
  context: AuthContext,
): UserAuthorization {
  const redirectUri = optionalText(node, ['redirectUri'], context);
  for (const [key, url] of [
    ['authorizationUrl', authorizationUrl],
    ['redirectUri', redirectUri],
  ] as const)
    if (url !== undefined && !isHttpUrl(url))
      throw new ConfigError(
        'config.invalid',
        `“${key}” must be a whole address, such as https://id.example.com/authorize.`,
        {
          where: { path: `${context.at}.${key}` },
        },
      );
  const attr = { attr: context.attributes };
  const more = evaluateMap(
    getKey(node, 'authorizationParams'),
    attr,
    context,
    `${context.at}.authorizationParams`,
  );
  return {
    at: context.at,
    redirectUri,
    usesPkce: getKey(node, 'pkce') !== false,
    address: ({ redirectUri: back, state, challenge }) =>
      overrideQuery(authorizationUrl, [
        ['response_type', 'code'],
        ['client_id', client.id],
        ['redirect_uri', back],
        ...(scope === '' ? [] : [['scope', scope] as const]),
        ['state', state],
        ...(challenge === undefined
          ? []
          : ([
              ['code_challenge', challenge],
              ['code_challenge_method', 'S256'],
            ] as const)),
        ...more,
      ]),
    exchange: async ({ code, redirectUri: back, verifier }, options) => {
      context.secrets?.add(code);
      const answer = await ask(
        [
          ['grant_type', 'authorization_code'],
          ['code', code],
          ['redirect_uri', back],
          ...(verifier === undefined ? [] : [['code_verifier', verifier] as const]),
        ],
        options,
      );
      return await keep(answer);
    },
  };
}

function pathsOf(node: AnyObject, context: AuthContext): RefreshPaths {
  const answer = getKey(node, 'answer');
  const inside = isObject(answer) ? answer : objectOf([]);
  const at = { ...context, at: `${context.at}.answer` };
  return {
    accessToken: optionalText(inside, ['accessToken'], at) ?? 'access_token',
    refreshToken: optionalText(inside, ['refreshToken'], at) ?? 'refresh_token',
    expiresIn: optionalText(inside, ['expiresIn'], at) ?? 'expires_in',
  };
}

/**
 * Returns the tokens of the configuration. An access token counts with the time it ends at, and is renewed a minute
 * before it.
 *
 * @throws {ConfigError} for an end that is no time
 */
function firstTokens(node: AnyObject, refreshToken: string | undefined, context: AuthContext): Tokens {
  const accessToken = optionalText(node, ['#accessToken', 'accessToken'], context) ?? '';
  const end = optionalText(node, ['accessTokenExpires'], context) ?? '';
  if (accessToken === '' || end === '') return { refreshToken };
  const seconds = /^\d+(?:\.\d+)?$/.test(end) ? Number(end) : context.parseTime(end, secondsOf(context.env));
  if (seconds === false)
    throw new ConfigError('config.invalid', 'This is no time.', {
      where: { path: `${context.at}.accessTokenExpires` },
      hint: 'Write a time such as 2026-01-31T12:00:00Z, or Unix seconds.',
    });
  return { accessToken, refreshToken, renewAt: Math.floor(seconds) - 60 };
}

/** Returns the `refresh_token` in the `#data` of an authorization. */
function storedToken({ oauthCredentials }: AuthContext): string | undefined {
  const data = oauthCredentials === undefined ? undefined : getKey(oauthCredentials, '#data');
  const value = isObject(data)
    ? data
    : typeof data === 'string' && data.trim().startsWith('{')
      ? jsonOf(data)
      : undefined;
  const token = isObject(value) ? getKey(value, 'refresh_token') : undefined;
  return isScalar(token) && token !== '' ? toText(token) : undefined;
}

/** Tells a login from others without telling anything of it. A new first token is a new login. */
function nameOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
