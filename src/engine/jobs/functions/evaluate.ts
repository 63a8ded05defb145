import type { Env } from '../../../lib/env.ts';
import { FunctionError } from '../../../lib/errors.ts';
import { isLeftOut, type CallFunction, type Contexts, type Evaluate } from '../../shared/evaluate.ts';
import {
  compilePath,
  entriesOf,
  getKey,
  isJsonPath,
  isList,
  isNumber,
  isObject,
  keysOf,
  listInContext,
  objectInContext,
  objectOf,
  sizeOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { meantOr, nearest } from '../../../lib/suggest.ts';
import { CallError, type Argument } from './arguments.ts';
import type { LibraryFunction } from './function.ts';
import { LIBRARY } from './library.ts';
import { placeOf } from '../../../lib/read-settings.ts';

export interface EvaluatorOptions {
  /** Admits the functions that only child placeholders have (`urlencode`); default false. */
  readonly placeholders?: boolean;
}

/**
 * Makes the evaluator of the function language. In an object:
 *
 * - the key `function` makes it a call: `{"function": "md5", "args": ["a"]}`
 * - one single key that is the name of a context makes it a reference: `{"attr": "server.port"}`
 * - any other object stays one, with its properties evaluated, at any depth and through lists
 *
 * A scalar or a list at the top is given back as it is.
 */
export function createEvaluator(env: Env, options: EvaluatorOptions = {}): Evaluate {
  const placeholders = options.placeholders === true;
  return (value, contexts, at) => {
    if (!isObject(value)) return value;
    return asJson(evaluateObject(value, { env, placeholders, contexts }, at), at);
  };
}

interface Scope {
  readonly env: Env;
  readonly placeholders: boolean;
  readonly contexts: Contexts;
}

function evaluateObject(object: AnyObject, scope: Scope, at: string): Argument {
  const called = getKey(object, 'function');
  if (called !== undefined) return call(called, object, scope, at);
  const entries = entriesOf(object);
  const [only] = entries;
  if (only !== undefined && entries.length === 1) {
    const [name, key] = only;
    const context = Object.hasOwn(scope.contexts, name) ? scope.contexts[name] : undefined;
    if (context !== undefined) return reference(name, context, key, at);
  }
  return objectOf(
    entries.flatMap(([key, item]) => {
      const value = asJson(evaluateAny(item, scope, placeOf(at, key)), placeOf(at, key));
      return isLeftOut(item, value) ? [] : [[key, value] as const];
    }),
  );
}

function evaluateAny(value: Json, scope: Scope, at: string): Argument {
  if (isObject(value)) return evaluateObject(value, scope, at);
  if (!isList(value)) return value;
  return value.map((item, index) => asJson(evaluateAny(item, scope, `${at}[${index}]`), `${at}[${index}]`));
}

function call(called: Json, object: AnyObject, scope: Scope, at: string): Argument {
  const { name, definition } = find(called, scope, at);
  const args = argumentsOf(object, at).map(([item, place]) =>
    definition.takesNothing === true && isMissingInRow(item, scope, place)
      ? null
      : evaluateAny(item, scope, place),
  );
  checkCount(name, definition, args.length, at, misspelledArgs(object));
  return callLibrary(name, definition, args, scope.env, at);
}

/** Tells if a value is a field that the parent row does not have: rows differ, and a fallback is for that. */
function isMissingInRow(item: Json, { contexts }: Scope, at: string): boolean {
  const { parent } = contexts;
  const key = isObject(item) && sizeOf(item) === 1 ? getKey(item, 'parent') : undefined;
  // a group has no single row
  if (parent === undefined || sizeOf(parent) === 0 || typeof key !== 'string') return false;
  const flat = flatKey(key, at);
  const value = getKey(parent, flat) ?? listInContext(parent, flat) ?? null;
  return value === null && !keysOf(parent).some((name) => name.startsWith(`${flat}.`));
}

/** Creates a {@link CallFunction} with the functions of the library. */
export function createCaller(env: Env, options: EvaluatorOptions = {}): CallFunction {
  const scope = { placeholders: options.placeholders === true };
  const known = (called: Json, count: number, at: string): { name: string; definition: LibraryFunction } => {
    const found = find(called, scope, at);
    checkCount(found.name, found.definition, count, at);
    return found;
  };
  const caller = (called: string, args: readonly Argument[], at: string): Argument => {
    const { name, definition } = known(called, args.length, at);
    return callLibrary(name, definition, args, env, at);
  };
  return Object.assign(caller, {
    check: (called: Json, count: number, at: string) => known(called, count, at).name,
    takesNothing: (name: string) => definitionOf(name)?.takesNothing === true,
  });
}

function checkCount(
  name: string,
  { arity: [fewest, most], usage }: LibraryFunction,
  count: number,
  at: string,
  hint?: string,
): void {
  if (count >= fewest && count <= most) return;
  throw new FunctionError(
    'function.failed',
    `The function “${name}” takes ${amount(fewest, most)}, but ${count} ${count === 1 ? 'is' : 'are'} given`,
    { where: { path: at }, hint: hint ?? `It is called as ${usage}.` },
  );
}

function callLibrary(
  name: string,
  definition: LibraryFunction,
  args: readonly Argument[],
  env: Env,
  at: string,
): Argument {
  try {
    return definition.call(args, env);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw new FunctionError('function.failed', `The function “${name}” failed: ${error.message}`, {
      where: { path: at },
      hint: error.hint ?? `It is called as ${definition.usage}.`,
      cause: error,
    });
  }
}

function find(
  called: Json,
  scope: Pick<Scope, 'placeholders'>,
  at: string,
): { name: string; definition: LibraryFunction } {
  const where = { path: placeOf(at, 'function') };
  if (typeof called !== 'string')
    throw new FunctionError('function.failed', 'The name of a function must be a text', { where });
  const definition = definitionOf(called);
  const isKnown = definition !== undefined && (scope.placeholders || definition.placeholdersOnly !== true);
  if (isKnown) return { name: called, definition };
  if (definition !== undefined)
    throw new FunctionError(
      'function.failed',
      `The function “${called}” works in placeholders of child jobs only`,
      {
        where,
        hint: 'Elsewhere values are encoded when they are sent.',
      },
    );
  const known = Object.keys(LIBRARY).filter(
    (name) => scope.placeholders || LIBRARY[name]?.placeholdersOnly !== true,
  );
  throw new FunctionError('function.failed', `There is no function “${called}”`, {
    where,
    hint: meantOr(called, known, `Known functions: ${known.join(', ')}.`),
  });
}

function definitionOf(name: string): LibraryFunction | undefined {
  return Object.hasOwn(LIBRARY, name) ? LIBRARY[name] : undefined;
}

/** Returns the arguments, each with its place. */
function argumentsOf(object: AnyObject, at: string): readonly (readonly [Json, string])[] {
  const args = getKey(object, 'args');
  const place = placeOf(at, 'args');
  if (args === undefined || args === null) return [];
  if (isList(args)) return args.map((item, index) => [item, `${place}[${index}]`]);
  if (isObject(args)) return entriesOf(args).map(([key, item]) => [item, placeOf(place, key)]);
  throw new FunctionError('function.failed', '“args” must be a list', {
    where: { path: place },
    hint: 'Put the argument into a list: "args": ["…"].',
  });
}

function reference(name: string, context: AnyObject, key: Json, at: string): Json {
  const where = { path: at };
  if (typeof key !== 'string' && !isNumber(key))
    throw new FunctionError('function.failed', `A reference to “${name}” needs a name in text`, {
      where,
      hint: `Write {"${name}": "name of a value"}.`,
    });
  const flat = flatKey(toText(key), at);
  const value =
    getKey(context, flat) ??
    listInContext(context, flat) ??
    // settings have secrets in them
    (name === 'parent' ? objectInContext(context, flat) : undefined);
  if (value !== undefined && value !== null) return value;
  const known = keysOf(context);
  throw new FunctionError('function.failed', `There is no value “${toText(key)}” in “${name}”`, {
    where,
    hint: meantOr(
      toText(key),
      known,
      known.length === 0
        ? `“${name}” has no values here.`
        : `“${name}” has ${known.slice(0, 20).join(', ')}${known.length > 20 ? ' and others' : ''}.`,
    ),
  });
}

/** Contexts are flat: JSONPath to one place (`$.items[0].id`) is the key `items.0.id`. */
function flatKey(key: string, at: string): string {
  return isJsonPath(key) ? (compilePath(key, { at }).keys?.join('.') ?? key) : key;
}

function asJson(value: Argument, at: string): Json {
  if (!(value instanceof Uint8Array)) return value;
  throw new FunctionError('function.failed', 'A function gives raw bytes here, but text is needed', {
    where: { path: at },
    hint: 'Put base64_encode around it, or leave its last argument out.',
  });
}

function misspelledArgs(object: AnyObject): string | undefined {
  if (getKey(object, 'args') !== undefined) return undefined;
  const others = keysOf(object).filter((key) => key !== 'function');
  const wrong = others.find(
    (key) => nearest(key, ['args', 'arguments', 'params', 'parameters']) !== undefined || key === 'arguments',
  );
  return wrong === undefined ? undefined : `Arguments are given as “args”, not as “${wrong}”.`;
}

function amount(fewest: number, most: number): string {
  if (most === 0) return 'no arguments';
  if (fewest === most) return counted(fewest);
  return most === Infinity ? `at least ${counted(fewest)}` : `${fewest} to ${counted(most)}`;
}

function counted(count: number): string {
  return `${count} argument${count === 1 ? '' : 's'}`;
}
