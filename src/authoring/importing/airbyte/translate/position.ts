import type { Expression } from '../jinja/ast.ts';
import type { SchemaKind } from '../field-kinds.ts';
import type { ManifestNode } from '../node.ts';

/** A value of a configuration: a constant, a source, or a call of a function. */
export type TranslatedJson = ManifestNode;

/** The place of a template, which gives its names their meaning. */
export interface TemplatePosition {
  /** A field that is missing is not None, unless `get` takes it. */
  readonly hasUndefined?: boolean;
  /** Tells what a field of the record may be, where that is known. */
  readonly kindsOf?: (keys: readonly (string | number)[]) => ReadonlySet<SchemaKind> | undefined;
  /** In words, for reports: `the record`, `the request`. */
  readonly text: string;
  /**
   * Resolves a name and the keys behind it.
   *
   * @returns undefined when the name means nothing here
   * @throws {TemplateError} when it means something that can't be had
   */
  reference(name: string, keys: readonly (string | number)[]): Reference | undefined;
  /** Tells whether a name, or what it has under keys, counts as true; undefined where this is not known now. */
  isTrue?(name: string, keys: readonly (string | number)[]): boolean | undefined;
}

export interface Reference {
  readonly out: TranslatedJson;
  /** Resolves further keys, where the value is an object or a list. */
  readonly inside?: (keys: readonly (string | number)[]) => Reference | undefined;
  /** Returns the same of a copy of the jobs that {@link inside} adds to. */
  readonly ofCopy?: (
    copyOf: (job: Record<string, TranslatedJson>) => Record<string, TranslatedJson>,
  ) => Reference;
  /** Its type as far as it is known and matters: for the text of a boolean, and the meaning of `+`. */
  readonly type?: ValueType;
  /** It may be an empty text, which is left out where it is sent alone. */
  readonly mayBeEmpty?: boolean;
}

/**
 * `seconds` is a moment, in seconds since 1970; `day` is one at midnight that is written without a time; `span` is a
 * duration, in words. `float` is a number that is written with its fraction.
 */
export type ValueType = 'text' | 'number' | 'float' | 'boolean' | 'seconds' | 'day' | 'span' | 'list' | 'any';

/** Words for the types in messages. */
export const TYPE_WORDS: Readonly<Record<ValueType, string>> = {
  text: 'a text',
  number: 'a number',
  float: 'a number',
  boolean: 'true or false',
  seconds: 'a time',
  day: 'a day',
  span: 'a duration',
  list: 'a list',
  any: 'what may be anything',
};

export interface Typed {
  readonly out: TranslatedJson;
  readonly type: ValueType;
}

/** Translates a part of an expression. */
export type TranslatePart = (part: Expression) => Typed;

/** The name that an expression begins with, and the keys behind it: `record['a'].b`, `config.get('x')`. */
export interface Access {
  readonly name: string;
  readonly keys: readonly (string | number)[];
  /** The default of `get` for a missing key. */
  readonly fallback?: Expression;
}

/** @returns undefined for an expression that is no name with constant keys */
export function accessOf(expression: Expression): Access | undefined {
  if (expression.kind === 'name') return { name: expression.name, keys: [] };
  if (expression.kind === 'item') {
    const inner = innerAccess(expression.of);
    const { key } = expression;
    if (inner === undefined || key.kind !== 'constant') return undefined;
    if (typeof key.value !== 'string' && typeof key.value !== 'number') return undefined;
    return { name: inner.name, keys: [...inner.keys, key.value] };
  }
  if (expression.kind !== 'call' || expression.of.kind !== 'item') return undefined;
  const { of: method, args } = expression;
  const inner = innerAccess(method.of);
  if (inner === undefined || method.key.kind !== 'constant' || method.key.value !== 'get') return undefined;
  const [key, fallback] = args.positional;
  if (key?.kind !== 'constant' || (typeof key.value !== 'string' && typeof key.value !== 'number'))
    return undefined;
  return {
    name: inner.name,
    keys: [...inner.keys, key.value],
    ...(fallback === undefined ? {} : { fallback }),
  };
}

/** Returns the access to what has a further key: `x or {}` and `get('x', {})` have what `x` has. */
export function innerAccess(expression: Expression): Access | undefined {
  if (expression.kind === 'binary' && expression.operator === 'or' && isNoEntries(expression.right))
    return innerAccess(expression.left);
  const access = accessOf(expression);
  if (access?.fallback === undefined) return access;
  return isNoEntries(access.fallback) ? { name: access.name, keys: access.keys } : undefined;
}

function isNoEntries(expression: Expression): boolean {
  if (expression.kind === 'map') return expression.entries.length === 0;
  return (
    expression.kind === 'constant' &&
    typeof expression.value === 'object' &&
    expression.value !== null &&
    Object.keys(expression.value).length === 0
  );
}

/** Returns the expression of the key in `'key' in record`; undefined for anything else. */
export function keyIn(left: Expression, right: Expression): Expression | undefined {
  const isRoot = right.kind === 'name' && ['config', 'record', 'response', 'headers'].includes(right.name);
  const isKey = left.kind === 'constant' && typeof left.value === 'string';
  return isRoot && isKey ? { kind: 'item', of: right, key: left } : undefined;
}

/** Returns a path of the configuration language. Keys that have a dot, or are empty, need JSONPath. */
export function pathText(keys: readonly (string | number)[]): string {
  const isPlain = keys.every((key) =>
    typeof key === 'number' ? key >= 0 : key !== '' && !/[.$\s'"[\]]/.test(key),
  );
  if (keys.length === 0) return '.';
  if (isPlain) return keys.join('.');
  return `$${keys.map((key) => (typeof key === 'number' ? `[${key}]` : `[${quotedKey(key)}]`)).join('')}`;
}

function quotedKey(key: string): string {
  return `'${key.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
