import {
  jsonOf,
  compilePath,
  entriesOf,
  equalJson,
  getKey,
  isList,
  isNumber,
  isObject,
  isScalar,
  JsonNumber,
  toJsonText,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { isNumericText, kindOf } from '../../lib/read-settings.ts';
import { compilePattern } from './pattern.ts';
import { invalidSetting } from './value-settings.ts';
import type { Read, SourceOptions } from './types.ts';

/** Keys that may stand beside any source, in the order in which they are applied. */
export const TRANSFORMS = ['where', 'take', 'param', 'match', 'as', 'default'] as const;

const KINDS_OF_VALUE = ['text', 'number', 'boolean', 'json'] as const;
type KindOfValue = (typeof KINDS_OF_VALUE)[number];

/**
 * Adds the transformations beside a source: an item of a list, a part of an address or text, another type, a default.
 */
export function transformed(reading: Read, beside: AnyObject, options: SourceOptions): Read {
  const steps = [
    itemStep(beside, options),
    paramStep(beside, options),
    matchStep(beside, options),
    asStep(beside, options),
  ].filter((step) => step !== undefined);
  const fallback = getKey(beside, 'default');
  if (steps.length === 0 && fallback === undefined) return reading;
  return {
    ...reading,
    text: partText(reading.text, beside),
    ...(steps.length === 0 ? {} : { whole: (view) => reading.read(view) }),
    read(view) {
      let value = reading.read(view);
      for (const step of steps) {
        if (value === undefined || value === null) break;
        value = step(value);
      }
      return fallback !== undefined && (value === undefined || value === null) ? fallback : value;
    },
  };
}

/** Names the part that is taken, in words: `the parameter “after” of links.next`. */
function partText(text: string, beside: AnyObject): string {
  const [take, param, match] = ['take', 'param', 'match'].map((key) => getKey(beside, key));
  const where = getKey(beside, 'where');
  let named = text;
  if (where !== undefined) {
    const item = `the item of ${text} with ${toJsonText(where)}`;
    named = take === undefined || take === null ? item : `“${toText(take)}” of ${item}`;
  }
  if (param !== undefined && param !== null) named = `the parameter “${toText(param)}” of ${named}`;
  return match === undefined || match === null ? named : `“${toText(match)}” in ${named}`;
}

type Step = (value: Json) => Json | undefined;

/**
 * Takes the first item of a list that has all these values, or the value at a path in it: `[{"rel": "next", "href":
 * …}]`.
 */
function itemStep(beside: AnyObject, options: SourceOptions): Step | undefined {
  const { at, invalid = invalidSetting } = options;
  const [where, take] = [getKey(beside, 'where'), textOf(beside, 'take', options)];
  if (where === undefined && take === undefined) return undefined;
  if (!isObject(where))
    throw invalid(
      where === undefined ? at : `${at}.where`,
      where === undefined
        ? '“take” is of the item that “where” finds.'
        : `“where” needs an object, and here is ${kindOf(where)}.`,
      'Write what the item has, such as "where": {"rel": "next"}.',
    );
  const wanted = entriesOf(where).map(
    ([key, value]) => [compilePath(key, { at: `${at}.where` }), value] as const,
  );
  const path = take === undefined ? undefined : compilePath(take, { at: `${at}.take` });
  const fits = (item: Json): boolean =>
    wanted.every(([key, value]) => {
      const found = key.find(item);
      return found !== undefined && equalJson(found, value);
    });
  return (value) => {
    const items = isList(value) ? value : isObject(value) ? entriesOf(value).map(([, item]) => item) : [];
    const item = items.find(fits);
    return item === undefined || path === undefined ? item : path.find(item);
  };
}

/** Takes a parameter of the query of an address, decoded; the address may be relative. */
function paramStep(beside: AnyObject, options: SourceOptions): Step | undefined {
  const name = textOf(beside, 'param', options);
  if (name === undefined) return undefined;
  return (value) => {
    const address = textOfValue(value);
    const from = address.indexOf('?');
    if (from === -1) return undefined;
    return new URLSearchParams(address.slice(from + 1).split('#')[0]).get(name) ?? undefined;
  };
}

function matchStep(beside: AnyObject, options: SourceOptions): Step | undefined {
  const text = textOf(beside, 'match', options);
  if (text === undefined) return undefined;
  const pattern = compilePattern(text, `${options.at}.match`, options.invalid);
  return (value) => pattern.capture(textOfValue(value));
}

function asStep(beside: AnyObject, options: SourceOptions): Step | undefined {
  const word = textOf(beside, 'as', options);
  if (word === undefined) return undefined;
  const { at, invalid = invalidSetting } = options;
  const kind = KINDS_OF_VALUE.find((known) => known === word);
  if (kind !== undefined) return STEPS[kind];
  throw invalid(`${at}.as`, `“${word}” is no type of a value.`, `Known are ${KINDS_OF_VALUE.join(', ')}.`);
}

const STEPS: Readonly<Record<KindOfValue, Step>> = {
  text: textOfValue,
  number(value) {
    if (isNumber(value)) return value;
    if (typeof value === 'boolean') return Number(value);
    if (typeof value !== 'string' || !isNumericText(value)) return undefined;
    return exactNumber(value.trim());
  },
  boolean(value) {
    if (typeof value === 'boolean') return value;
    const text = textOfValue(value).trim().toLowerCase();
    if (['true', '1', 'yes'].includes(text)) return true;
    return ['false', '0', 'no', ''].includes(text) ? false : undefined;
  },
  json: (value) => (typeof value === 'string' ? jsonOf(value) : value),
};

/** Reads a number. One that a double would change stays as it is written. */
function exactNumber(text: string): Json {
  const number = Number(text);
  return String(number) === text || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)
    ? number
    : new JsonNumber(text);
}

function textOfValue(value: Json): string {
  return isScalar(value) || value === null ? toText(value) : toJsonText(value);
}

function textOf(
  beside: AnyObject,
  key: string,
  { at, invalid = invalidSetting }: SourceOptions,
): string | undefined {
  const value = getKey(beside, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(`${at}.${key}`, `“${key}” needs a text, and here is ${kindOf(value)}.`);
}
