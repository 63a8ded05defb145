import type { OptionSchema } from '../../../lib/option.ts';
import { kind, object, text, textValue, typeNamed, values } from '../kinds.ts';
import { clientKeys } from './client-options.ts';
import { tokenPlaceKeys } from './tokens.ts';

const path = (title: string, name: string): OptionSchema =>
  kind({ type: 'string', minLength: 1, default: name })(
    title,
    `Its path in the answer of the token endpoint.`,
    [`data.${name}`],
  );

/** JSON Schema of the `oauth20.refreshToken` authentication. */
export const refreshTokenSchema = object(
  'OAuth 2.0 refresh token',
  'Exchanges a refresh token for access tokens. A refresh token for one use is replaced by the one that comes, which is kept, encrypted, between the runs. With `authorizationUrl` a person logs in by `gex login`.',
  {
    required: ['type', 'tokenUrl'],
    properties: {
      type: typeNamed('oauth20.refreshToken', 'The refresh token grant (RFC 6749 6).'),
      ...clientKeys,
      '#refreshToken': textValue(
        'Refresh token',
        'The first refresh token, or a function (it sees `attr`). By default `refresh_token` of the OAuth credentials. A new one here begins a new login.',
        [{ attr: '#refreshToken' }],
      ),
      refreshToken: textValue(
        'Refresh token, not hidden',
        'The same as `#refreshToken`, stored in plain text. `#refreshToken` wins.',
        [{ attr: '#refreshToken' }],
      ),
      '#accessToken': textValue(
        'Access token',
        'An access token that there is already, or a function (it sees `attr`). It is sent until `accessTokenExpires`; without that time, or when it is empty, the first request refreshes.',
        [{ attr: '#accessToken' }],
      ),
      accessToken: textValue(
        'Access token, not hidden',
        'The same as `#accessToken`, stored in plain text. `#accessToken` wins.',
        [{ attr: '#accessToken' }],
      ),
      accessTokenExpires: textValue(
        'End of that access token',
        'When `#accessToken` ends: a time or Unix seconds, or a function (it sees `attr`).',
        ['2026-01-31T12:00:00Z', { attr: 'token_expiry_date' }],
      ),
      keep: kind({ type: 'boolean', default: true })(
        'Keep the login',
        'Whether tokens are kept between runs. `false` is for an API whose refresh token never changes, where nothing can be kept.',
        [false],
      ),
      authorizationUrl: text('Where a person logs in', 'The authorization endpoint, for `gex login`.', [
        'https://id.example.com/authorize',
      ]),
      authorizationParams: values(
        'Parameters of that address',
        'Added to it: scalars or functions that see `attr`.',
        [{ access_type: 'offline', prompt: 'consent' }],
      ),
      pkce: kind({ type: 'boolean', default: true })(
        'PKCE',
        'Whether `gex login` uses PKCE (RFC 7636). `false` for a provider that refuses it.',
        [false],
      ),
      redirectUri: text(
        'Redirect address',
        'Where the provider sends the person back to, as it was registered there. By default any free port of 127.0.0.1.',
        ['http://localhost:8765/callback'],
      ),
      answer: kind({ type: 'object', default: {} })(
        'What the token endpoint answers',
        'Where it has the tokens, when it is not as the standard has it.',
        {
          properties: {
            accessToken: path('Access token', 'access_token'),
            refreshToken: path('Refresh token', 'refresh_token'),
            expiresIn: path('Seconds that the access token holds', 'expires_in'),
          },
          examples: [{ accessToken: 'data.token' }],
        },
      ),
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
  },
);
