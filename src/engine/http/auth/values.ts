import type { Contexts } from '../../shared/evaluate.ts';
import { ConfigError } from '../../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isScalar,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { asObject, kindOf } from '../../../lib/read-settings.ts';
import type { AuthContext } from './auth.ts';

/** A name with its value, functions evaluated. */
export type NamedValue = readonly [name: string, value: Json];

/**
 * Evaluates a map of values, each a scalar or a function.
 *
 * @param node the map; an empty list counts as an empty map
 * @param at JSON path of the map
 */
export function evaluateMap(
  node: Json | undefined,
  contexts: Contexts,
  context: AuthContext,
  at: string,
): NamedValue[] {
  return mapEntries(node, at).map(([name, value]) => [
    name,
    context.evaluate(value, contexts, `${at}.${name}`),
  ]);
}

/** Returns the entries of a map of the configuration; a list is a map with the keys 0, 1, … */
export function mapEntries(node: Json | undefined, at: string): NamedValue[] {
  if (isEmpty(node)) return [];
  const map = asObject(node);
  if (map !== undefined) return entriesOf(map);
  throw new ConfigError(
    'config.invalid',
    `A map of names and values is expected, but this is ${kindOf(node)}.`,
    {
      where: { path: at },
    },
  );
}

/** Returns the text of a header without white space around it, as in RFC 9110 5.5. */
export function headerText(value: Json, at: string): string {
  const text = withoutSpace(scalarText(value, at));
  if (/[\r\n\0]/.test(text))
    throw new ConfigError('config.invalid', 'The value of a header has a line break in it.', {
      where: { path: at },
    });
  return text;
}

/** Checks a parameter of a query: a scalar, null (the bare name) or a list of these. @throws {ConfigError} otherwise */
export function queryParameter(parameter: NamedValue, at: string): NamedValue {
  const [name, value] = parameter;
  for (const item of isList(value) ? value : [value]) if (item !== null) scalarText(item, `${at}.${name}`);
  return parameter;
}

/** @throws {ConfigError} for null, a list or an object */
function scalarText(value: Json, at: string): string {
  if (isScalar(value)) return toText(value);
  throw new ConfigError('config.invalid', `A text is expected here, but the value is ${kindOf(value)}.`, {
    where: { path: at },
    hint: 'Write a text, a number, or a function that gives one.',
  });
}

/** Returns a required text; functions see `attr`. */
export function requiredText(node: AnyObject, keys: readonly string[], context: AuthContext): string {
  const text = optionalText(node, keys, context);
  if (text !== undefined && text !== '') return text;
  const [key = ''] = keys;
  throw new ConfigError('config.invalid', `“${key}” is required for this authentication.`, {
    where: { path: `${context.at}.${key}` },
    hint: `Add "${key}" beside "type".`,
  });
}

/** Returns the first of the keys that is set and not empty; functions see `attr`. */
export function optionalText(
  node: AnyObject,
  keys: readonly string[],
  context: AuthContext,
): string | undefined {
  for (const key of keys) {
    const value = getKey(node, key);
    if (value === undefined || value === null || value === '') continue;
    const at = `${context.at}.${key}`;
    return scalarText(context.evaluate(value, { attr: context.attributes }, at), at);
  }
  return undefined;
}

function withoutSpace(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\r\n'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end).replace(/^[ \t\r\n]+/, '');
}
