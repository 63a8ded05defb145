import type { OptionSchema } from '../../../lib/option.ts';
import { clientKeys } from './client-options.ts';
import { tokenPlaceKeys } from './tokens.ts';

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
    ...clientKeys,
    audience: {
      type: ['string', 'number', 'object'],
      title: 'Audience',
      description: 'The parameter `audience`, where the token endpoint wants it.',
      examples: ['https://api.example.com/'],
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
