import { PaginationError } from '../errors.ts';
import {
  getKey,
  isEmpty,
  isNumber,
  isObject,
  isScalar,
  JsonNumber,
  toText,
  type AnyObject,
  type Json,
} from '../json/index.ts';

/** A setting that cannot be used. `at` is the JSON path of the value. */
export function invalid(at: string, message: string, hint?: string): PaginationError {
  return new PaginationError('pagination.invalid', message, { where: { path: at }, hint });
}

/** A name or path; an empty one means the default. Without a default it is required. */
export function textOf(node: AnyObject, key: string, at: string, fallback?: string): string {
  const value = getKey(node, key);
  if (isEmpty(value)) {
    if (fallback !== undefined) return fallback;
    throw invalid(`${at}.${key}`, `\`${key}\` is missing.`, `Set \`${key}\` to a text that is not empty.`);
  }
  if (isScalar(value) && value !== true) return toText(value);
  throw invalid(`${at}.${key}`, `\`${key}\` must be text.`);
}

/** True or false; 0, 1 and their texts are understood, anything else is refused. */
export function flagOf(node: AnyObject, key: string, at: string, fallback: boolean): boolean {
  const value = getKey(node, key);
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'boolean') return value;
  if (value === 1 || value === '1') return true;
  if (isEmpty(value)) return false;
  throw invalid(`${at}.${key}`, `\`${key}\` must be true or false.`);
}

/** A whole number of at least `least`, as number or as text; undefined when it is empty. */
export function countOf(node: AnyObject, key: string, at: string, least = 1): number | undefined {
  const value = getKey(node, key);
  if (isEmpty(value)) return undefined;
  const count = toInteger(value);
  if (count !== undefined && Number.isSafeInteger(count) && count >= least) return count;
  throw invalid(`${at}.${key}`, `\`${key}\` must be a whole number of at least ${least}.`);
}

/** A map, or undefined when it is empty. Other values are refused. */
export function mapOf(node: AnyObject, key: string, at: string): AnyObject | undefined {
  const value = getKey(node, key);
  if (isEmpty(value)) return undefined;
  if (isObject(value)) return value;
  throw invalid(`${at}.${key}`, `\`${key}\` must be an object.`);
}

const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

export function isNumericText(text: string): boolean {
  return NUMERIC.test(text);
}

/** A number or numeric text, truncated; undefined for everything else. */
export function toInteger(value: Json | undefined): number | undefined {
  if (isNumber(value)) return Math.trunc(value instanceof JsonNumber ? value.value : value);
  return typeof value === 'string' && isNumericText(value) ? Math.trunc(Number(value)) : undefined;
}
