import { constant, Float, isConstant, TemplateError, type Constant, type Expression } from '../jinja/ast.ts';
import { mapParts } from '../jinja/map-parts.ts';
import { isMap, isSequence, shown, type NodeMap } from '../node.ts';
import { callOf, filterOf, isWhole } from './calls.ts';
import {
  call,
  characterOr,
  isField,
  orNone,
  python,
  readsRow,
  shifted,
  shownField,
  shownValue,
  textOut,
} from './out.ts';
import { asCall, keyThere } from './key-there.ts';
import {
  accessOf,
  TYPE_WORDS,
  type Access,
  type TranslatedJson,
  type TemplatePosition,
  type Typed,
  type ValueType,
} from './position.ts';
import { testOf } from './test.ts';

/**
 * Translates an expression to a value of the configuration language: constants as they are, references as sources,
 * everything else as calls of functions.
 *
 * @throws {TemplateError} for what has no counterpart
 */
export function valueOf(expression: Expression, position: TemplatePosition): Typed {
  switch (expression.kind) {
    case 'constant':
      return { out: constantOut(expression.value), type: typeOfConstant(expression.value) };
    case 'name':
    case 'item':
      return referenceOf(expression, position);
    case 'slice':
      return sliceOf(expression, position);
    case 'call':
      return callOrGet(expression, position);
    case 'filter':
      return filterOf(expression, (part) => valueOf(part, position), position);
    case 'test':
      return { out: tested(expression, position), type: 'boolean' };
    case 'unary':
      if (expression.operator === 'not') return { out: tested(expression, position), type: 'boolean' };
      return negative(expression, position);
    case 'binary':
      return binaryOf(expression, position);
    case 'choose':
      return choiceOf(expression, position);
    case 'list':
      return { out: expression.items.map((item) => valueOf(item, position).out), type: 'list' };
    case 'map':
      return {
        out: Object.fromEntries(
          expression.entries.map(([key, value]) => [
            shown(valueOf(key, position).out),
            valueOf(value, position).out,
          ]),
        ),
        type: 'any',
      };
    default:
      return { out: call('concat', ...joinedParts(expression.parts, position)), type: 'text' };
  }
}

function tested(expression: Expression, position: TemplatePosition): TranslatedJson {
  return testOf(expression, (part) => valueOf(part, position), position.hasUndefined);
}

function constantOut(value: Constant): TranslatedJson {
  if (value === undefined) return null;
  if (value instanceof Float) return value.value;
  if (Array.isArray(value)) return value.map((item: Constant) => constantOut(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, constantOut(item)]));
  return value;
}

function typeOfConstant(value: Constant): ValueType {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  if (value instanceof Float) return 'float';
  if (typeof value === 'boolean') return 'boolean';
  return Array.isArray(value) ? 'list' : 'any';
}

function joinedParts(parts: readonly Expression[], position: TemplatePosition): TranslatedJson[] {
  return parts.flatMap((part) => {
    const typed = valueOf(part, position);
    if (position.hasUndefined === true && isField(typed.out)) return [shownField(part, typed).out];
    if (position.hasUndefined === true && typed.type === 'any' && readsRow(typed.out)) {
      return [shownValue(part, typed.out)];
    }
    const out = orNone(textOut(typed));
    // a text inside of a text is one text
    return isMap(out) && out['function'] === 'concat' && isSequence(out['args']) ? out['args'] : [out];
  });
}

function referenceOf(expression: Expression, position: TemplatePosition): Typed {
  const access = accessOf(expression);
  if (access !== undefined) {
    const found = position.reference(access.name, access.keys);
    if (found !== undefined) {
      const { type = 'any' } = found;
      const out = orCharacter(expression, found.out, position);
      return access.fallback === undefined
        ? { out, type }
        : withFallback({ out, type }, valueOf(access.fallback, position), keyOf(access, position));
    }
    if (access.fallback !== undefined && position.isTrue?.(access.name, access.keys) === false)
      return valueOf(access.fallback, position);
    throw new TemplateError(`“${[access.name, ...access.keys].join('.')}” is not known in ${position.text}`);
  }
  if (expression.kind === 'item') {
    const { key } = expression;
    const of = valueOf(expression.of, position);
    const letter =
      key.kind === 'constant' && typeof key.value === 'string' && Object.hasOwn(TIME_PARTS, key.value)
        ? TIME_PARTS[key.value]
        : undefined;
    if (letter !== undefined && (of.type === 'seconds' || of.type === 'day'))
      return { out: call('number', call('date', letter, of.out)), type: 'number' };
    if (of.type !== 'any' && of.type !== 'list') throw new TemplateError(`a part of ${TYPE_WORDS[of.type]}`);
    if (key.kind === 'constant' && (typeof key.value === 'string' || typeof key.value === 'number'))
      return { out: itemOut(of.out, key.value), type: 'any' };
    // a table that is written out, and a key that is not
    if (isMap(of.out) && isTable(of.out)) {
      const table = Object.entries(of.out).map(([name, value]) => [name, value]);
      return { out: call('map', valueOf(key, position).out, table, null), type: 'any' };
    }
    throw new TemplateError('a key that is known only while it runs');
  }
  throw new TemplateError('an expression that has no counterpart');
}

/** Returns an item of a list in a record, or the character where the field is a text. */
function orCharacter(
  expression: Expression,
  item: TranslatedJson,
  position: TemplatePosition,
): TranslatedJson {
  const access = accessOf(expression);
  const keys = access?.keys ?? [];
  const index = keys.at(-1);
  if (expression.kind !== 'item' || position.hasUndefined !== true || access?.name !== 'record') return item;
  if (typeof index !== 'number' || position.kindsOf?.(keys.slice(0, -1))?.has('text') === false) return item;
  return characterOr(valueOf(expression.of, position).out, index, item);
}

/** Letters of `date` for the attributes of a time. */
const TIME_PARTS: Readonly<Record<string, string>> = {
  year: 'Y',
  month: 'n',
  day: 'j',
  hour: 'G',
  minute: 'i',
  second: 's',
};

function isTable(map: NodeMap): boolean {
  return Object.values(map).every((value) => typeof value !== 'object' || value === null);
}

/** Returns an item; `split` takes a number as the part that is wanted. */
function itemOut(of: TranslatedJson, key: string | number): TranslatedJson {
  if (
    isMap(of) &&
    of['function'] === 'split' &&
    typeof key === 'number' &&
    isSequence(of['args']) &&
    of['args'].length === 2
  )
    return call('split', ...of['args'], key);
  return call('get', of, typeof key === 'number' ? `$[${key}]` : pathOfKey(key));
}

function pathOfKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : `$['${key.replaceAll("'", "\\'")}']`;
}

/** Returns whether the key that `get` looks for is in the record, also with null; undefined in anything else. */
function keyOf({ name, keys }: Access, position: TemplatePosition): TranslatedJson | undefined {
  const [key, ...before] = keys.toReversed();
  if (position.hasUndefined !== true || name !== 'record' || key === undefined) return undefined;
  const of = before.reduceRight<Expression>(
    (inner, part) => ({ kind: 'item', of: inner, key: constant(part) }),
    { kind: 'name', name },
  );
  return asCall(keyThere({ kind: 'item', of, key: constant(key) }, (part) => valueOf(part, position)));
}

function withFallback({ out, type }: Typed, fallback: Typed, isThere?: TranslatedJson): Typed {
  // a boolean that is not given is written as one
  if (fallback.out === false && type === 'boolean') return { out, type };
  // absent and null are nothing in a cell, a condition and a parameter alike
  const isFalse = fallback.out === false && isThere === undefined;
  if (fallback.out === null || fallback.out === '' || isFalse)
    return { out, type: fallback.out === '' && type === 'text' ? type : 'any' };
  if (isMap(fallback.out) && Object.keys(fallback.out).length === 0)
    return { out: isThere === undefined ? out : call('if', isThere, out, {}), type: 'any' };
  // a setting that is not given is an empty text
  if (type === 'boolean' && isMap(out) && out['attr'] !== undefined) {
    const isGiven = call('is', out, 'notEmpty');
    return fallback.type === 'boolean'
      ? { out: call('if', isGiven, out, fallback.out), type }
      : { out: call('if', isGiven, textOut({ out, type }), plainOut(fallback)), type: 'any' };
  }
  if (isMap(out) && out['attr'] !== undefined)
    return { out: call('coalesce', out, plainOut(fallback)), type: 'any' };
  const otherwise = fallback.out === false ? false : plainOut(fallback);
  return { out: call('if', isThere ?? call('is', out, 'present'), out, otherwise), type: 'any' };
}

function sliceOf(expression: Extract<Expression, { kind: 'slice' }>, position: TemplatePosition): Typed {
  const { from, to, step } = expression;
  const bounds = [from, to, step].map((part) => (part === undefined ? undefined : bound(part)));
  const [start = 0, end] = bounds;
  const of = valueOf(expression.of, position);
  if (position.hasUndefined === true && readsRow(of.out)) {
    const last = bounds.findLastIndex((each) => each !== undefined);
    const given = bounds.slice(0, last + 1).map((each) => each ?? null);
    return { out: call('python', 'slice', of.out, ...given), type: of.type === 'text' ? 'text' : 'any' };
  }
  if (step !== undefined) throw new TemplateError('a slice with a step');
  if (of.type !== 'any' && of.type !== 'text') throw new TemplateError(`a slice of ${TYPE_WORDS[of.type]}`);
  const text = textOut(of);
  if (end === undefined) return { out: call('substr', text, start), type: 'text' };
  if (start < 0 !== end < 0 && start !== 0) throw new TemplateError('a slice from one end to the other');
  const length = end < 0 && start === 0 ? end : end - start;
  return { out: call('substr', text, start, length), type: 'text' };
}

function bound(part: Expression): number {
  const sign = part.kind === 'unary' && part.operator === '-' ? -1 : 1;
  const inner = part.kind === 'unary' ? part.of : part;
  if (inner.kind === 'constant' && typeof inner.value === 'number') return sign * inner.value;
  throw new TemplateError('a slice whose bounds are known only while it runs');
}

/** Translates a key of `config.get('a') or config`, or of `config.get('a', config)`, which stands in one of the two. */
function settingOrBelow(of: Expression, key: Expression, position: TemplatePosition): Typed | undefined {
  const both = eitherOf(of);
  if (both === undefined || both.some((part) => accessOf(part)?.name !== 'config')) return undefined;
  const [left, right] = both.map((part) => referenceOf({ kind: 'item', of: part, key }, position));
  if (left === undefined || right === undefined) return undefined;
  return { out: call('coalesce', left.out, right.out), type: left.type === right.type ? left.type : 'any' };
}

/** Returns the two values that one stands for. */
function eitherOf(of: Expression): readonly Expression[] | undefined {
  if (of.kind === 'binary' && of.operator === 'or') return [of.left, of.right];
  if (of.kind !== 'call' || of.of.kind !== 'item') return undefined;
  const [key, fallback] = of.args.positional;
  if (key === undefined || fallback === undefined || accessOf(of) === undefined) return undefined;
  return [{ kind: 'item', of: of.of.of, key }, fallback];
}

function callOrGet(expression: Extract<Expression, { kind: 'call' }>, position: TemplatePosition): Typed {
  const access = accessOf(expression);
  if (access !== undefined) return referenceOf(expression, position);
  const { of: method, args } = expression;
  const [key, fallback] = args.positional;
  if (
    method.kind === 'item' &&
    method.key.kind === 'constant' &&
    method.key.value === 'get' &&
    key !== undefined
  ) {
    const setting = settingOrBelow(method.of, key, position);
    const found = setting ?? referenceOf({ kind: 'item', of: method.of, key }, position);
    return fallback === undefined ? found : withFallback(found, valueOf(fallback, position));
  }
  const self = method.kind === 'item' && position.hasUndefined === true ? method.of : undefined;
  return callOf(expression, (part) => (part === self ? orEmpty(part, position) : valueOf(part, position)));
}

function negative(expression: Extract<Expression, { kind: 'unary' }>, position: TemplatePosition): Typed {
  const { out, type } = valueOf(expression.of, position);
  if (expression.operator === '+') return { out, type };
  if (position.hasUndefined === true && readsRow(out))
    return { out: python('-', { out: 0, type: 'number' }, { out, type }), type: 'any' };
  return { out: call('subtract', 0, out), type: 'number' };
}

/**
 * Returns the condition of a choice. Whether a map of settings is given is told by the setting that the choice reads in
 * it: `config['login']['key'] if config.get('login') else config['key']`.
 */
function conditionIn({ when, then }: Extract<Expression, { kind: 'choose' }>): Expression {
  const map = accessOf(when);
  if (map?.name !== 'config' || map.keys.length === 0 || map.fallback !== undefined) return when;
  let found: Expression | undefined;
  const look = (part: Expression): Expression => {
    const access = accessOf(part);
    const isBelow = access?.name === 'config' && access.keys.length > map.keys.length;
    if (isBelow && map.keys.every((key, index) => access.keys[index] === key)) found ??= part;
    // the name of a method is no setting
    if (access === undefined && part.kind === 'call' && part.of.kind === 'item') look(part.of.of);
    else if (access === undefined) mapParts(part, look);
    return part;
  };
  look(then);
  return found ?? when;
}

function choiceOf(expression: Extract<Expression, { kind: 'choose' }>, position: TemplatePosition): Typed {
  const when = conditionIn(expression);
  const asked = accessOf(when);
  const isTrue =
    asked === undefined || asked.fallback !== undefined
      ? undefined
      : position.isTrue?.(asked.name, asked.keys);
  if (isTrue === true) return valueOf(expression.then, position);
  if (isTrue === false)
    return expression.otherwise === undefined
      ? { out: '', type: 'text' }
      : valueOf(expression.otherwise, position);
  const then = valueOf(expression.then, position);
  const otherwise: Typed =
    expression.otherwise === undefined ? { out: '', type: 'text' } : valueOf(expression.otherwise, position);
  const test = tested(when, position);
  const isSame = then.type === otherwise.type;
  const [a, b] = isSame ? [then.out, otherwise.out] : [plainOut(then), plainOut(otherwise)];
  return { out: call('if', test, a, b), type: isSame ? then.type : 'any' };
}

/** Returns a value for one of two branches with different types: times, floats and booleans become texts. */
function plainOut(value: Typed): TranslatedJson {
  return ['seconds', 'day', 'float', 'boolean'].includes(value.type) ? textOut(value) : value.out;
}

const ARITHMETIC: Readonly<Record<string, string>> = { '*': 'multiply', '/': 'divide', '%': 'mod' };

function binaryOf(expression: Extract<Expression, { kind: 'binary' }>, position: TemplatePosition): Typed {
  const { operator } = expression;
  if (operator === 'or') {
    const [left, right] = [valueOf(expression.left, position), valueOf(expression.right, position)];
    const isSame = left.type === right.type;
    const [a, b] = isSame ? [left.out, right.out] : [plainOut(left), plainOut(right)];
    // the text of false is not empty
    if (left.type === 'boolean' && !isSame) return { out: call('if', left.out, a, b), type: 'any' };
    // the text 0 is true there
    if (position.hasUndefined === true && readsRow(left.out) && !isFormatted(expression.left, position))
      return {
        out: python('or', { ...left, out: a }, { ...right, out: b }),
        type: isSame ? left.type : 'any',
      };
    return { out: call('ifempty', a, b), type: isSame ? left.type : 'any' };
  }
  if (operator === 'and') {
    const [left, right] = [valueOf(expression.left, position), valueOf(expression.right, position)];
    return {
      out: call('if', tested(expression.left, position), right.out, left.out),
      type: right.type,
    };
  }
  if (operator === '~')
    return {
      out: call('concat', ...joinedParts([expression.left, expression.right], position)),
      type: 'text',
    };
  if (operator === '%' && expression.left.kind === 'constant' && typeof expression.left.value === 'string')
    return filledText(expression.left.value, shownIn(expression.right, position));
  const ofRecord = ofRecordOf(expression, position);
  if (ofRecord !== undefined) return ofRecord;
  if (operator === '+' || operator === '-') return sumOf(expression, position);
  if (operator === '//') {
    const [left, right] = numbersOf(expression, position);
    return { out: call('floor', call('divide', left.out, right.out)), type: 'number' };
  }
  const name = ARITHMETIC[operator];
  if (name !== undefined) {
    const [left, right] = numbersOf(expression, position);
    if (operator === '%')
      // what is left has the sign of the second number
      return {
        out: call('mod', call('add', call('mod', left.out, right.out), right.out), right.out),
        type: 'number',
      };
    const type = operator === '/' ? 'any' : numberType(left, right);
    return { out: call(name, left.out, right.out), type };
  }
  if (operator === '**') throw new TemplateError('a power');
  return { out: tested(expression, position), type: 'boolean' };
}

/** Operators that are reckoned with as Python does, where a record is read. */
const OF_RECORDS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '//', '%', '**']);
/** Types of moments, which are reckoned with in another way. */
const TIMES: ReadonlySet<ValueType> = new Set(['seconds', 'day', 'span']);

/** Translates what is reckoned with fields of a record, whose types are known only while it runs. */
function ofRecordOf(
  { operator, left, right }: Extract<Expression, { kind: 'binary' }>,
  position: TemplatePosition,
): Typed | undefined {
  if (position.hasUndefined !== true || !OF_RECORDS.has(operator)) return undefined;
  const both = [orEmpty(left, position), orEmpty(right, position)] as const;
  if (!both.some(({ out }) => readsRow(out)) || both.some(({ type }) => TIMES.has(type))) return undefined;
  const isText = operator === '+' && both.some(({ type }) => type === 'text');
  // whether a number has a fraction is known only while it runs
  return { out: python(operator, ...both), type: isText ? 'text' : 'any' };
}

/** Returns a value; what `get` takes an empty text for is that, and not nothing. */
export function orEmpty(part: Expression, position: TemplatePosition): Typed {
  const typed = valueOf(part, position);
  const access = accessOf(part);
  const isThere =
    isConstant(access?.fallback) && access?.fallback.value === '' ? keyOf(access, position) : undefined;
  return isThere === undefined ? typed : { out: call('if', isThere, typed.out, ''), type: typed.type };
}

/** Tells if a field is a text with a format by the schema: no such one reads as false. */
function isFormatted(part: Expression, position: TemplatePosition): boolean {
  const kinds = position.kindsOf?.(accessOf(part)?.keys ?? []);
  return kinds !== undefined && !kinds.has('text');
}

function shownIn(part: Expression, position: TemplatePosition): Typed {
  const typed = valueOf(part, position);
  if (position.hasUndefined !== true || typed.type !== 'any' || !readsRow(typed.out)) return typed;
  return isField(typed.out) ? shownField(part, typed) : { out: call('python_text', typed.out), type: 'text' };
}

/** Translates `'%02d' % number`: a text with one number or text in it. */
function filledText(format: string, value: Typed): Typed {
  const [, before = '', width = '', kind = '', after = ''] =
    /^([^%]*)%(?:0(\d))?([sd])([^%]*)$/.exec(format) ?? [];
  const isKnown = kind === 's' ? width === '' : value.type === 'number';
  if (kind === '' || !isKnown) throw new TemplateError(`a text that is filled: ${format}`);
  const out = textOut(value);
  const size = Number(width);
  const filled =
    size === 0
      ? out
      : call(
          'if',
          call('is', call('length', call('concat', out)), 'below', size),
          call('substr', call('concat', '0'.repeat(size), out), -size),
          out,
        );
  const parts = [before, filled, after].filter((part) => part !== '');
  return { out: call('concat', ...parts), type: 'text' };
}

/** Returns the type of what is reckoned with two numbers: with a fraction where one of them has one. */
function numberType(...both: readonly Typed[]): ValueType {
  if (!both.some(({ type }) => type === 'float')) return 'number';
  return both.every(({ out }) => isWhole(out)) ? 'float' : 'any';
}

/** @throws {TemplateError} for what is known to be no number */
function numbersOf(
  { operator, left, right }: Extract<Expression, { kind: 'binary' }>,
  position: TemplatePosition,
): readonly [Typed, Typed] {
  const both = [valueOf(left, position), valueOf(right, position)] as const;
  for (const { type } of both)
    if (!['number', 'float', 'any'].includes(type))
      throw new TemplateError(`“${operator}” of ${TYPE_WORDS[type]}`);
  return both;
}

/** Returns the sum of numbers, and the joined text of texts. */
function sumOrText(left: TranslatedJson, right: TranslatedJson): TranslatedJson {
  const json = call('json_encode', left);
  return call(
    'if',
    call('is', json, 'matches', '^-?[0-9]'),
    call('add', left, right),
    call('if', call('is', json, 'startsWith', '"'), call('concat', left, right), null),
  );
}

/** Translates `+`, which joins texts and adds numbers; a time and a duration give a time. */
function sumOf(expression: Extract<Expression, { kind: 'binary' }>, position: TemplatePosition): Typed {
  const { operator } = expression;
  const [left, right] = [valueOf(expression.left, position), valueOf(expression.right, position)];
  if ((left.type === 'seconds' || left.type === 'day') && right.type === 'span')
    return { out: shifted(left.out, shown(right.out), operator === '-'), type: left.type };
  if (operator === '+' && left.type === 'span' && (right.type === 'seconds' || right.type === 'day'))
    return { out: shifted(right.out, shown(left.out), false), type: right.type };
  const types = [left.type, right.type];
  if (operator === '+' && types.includes('text'))
    return {
      out: call('concat', ...joinedParts([expression.left, expression.right], position)),
      type: 'text',
    };
  if (
    types.some((type) => ['number', 'float'].includes(type)) &&
    !types.some((type) => ['seconds', 'day', 'span', 'list', 'text'].includes(type))
  )
    return {
      out: call(operator === '+' ? 'add' : 'subtract', left.out, right.out),
      type: numberType(left, right),
    };
  if (types.every((type) => type === 'any'))
    return operator === '-'
      ? { out: call('subtract', left.out, right.out), type: 'number' }
      : { out: sumOrText(left.out, right.out), type: 'any' };
  throw new TemplateError(`“${operator}” of values whose types are not known`);
}
