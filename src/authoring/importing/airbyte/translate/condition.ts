import { TemplateError, type Expression } from '../jinja/ast.ts';
import { isMap, isSequence, type ManifestNode } from '../node.ts';
import { keyIn, type TranslatedJson, type TemplatePosition, type Typed } from './position.ts';
import {
  beginningOf,
  call,
  COMPARISONS,
  isOfTexts,
  isOfTwoTypes,
  python,
  refuseMixedTimes,
  thereWord,
} from './out.ts';
import { isDefined, keyThere, type ValueTest } from './key-there.ts';
import { selectedOf } from './selected.ts';
import { equalByType, isInByType, isRead } from './test.ts';
import { orEmpty, valueOf } from './value.ts';

const TURNED: Readonly<Record<string, string>> = {
  '<': 'above',
  '<=': 'atLeast',
  '>': 'below',
  '>=': 'atMost',
  '==': 'equals',
  '!=': 'differs',
};

/** A condition that is known beforehand is `true` or `false`. */
export type TranslatedCondition = TranslatedJson;

/**
 * Translates an expression to a condition over sources: `record.age > 18 and not record.hidden`.
 *
 * @throws {TemplateError} for what has no counterpart
 */
export function conditionOf(expression: Expression, position: TemplatePosition): TranslatedCondition {
  const translate = (part: Expression): Typed => valueOf(part, position);
  if (expression.kind === 'unary' && expression.operator === 'not')
    return negated(conditionOf(expression.of, position));
  if (expression.kind === 'choose') return choice(expression, position);
  const selected = selectedOf(expression, position);
  if (selected !== undefined) return selected;
  if (expression.kind === 'binary') {
    const { operator, left, right } = expression;
    if (operator === 'and')
      return together('all', [conditionOf(left, position), conditionOf(right, position)]);
    if (operator === 'or')
      return together('any', [conditionOf(left, position), conditionOf(right, position)]);
    if (Object.hasOwn(COMPARISONS, operator)) {
      const isOrder = operator.startsWith('<') || operator.startsWith('>');
      const value = isOrder ? orEmpty(left, position) : valueOf(left, position);
      const than = valueOf(right, position);
      const isOfNone = (operator === '==' || operator === '!=') && than.out === null;
      const none = isOfNone ? noneOf(left, value, position) : undefined;
      if (none !== undefined) return operator === '==' ? none : negated(none);
      const isText = position.hasUndefined === true && typeof than.out === 'string';
      const equal = isText ? equalByType(value, operator, than) : undefined;
      return equal === undefined ? comparison(operator, value, than) : { value: equal, is: 'true' };
    }
    const key = keyIn(left, right);
    if (key !== undefined && operator === 'in') return asCondition(keyThere(key, translate));
    if (key !== undefined && operator === 'not in') return negated(asCondition(keyThere(key, translate)));
    if (operator === 'in') return membership(valueOf(left, position), valueOf(right, position), position);
    if (operator === 'not in')
      return negated(membership(valueOf(left, position), valueOf(right, position), position));
  }
  if (expression.kind === 'test') return wordOf(expression, position);
  if (expression.kind === 'join') throw new TemplateError('a condition with text around it');
  return truth(valueOf(expression, position));
}

/** Returns the condition that a value counts as true: not false, 0, null, and not empty. */
function truth({ out }: Typed): TranslatedCondition {
  if (!isSource(out)) return isTrueConstant(out);
  return { value: out, is: 'true' };
}

function isTrueConstant(out: TranslatedJson): boolean {
  if (isSequence(out)) return out.length > 0;
  if (isMap(out)) return Object.keys(out).length > 0;
  return Boolean(out) && !['False', 'false', '0', '0.0', '{}', '[]', '()'].includes(String(out));
}

function comparison(operator: string, left: Typed, right: Typed): TranslatedCondition {
  refuseMixedTimes(left, right);
  if (isOfTwoTypes(left, right) && (operator === '==' || operator === '!=')) return operator === '!=';
  if (!isSource(left.out)) {
    if (!isSource(right.out)) throw new TemplateError('a comparison of two constants');
    return compared(right, TURNED[operator] ?? '', left);
  }
  return compared(left, COMPARISONS[operator] ?? '', right);
}

/** Returns the condition that a field of a record is null, where one that is missing is another matter. */
function noneOf(of: Expression, { out }: Typed, position: TemplatePosition): TranslatedCondition | undefined {
  if (position.hasUndefined !== true || of.kind === 'call' || !isMap(out)) return undefined;
  const { path } = out;
  const isField = typeof path === 'string' && !/[.[$]/.test(path);
  return isField ? { value: out, is: 'equals', than: null } : undefined;
}

function asCondition(test: ValueTest | boolean): TranslatedCondition {
  return typeof test === 'boolean' ? test : { ...test };
}

function there(out: TranslatedJson, isThere: boolean): TranslatedCondition {
  return { value: out, is: thereWord(out, isThere) };
}

function compared(value: Typed, is: string, than: Typed): TranslatedCondition {
  if (than.out === null) {
    if (is === 'equals') return there(value.out, false);
    if (is === 'differs') return there(value.out, true);
  }
  if (than.out === '' && is === 'equals') return { value: value.out, is: 'equals', than: '' };
  if (isMap(than.out) && !isSource(than.out)) {
    if (Object.keys(than.out).length === 0 && is === 'equals')
      return { value: value.out, is: 'equals', than: { value: {} } };
    throw new TemplateError('a comparison with an object');
  }
  // texts are compared as texts, whatever they look like
  return { value: value.out, is, than: than.out, ...(isOfTexts(is, value, than) ? { as: 'text' } : {}) };
}

function membership(item: Typed, of: Typed, { hasUndefined }: TemplatePosition): TranslatedCondition {
  if (hasUndefined === true && isInByType(item, of)) return { value: python('in', item, of), is: 'true' };
  if (isSource(of.out)) return { value: of.out, is: 'contains', than: item.out };
  if (isSequence(of.out)) return { value: item.out, is: 'in', than: of.out };
  if (typeof of.out === 'string' && isSource(item.out))
    throw new TemplateError('a text that is a part of a constant');
  throw new TemplateError('“in” without a list or a text');
}

function wordOf(
  expression: Extract<Expression, { kind: 'test' }>,
  position: TemplatePosition,
): TranslatedCondition {
  const translate = (part: Expression): Typed => valueOf(part, position);
  const value = translate(expression.of);
  const [other] = expression.args.positional;
  if (!isSource(value.out)) throw new TemplateError('a test of a constant');
  switch (expression.name) {
    case 'defined':
      return asCondition(isDefined(expression.of, translate));
    case 'none':
      return noneOf(expression.of, value, position) ?? there(value.out, false);
    case 'undefined':
      return negated(asCondition(isDefined(expression.of, translate)));
    case 'true':
      return { value: value.out, is: 'equals', than: true };
    case 'false':
      return { value: value.out, is: 'equals', than: false };
    case 'equalto':
    case 'eq':
      if (other !== undefined) return compared(value, 'equals', valueOf(other, position));
      break;
  }
  const beginning = beginningOf(expression.name);
  if (beginning === undefined || !isRead(value.out))
    throw new TemplateError(`the test “is ${expression.name}”`);
  const condition = { value: call('json_encode', value.out), is: 'matches', than: beginning };
  // what is missing has no items
  const hasItems = position.hasUndefined === true && ['iterable', 'sequence'].includes(expression.name);
  return hasItems
    ? together('any', [condition, negated(asCondition(isDefined(expression.of, translate)))])
    : condition;
}

function choice(
  expression: Extract<Expression, { kind: 'choose' }>,
  position: TemplatePosition,
): TranslatedCondition {
  const when = conditionOf(expression.when, position);
  const then = conditionOf(expression.then, position);
  const otherwise = expression.otherwise === undefined ? false : conditionOf(expression.otherwise, position);
  return together('any', [together('all', [when, then]), together('all', [negated(when), otherwise])]);
}

function negated(condition: TranslatedCondition): TranslatedCondition {
  if (typeof condition === 'boolean') return !condition;
  if (isMap(condition) && condition['not'] !== undefined) return condition['not'];
  if (isMap(condition) && condition['is'] === 'absent') return { ...condition, is: 'present' };
  if (isMap(condition) && condition['is'] === 'present') return { ...condition, is: 'absent' };
  return { not: condition };
}

function together(word: 'all' | 'any', parts: readonly TranslatedCondition[]): TranslatedCondition {
  const decides = word === 'any';
  if (parts.includes(decides)) return decides;
  const open = parts.filter((part) => typeof part !== 'boolean');
  const [only] = open;
  if (only === undefined) return !decides;
  if (open.length === 1) return only;
  return {
    [word]: open.flatMap((part): readonly ManifestNode[] =>
      isMap(part) && isSequence(part[word]) ? part[word] : [part],
    ),
  };
}

const SOURCE_KEYS: ReadonlySet<string> = new Set(
  'path response row last first header link request answer firstOf function attr time state window parent placeholder created polled value'.split(
    ' ',
  ),
);

/** Tells if a value is known only at run time. */
function isSource(out: TranslatedJson): boolean {
  return isMap(out) && Object.keys(out).some((key) => SOURCE_KEYS.has(key));
}
