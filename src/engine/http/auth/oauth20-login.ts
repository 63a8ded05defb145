import { object, typeNamed } from '../kinds.ts';
import {
  entriesOf,
  flattenContext,
  getKey,
  isEmpty,
  objectOf,
  type AnyObject,
} from '../../../lib/json/index.ts';
import type { AuthContext, AuthType } from './auth.ts';
import { parseDataObject, readCredentials } from './credentials.ts';
import { loginFlow } from './login.ts';
import { loginKeys } from './login-options.ts';

/**
 * A login with OAuth 2.0 credentials, such as the exchange of a refresh token. As `login`; the
 * functions of `loginRequest` see also `consumer` (`client_id`, `client_secret`) and `user` (the stored `#data`).
 */
export const oauth20Login: AuthType = {
  type: 'oauth20.login',
  options: object(
    'OAuth 2.0 with a login',
    'Exchanges the stored OAuth token for an access token, then uses that in every request.',
    {
      required: ['type', 'loginRequest'],
      properties: {
        type: typeNamed(
          'oauth20.login',
          'A login with the credentials of `authorization.oauth_api.credentials`.',
        ),
        ...loginKeys('`consumer` (`client_id`, `client_secret`), `user` (the fields of `#data`) and `attr`'),
      },
      examples: [
        {
          type: 'oauth20.login',
          loginRequest: {
            endpoint: 'https://id.example.com/token',
            method: 'FORM',
            params: {
              grant_type: 'refresh_token',
              client_id: { consumer: 'client_id' },
              client_secret: { consumer: 'client_secret' },
              refresh_token: { user: 'refresh_token' },
            },
          },
          apiRequest: {
            headers: {
              Authorization: { function: 'concat', args: ['Bearer ', { response: 'access_token' }] },
            },
          },
          expires: { response: 'expires_in', relative: true },
        },
      ],
    },
  ),

  create(node, context) {
    const credentials = readCredentials(context);
    const user = flattenContext(parseDataObject(credentials));
    const contexts = {
      attr: context.attributes,
      consumer: objectOf([
        ['client_id', credentials.appKey],
        ['client_secret', credentials.appSecret],
      ]),
      user,
    };
    return loginFlow(node, context, contexts, (answer) => tellOfRotation(user, answer, context));
  },
};

/** Warns of a new refresh token: the next run would be refused for no visible reason. */
function tellOfRotation(user: AnyObject, answer: AnyObject, { log, at }: AuthContext): void {
  const next = getKey(answer, 'refresh_token');
  if (isEmpty(next) || entriesOf(user).some(([, value]) => value === next)) return;
  log.warn(
    'The login answered with a new refresh token, which this type of authentication does not keep. If the API takes each once, the next run is refused: use "oauth20.refreshToken", which keeps it',
    { path: at },
  );
}
