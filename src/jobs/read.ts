import { JobError } from '../errors.ts';
import {
  getKey,
  isEmpty,
  isList,
  isNumber,
  isObject,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../json/index.ts';
import { nearest } from '../suggest.ts';

/** An error of the configuration of a job, at a JSON path. */
export function jobError(path: string, message: string, hint?: string): JobError {
  return new JobError('job.invalid', message, { where: { path }, hint });
}

/**
 * A text; a number is taken as its text. What is empty (spec extractor 0.2) counts as not set.
 *
 * @throws {JobError} for true, a list or an object
 */
export function readText(node: AnyObject, key: string, at: string): string | undefined {
  const value = getKey(node, key);
  if (value === undefined || isEmpty(value)) return undefined;
  if (typeof value === 'string' || isNumber(value)) return toText(value);
  throw jobError(`${at}.${key}`, `“${key}” must be a text, not ${kindOf(value)}`);
}

/**
 * A map; what is empty is an empty one. A list is a map with the keys 0, 1, 2 …: reading a configuration makes no
 * difference between the two (spec extractor 0.1).
 *
 * @throws {JobError} for a text, a number or true
 */
export function readMap(node: AnyObject, key: string, at: string): AnyObject {
  const value = getKey(node, key);
  if (value === undefined || isEmpty(value)) return {};
  const map = mapOf(value);
  if (map !== undefined) return map;
  throw jobError(`${at}.${key}`, `“${key}” must be an object of names and values, not ${kindOf(value)}`);
}

/**
 * One word out of a few, written in any case. What is empty counts as not set.
 *
 * @throws {JobError} for any other word, with the nearest one as a hint
 */
export function readWord<const T extends string>(
  node: AnyObject,
  key: string,
  words: readonly T[],
  at: string,
): T | undefined {
  const text = readText(node, key, at);
  if (text === undefined) return undefined;
  const word = words.find((known) => known.toLowerCase() === text.toLowerCase());
  if (word !== undefined) return word;
  throw jobError(`${at}.${key}`, `“${text}” is no value of “${key}”`, wordHint(text, words));
}

/** The map that a value is, or undefined for a scalar and null. */
export function mapOf(value: Json): AnyObject | undefined {
  if (isList(value)) return objectOf(value.map((item, index) => [String(index), item] as const));
  return isObject(value) ? value : undefined;
}

/** What a value is, for messages; never the value itself. */
export function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'boolean') return String(value);
  if (isNumber(value)) return 'a number';
  return isList(value) ? 'a list' : 'an object';
}

function wordHint(text: string, words: readonly string[]): string {
  const near = nearest(text, words);
  return `${near === undefined ? '' : `Did you mean ${near}? `}Possible values: ${words.join(', ')}.`;
}
