import type { OptionSchema } from '../../../lib/option.ts';

const text = ['string', 'number', 'object'];

/** The keys of a client of a token endpoint. */
export const clientKeys: Record<string, OptionSchema> = {
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
    description: 'The secret of the client, or a function. By default `#appSecret` of the OAuth credentials.',
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
  authStyle: {
    enum: ['header', 'body'],
    default: 'header',
    title: 'How the client is named',
    description: '`header`: HTTP Basic. `body`: the parameters `client_id` and `client_secret`.',
    examples: ['body'],
  },
  bodyFormat: {
    enum: ['form', 'json'],
    default: 'form',
    title: 'Body of the token request',
    description: '`form`, as the standard has it, or `json`.',
    examples: ['json'],
  },
  params: {
    type: ['object', 'array'],
    default: {},
    title: 'Further parameters',
    description: 'Added to the body of the token request: scalars or functions that see `attr`.',
    examples: [{ resource: 'https://api.example.com/' }],
  },
};
