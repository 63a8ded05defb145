import { kind, object, typeNamed, values } from '../kinds.ts';
import { ConfigError } from '../../../lib/errors.ts';
import {
  entriesOf,
  flattenContext,
  getKey,
  isEmpty,
  objectOf,
  type AnyObject,
} from '../../../lib/json/index.ts';
import { withHeader } from '../../shared/message.ts';
import { randomHex, secondsOf, signing, type AuthContext, type AuthType } from './auth.ts';
import { queryContext, requestContext } from './contexts.ts';
import { parseData, readCredentials, type OAuthCredentials } from './credentials.ts';
import { overrideQuery } from './url-query.ts';
import { evaluateMap, headerText, queryParameter } from './values.ts';

/**
 * OAuth 2.0 with the token that the authorization stored.
 *
 * `headers` and `query` are maps of scalars and functions. They see `authorization`: `data` (with `format: "text"`,
 * the stored text) or `data.<path>` (with `format: "json"`), `clientId`, `nonce`, `timestamp`; and `query`,
 * `request`, `attr`.
 */
export const oauth20: AuthType = {
  type: 'oauth20',
  options: object(
    'OAuth 2.0',
    'Signs every request with the token of `authorization.oauth_api.credentials`.',
    {
      required: ['type'],
      properties: {
        type: typeNamed('oauth20', 'OAuth 2.0 with a stored token.'),
        format: kind({ enum: ['text', 'json'], default: 'text' })(
          'Format of the stored token',
          '`text`: the token is `authorization.data`. `json`: its fields are `authorization.data.<path>`.',
          ['json'],
        ),
        headers: values(
          'Headers',
          'Headers to set: scalars or functions that see `authorization`, `query`, `request`, `attr`.',
          [{ Authorization: { function: 'concat', args: ['Bearer ', { authorization: 'data' }] } }],
        ),
        query: values(
          'Query parameters',
          'Parameters to set in the query: scalars or functions, as in `headers`.',
          [{ access_token: { authorization: 'data.access_token' } }],
        ),
      },
      examples: [
        {
          type: 'oauth20',
          headers: { Authorization: { function: 'concat', args: ['Bearer ', { authorization: 'data' }] } },
        },
      ],
    },
  ),

  create(node, context) {
    const credentials = readCredentials(context);
    const data = storedToken(node, credentials, context);
    const headersAt = `${context.at}.headers`;
    const queryAt = `${context.at}.query`;

    return signing((request) => {
      const contexts = {
        attr: context.attributes,
        query: queryContext(request),
        request: requestContext(request),
        authorization: objectOf([
          ['clientId', credentials.appKey],
          ['nonce', randomHex(context.env, 8)],
          ['timestamp', secondsOf(context.env)],
          ...entriesOf(data),
        ]),
      };
      const parameters = evaluateMap(getKey(node, 'query'), contexts, context, queryAt);
      let { headers } = request;
      for (const [name, value] of evaluateMap(getKey(node, 'headers'), contexts, context, headersAt)) {
        headers = withHeader(headers, name, headerText(value, `${headersAt}.${name}`));
      }
      const url = overrideQuery(
        request.url,
        parameters.map((item) => queryParameter(item, queryAt)),
      );
      return { ...request, url, headers };
    });
  },
};

/** Returns the stored token: `data`, or `data.<path>` for each field. */
function storedToken(node: AnyObject, credentials: OAuthCredentials, context: AuthContext): AnyObject {
  const format = getKey(node, 'format');
  if (isEmpty(format) || format === 'text') return { data: credentials.data };
  if (format === 'json') return flattenContext({ data: parseData(credentials) });
  throw new ConfigError(
    'config.invalid',
    '“format” of the OAuth 2.0 authentication must be "text" or "json".',
    {
      where: { path: `${context.at}.format` },
    },
  );
}
