import { ConfigError } from '../errors.ts';
import {
  getKey,
  isEmpty,
  isInteger,
  isNumber,
  isScalar,
  JsonNumber,
  numberOf,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../json/index.ts';
import { asObject } from './normalise.ts';
import { pathOf } from './path.ts';

/** A value that a run cannot use. `at` is its JSON path. */
export function invalid(at: string, message: string, hint?: string): ConfigError {
  return new ConfigError('config.invalid', message, { where: { path: at }, hint });
}

/** The kind of a value in plain words, for messages: never the value itself. */
export function kindOf(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number' || value instanceof JsonNumber) return 'a number';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return isEmpty(value) ? 'an empty object' : 'an object';
}

/** What works and should be written otherwise. */
export interface ConfigWarning {
  readonly message: string;
  readonly path: string;
}

export const EMPTY: AnyObject = objectOf([]);

/** An object; empty when the key is missing, null or an empty list. */
export function objectAt(node: AnyObject, key: string, at: string): AnyObject {
  const value = getKey(node, key);
  if (isEmpty(value)) return EMPTY;
  const object = asObject(value);
  if (object !== undefined) return object;
  throw invalid(pathOf(at, key), `\`${key}\` must be an object, and it is ${kindOf(value)}.`);
}

/** A text or number as text; undefined when it is empty. */
export function textAt(node: AnyObject, key: string, at: string): string | undefined {
  const value = getKey(node, key);
  if (isEmpty(value)) return undefined;
  if (isScalar(value) && typeof value !== 'boolean') return toText(value);
  throw invalid(pathOf(at, key), `\`${key}\` must be a text, and it is ${kindOf(value)}.`);
}

/** A text, of JSON type string; undefined when the key is missing or null. */
export function strictTextAt(node: AnyObject, key: string, at: string): string | undefined {
  const value = getKey(node, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw invalid(pathOf(at, key), `\`${key}\` must be a text, and it is ${kindOf(value)}.`);
}

/** A whole number, as number or as digits. */
export function wholeOf(value: Json | undefined): number | undefined {
  if (isInteger(value)) return numberOf(value);
  return typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : undefined;
}

/** A number, or a text that says one. */
export function numericOf(value: Json | undefined): number | undefined {
  if (isNumber(value)) return numberOf(value);
  if (typeof value !== 'string' || !/^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(value))
    return undefined;
  return Number(value);
}
