import {
  compilePath,
  encodeExact,
  getKey,
  isEmpty,
  isList,
  isObject,
  isScalar,
  JsonSyntaxError,
  keysOf,
  parseExact,
  toText,
  type Json,
} from '../../../lib/json/index.ts';
import { compileCondition, type Condition } from '../../language/index.ts';
import { CallError, isListArgument, isMapArgument, itemsOf, textOf, type Argument } from './arguments.ts';
import type { LibraryFunction } from './function.ts';

/** Choices between values, tables of values, and what is inside of them. */
export const VALUES: Readonly<Record<string, LibraryFunction>> = {
  coalesce: {
    usage: 'coalesce(value, …)',
    description: 'The first value that is there: not null, and no empty text.',
    arity: [1, Infinity],
    takesNothing: true,
    call: (values) => values.find((value) => value !== null && value !== '') ?? null,
  },
  optional: {
    usage: 'optional(value)',
    description:
      'The value, or null where it is an empty text: a parameter, a header or a field of a body is then left out. A body whose fields are all left out is not sent.',
    arity: [1, 1],
    takesNothing: true,
    call: ([value = null]) => (value === '' ? null : value),
  },
  if: {
    usage: 'if(test, value[, otherwise])',
    description:
      'The value where the test is not empty (null, false, 0, "", "0", no items), else the other, or null.',
    arity: [2, 3],
    takesNothing: true,
    call: ([test = null, value = null, otherwise = null]) => (isFalse(test) ? otherwise : value),
  },
  is: {
    usage: 'is(value, word[, than[, as]])',
    description:
      'Whether a word of conditions is true of a value: “present”, “empty”, “equals”, “atLeast”, “in”, “contains”, “matches” and the others; “text”, “number” or “time” as the fourth says how the two are compared.',
    arity: [2, 4],
    takesNothing: true,
    call: ([value = null, word, than, as]) => holds(value, textOf(word), than, as),
  },
  not: {
    usage: 'not(value)',
    description: 'True for a value that is empty (null, false, 0, "", "0", no items), else false.',
    arity: [1, 1],
    takesNothing: true,
    call: ([value = null]) => isFalse(value),
  },
  all: {
    usage: 'all(value, …)',
    description: 'True where none of the values is empty.',
    arity: [1, Infinity],
    takesNothing: true,
    call: (values) => !values.some(isFalse),
  },
  any: {
    usage: 'any(value, …)',
    description: 'True where one of the values is not empty.',
    arity: [1, Infinity],
    takesNothing: true,
    call: (values) => values.some((value) => !isFalse(value)),
  },
  map: {
    usage: 'map(value, table[, default])',
    description:
      'What a table {"from": to} or a list of pairs has for a value; else the default, or the value itself. Known in it are also true, false and null.',
    arity: [2, 3],
    takesNothing: true,
    call: ([value = null, table, fallback]) =>
      lookUp(value, table) ?? (fallback === undefined ? value : fallback),
  },
  get: {
    usage: 'get(value, path[, default])',
    description: 'What is at a path inside of a list or an object; the default, or null, where nothing is.',
    arity: [2, 3],
    takesNothing: true,
    call: ([value = null, path, fallback = null]) =>
      value instanceof Uint8Array ? fallback : (compilePath(textOf(path)).find(value) ?? fallback),
  },
  keys: {
    usage: 'keys(object)',
    description: 'The keys of an object as a list.',
    arity: [1, 1],
    call: ([value = null]) => {
      if (value === null) return null;
      if (isMapArgument(value)) return keysOf(value);
      throw new CallError('an object is needed');
    },
  },
  values: {
    usage: 'values(object)',
    description: 'The values of an object as a list.',
    arity: [1, 1],
    call: ([value = null]) => (value === null ? null : itemsOf(value)),
  },
  json_encode: {
    usage: 'json_encode(value)',
    description: 'A value as JSON text, numbers and characters as they are.',
    arity: [1, 1],
    call: ([value = null]) => {
      if (value instanceof Uint8Array)
        throw new CallError('raw bytes are no JSON', 'Put base64_encode around it.');
      return encodeExact(value);
    },
  },
  json_decode: {
    usage: 'json_decode(text[, fallback])',
    description: 'The value that a JSON text says; the fallback when it is none.',
    arity: [1, 2],
    call: ([text = null, fallback]) =>
      text === null || text === '' ? null : decoded(textOf(text), fallback),
  },
  literal: {
    usage: 'literal(text)',
    description: 'What a text reads as in JSON: a number, true, a list, an object. Any other text stays one.',
    arity: [1, 1],
    call: ([text = null]) => (text === null || text === '' ? null : decoded(textOf(text), text)),
  },
};

export function isFalse(value: Argument): boolean {
  return value instanceof Uint8Array ? value.length === 0 : isEmpty(value);
}

/** By word and what is compared with. */
const conditions = new Map<string, Condition>();
const MAX_CONDITIONS = 1000;

function holds(value: Argument, word: string, than: Argument | undefined, as: Argument | undefined): boolean {
  if (value instanceof Uint8Array || than instanceof Uint8Array)
    throw new CallError('raw bytes cannot be compared', 'Put base64_encode around them.');
  const manner = as === undefined ? '' : textOf(as);
  const key = `${word}\n${manner}\n${than === undefined ? '' : encodeExact(than)}`;
  let condition = conditions.get(key);
  if (condition === undefined) {
    condition = compileCondition(conditionOf(word, than, manner), {
      at: '',
      invalid: (_at, message, hint) => new CallError(message, hint),
    });
    if (conditions.size < MAX_CONDITIONS) conditions.set(key, condition);
  }
  return condition.holds({ here: () => value });
}

function conditionOf(word: string, than: Json | undefined, as: string): Json {
  if (than === undefined) return { value: 'value', is: word };
  // a list is compared as it stands; an object of data could look like a source
  const other = isObject(than) ? { value: than } : than;
  return { value: 'value', is: word, than: other, ...(as === '' ? {} : { as }) };
}

/** Looks a value up in a table; undefined if the table does not have it. */
function lookUp(value: Argument, table: Argument | undefined): Json | undefined {
  const key = keyOf(value);
  if (isMapArgument(table)) return key === undefined ? undefined : getKey(table, key);
  if (!isListArgument(table)) throw new CallError('the table is neither an object nor a list of pairs');
  const pair = table.find((item) => keyOf(pairOf(item)[0] ?? null) === key && key !== undefined);
  return pair === undefined ? undefined : (pairOf(pair)[1] ?? null);
}

function pairOf(item: Json): readonly Json[] {
  if (isList(item)) return item;
  throw new CallError('an item of the table is no pair', 'Write [["from", "to"], …].');
}

/** Returns the key of a value; undefined for lists and objects, which cannot be keys. */
function keyOf(value: Argument): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value);
  return value instanceof Uint8Array || !isScalar(value) ? undefined : toText(value);
}

function decoded(text: string, fallback: Argument | undefined): Argument {
  try {
    return parseExact(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    if (fallback !== undefined) return fallback;
    throw new CallError('the text is no JSON', 'Give a fallback as second argument, such as null.');
  }
}
