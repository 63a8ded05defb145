import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isNumber,
  isObject,
  isScalar,
  keysOf,
  numberOf,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from './json/index.ts';
import { meantOr, nearest } from './suggest.ts';

/** Makes the error of a stage for a setting that cannot be used; `at` is its JSON path. */
export type Invalid = (at: string, message: string, hint?: string) => Error;

/**
 * Reads the settings of a stage and fails with the errors of that stage. An empty value counts as not set, except for
 * flags.
 */
export class SettingsReader {
  readonly #invalid: Invalid;

  constructor(invalid: Invalid) {
    this.#invalid = invalid;
  }

  /** Reads a text; a number is taken as its text. */
  text(node: AnyObject, key: string, at: string): string | undefined {
    const value = getKey(node, key);
    if (isEmpty(value)) return undefined;
    if (isScalar(value) && value !== true) return toText(value);
    throw this.#wrong(node, key, at, 'a text');
  }

  /** Reads a map, or the list that stands for one. */
  map(node: AnyObject, key: string, at: string): AnyObject | undefined {
    const value = getKey(node, key);
    if (isEmpty(value)) return undefined;
    const map = asObject(value);
    if (map !== undefined) return map;
    throw this.#wrong(node, key, at, 'an object');
  }

  /** Reads a map that no list may stand for. */
  object(node: AnyObject, key: string, at: string): AnyObject | undefined {
    const value = getKey(node, key);
    if (!isList(value) || isEmpty(value)) return this.map(node, key, at);
    throw this.#wrong(node, key, at, 'an object');
  }

  /** Reads a boolean; 0, 1 and their texts are understood. */
  flag(node: AnyObject, key: string, at: string): boolean | undefined {
    const value = getKey(node, key);
    if (value === undefined || value === null) return undefined;
    if (value === 1 || value === '1') return true;
    if (value === true || isEmpty(value)) return value === true;
    throw this.#wrong(node, key, at, 'true or false');
  }

  /** Reads a whole number of at least `least`, as number or as text; a fraction is cut off. */
  count(node: AnyObject, key: string, at: string, least = 1): number | undefined {
    const value = getKey(node, key);
    if (isEmpty(value)) return undefined;
    const count = truncated(value);
    if (count !== undefined && Number.isSafeInteger(count) && count >= least) return count;
    throw this.#wrong(node, key, at, `a whole number of at least ${least}`);
  }

  /** Reads one of a few words, written in any case. */
  word<const T extends string>(node: AnyObject, key: string, at: string, words: readonly T[]): T | undefined {
    const text = this.text(node, key, at);
    if (text === undefined) return undefined;
    const word = words.find((known) => known.toLowerCase() === text.toLowerCase());
    if (word !== undefined) return word;
    const near = nearest(text, words);
    throw this.#invalid(
      placeOf(at, key),
      `“${text}” is no value of \`${key}\`.`,
      `${near === undefined ? '' : `Did you mean ${near}? `}Possible values: ${words.join(', ')}.`,
    );
  }

  #wrong(node: AnyObject, key: string, at: string, what: string): Error {
    return this.#invalid(
      placeOf(at, key),
      `\`${key}\` must be ${what}, and it is ${kindOf(getKey(node, key))}.`,
    );
  }
}

/** @throws the error of the stage for the first key that is not known */
export function checkKeys(
  node: AnyObject,
  known: readonly string[],
  at: string,
  invalid: Invalid,
  where = 'here',
): void {
  const strange = keysOf(node).find((key) => !known.includes(key));
  if (strange === undefined) return;
  throw invalid(`${at}.${strange}`, `“${strange}” is not known ${where}.`, meantOr(strange, known));
}

/** Returns the entry, or nothing: an optional property is absent rather than undefined. */
export function given<const K extends string, const T>(
  key: K,
  value: T | undefined,
): { readonly [key in K]?: T } {
  // A computed key widens to string, so the compiler cannot see that it is K.
  return value === undefined ? {} : ({ [key]: value } as { readonly [key in K]: T });
}

/** Returns the JSON path of a key; `at` is empty at the root. */
export function placeOf(at: string, key: string): string {
  return at === '' ? key : `${at}.${key}`;
}

/** Returns an object; a list becomes one with the keys 0, 1, 2 …. Undefined for anything else. */
export function asObject(value: Json | undefined): AnyObject | undefined {
  if (isObject(value)) return value;
  return isList(value) ? objectOf(value.map((item, index) => [String(index), item] as const)) : undefined;
}

/** Returns the items of a list, or the values of the map that stands for one. Undefined for anything else. */
export function asItems(value: Json | undefined): readonly Json[] | undefined {
  if (isList(value)) return value;
  return isObject(value) ? entriesOf(value).map(([, item]) => item) : undefined;
}

const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

export function isNumericText(text: string): boolean {
  return NUMERIC.test(text);
}

/** Returns a number, also from a text that holds one; undefined for anything else. */
export function numericOf(value: Json | undefined): number | undefined {
  if (isNumber(value)) return numberOf(value);
  return typeof value === 'string' && isNumericText(value) ? Number(value) : undefined;
}

/** Returns the number of {@link numericOf} without its fraction. */
export function truncated(value: Json | undefined): number | undefined {
  const number = numericOf(value);
  return number === undefined ? undefined : Math.trunc(number);
}

/** Names the kind of a value in plain words, for messages: never the value itself. */
export function kindOf(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text';
  if (typeof value === 'boolean') return String(value);
  if (isNumber(value)) return 'a number';
  if (isList(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return isEmpty(value) ? 'an empty object' : 'an object';
}
