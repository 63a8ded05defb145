import type { OptionSchema } from '../../../lib/option.ts';
import { JWT_ALGORITHMS } from './jwt-sign.ts';
import { tokenPlaceKeys } from './tokens.ts';

const text = ['string', 'number', 'object'];

/** JSON Schema of the `jwt` authentication. */
export const jwtSchema: OptionSchema = {
  type: 'object',
  title: 'Signed JWT',
  description:
    'Signs a JSON Web Token, as service accounts do. It is sent as it is, or, with `tokenUrl`, exchanged for an access token.',
  required: ['type'],
  anyOf: [{ required: ['#privateKey'] }, { required: ['#secret'] }, { required: ['#serviceAccount'] }],
  properties: {
    type: { const: 'jwt', title: 'Type', description: 'A signed JSON Web Token.', examples: ['jwt'] },
    algorithm: {
      enum: [...JWT_ALGORITHMS],
      title: 'Algorithm',
      description: 'How the token is signed. Default: `RS256` with a private key, `HS256` with a secret.',
      examples: ['ES256'],
    },
    '#privateKey': {
      type: ['string', 'object'],
      title: 'Private key',
      description:
        'The key in PEM, or a function that gives it (it sees `attr`). Line breaks may be written `\\n`.',
      examples: [{ attr: '#privateKey' }],
    },
    '#passphrase': {
      type: text,
      title: 'Passphrase',
      description: 'Opens a private key that is encrypted.',
      examples: [{ attr: '#passphrase' }],
    },
    '#secret': {
      type: text,
      title: 'Secret',
      description: 'The shared secret of HS256, HS384 and HS512, or a function.',
      examples: [{ attr: '#secret' }],
    },
    secretEncoding: {
      enum: ['text', 'base64', 'hex'],
      default: 'text',
      title: 'How the secret is written',
      description: '`text`: its UTF-8 bytes are the secret.',
      examples: ['base64'],
    },
    '#serviceAccount': {
      type: ['string', 'object'],
      title: 'Service account',
      description:
        'The JSON text of a key file of a service account, or a function. It gives the private key, the header `kid` and the claim `iss` where these are not set.',
      examples: [{ attr: '#serviceAccount' }],
    },
    claims: {
      type: 'object',
      additionalProperties: true,
      title: 'Claims',
      description:
        'Claims of the token: JSON values or functions that see `attr` and `jwt` (`issuedAt`, `expiresAt`, in Unix seconds, and `id`, random). `iat` and `exp` are set, and `aud` is `tokenUrl` where there is one; null leaves a claim out.',
      examples: [{ iss: { attr: 'clientId' }, scope: 'read:books' }],
    },
    headers: {
      type: 'object',
      additionalProperties: true,
      title: 'Header of the token',
      description: 'Fields beside `alg` and `typ`: values or functions that see `attr`. Null leaves one out.',
      examples: [{ kid: { attr: 'keyId' } }],
    },
    lifetime: {
      type: 'integer',
      minimum: 1,
      default: 600,
      title: 'Lifetime',
      description:
        'Seconds from `iat` to `exp`. A token that is sent as it is is signed anew before it ends.',
      examples: [3600],
    },
    backdate: {
      type: 'integer',
      minimum: 0,
      default: 0,
      title: 'Backdate',
      description:
        'Seconds that `iat` lies in the past, for an API whose clock is behind. `exp` counts from there.',
      examples: [60],
    },
    tokenUrl: {
      type: 'string',
      minLength: 1,
      title: 'Token endpoint',
      description:
        'Where the token is exchanged for an access token: a whole URL, or relative to `baseUrl`. Without it the token itself is sent with every request.',
      examples: ['https://id.example.com/token'],
    },
    exchange: {
      enum: ['assertion', 'clientAssertion'],
      default: 'assertion',
      title: 'Kind of the exchange',
      description:
        '`assertion`: the grant `jwt-bearer` of RFC 7523 2.1. `clientAssertion`: client credentials with the token in place of a secret, RFC 7523 2.2.',
      examples: ['clientAssertion'],
    },
    params: {
      type: ['object', 'array'],
      default: {},
      title: 'Further parameters',
      description: 'Added to the body of the exchange: scalars or functions that see `attr`.',
      examples: [{ scope: 'read:books' }],
    },
    ...tokenPlaceKeys,
  },
  examples: [
    {
      type: 'jwt',
      '#privateKey': { attr: '#privateKey' },
      claims: { iss: { attr: 'clientId' }, scope: 'read:books' },
      tokenUrl: 'https://id.example.com/token',
    },
  ],
};
