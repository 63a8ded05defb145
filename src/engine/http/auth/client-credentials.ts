import { objectOf, type AnyObject, type Json } from '../../../lib/json/index.ts';
import type { SendOptions, SendWrapper } from '../../shared/message.ts';
import type { AuthContext, AuthType } from './auth.ts';
import { clientCredentialsSchema } from './client-credentials-options.ts';
import { parseLoginRequest } from './login-request.ts';
import { readLoginResponse } from './login-response.ts';
import { scopeOf, tokenClient } from './token-request.ts';
import { readToken, tokenPlace, withToken } from './tokens.ts';
import { optionalText } from './values.ts';

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
    const job = tokenClient(node, context, false).requestOf(grantOf(node, context));
    const request = parseLoginRequest(objectOf([['loginRequest', job]]), context, {});
    const open = async (options: SendOptions) =>
      readToken(readLoginResponse(await request(options), 'json', context), context);
    return withToken(open, tokenPlace(node, context), context);
  },
};

function grantOf(node: AnyObject, context: AuthContext): readonly (readonly [string, Json])[] {
  const scope = scopeOf(node, context);
  const audience = optionalText(node, ['audience'], context);
  return [
    ['grant_type', 'client_credentials'],
    ...(scope === '' ? [] : [['scope', scope] as const]),
    ...(audience === undefined ? [] : [['audience', audience] as const]),
  ];
}
