import { hasEncrypted } from '../lib/encryption/open.ts';
import type { Decrypt } from '../lib/encryption/cipher.ts';
import type { Keys } from '../lib/encryption/keys.ts';
import type { Scope } from '../lib/encryption/scope.ts';
import type { Json } from '../lib/json/index.ts';

export interface DecryptOptions {
  /**
   * For `$env:NAME` values, and for the keys of encrypted ones (`GEX_ENCRYPTION_KEY`, `GEX_ENCRYPTION_KEY_FILE`).
   * Default `process.env`.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Further keys, such as those of an embedded service; they are tried after those of the environment. */
  readonly encryptionKeys?: Keys | undefined;
  /** Scope that the configuration belongs to. By default the environment gives it (`KBC_PROJECTID` and so on). */
  readonly encryptionScope?: Scope | undefined;
}

/**
 * Creates the decryption of the encrypted values in these documents; undefined when they have none. Values are
 * decrypted in memory only.
 *
 * @throws {EncryptionError} `encryption.noKey` when the key file or the variable of the environment is no key
 */
export async function decryptorFor(
  values: readonly Json[],
  { environment = process.env, encryptionKeys = [], encryptionScope }: DecryptOptions,
): Promise<Decrypt | undefined> {
  if (!values.some(hasEncrypted)) return undefined;
  // loaded when it is needed: most configurations have no encrypted value
  const { decryptWith } = await import('../lib/encryption/cipher.ts');
  const { joinKeys, keysFrom } = await import('../lib/encryption/keys.ts');
  const { scopeFrom } = await import('../lib/encryption/scope.ts');
  const keys = joinKeys(keysFrom(environment), encryptionKeys);
  return decryptWith(keys, encryptionScope ?? scopeFrom(environment));
}
