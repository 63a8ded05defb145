import { kind, object, text, textValue, typeNamed, value, values } from '../kinds.ts';
import { JWT_ALGORITHMS } from './jwt-sign.ts';
import { tokenPlaceKeys } from './tokens.ts';

/** JSON Schema of the `jwt` authentication. */
export const jwtSchema = object(
  'Signed JWT',
  'Signs a JSON Web Token, as service accounts do. It is sent as it is, or, with `tokenUrl`, exchanged for an access token.',
  {
    required: ['type'],
    anyOf: [{ required: ['#privateKey'] }, { required: ['#secret'] }, { required: ['#serviceAccount'] }],
    properties: {
      type: typeNamed('jwt', 'A signed JSON Web Token.'),
      algorithm: kind({ enum: [...JWT_ALGORITHMS] })(
        'Algorithm',
        'How the token is signed. Default: `RS256` with a private key, `HS256` with a secret.',
        ['ES256'],
      ),
      '#privateKey': textValue(
        'Private key',
        'The key in PEM, or a function that gives it (it sees `attr`). Line breaks may be written `\\n`.',
        [{ attr: '#privateKey' }],
      ),
      '#passphrase': value('Passphrase', 'Opens a private key that is encrypted.', [{ attr: '#passphrase' }]),
      '#secret': value('Secret', 'The shared secret of HS256, HS384 and HS512, or a function.', [
        { attr: '#secret' },
      ]),
      secretEncoding: kind({ enum: ['text', 'base64', 'hex'], default: 'text' })(
        'How the secret is written',
        '`text`: its UTF-8 bytes are the secret.',
        ['base64'],
      ),
      '#serviceAccount': textValue(
        'Service account',
        'The JSON text of a key file of a service account, or a function. It gives the private key, the header `kid` and the claim `iss` where these are not set.',
        [{ attr: '#serviceAccount' }],
      ),
      claims: kind({ type: 'object', additionalProperties: true })(
        'Claims',
        'Claims of the token: JSON values or functions that see `attr` and `jwt` (`issuedAt`, `expiresAt`, in Unix seconds, and `id`, random). `iat` and `exp` are set, and `aud` is `tokenUrl` where there is one; null leaves a claim out.',
        [{ iss: { attr: 'clientId' }, scope: 'read:books' }],
      ),
      headers: kind({ type: 'object', additionalProperties: true })(
        'Header of the token',
        'Fields beside `alg` and `typ`: values or functions that see `attr`. Null leaves one out.',
        [{ kid: { attr: 'keyId' } }],
      ),
      lifetime: kind({ type: 'integer', minimum: 1, default: 600 })(
        'Lifetime',
        'Seconds from `iat` to `exp`. A token that is sent as it is is signed anew before it ends.',
        [3600],
      ),
      backdate: kind({ type: 'integer', minimum: 0, default: 0 })(
        'Backdate',
        'Seconds that `iat` lies in the past, for an API whose clock is behind. `exp` counts from there.',
        [60],
      ),
      tokenUrl: text(
        'Token endpoint',
        'Where the token is exchanged for an access token: a whole URL, or relative to `baseUrl`. Without it the token itself is sent with every request.',
        ['https://id.example.com/token'],
      ),
      exchange: kind({ enum: ['assertion', 'clientAssertion'], default: 'assertion' })(
        'Kind of the exchange',
        '`assertion`: the grant `jwt-bearer` of RFC 7523 2.1. `clientAssertion`: client credentials with the token in place of a secret, RFC 7523 2.2.',
        ['clientAssertion'],
      ),
      params: values(
        'Further parameters',
        'Added to the body of the exchange: scalars or functions that see `attr`.',
        [{ scope: 'read:books' }],
      ),
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
  },
);
