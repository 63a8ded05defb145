import type { OptionSchema } from '../../../lib/option.ts';
import { kind, text, value, values } from '../kinds.ts';

/** The keys of a client of a token endpoint. */
export const clientKeys: Record<string, OptionSchema> = {
  tokenUrl: text('Token endpoint', 'Where the token is fetched: a whole URL, or relative to `baseUrl`.', [
    'https://id.example.com/oauth/token',
  ]),
  clientId: value(
    'Client id',
    'The id of the client, or a function (it sees `attr`). By default `appKey` of the OAuth credentials.',
    ['my-client'],
  ),
  '#clientId': value('Client id, hidden', 'The same as `clientId`, stored encrypted. `clientId` wins.', [
    'my-client',
  ]),
  '#clientSecret': value(
    'Client secret',
    'The secret of the client, or a function. By default `#appSecret` of the OAuth credentials.',
    [{ attr: '#clientSecret' }],
  ),
  clientSecret: value(
    'Client secret, not hidden',
    'The same as `#clientSecret`, stored in plain text. `#clientSecret` wins.',
    [{ attr: '#clientSecret' }],
  ),
  scope: kind({ type: ['string', 'array'], items: { type: 'string' }, default: '' })(
    'Scope',
    'The scopes to ask for: a text with spaces, or a list.',
    ['read:users', ['read:users', 'read:orders']],
  ),
  authStyle: kind({ enum: ['header', 'body'], default: 'header' })(
    'How the client is named',
    '`header`: HTTP Basic. `body`: the parameters `client_id` and `client_secret`.',
    ['body'],
  ),
  bodyFormat: kind({ enum: ['form', 'json'], default: 'form' })(
    'Body of the token request',
    '`form`, as the standard has it, or `json`.',
    ['json'],
  ),
  params: values(
    'Further parameters',
    'Added to the body of the token request: scalars or functions that see `attr`.',
    [{ resource: 'https://api.example.com/' }],
  ),
};
