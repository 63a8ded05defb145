import type { Env } from '../env.ts';
import { EncryptionError } from '../errors.ts';
import { encodeExact, toText, type Json } from '../json/index.ts';
import { decryptValue, encryptValue } from './cipher.ts';
import { HIDDEN } from '../secrets.ts';
import { kindOfSecret } from './format.ts';
import type { Keys } from './keys.ts';
import type { Scope } from './scope.ts';
import { replaceTokens, secretTokens, type SecretToken } from './tokens.ts';

export interface SealOptions {
  readonly keys: Keys;
  readonly scope: Scope;
  readonly env: Pick<Env, 'randomBytes'>;
  /** Earlier JSON text: a secret that is the same there keeps its encrypted form. */
  readonly before?: string | undefined;
  /** True when values encrypted with an older key are encrypted again with the first key. Default false. */
  readonly rotate?: boolean;
}

/** JSON text after a change of its secrets. */
export interface Sealed {
  readonly text: string;
  /** Number of values that changed. */
  readonly changed: number;
  /** Number of values that were encrypted already, or name a variable of the environment. */
  readonly kept: number;
  /** Values that could not be read, or only look encrypted; they stay as they are. */
  readonly problems: readonly SealProblem[];
}

export interface SealProblem {
  readonly keys: readonly string[];
  /** Offset in the text that was given. */
  readonly start: number;
  readonly error: EncryptionError;
}

/** Counts the values under `#` keys of a JSON text that are plain or only look encrypted. */
export function countPlain(text: string): number {
  return secretTokens(text).filter(isOpen).length;
}

/**
 * Encrypts every plain value under a `#` key of a JSON text, and changes nothing else in it.
 *
 * @param text JSON that the exact parser accepted
 * @throws {EncryptionError} `encryption.noKey` when something is to be encrypted without a key
 */
export function sealText(text: string, options: SealOptions): Sealed {
  const { keys, scope, env, before, rotate = false } = options;
  const known = before === undefined ? undefined : encryptedIn(before);
  return change(text, (token) => {
    if (isOpen(token)) {
      const place = known?.get(JSON.stringify(token.keys));
      if (place !== undefined && isSame(place, token.value, options)) return place;
      if (token.kind === 'damaged') decryptValue(toText(token.value), scope, keys);
      return encryptValue(token.value, scope, keys, env);
    }
    if (!rotate || token.kind !== 'encrypted') return undefined;
    const { value, scope: bound, key } = decryptValue(toText(token.value), scope, keys);
    return key.id === keys[0]?.id ? undefined : encryptValue(value, bound, keys, env);
  });
}

/** Replaces encrypted values by their plain values. */
export function openText(text: string, { keys, scope }: Pick<SealOptions, 'keys' | 'scope'>): Sealed {
  return change(text, ({ kind, value }) =>
    kind === 'encrypted' || kind === 'damaged' ? decryptValue(toText(value), scope, keys).value : undefined,
  );
}

/** Hides the plain values, for a text that is stored for people to read: no key is needed. */
export function hideSecrets(text: string): string {
  return change(text, (token) => (isOpen(token) ? HIDDEN : undefined)).text;
}

type KnownToken = SecretToken & { readonly kind: ReturnType<typeof kindOf> };

function change(text: string, replace: (token: KnownToken) => Json | undefined): Sealed {
  const replacements: { start: number; end: number; json: string }[] = [];
  const problems: SealProblem[] = [];
  let kept = 0;
  for (const token of secretTokens(text)) {
    const { keys, start, end } = token;
    try {
      const value = replace({ ...token, kind: kindOf(token) });
      if (value === undefined) kept++;
      else replacements.push({ start, end, json: encodeExact(value) });
    } catch (error) {
      if (!(error instanceof EncryptionError) || error.code === 'encryption.noKey') throw error;
      problems.push({ keys, start, error });
    }
  }
  return { text: replaceTokens(text, replacements), changed: replacements.length, kept, problems };
}

function kindOf({ value }: SecretToken): ReturnType<typeof kindOfSecret> {
  return typeof value === 'string' ? kindOfSecret(value) : 'plain';
}

function isOpen(token: SecretToken): boolean {
  const kind = kindOf(token);
  return kind === 'plain' || kind === 'damaged';
}

/** Returns the encrypted values by their path. */
function encryptedIn(text: string): Map<string, string> {
  return new Map(
    secretTokens(text)
      .filter((token) => kindOf(token) === 'encrypted')
      .map(({ keys, value }) => [JSON.stringify(keys), toText(value)]),
  );
}

function isSame(encrypted: string, value: Json, { scope, keys }: SealOptions): boolean {
  try {
    return encodeExact(decryptValue(encrypted, scope, keys).value) === encodeExact(value);
  } catch {
    return false; // its key is lost or it is bound to another place: it is replaced
  }
}
