import { entriesOf, isList, isObject, objectOf, type AnyObject, type Json } from '../json/index.ts';
import type { Decrypt } from './cipher.ts';
import { isSecretKey, kindOfSecret } from './format.ts';

/** Tells whether a value under a `#` key is encrypted by this package, whole or not. */
export function hasEncrypted(value: Json): boolean {
  return some(value, false);
}

/**
 * Decrypts the values of the `#` keys of a document, in memory. A value that cannot be read stays as it is: only code
 * that needs it should fail.
 */
export function openSecrets(value: AnyObject, decrypt: Decrypt): AnyObject {
  return open(value, false, decrypt) as AnyObject; // an object stays an object
}

function open(value: Json, isSecret: boolean, decrypt: Decrypt): Json {
  if (isList(value)) return value.map((item) => open(item, isSecret, decrypt));
  if (isObject(value))
    return objectOf(
      entriesOf(value).map(
        ([key, item]) => [key, open(item, isSecret || isSecretKey(key), decrypt)] as const,
      ),
    );
  if (!isSecret || typeof value !== 'string' || kindOfSecret(value) !== 'encrypted') return value;
  try {
    return decrypt(value);
  } catch {
    return value;
  }
}

function some(value: Json, isSecret: boolean): boolean {
  if (isList(value)) return value.some((item) => some(item, isSecret));
  if (isObject(value))
    return entriesOf(value).some(([key, item]) => some(item, isSecret || isSecretKey(key)));
  return isSecret && typeof value === 'string' && /^(?:encrypted|damaged)$/.test(kindOfSecret(value));
}
