import type { OptionSchema } from '../../../lib/option.ts';
import { clientKeys } from './client-options.ts';
import { tokenPlaceKeys } from './tokens.ts';

const path = (title: string, name: string): OptionSchema => ({
  type: 'string',
  minLength: 1,
  default: name,
  title,
  description: `Its path in the answer of the token endpoint.`,
  examples: [`data.${name}`],
});

/** JSON Schema of the `oauth20.refreshToken` authentication. */
export const refreshTokenSchema: OptionSchema = {
  type: 'object',
  title: 'OAuth 2.0 refresh token',
  description:
    'Exchanges a refresh token for access tokens. A refresh token for one use is replaced by the one that comes, which is kept, encrypted, between the runs. With `authorizationUrl` a person logs in by `gex login`.',
  required: ['type', 'tokenUrl'],
  properties: {
    type: {
      const: 'oauth20.refreshToken',
      title: 'Type',
      description: 'The refresh token grant (RFC 6749 6).',
      examples: ['oauth20.refreshToken'],
    },
    ...clientKeys,
    '#refreshToken': {
      type: ['string', 'object'],
      title: 'Refresh token',
      description:
        'The first refresh token, or a function (it sees `attr`). By default `refresh_token` of the OAuth credentials. A new one here begins a new login.',
      examples: [{ attr: '#refreshToken' }],
    },
    refreshToken: {
      type: ['string', 'object'],
      title: 'Refresh token, not hidden',
      description: 'The same as `#refreshToken`, stored in plain text. `#refreshToken` wins.',
      examples: [{ attr: '#refreshToken' }],
    },
    keep: {
      type: 'boolean',
      default: true,
      title: 'Keep the login',
      description:
        'Whether tokens are kept between runs. `false` is for an API whose refresh token never changes, where nothing can be kept.',
      examples: [false],
    },
    authorizationUrl: {
      type: 'string',
      minLength: 1,
      title: 'Where a person logs in',
      description: 'The authorization endpoint, for `gex login`.',
      examples: ['https://id.example.com/authorize'],
    },
    authorizationParams: {
      type: ['object', 'array'],
      default: {},
      title: 'Parameters of that address',
      description: 'Added to it: scalars or functions that see `attr`.',
      examples: [{ access_type: 'offline', prompt: 'consent' }],
    },
    pkce: {
      type: 'boolean',
      default: true,
      title: 'PKCE',
      description: 'Whether `gex login` uses PKCE (RFC 7636). `false` for a provider that refuses it.',
      examples: [false],
    },
    redirectUri: {
      type: 'string',
      minLength: 1,
      title: 'Redirect address',
      description:
        'Where the provider sends the person back to, as it was registered there. By default any free port of 127.0.0.1.',
      examples: ['http://localhost:8765/callback'],
    },
    answer: {
      type: 'object',
      default: {},
      title: 'What the token endpoint answers',
      description: 'Where it has the tokens, when it is not as the standard has it.',
      properties: {
        accessToken: path('Access token', 'access_token'),
        refreshToken: path('Refresh token', 'refresh_token'),
        expiresIn: path('Seconds that the access token holds', 'expires_in'),
      },
      examples: [{ accessToken: 'data.token' }],
    },
    ...tokenPlaceKeys,
  },
  examples: [
    {
      type: 'oauth20.refreshToken',
      tokenUrl: 'https://id.example.com/oauth/token',
      clientId: 'my-client',
      '#clientSecret': { attr: '#clientSecret' },
      '#refreshToken': { attr: '#refreshToken' },
    },
  ],
};
