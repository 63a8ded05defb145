import { ObjectError } from './errors.ts';

const MAX_BYTES = 1024;

/** The key itself, or an error: 1 to 1,024 bytes of UTF-8 without NUL. Nothing else is special in a key. */
export function checkKey(key: string): string {
  if (key === '') throw new ObjectError('InvalidArgument', 'An object key is at least one character long.');
  if (!key.isWellFormed() || key.includes('\0'))
    throw new ObjectError('InvalidArgument', 'The object key holds a character that no key may hold.');
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_BYTES)
    throw new ObjectError('KeyTooLongError', `The object key has ${bytes} bytes; ${MAX_BYTES} are allowed.`, {
      facts: { Size: bytes, MaxSizeAllowed: MAX_BYTES },
    });
  return key;
}

/** The order in which keys are listed: that of their bytes in UTF-8. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
