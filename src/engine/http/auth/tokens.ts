import { HttpError } from '../../../lib/errors.ts';
import type { OptionSchema } from '../../../lib/option.ts';
import { kind } from '../kinds.ts';
import { compilePath, getKey, isScalar, toText, type AnyObject } from '../../../lib/json/index.ts';
import type { ApiRequest, SendOptions, SendWrapper } from '../../shared/message.ts';
import { secondsOf, type AuthContext } from './auth.ts';
import { keyInOf, keyInSchema, putKey, type PutKey } from './key-place.ts';
import { shareSession } from './session.ts';
import { optionalText } from './values.ts';

/** An access token. */
export interface AccessToken {
  readonly value: string;
  /** Unix seconds; undefined when the answer does not say how long the token holds. */
  readonly renewAt: number | undefined;
}

/** Keys that say where an access token is put. */
export const tokenPlaceKeys: Record<string, OptionSchema> = {
  name: kind({ type: 'string', minLength: 1, default: 'Authorization' })(
    'Name',
    'The name of the header, the parameter or the cookie that carries the token.',
    ['X-Access-Token'],
  ),
  in: keyInSchema,
  prefix: kind({ type: 'string' })(
    'Prefix',
    'A text before the token, with its space if it needs one. Default: `Bearer ` in the header `Authorization`, else nothing.',
    ['Zoho-oauthtoken '],
  ),
};

/** Reads {@link tokenPlaceKeys}. */
export function tokenPlace(node: AnyObject, context: AuthContext): PutKey {
  const place = keyInOf(node, context.at);
  const name = optionalText(node, ['name'], context) ?? 'Authorization';
  const given = getKey(node, 'prefix');
  const usual = place === 'header' && name.toLowerCase() === 'authorization' ? 'Bearer ' : '';
  const prefix = isScalar(given) ? toText(given) : usual;
  const put = putKey(place, name, context.at);
  return (request, token) => put(request, prefix + token);
}

/**
 * Sends every request with a token that is fetched when the first request needs it, shared by all, renewed before it
 * expires, and once when a request is answered with 401.
 *
 * @param open fetches a token; `isRefused` when the API did not take the one before
 */
export function withToken(
  open: (options: SendOptions, isRefused: boolean) => Promise<AccessToken>,
  put: PutKey,
  context: AuthContext,
): SendWrapper {
  let isRefused = false;
  const session = shareSession(
    async (options) => {
      // a reaction to an answer may ask for a new login, too
      const token = await open(options, isRefused || options.attempt?.renewsLogin === true);
      isRefused = false;
      return token;
    },
    ({ renewAt }) => renewAt === undefined || secondsOf(context.env) < renewAt,
  );

  return (next) => {
    const sendWith = (token: AccessToken, plain: ApiRequest, options: SendOptions) =>
      next(put(plain, token.value), options);

    return async (plain, options) => {
      const token = await session.get(options);
      const response = await sendWith(token, plain, options);
      if (response.status !== 401) return response;
      context.log.debug('The API refused the access token (401); a new one is fetched.');
      isRefused = session.drop(token) || isRefused;
      return sendWith(await session.get(options), plain, options);
    };
  };
}

/** Paths in the answer of a token endpoint. */
export interface TokenPaths {
  readonly accessToken: string;
  readonly expiresIn: string;
}

/** As RFC 6749 5.1 has them. */
const STANDARD_PATHS: TokenPaths = { accessToken: 'access_token', expiresIn: 'expires_in' };

/**
 * Reads the token of an answer. It is due for renewal a tenth of its lifetime, at most a minute, before it ends.
 *
 * @throws {HttpError} auth.failed
 */
export function readToken(
  response: AnyObject,
  context: AuthContext,
  paths: TokenPaths = STANDARD_PATHS,
): AccessToken {
  const value = findText(response, paths.accessToken);
  if (value === undefined || value === '' || /[\r\n\0]/.test(value))
    throw new HttpError('auth.failed', `The token response has no “${paths.accessToken}”.`, {
      where: { path: `${context.at}.tokenUrl` },
      hint: 'Check that "tokenUrl" is the address of the token endpoint.',
    });
  context.secrets?.add(value);
  const seconds = Number(findText(response, paths.expiresIn) ?? Number.NaN);
  if (!Number.isFinite(seconds)) return { value, renewAt: undefined };
  return { value, renewAt: secondsOf(context.env) + Math.floor(seconds - Math.min(60, seconds / 10)) };
}

/** Returns the text of a scalar; undefined for anything else. */
export function findText(response: AnyObject, path: string): string | undefined {
  const value = compilePath(path, { at: path }).find(response);
  return isScalar(value) ? toText(value) : undefined;
}
