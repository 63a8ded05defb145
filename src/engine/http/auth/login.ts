import { object, typeNamed } from '../kinds.ts';
import { entriesOf, flattenContext, getKey, type AnyObject } from '../../../lib/json/index.ts';
import { isSecretName } from '../../../lib/secrets.ts';
import type { SendWrapper } from '../../shared/message.ts';
import type { Contexts } from '../../shared/evaluate.ts';
import { secondsOf, type AuthContext, type AuthType } from './auth.ts';
import { applyLogin, type Login } from './login-apply.ts';
import { parseExpires } from './expiry.ts';
import { loginKeys } from './login-options.ts';
import { parseLoginFormat, readLoginResponse } from './login-response.ts';
import { parseLoginRequest } from './login-request.ts';
import { shareSession } from './session.ts';
import { mapEntries } from './values.ts';

/**
 * A login request first, its answer in every request after it.
 *
 * The login answers `{"auth": {"token": "a1b2"}, "expires_in": 3600}`; with
 * ```
 * {"type": "login",
 *  "loginRequest": {"endpoint": "login", "method": "POST", "params": {"password": {"attr": "#password"}}},
 *  "apiRequest": {"headers": {"X-Token": {"response": "auth.token"}}},
 *  "expires": {"response": "expires_in", "relative": true}}
 * ```
 * every request carries `X-Token: a1b2`, and after an hour the login is made again.
 */
export const login: AuthType = {
  type: 'login',
  options: object('Login', 'Sends a login request first and uses its answer in every request.', {
    required: ['type', 'loginRequest'],
    properties: {
      type: typeNamed('login', 'A login request before the others.'),
      ...loginKeys('`attr`'),
    },
    examples: [
      {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST', params: { password: { attr: '#password' } } },
        apiRequest: { headers: { 'X-Token': { response: 'auth.token' } } },
        expires: { response: 'expires_in', relative: true },
      },
    ],
  }),
  create: (node, context) => loginFlow(node, context, { attr: context.attributes }),
};

/**
 * Creates the flow of `login` and `oauth20.login`. The login is made when the first request needs it, shared by
 * concurrent requests, and made again when it has expired.
 *
 * @param loginContexts what the functions of `loginRequest` see
 * @param onAnswer is told what a login answered, flattened
 * @throws {ConfigError} when the node is wrong
 */
export function loginFlow(
  node: AnyObject,
  context: AuthContext,
  loginContexts: Contexts,
  onAnswer: (values: AnyObject) => void = () => {},
): SendWrapper {
  const loginRequest = parseLoginRequest(node, context, loginContexts);
  const format = parseLoginFormat(node, context);
  const expiresAt = parseExpires(getKey(node, 'expires'), context);
  const apiRequest = getKey(node, 'apiRequest');
  const maps = new Map(mapEntries(apiRequest, `${context.at}.apiRequest`));
  mapEntries(maps.get('headers'), `${context.at}.apiRequest.headers`);
  mapEntries(maps.get('query'), `${context.at}.apiRequest.query`);

  const session = shareSession<Login>(
    async (options) => {
      const response = readLoginResponse(await loginRequest(options), format, context);
      const values = flattenContext(response);
      hideTokens(values, context);
      onAnswer(values);
      return { response, values, expiresAt: expiresAt(response, secondsOf(context.env)) };
    },
    ({ expiresAt }) => expiresAt === undefined || secondsOf(context.env) <= expiresAt,
  );

  return (next) => async (request, options) =>
    next(applyLogin(request, await session.get(options), maps, context), options);
}

/** Tells the redactor the values that are secret by their name, and a login that is one text. */
function hideTokens(values: AnyObject, { secrets }: AuthContext): void {
  for (const [path, value] of entriesOf(values)) {
    const name = path.slice(path.lastIndexOf('.') + 1);
    if (typeof value === 'string' && (isSecretName(name) || path === 'data')) secrets?.add(value.trim());
  }
}
