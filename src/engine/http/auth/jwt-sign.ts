import { createHmac, createPrivateKey, sign, constants, type KeyObject } from 'node:crypto';
import { ConfigError } from '../../../lib/errors.ts';
import { encodeExact, objectOf, type Json } from '../../../lib/json/index.ts';

/** How tokens are signed: the algorithms of RFC 7518 3.1, and EdDSA of RFC 8037. */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'HS256',
  'HS384',
  'HS512',
] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** Signs the bytes of a token. */
export type SignBytes = (bytes: Buffer) => Buffer;

export function isHmac(algorithm: JwtAlgorithm): boolean {
  return algorithm.startsWith('HS');
}

/** Creates a signed JSON Web Token in its compact form (RFC 7515 3.1). */
export function signJwt(
  algorithm: JwtAlgorithm,
  header: Iterable<readonly [string, Json]>,
  claims: Iterable<readonly [string, Json]>,
  signBytes: SignBytes,
): string {
  const head = objectOf(new Map<string, Json>([['alg', algorithm], ['typ', 'JWT'], ...header]));
  const text = `${part(head)}.${part(objectOf(new Map(claims)))}`;
  return `${text}.${signBytes(Buffer.from(text)).toString('base64url')}`;
}

/** Creates an HMAC signer with a shared secret. */
export function hmacSigner(algorithm: JwtAlgorithm, secret: Buffer): SignBytes {
  return (bytes) => createHmac(hashOf(algorithm), secret).update(bytes).digest();
}

/**
 * Creates a signer with a private key: PEM of PKCS #8, PKCS #1 or SEC 1, encrypted ones too.
 *
 * @param at JSON path of the key, for messages; the key is never quoted
 * @throws {ConfigError} when it is no key, or one of another kind than the algorithm needs
 */
export function keySigner(
  algorithm: JwtAlgorithm,
  pem: string,
  passphrase: string | undefined,
  at: string,
): SignBytes {
  const key = privateKey(pem, passphrase, at);
  const wanted = kindOfKey(algorithm);
  const curve = CURVES[algorithm];
  const found = key.asymmetricKeyDetails?.namedCurve;
  if (!wanted.includes(key.asymmetricKeyType ?? '') || (curve !== undefined && curve !== found)) {
    const kind = [key.asymmetricKeyType, found].filter((text) => text !== undefined).join(' ');
    throw new ConfigError(
      'config.invalid',
      `The algorithm ${algorithm} cannot sign with a key of the kind ${kind}.`,
      {
        where: { path: at },
        hint: `It needs ${curve === undefined ? wanted.join(' or ') : `an EC key of the curve ${curve}`}; or set "algorithm" as the API wants it.`,
      },
    );
  }
  if (algorithm === 'EdDSA') return (bytes) => sign(null, bytes, key);
  const more = algorithm.startsWith('PS')
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : algorithm.startsWith('ES')
      ? { dsaEncoding: 'ieee-p1363' as const }
      : {};
  return (bytes) => sign(hashOf(algorithm), bytes, { key, ...more });
}

const CURVES: Partial<Record<JwtAlgorithm, string>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
};

function kindOfKey(algorithm: JwtAlgorithm): readonly string[] {
  if (algorithm === 'EdDSA') return ['ed25519', 'ed448'];
  if (algorithm.startsWith('ES')) return ['ec'];
  return algorithm.startsWith('PS') ? ['rsa', 'rsa-pss'] : ['rsa'];
}

function hashOf(algorithm: JwtAlgorithm): string {
  return `sha${algorithm.slice(2)}`;
}

/**
 * Parses a private key; restores line breaks that were written as `\n`, or became blanks in an environment variable.
 */
function privateKey(pem: string, passphrase: string | undefined, at: string): KeyObject {
  const whole = pem.replaceAll('\\n', '\n').trim();
  const [, begin, body = '', end] =
    /^(-----BEGIN [A-Z ]+-----)([^]+?)(-----END [A-Z ]+-----)$/.exec(whole) ?? [];
  const isOneLine = begin !== undefined && !body.trim().includes('\n');
  const text = isOneLine ? `${begin}\n${body.replace(/\s+/g, '')}\n${end}` : whole;
  try {
    return createPrivateKey({
      key: text,
      format: 'pem',
      ...(passphrase === undefined ? {} : { passphrase }),
    });
  } catch {
    // without the cause: it may quote the text
    const isSealed = /ENCRYPTED/.test(whole);
    throw new ConfigError(
      'config.invalid',
      isSealed
        ? 'The private key is encrypted, and “#passphrase” does not open it.'
        : 'The private key cannot be read.',
      {
        where: { path: at },
        hint: isSealed
          ? 'Give the passphrase of the key as "#passphrase".'
          : 'It must be PEM, from -----BEGIN … PRIVATE KEY----- to -----END … PRIVATE KEY-----, with its line breaks or with \\n.',
      },
    );
  }
}

function part(value: Json): string {
  return Buffer.from(encodeExact(value)).toString('base64url');
}
