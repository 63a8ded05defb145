import { entriesOf, isList, isObject, objectOf, toText, type Json } from '../../lib/json/index.ts';
import type { Parameters } from './run.ts';

/**
 * Puts the values of placeholders into a text: `users/{id}` becomes `users/7`. Literally, without URL encoding
 *, in one pass: a value that itself looks like `{name}` is not looked at again, because it comes
 * from a response. Unknown names stay as they are.
 *
 * @param escape how a value is written in this text; by default as it is
 */
export function substituteText(
  text: string,
  parameters: Parameters,
  escape: (value: string) => string = (value) => value,
): string {
  if (parameters.length === 0 || !text.includes('{')) return text;
  return text.replace(NAME, (whole, name: string) => {
    const value = valueOf(name, parameters);
    return value === undefined ? whole : escape(toText(value));
  });
}

/**
 * Substitutes placeholders in all texts of a value, at any depth; names of properties stay. A text that is nothing but
 * `{name}` becomes the value itself, so a number stays a number.
 */
export function substituteValue(value: Json, parameters: Parameters): Json {
  if (parameters.length === 0) return value;
  if (typeof value === 'string') {
    const name = WHOLE_NAME.exec(value)?.[1];
    const whole = name === undefined ? undefined : valueOf(name, parameters);
    return whole === undefined ? substituteText(value, parameters) : whole;
  }
  if (isList(value)) return value.map((item) => substituteValue(item, parameters));
  if (!isObject(value)) return value;
  return objectOf(entriesOf(value).map(([key, item]) => [key, substituteValue(item, parameters)] as const));
}

/** Returns the names in braces in a text. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(NAME)].map((match) => match[1] ?? '');
}

const NAME = /\{([^{}]+)\}/g;
const WHOLE_NAME = /^\{([^{}]+)\}$/;

function valueOf(name: string, parameters: Parameters): Json | undefined {
  return parameters.find((parameter) => parameter.name === name)?.value;
}
