import { object, typeNamed, value } from '../kinds.ts';
import { clientKeys } from './client-options.ts';
import { tokenPlaceKeys } from './tokens.ts';

/** JSON Schema of the `oauth20.clientCredentials` authentication. */
export const clientCredentialsSchema = object(
  'OAuth 2.0 client credentials',
  'Fetches a bearer token with an id and a secret, and renews it before it expires and on a 401.',
  {
    required: ['type', 'tokenUrl'],
    properties: {
      type: typeNamed('oauth20.clientCredentials', 'The client credentials grant (RFC 6749 4.4).'),
      ...clientKeys,
      audience: value('Audience', 'The parameter `audience`, where the token endpoint wants it.', [
        'https://api.example.com/',
      ]),
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
  },
);
