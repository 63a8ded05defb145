import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Env } from '../env.ts';
import { EncryptionError } from '../errors.ts';
import { encodeExact, parseExact, type Json } from '../json/index.ts';
import { headOf, parseEncrypted } from './format.ts';
import type { Key, Keys } from './keys.ts';
import { describeScope, readableScopes, scopeHash, scopeText, type Scope } from './scope.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a scalar as `GEX::1::<key id>::<scope hash>::<payload>`: AES-256-GCM (NIST SP 800-38D) with the first key
 * and a random nonce; the head and the scope are authenticated. The type of the scalar is kept: a number stays one.
 *
 * @throws {EncryptionError} `encryption.noKey` when there is no key
 */
export function encryptValue(value: Json, scope: Scope, keys: Keys, env: Pick<Env, 'randomBytes'>): string {
  const [key] = keys;
  if (key === undefined)
    throw new EncryptionError('encryption.noKey', 'There is no key to encrypt with.', { hint: KEY_HINT });
  const head = headOf(key.id, scopeHash(scope));
  const nonce = env.randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(aad(head, scope));
  const body = Buffer.concat([nonce, cipher.update(encodeExact(value), 'utf8'), cipher.final()]);
  return head + Buffer.concat([body, cipher.getAuthTag()]).toString('base64url');
}

/** Decrypted value, with the scope it was bound to and the key that decrypted it. */
export interface Decrypted {
  readonly value: Json;
  readonly scope: Scope;
  readonly key: Key;
}

/**
 * Reads a value that was encrypted for this scope, or for the whole component when the scope has a configuration.
 *
 * @throws {EncryptionError} `encryption.lostKey`, `encryption.scope` or `encryption.damaged`, without the value
 */
export function decryptValue(text: string, scope: Scope, keys: Keys): Decrypted {
  const parts = parseEncrypted(text);
  if (parts === undefined) throw damaged();
  const key = keys.find(({ id }) => id === parts.keyId);
  if (key === undefined) throw lostKey(parts.keyId, keys);
  const bound = readableScopes(scope).find((each) => scopeHash(each) === parts.scopeHash);
  if (bound === undefined)
    throw new EncryptionError(
      'encryption.scope',
      `The value was encrypted for another place than ${describeScope(scope)}.`,
      {
        hint: 'Set the value again here, or encrypt it with the --project, --component and --config of this place.',
      },
    );
  return { value: open(parts.payload, headOf(parts.keyId, parts.scopeHash), bound, key), scope: bound, key };
}

/** Reads an encrypted value. @throws {EncryptionError} */
export type Decrypt = (text: string) => Json;

export function decryptWith(keys: Keys, scope: Scope): Decrypt {
  return (text) => decryptValue(text, scope, keys).value;
}

function open(payload: string, head: string, scope: Scope, { bytes: secret }: Key): Json {
  const bytes = Buffer.from(payload, 'base64url');
  // two texts must not stand for the same bytes: the last character has bits to spare
  if (bytes.toString('base64url') !== payload) throw damaged();
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(aad(head, scope)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return parseExact(Buffer.concat([plain, decipher.final()]).toString('utf8'));
  } catch {
    throw damaged(); // without the cause: it could quote the text
  }
}

function aad(head: string, scope: Scope): Buffer {
  return Buffer.from(head + scopeText(scope));
}

const KEY_HINT = 'Give a key with GEX_ENCRYPTION_KEY_FILE or GEX_ENCRYPTION_KEY.';

function lostKey(keyId: string, keys: Keys): EncryptionError {
  const here = keys.length === 0 ? 'no key is here' : `here are only ${keys.map(({ id }) => id).join(', ')}`;
  return new EncryptionError(
    'encryption.lostKey',
    `The value was encrypted with the key ${keyId}, and ${here}.`,
    { hint: `${KEY_HINT} If that key is lost, set the value again.`, details: { keyId } },
  );
}

function damaged(): EncryptionError {
  return new EncryptionError(
    'encryption.damaged',
    'The encrypted value is not whole: it was cut or changed.',
    {
      hint: 'Copy it again from where it was made, or set the value again.',
    },
  );
}
