/** Parts of an encrypted value. */
export interface EncryptedValue {
  /** Id of the key that it needs: {@link Key.id}. */
  readonly keyId: string;
  /** Hash of the scope that it is bound to, from `scopeHash`. */
  readonly scopeHash: string;
  /** Nonce, text and tag in base64url. */
  readonly payload: string;
}

/**
 * Kinds of values under a `#` key: `encrypted` by this package, `damaged` when it only begins so, `foreign` when
 * another platform encrypted it, `reference` when it names a variable of the environment, else `plain`.
 */
export type SecretKind = 'encrypted' | 'damaged' | 'foreign' | 'reference' | 'plain';

/** Tells whether a name is that of a secret value: it starts with `#`. */
export function isSecretKey(key: string): boolean {
  return key.startsWith('#');
}

export function kindOfSecret(text: string): SecretKind {
  if (text.startsWith(PREFIX)) return parseEncrypted(text) === undefined ? 'damaged' : 'encrypted';
  if (FOREIGN.test(text)) return 'foreign';
  return variableOf(text) === undefined ? 'plain' : 'reference';
}

/** Returns the NAME of `$env:NAME`. */
export function variableOf(text: string): string | undefined {
  return FROM_ENV.exec(text)?.[1];
}

/** Parses `GEX::1::<key id>::<scope hash>::<payload>`; returns undefined for any other text. */
export function parseEncrypted(text: string): EncryptedValue | undefined {
  const [, keyId = '', scopeHash = '', payload = ''] = ENCRYPTED.exec(text) ?? [];
  return keyId === '' ? undefined : { keyId, scopeHash, payload };
}

/** Returns the text in front of the payload; it is authenticated too. */
export function headOf(keyId: string, scopeHash: string): string {
  return `${PREFIX}1::${keyId}::${scopeHash}::`;
}

const PREFIX = 'GEX::';
/** Encrypted value. The shortest payload is a nonce of 12 bytes, a tag of 16 and one byte. */
const ENCRYPTED = /^GEX::1::([0-9a-f]{12})::([A-Za-z0-9_-]{11})::([A-Za-z0-9_-]{39,})$/;
const FOREIGN = /^KBC::[A-Za-z]*::/;
const FROM_ENV = /^\$env:([A-Za-z_][A-Za-z0-9_]*)$/;
