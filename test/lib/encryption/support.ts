import { createHash, randomBytes } from 'node:crypto';
import { parseKeys, type Key } from '../../../src/lib/encryption/index.ts';

export const RANDOM = { randomBytes: (count: number): Uint8Array => randomBytes(count) };

/** A key in base64, the same for the same word. */
export function keyText(word: string): string {
  return createHash('sha256').update(word).digest('base64');
}

export function keyFrom(word: string): Key {
  const [key] = parseKeys(keyText(word), 'a test');
  if (key === undefined) throw new Error('parseKeys gives at least one key');
  return key;
}
