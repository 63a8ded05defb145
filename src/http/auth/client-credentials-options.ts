import type { OptionSchema } from '../../evaluate.ts';
import { tokenPlaceKeys } from './tokens.ts';

const text = ['string', 'number', 'object'];

/** JSON Schema of the `oauth20.clientCredentials` authentication. */
export const clientCredentialsSchema: OptionSchema = {
  type: 'object',
  title: 'OAuth 2.0 client credentials',
  description:
    'Fetches a bearer token with an id and a secret, and renews it before it expires and on a 401.',
  required: ['type', 'tokenUrl'],
  properties: {
    type: {
      const: 'oauth20.clientCredentials',
      title: 'Type',
      description: 'The client credentials grant (RFC 6749 4.4).',
      examples: ['oauth20.clientCredentials'],
    },
    tokenUrl: {
      type: 'string',
      minLength: 1,
      title: 'Token endpoint',
      description: 'Where the token is fetched: a whole URL, or relative to `baseUrl`.',
      examples: ['https://id.example.com/oauth/token'],
    },
    clientId: {
      type: text,
      title: 'Client id',
      description:
        'The id of the client, or a function (it sees `attr`). By default `appKey` of the OAuth credentials.',
      examples: ['my-client'],
    },
    '#clientId': {
      type: text,
      title: 'Client id, hidden',
      description: 'The same as `clientId`, stored encrypted. `clientId` wins.',
      examples: ['my-client'],
    },
    '#clientSecret': {
      type: text,
      title: 'Client secret',
      description:
        'The secret of the client, or a function. By default `#appSecret` of the OAuth credentials.',
      examples: [{ attr: '#clientSecret' }],
    },
    clientSecret: {
      type: text,
      title: 'Client secret, not hidden',
      description: 'The same as `#clientSecret`, stored in plain text. `#clientSecret` wins.',
      examples: [{ attr: '#clientSecret' }],
    },
    scope: {
      type: ['string', 'array'],
      items: { type: 'string' },
      default: '',
      title: 'Scope',
      description: 'The scopes to ask for: a text with spaces, or a list.',
      examples: ['read:users', ['read:users', 'read:orders']],
    },
    audience: {
      type: text,
      title: 'Audience',
      description: 'The parameter `audience`, where the token endpoint wants it.',
      examples: ['https://api.example.com/'],
    },
    authStyle: {
      enum: ['header', 'body'],
      default: 'header',
      title: 'How the client is named',
      description: '`header`: HTTP Basic. `body`: the parameters `client_id` and `client_secret`.',
      examples: ['body'],
    },
    params: {
      type: ['object', 'array'],
      default: {},
      title: 'Further parameters',
      description: 'Added to the body of the token request: scalars or functions that see `attr`.',
      examples: [{ resource: 'https://api.example.com/' }],
    },
    ...tokenPlaceKeys,
  },
  examples: [
    {
      type: 'oauth20.clientCredentials',
      tokenUrl: 'https://id.example.com/oauth/token',
      clientId: 'my-client',
      '#clientSecret': 'a-secret',
      scope: 'read:users',
    },
  ],
};
