import { isSecretKey, kindOfSecret, variableOf } from '../../lib/encryption/format.ts';
import type { Decrypt } from '../../lib/encryption/cipher.ts';
import { ConfigError, EncryptionError } from '../../lib/errors.ts';
import {
  jsonOf,
  entriesOf,
  isList,
  isObject,
  isScalar,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { secretsInAddress } from '../../lib/secrets.ts';
import { pathText } from './path.ts';

export { isSecretKey };

/**
 * Returns every text under a key that starts with `#`, at any depth, longest first: the texts that a redactor must
 * hide. A value that is JSON text itself (`#data` of OAuth) gives its inner texts too. Passwords and keys that are
 * visible in an address are among them.
 */
export function collectSecrets(configuration: Json): readonly string[] {
  const found = new Set<string>();
  collect(configuration, false, found);
  return [...found].sort((a, b) => b.length - a.length);
}

/**
 * Returns the configuration with its secrets. The value `$env:NAME` of a `#` key is read from the environment variable
 * NAME, an encrypted one is decrypted; every other value stays as it is.
 *
 * @param decrypt reads encrypted values; without it they are refused
 * @throws {ConfigError} naming every variable that is not set, and the path of a value that cannot be decrypted
 */
export function resolveSecrets(
  configuration: AnyObject,
  env: Readonly<Record<string, string | undefined>>,
  decrypt?: Decrypt,
): AnyObject {
  const problems = secretProblems(configuration, env, decrypt);
  const [first] = problems;
  if (first !== undefined) {
    const others = problems.slice(1).map((problem) => problem.message);
    throw new ConfigError('config.invalid', [first.message, ...others].join(' '), {
      where: { path: pathText(first.keys) },
      hint: first.hint,
    });
  }
  // an object stays an object
  return resolve(configuration, false, env, decrypt) as AnyObject;
}

export interface SecretProblem {
  readonly keys: readonly string[];
  readonly message: string;
  readonly hint: string;
  /** A variable that may be set where the configuration runs. */
  readonly isUnset?: boolean;
}

/** Returns everything that {@link resolveSecrets} would refuse. Without `env` only encrypted values are checked. */
export function secretProblems(
  configuration: Json,
  env?: Readonly<Record<string, string | undefined>>,
  decrypt?: Decrypt,
): readonly SecretProblem[] {
  const problems: SecretProblem[] = [];
  const keys: string[] = [];
  const below = (key: string, value: Json, secret: boolean): void => {
    keys.push(key);
    visit(value, secret);
    keys.pop();
  };
  const visit = (value: Json, secret: boolean): void => {
    if (secret && typeof value === 'string') {
      const problem = problemOf(value, env, decrypt);
      if (problem !== undefined) problems.push({ keys: [...keys], ...problem });
    }
    if (isList(value)) value.forEach((item, index) => below(String(index), item, secret));
    else if (isObject(value)) {
      for (const [key, item] of entriesOf(value)) below(key, item, secret || isSecretKey(key));
    }
  };
  visit(configuration, false);
  return problems;
}

function problemOf(
  value: string,
  env: Readonly<Record<string, string | undefined>> | undefined,
  decrypt: Decrypt | undefined,
): Omit<SecretProblem, 'keys'> | undefined {
  const kind = kindOfSecret(value);
  if (kind === 'plain') return undefined;
  if (kind === 'encrypted' || kind === 'damaged') return unreadable(value, decrypt);
  if (kind === 'foreign')
    return {
      message: 'The value is still encrypted, and only the platform that encrypted it can read it.',
      hint: 'Put the plain value here, or "$env:NAME" to take it from an environment variable.',
    };
  const name = variableOf(value) ?? '';
  if (env === undefined || env[name] !== undefined) return undefined;
  return {
    message: `The environment variable ${name} is not set.`,
    hint: `Set it: ${name}=… gex run`,
    isUnset: true,
  };
}

function unreadable(
  value: string,
  decrypt: Decrypt | undefined,
): { message: string; hint: string } | undefined {
  if (decrypt === undefined)
    return {
      message: 'The value is encrypted, and no key was given.',
      hint: 'Give the key with GEX_ENCRYPTION_KEY_FILE or GEX_ENCRYPTION_KEY.',
    };
  try {
    decrypt(value);
    return undefined;
  } catch (error) {
    if (error instanceof EncryptionError) return { message: error.message, hint: error.hint ?? '' };
    throw error;
  }
}

function resolve(
  value: Json,
  secret: boolean,
  env: Readonly<Record<string, string | undefined>>,
  decrypt: Decrypt | undefined,
): Json {
  if (isList(value)) return value.map((item) => resolve(item, secret, env, decrypt));
  if (isObject(value))
    return objectOf(
      entriesOf(value).map(
        ([key, item]) => [key, resolve(item, secret || isSecretKey(key), env, decrypt)] as const,
      ),
    );
  if (!secret || typeof value !== 'string') return value;
  if (decrypt !== undefined && kindOfSecret(value) === 'encrypted') return decrypt(value);
  const name = variableOf(value);
  return name === undefined ? value : (env[name] ?? value);
}

function collect(value: Json, secret: boolean, found: Set<string>): void {
  if (isList(value)) {
    for (const item of value) collect(item, secret, found);
  } else if (isObject(value)) {
    for (const [key, item] of entriesOf(value)) collect(item, secret || isSecretKey(key), found);
  } else if (!secret && typeof value === 'string') {
    for (const text of secretsInAddress(value)) found.add(text);
  } else if (secret && isScalar(value) && typeof value !== 'boolean') {
    const text = toText(value);
    if (text === '') return;
    found.add(text);
    const inner = jsonIn(text);
    if (inner !== undefined) collect(inner, true, found);
  }
}

export function jsonIn(text: string): Json | undefined {
  return /^\s*[[{]/.test(text) ? jsonOf(text) : undefined;
}
