import { TemplateError, type Expression } from '../jinja/ast.ts';
import { isMap, isSequence } from '../node.ts';
import { keyIn, type TranslatedJson, type TranslatePart, type Typed } from './position.ts';
import { asCall, isDefined, keyThere } from './key-there.ts';
import { isNumeral } from './strict-filter.ts';
import {
  beginningOf,
  COMPARISONS,
  call,
  isField,
  isOfTexts,
  isOfTwoTypes,
  python,
  readsRow,
  refuseMixedTimes,
  thereWord,
} from './out.ts';

/**
 * Translates an expression to a value that is true or false, by functions.
 *
 * @param hasUndefined whether a field that is missing is not None
 * @throws {TemplateError} for what has no counterpart
 */
export function testOf(
  expression: Expression,
  translate: TranslatePart,
  hasUndefined = false,
): TranslatedJson {
  const test = (part: Expression): TranslatedJson => testOf(part, translate, hasUndefined);
  if (expression.kind === 'unary' && expression.operator === 'not') return call('not', test(expression.of));
  if (expression.kind === 'binary') {
    const { operator, left, right } = expression;
    if (operator === 'and') return call('all', ...flat('all', [test(left), test(right)]));
    if (operator === 'or') return call('any', ...flat('any', [test(left), test(right)]));
    const name = COMPARISONS[operator];
    if (name !== undefined) {
      const [a, b] = [translate(left), translate(right)];
      refuseMixedTimes(a, b);
      const isNone = b.out === null && noneOf(left, a.out, translate, hasUndefined);
      if (isNone !== false && name === 'equals') return isNone;
      if (isNone !== false && name === 'differs') return call('not', isNone);
      const equal = hasUndefined ? equalByType(a, operator, b) : undefined;
      return equal ?? compared(a, name, b);
    }
    const key = keyIn(left, right);
    if (key !== undefined && operator === 'in') return asCall(keyThere(key, translate));
    if (key !== undefined && operator === 'not in') return call('not', asCall(keyThere(key, translate)));
    if (operator === 'in') return membership(translate(left), translate(right), hasUndefined);
    if (operator === 'not in')
      return call('not', membership(translate(left), translate(right), hasUndefined));
  }
  if (expression.kind === 'test') return wordOf(expression, translate, hasUndefined);
  return translate(expression).out;
}

function wordOf(
  expression: Extract<Expression, { kind: 'test' }>,
  translate: TranslatePart,
  hasUndefined: boolean,
): TranslatedJson {
  const { out, type } = translate(expression.of);
  const [other] = expression.args.positional;
  switch (expression.name) {
    case 'defined':
      return asCall(isDefined(expression.of, translate));
    case 'undefined':
      return call('not', asCall(isDefined(expression.of, translate)));
    case 'none':
      return noneOf(expression.of, out, translate, hasUndefined);
    case 'true':
      return call('is', out, 'equals', true);
    case 'false':
      return call('is', out, 'equals', false);
    case 'equalto':
    case 'eq':
      if (other !== undefined) return compared({ out, type }, 'equals', translate(other));
      break;
  }
  const beginning = beginningOf(expression.name);
  // a setting, and a value that is made here, may be of another type than it was there
  if (beginning === undefined || !isRead(out)) throw new TemplateError(`the test “is ${expression.name}”`);
  const test = call('is', call('json_encode', out), 'matches', beginning);
  // what is missing has no items
  const hasItems = hasUndefined && ['iterable', 'sequence'].includes(expression.name);
  return hasItems ? call('any', test, call('not', asCall(isDefined(expression.of, translate)))) : test;
}

/** Tells if a value is read from a row or an answer, where it has the type that the API gave it. */
export function isRead(out: TranslatedJson): boolean {
  return isMap(out) && ['path', 'response', 'parent', 'last'].some((key) => out[key] !== undefined);
}

/** Returns whether a value is None: a field that is missing is not, unless `get` takes it. */
function noneOf(
  of: Expression,
  out: TranslatedJson,
  translate: TranslatePart,
  hasUndefined: boolean,
): TranslatedJson {
  const isNothing = call('is', out, thereWord(out, false));
  const key = hasUndefined && of.kind === 'item' && isRead(out) ? keyThere(of, translate) : true;
  // what is looked for by its value is there when that is not null
  if (typeof key === 'boolean' || key.is !== 'contains') return isNothing;
  return call('all', asCall(key), isNothing);
}

/**
 * Returns whether a value of a record is equal by its type to another one, or to a text that reads as a number; undefined
 * for any other comparison.
 */
export function equalByType(a: Typed, operator: string, b: Typed): TranslatedJson | undefined {
  const isOfTimes = [a, b].some(({ type }) => type === 'seconds' || type === 'day');
  if (isOfTimes || (operator !== '==' && operator !== '!=') || !readsRow(a.out)) return undefined;
  if (!readsRow(b.out) && !(isField(a.out) && isNumeral(b.out))) return undefined;
  const equal = python('==', a, b);
  return operator === '==' ? equal : call('not', equal);
}

function compared(a: Typed, word: string, b: Typed): TranslatedJson {
  if (isOfTwoTypes(a, b) && (word === 'equals' || word === 'differs')) return word === 'differs';
  // texts are compared as texts, whatever they look like
  return call('is', a.out, word, b.out, ...(isOfTexts(word, a, b) ? ['text'] : []));
}

function membership(item: Typed, of: Typed, hasUndefined: boolean): TranslatedJson {
  const isInConstant = hasUndefined && isSequence(of.out) && readsRow(item.out) && !of.out.every(isPlain);
  if (isInConstant || (hasUndefined && isInByType(item, of))) return python('in', item, of);
  return Array.isArray(of.out)
    ? call('is', item.out, 'in', of.out)
    : call('is', of.out, 'contains', item.out);
}

/** Tells if it matters of which type an item is that is looked for in a field: `'1'` is not 1. */
export function isInByType(item: Typed, of: Typed): boolean {
  return readsRow(of.out) && !isPlain(item.out);
}

/** Tells if a value is a text that no number, and nothing else, is taken for. */
function isPlain(out: TranslatedJson): boolean {
  return typeof out === 'string' && /[A-Za-z]{2}/.test(out) && !/^(?:true|false|null|none)$/i.test(out);
}

function flat(name: string, parts: readonly TranslatedJson[]): TranslatedJson[] {
  return parts.flatMap((part) =>
    isMap(part) && part['function'] === name && Array.isArray(part['args'])
      ? (part['args'] as readonly TranslatedJson[])
      : [part],
  );
}
