import { getKey, isObject, type AnyObject, type Json } from '../../lib/json/index.ts';

/**
 * Values that the functions of a configuration may refer to: name of the context (`attr`, `time`, `response` …) to its
 * flattened values (nested keys joined by `.`).
 */
export type Contexts = Readonly<Record<string, AnyObject>>;

/**
 * Evaluates the functions and references in one value. A scalar or a list at the top is returned as it is.
 *
 * @param at JSON path of the value in the configuration, for messages
 * @throws {FunctionError} naming the path, the function or the missing reference
 */
export type Evaluate = (value: Json, contexts: Contexts, at: string) => Json;

/**
 * Calls one function of the language with values that are not evaluated any more: data of an answer that happens to
 * look like a call is no call.
 *
 * @throws {FunctionError} naming the function; `at` is its JSON path
 */
export interface CallFunction {
  (name: string, args: readonly (Json | Uint8Array)[], at: string): Json | Uint8Array;
  /**
   * Returns the name of a function that takes so many arguments.
   *
   * @throws {FunctionError} when there is none
   */
  readonly check: (name: Json, count: number, at: string) => string;
  /** Tells whether the function gives a value although none of its arguments exists, such as a fallback. */
  readonly takesNothing: (name: string) => boolean;
}

/** Tells whether a property is left out of an object that is sent: it is a call of `optional` that gives null. */
export function isLeftOut(written: Json, value: Json | Uint8Array): boolean {
  return value === null && isObject(written) && getKey(written, 'function') === 'optional';
}
