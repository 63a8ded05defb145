import { ConfigError } from '../../../lib/errors.ts';
import { getKey, isEmpty, isObject, withKey, type AnyObject, type Json } from '../../../lib/json/index.ts';
import { nearest } from '../../../lib/suggest.ts';
import type { SendWrapper } from '../../shared/message.ts';
import { apiKey } from './api-key.ts';
import { kindOf } from '../../../lib/read-settings.ts';
import type { AuthContext, AuthType } from './auth.ts';
import { basic } from './basic.ts';
import { bearer } from './bearer.ts';
import { choice } from './choice.ts';
import { clientCredentials } from './client-credentials.ts';
import { headers } from './headers.ts';
import { jwt } from './jwt.ts';
import { login } from './login.ts';
import { oauth10 } from './oauth10.ts';
import { oauth20Login } from './oauth20-login.ts';
import { oauth20 } from './oauth20.ts';
import { query } from './query.ts';
import { refreshToken } from './refresh-token.ts';
import { several } from './several.ts';

export type { KeptLogin, LoginKeeper, NamedLogin, PendingRefresh, Tokens } from './kept-login.ts';
export type {
  AuthorizationCode,
  AuthorizationRequest,
  ExchangedLogin,
  UserAuthorization,
} from './user-authorization.ts';
export type { AuthContext, AuthType, AuthTypeContext } from './auth.ts';

/** Every kind of authentication of this package. */
export const AUTH_TYPES: readonly AuthType[] = [
  basic,
  bearer,
  apiKey,
  headers,
  query,
  login,
  oauth10,
  oauth20,
  oauth20Login,
  clientCredentials,
  refreshToken,
  jwt,
  several,
  choice,
];

/**
 * Creates the authentication of a configuration; undefined when there is none.
 *
 * @param api the `api` section: `authentication`, and the older `query`
 * @param types the kinds to choose from; a library user may add some
 * @throws {ConfigError} when the type is unknown or its keys are wrong
 */
export function createAuth(
  api: AnyObject,
  context: AuthContext,
  types: readonly AuthType[] = AUTH_TYPES,
): SendWrapper | undefined {
  const node = getKey(api, 'authentication');
  return isObject(node) ? create(node, api, context, types) : undefined;
}

function create(
  node: AnyObject,
  api: AnyObject,
  context: AuthContext,
  types: readonly AuthType[],
): SendWrapper | undefined {
  const word = getKey(node, 'type');
  if (isEmpty(word)) return undefined;
  const found = types.find(
    ({ type, deprecated }) => word === type || (deprecated !== undefined && word === deprecated),
  );
  if (found === undefined) throw unknownType(word, types, context.at);
  if (word === found.deprecated)
    context.log.warn(`The authentication type “${found.deprecated}” is an older word for “${found.type}”.`, {
      path: `${context.at}.type`,
    });
  return found.create(found === query ? withOlderQuery(node, api, context) : node, {
    ...context,
    nested: (inner, at) => create(inner, api, { ...context, at }, types) ?? ((next) => next),
  });
}

function unknownType(word: Json | undefined, types: readonly AuthType[], at: string): ConfigError {
  const names = types.map(({ type }) => type);
  const near = typeof word === 'string' ? nearest(word, names) : undefined;
  const shown = typeof word === 'string' ? `“${word}”` : `that is ${kindOf(word)}`;
  return new ConfigError('config.invalid', `There is no authentication type ${shown}.`, {
    where: { path: `${at}.type` },
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}The types are ${names.join(', ')}.`,
  });
}

/** Adds `api.query`, the place of the parameters in older configurations. */
function withOlderQuery(node: AnyObject, api: AnyObject, context: AuthContext): AnyObject {
  const older = getKey(api, 'query');
  if (!isEmpty(getKey(node, 'query')) || older === undefined || isEmpty(older)) return node;
  context.log.warn('“api.query” is deprecated; move it to “api.authentication.query”.', {
    path: 'parameters.api.query',
  });
  return withKey(node, 'query', older);
}
