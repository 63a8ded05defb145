import { decryptValue, encryptValue } from '../../lib/encryption/cipher.ts';
import { kindOfSecret } from '../../lib/encryption/format.ts';
import type { Keys } from '../../lib/encryption/keys.ts';
import type { Scope } from '../../lib/encryption/scope.ts';
import type { Env } from '../../lib/env.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { KeptLogin, PendingRefresh, Tokens } from '../../engine/http/auth/index.ts';
import {
  textAt,
  encodeExact,
  entriesOf,
  getKey,
  isNumber,
  isObject,
  numberOf,
  objectOf,
  parseExact,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';

/** Encrypts and decrypts what is kept. */
export interface Sealer {
  readonly seal: (text: string) => string;
  readonly open: (text: string) => string;
}

/**
 * Creates a sealer that encrypts with the first of these keys and decrypts with all. @throws {EncryptionError} from its
 * functions
 */
export function sealer(keys: Keys, scope: Scope, env: Pick<Env, 'randomBytes'>): Sealer {
  return {
    seal: (text) => encryptValue(text, scope, keys, env),
    open: (text) => {
      // a platform may have decrypted it already, as it does for a component
      if (kindOfSecret(text) === 'plain') return text;
      const { value } = decryptValue(text, scope, keys);
      return typeof value === 'string' ? value : encodeExact(value);
    },
  };
}

/** Creates a sealer at its first use: a configuration without kept logins needs no key. */
export function lateSealer(make: () => Sealer): Sealer {
  let made: Sealer | undefined;
  const get = (): Sealer => (made ??= make());
  return { seal: (text) => get().seal(text), open: (text) => get().open(text) };
}

/**
 * Returns the logins with one of them replaced: `{"<name>": {"#tokens": "GEX::1::…", "savedAt": 1, "isRenewed": true,
 * "endsAt": 3, "account": "anna@example.com", "refusedAt": 2, "pending": {"since": 1, "at": 1, "by": "c0ff"}}}`. Times
 * are Unix seconds. Under the `#` key is the JSON text of the tokens, encrypted; the other keys are no secrets, and
 * tell people about the login without a key.
 */
export function withLogin(
  logins: AnyObject,
  name: string,
  { tokens, pending, refusedAt }: KeptLogin,
  { seal, savedAt }: Pick<Sealer, 'seal'> & { readonly savedAt: number },
): AnyObject {
  const kept: [string, Json][] = [
    ['#tokens', seal(tokensText(tokens))],
    ['savedAt', savedAt],
    ['isRenewed', tokens.refreshToken !== undefined],
  ];
  const endsAt = tokens.refreshToken === undefined ? tokens.renewAt : tokens.refreshUntil;
  for (const [key, value] of Object.entries({ endsAt, account: tokens.account, refusedAt }))
    if (value !== undefined) kept.push([key, value]);
  if (pending !== undefined) kept.push(['pending', objectOf(Object.entries(pending))]);
  return objectOf(new Map<string, Json>([...entriesOf(logins), [name, objectOf(kept)]]));
}

/** @throws {ConfigError} when it is not as {@link withLogin} writes it; {@link EncryptionError} without its key */
export function loginIn(
  logins: AnyObject,
  name: string,
  { open }: Pick<Sealer, 'open'>,
  place: string,
): KeptLogin | undefined {
  const kept = getKey(logins, name);
  if (kept === undefined) return undefined;
  const sealed = isObject(kept) ? getKey(kept, '#tokens') : undefined;
  if (!isObject(kept) || typeof sealed !== 'string') throw damaged(place);
  const tokens = parseTokens(open(sealed), place);
  const pending = getKey(kept, 'pending');
  return {
    tokens,
    pending: isObject(pending) ? parsePending(pending, place) : undefined,
    refusedAt: numberIn(kept, 'refusedAt'),
  };
}

/** Merges two sets of logins. Of a login in both, the one that was saved last counts; of the same time, the first. */
export function newerLogins(first: AnyObject, second: AnyObject): AnyObject {
  const merged = new Map(entriesOf(second));
  for (const [name, login] of entriesOf(first)) {
    const other = merged.get(name);
    if (other === undefined || savedAtOf(login) >= savedAtOf(other)) merged.set(name, login);
  }
  return objectOf(merged);
}

function savedAtOf(login: Json): number {
  return isObject(login) ? (numberIn(login, 'savedAt') ?? 0) : 0;
}

function tokensText({ accessToken, refreshToken, renewAt, refreshUntil, account }: Tokens): string {
  return encodeExact(
    objectOf(
      Object.entries({ accessToken, refreshToken, renewAt, refreshUntil, account }).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, value] as const],
      ),
    ),
  );
}

function parseTokens(text: string, place: string): Tokens {
  let value: Json;
  try {
    value = parseExact(text);
  } catch {
    throw damaged(place); // without the cause: it may quote the text
  }
  if (!isObject(value)) throw damaged(place);
  return {
    accessToken: textAt(value, 'accessToken'),
    refreshToken: textAt(value, 'refreshToken'),
    renewAt: numberIn(value, 'renewAt'),
    refreshUntil: numberIn(value, 'refreshUntil'),
    account: textAt(value, 'account'),
  };
}

function parsePending(value: AnyObject, place: string): PendingRefresh {
  const [since, at, by] = [numberIn(value, 'since'), numberIn(value, 'at'), textAt(value, 'by')];
  if (since === undefined || at === undefined || by === undefined) throw damaged(place);
  return { since, at, by };
}

function numberIn(value: AnyObject, key: string): number | undefined {
  const found = getKey(value, key);
  return isNumber(found) ? numberOf(found) : undefined;
}

/** Creates the error of damaged logins. Starting without them would lose a login that may still be readable. */
export function damaged(place: string): ConfigError {
  return new ConfigError('config.invalid', `The logins in ${place} cannot be read: they are damaged.`, {
    hint: 'Bring back a copy; or take them away and log in again, with gex login or a new refresh token.',
  });
}
