import {
  constant,
  Float,
  isConstant,
  isItems,
  type BinaryOperator,
  type Constant,
  type Expression,
} from '../jinja/ast.ts';
import { mapParts } from '../jinja/map-parts.ts';
import type { SchemaKind } from '../field-kinds.ts';
import { accessOf, type TemplatePosition } from './position.ts';

/**
 * Returns the condition of a filter with what Python does besides: a field below one that is missing is an error, which
 * drops the record; what is compared by order with a value of another type is another one, which keeps it; 1 is not
 * `'1'`; and `'0'` counts as true below `not`. The same expression where none of it matters.
 *
 * @param kindsOf gives what the schema says of a field
 */
export function strictFilter(expression: Expression, kindsOf?: TemplatePosition['kindsOf']): Expression {
  const typed = typedOf(expression);
  const kept = keepingError(expression, kindsOf);
  const known = withoutError(expression, true);
  const holds = kept === undefined ? typed : both('or', kept, typed);
  return known === undefined ? holds : both('and', known, holds);
}

/** Returns an expression for a value whose comparisons and tests are by type, as those of {@link strictFilter}. */
export function comparedByType(expression: Expression): Expression {
  switch (expression.kind) {
    case 'choose':
      return mapParts(expression, (part) =>
        part === expression.when ? truthOf(part) : comparedByType(part),
      );
    case 'unary':
      return typedOf(expression);
    case 'test':
      return typedOf(expression);
    case 'binary':
      // these give one of their sides
      if (expression.operator !== 'and' && expression.operator !== 'or') {
        const typed = typedOf(expression);
        if (typed !== expression) return typed;
      }
      return mapParts(expression, comparedByType);
    default:
      return mapParts(expression, comparedByType);
  }
}

const ORDER: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

function both(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  return { kind: 'binary', operator, left, right };
}

function not(of: Expression): Expression {
  return { kind: 'unary', operator: 'not', of };
}

function test(name: string, of: Expression): Expression {
  return { kind: 'test', name, of, args: { positional: [], named: {} } };
}

/** Returns the parts that are left, put together; undefined where none is. */
function joined(
  operator: 'and' | 'or',
  ...parts: readonly (Expression | undefined)[]
): Expression | undefined {
  const found = parts.filter((part) => part !== undefined);
  return found.length === 0 ? undefined : found.reduce((left, right) => both(operator, left, right));
}

/** Tells if an expression is a field of the record as it came; a default of `get` is none. */
function isField(expression: Expression): boolean {
  const access = accessOf(expression);
  return access?.name === 'record' && access.keys.length > 0 && access.fallback === undefined;
}

/** Writes comparisons with a number, a text that reads as one, true or false so that they hold for a value of that type alone. */
function typedOf(expression: Expression): Expression {
  switch (expression.kind) {
    case 'unary':
      return expression.operator === 'not' ? not(truthOf(expression.of)) : expression;
    case 'choose':
      return {
        ...expression,
        when: truthOf(expression.when),
        then: typedOf(expression.then),
        ...(expression.otherwise === undefined ? {} : { otherwise: typedOf(expression.otherwise) }),
      };
    case 'test':
      // true itself, and no number that is equal to it
      if ((expression.name === 'true' || expression.name === 'false') && isField(expression.of))
        return both('and', test('boolean', expression.of), expression);
      return expression.name === 'none' ? nullThere(expression.of, expression) : expression;
    case 'binary':
      break;
    default:
      return expression;
  }
  const { operator, left, right } = expression;
  if (operator === 'and') return both('and', truthOf(left), typedOf(right));
  if (operator === 'or') return both('or', typedOf(left), typedOf(right));
  const isPositive = operator === '==' || operator === 'in';
  if (!isPositive && operator !== '!=' && operator !== 'not in') return expression;
  if (isConstant(right) && right.value === null) {
    const none = nullThere(left, both('==', left, right));
    return operator === '==' ? none : operator === '!=' ? not(none) : expression;
  }
  const field = fieldOfGet(left);
  if (field !== undefined && comparedType(right) !== undefined)
    return {
      kind: 'choose',
      when: test('defined', field.of),
      then: typedOf({ ...expression, left: field.of }),
      otherwise: constant(constantsOf(right).some((value) => isEqual(field.fallback, value)) === isPositive),
    };
  const type = isField(left) ? comparedType(right) : undefined;
  // one text is compared by its type as it is
  if (type === undefined || (type === 'string' && isConstant(right) && !isItems(right.value)))
    return expression;
  const equal = both(operator === '!=' ? '==' : isPositive ? operator : 'in', left, right);
  const same = both(
    'and',
    test(type, left),
    type === 'number' && hasZero(right) ? both('or', equal, zeroOrFalse(left)) : equal,
  );
  return isPositive ? same : not(same);
}

/** Returns the field of the record that `get` takes with a constant in its place where it is missing. */
function fieldOfGet(
  expression: Expression,
): { readonly of: Expression; readonly fallback: Constant } | undefined {
  const access = accessOf(expression);
  const [key, ...others] = access?.keys ?? [];
  if (access?.name !== 'record' || key === undefined || others.length > 0) return undefined;
  const [fallback, ...more] = access.fallback === undefined ? [] : constantsOf(access.fallback);
  const isScalar = fallback === null || fallback instanceof Float || typeof fallback !== 'object';
  if (fallback === undefined || more.length > 0 || !isScalar) return undefined;
  return { of: { kind: 'item', of: { kind: 'name', name: 'record' }, key: constant(key) }, fallback };
}

/** Compares two constants as Python does: numbers, true and false by their value, anything else within its type. */
function isEqual(one: Constant, other: Constant): boolean {
  const [first, second] = [one, other].map((value) => (value instanceof Float ? value.value : value));
  const isText = typeof first === 'string' || typeof second === 'string';
  if (isText || first === null || second === null) return first === second;
  return Number(first) === Number(second);
}

/** Returns the test that a field is null, which one that is missing inside of another is not. */
function nullThere(field: Expression, isNone: Expression): Expression {
  return isNested(field) ? both('and', test('defined', field), isNone) : isNone;
}

/** Tells if an expression is a field inside of another one. */
function isNested(expression: Expression): boolean {
  return expression.kind === 'item' && isField(expression) && (accessOf(expression)?.keys.length ?? 0) > 1;
}

/** Returns a part whose value only counts as true or false: a text counts as true whatever it says. */
function truthOf(expression: Expression): Expression {
  const typed = typedOf(expression);
  if (typed !== expression || !isField(expression)) return typed;
  const text = both('and', test('string', expression), both('!=', expression, constant('')));
  return both('or', expression, text);
}

/** 0 is equal to false, and 1 to true. */
function zeroOrFalse(field: Expression): Expression {
  return both('or', both('==', field, constant(0)), test('false', field));
}

/** Returns the test of the type of all values that a field is compared with; undefined where it tells nothing. */
function comparedType(expression: Expression): 'number' | 'string' | undefined {
  const values = constantsOf(expression);
  if (values.length === 0) return undefined;
  if (values.every((value) => typeof value === 'boolean' || isNumber(value))) return 'number';
  const areTexts = values.every((value) => typeof value === 'string');
  return areTexts && values.some(isNumeral) ? 'string' : undefined;
}

/** Returns the values of a constant, or of a list of some; none where one of them is not known. */
function constantsOf(expression: Expression): readonly Constant[] {
  if (expression.kind === 'list') {
    const items = expression.items.map(constantsOf);
    return items.some((item) => item.length !== 1) ? [] : items.flat();
  }
  if (!isConstant(expression)) return [];
  return isItems(expression.value) ? expression.value : [expression.value];
}

function isNumber(value: Constant): boolean {
  return typeof value === 'number' || value instanceof Float;
}

/** Tells if a text could be equal to what is none: a number, or an empty text that is equal to false. */
export function isNumeral(value: unknown): boolean {
  return typeof value === 'string' && /^(?:[+-]?\d+(?:\.\d+)?)?$/.test(value);
}

function hasZero(expression: Expression): boolean {
  return constantsOf(expression).some((value) => value === 0 || value === false);
}

/** Returns when Python has an error for the types of values: it leaves the text of the template, which counts as true. */
function keepingError(expression: Expression, kindsOf: TemplatePosition['kindsOf']): Expression | undefined {
  const of = (part: Expression): Expression | undefined => keepingError(part, kindsOf);
  if (expression.kind === 'unary' || expression.kind === 'test') return of(expression.of);
  if (expression.kind === 'filter') {
    const isOfItems = OF_ITEMS.has(expression.name);
    return joined('or', of(expression.of), isOfItems ? withoutItems(expression.of, kindsOf) : undefined);
  }
  if (expression.kind === 'choose') {
    const { when, then, otherwise } = expression;
    const [ofThen, ofOther] = [of(then), otherwise === undefined ? undefined : of(otherwise)];
    return joined(
      'or',
      of(when),
      ofThen === undefined ? undefined : both('and', when, ofThen),
      ofOther === undefined ? undefined : both('and', not(when), ofOther),
    );
  }
  if (expression.kind !== 'binary') return undefined;
  const { operator, left, right } = expression;
  const later = of(right);
  if (operator === 'and' || operator === 'or') {
    const reached = operator === 'and' ? left : not(left);
    return joined('or', of(left), later === undefined ? undefined : both('and', reached, later));
  }
  const own = ORDER.has(operator)
    ? [otherType(left, right), otherType(right, left)]
    : operator === 'in' || operator === 'not in'
      ? [withoutItems(right, kindsOf), numberInText(left, right)]
      : [];
  return joined('or', of(left), later, ...own);
}

/** Filters that need a text, a list or an object. */
const OF_ITEMS: ReadonlySet<string> = new Set(['length', 'count', 'list', 'first', 'last', 'join']);
const WITHOUT_ITEMS: ReadonlySet<SchemaKind> = new Set(['number', 'boolean', 'null', 'other']);

/** Returns when a field has no items: one that is missing has none either, but `get` takes it. */
function withoutItems(part: Expression, kindsOf: TemplatePosition['kindsOf']): Expression | undefined {
  const access = accessOf(part);
  const item = itemOf(part);
  if (access === undefined || item === undefined) return undefined;
  const kinds = kindsOf?.(access.keys);
  const isNever = kinds !== undefined && ![...kinds].some((kind) => WITHOUT_ITEMS.has(kind));
  const without = isNever ? undefined : both('and', test('defined', item), not(test('iterable', item)));
  const [instead] = access.fallback === undefined ? [null] : constantsOf(access.fallback);
  const hasNone = part.kind === 'call' && (instead === null || typeof instead !== 'string');
  const isWrong = hasNone && !(access.fallback !== undefined && isNoScalar(access.fallback));
  return joined('or', without, isWrong ? not(test('defined', item)) : undefined);
}

/** Tells if an expression is a list or an object. */
function isNoScalar(expression: Expression): boolean {
  const isScalar =
    isConstant(expression) && (typeof expression.value !== 'object' || expression.value === null);
  return !isScalar;
}

/** Returns the field that an expression takes from the record, however it does. */
function itemOf(part: Expression): Expression | undefined {
  const access = accessOf(part);
  if (access?.name !== 'record' || access.keys.length === 0) return undefined;
  return access.keys.reduce<Expression>((inner, key) => ({ kind: 'item', of: inner, key: constant(key) }), {
    kind: 'name',
    name: 'record',
  });
}

/** Returns when a number is looked for in a text. */
function numberInText(item: Expression, of: Expression): Expression | undefined {
  const [value] = constantsOf(item);
  return isConstant(item) && typeof value !== 'string' && isField(of) ? test('string', of) : undefined;
}

/** Returns when a field cannot be compared by order: null, or what is of another type than a constant. */
function otherType(side: Expression, than: Expression): Expression | undefined {
  const item = itemOf(side);
  if (item === undefined) return undefined;
  if (!isField(side)) {
    const ofField = otherType(item, than);
    return ofField === undefined ? undefined : both('and', test('defined', item), ofField);
  }
  const [value] = constantsOf(than);
  const type = isNumber(value) ? 'number' : typeof value === 'string' ? 'string' : undefined;
  const isOther = type === undefined ? test('none', side) : not(test(type, side));
  return side.kind === 'item' && (type !== undefined || isNested(side))
    ? both('and', test('defined', side), isOther)
    : isOther;
}

/**
 * Returns when no field is looked for below one that is missing; undefined where there is none, or where the condition
 * is false by itself.
 *
 * @param isAlone whether the whole condition is false where this part is
 */
function withoutError(expression: Expression, isAlone: boolean): Expression | undefined {
  if (expression.kind === 'unary' && expression.operator === 'not') return withoutError(expression.of, false);
  if (expression.kind === 'choose') {
    const { when, then, otherwise } = expression;
    const [ofThen, ofOther] = [
      withoutError(then, false),
      otherwise === undefined ? undefined : withoutError(otherwise, false),
    ];
    return joined(
      'and',
      withoutError(when, false),
      ofThen === undefined ? undefined : both('or', not(when), ofThen),
      ofOther === undefined ? undefined : both('or', when, ofOther),
    );
  }
  if (expression.kind === 'binary' && (expression.operator === 'and' || expression.operator === 'or')) {
    const { operator, left, right } = expression;
    const isBoth = operator === 'and';
    const later = withoutError(right, isAlone && isBoth);
    const passed = isBoth ? not(left) : left;
    return joined(
      'and',
      withoutError(left, isAlone && isBoth),
      later === undefined ? undefined : both('or', passed, later),
    );
  }
  const isFalse = isAlone && isFalseWithout(expression);
  if (isFalse && keepingError(expression, undefined) === undefined) return undefined;
  const nulls = gettersIn(expression).map((field) => not(test('none', field)));
  if (isFalse) return joined('and', ...nulls);
  const needed = [...parentsIn(expression), ...orderedIn(expression)];
  return joined('and', ...needed.map((field) => test('defined', field)), ...nulls);
}

function isFalseWithout(expression: Expression): boolean {
  if (expression.kind === 'item') return true;
  if (expression.kind === 'test') return expression.name === 'defined';
  if (expression.kind !== 'binary') return false;
  if ([expression.left, expression.right].some((side) => side.kind === 'filter')) return false;
  const isOfNone = isConstant(expression.right) && expression.right.value === null;
  return !isOfNone && ['==', 'in', ...ORDER].includes(expression.operator);
}

/** Returns the fields that are compared by order, which is an error for one that is missing. */
function orderedIn(expression: Expression): readonly Expression[] {
  if (expression.kind !== 'binary' || !ORDER.has(expression.operator)) return [];
  return [expression.left, expression.right].filter((side) => side.kind === 'item' && isField(side));
}

/** Returns the fields that `get` of another one is asked of, which null does not have. */
function gettersIn(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'call': {
      const inner = expression.of.kind === 'item' ? expression.of.of : undefined;
      const field = inner?.kind === 'call' && accessOf(expression) !== undefined ? itemOf(inner) : undefined;
      const fallback = inner === undefined ? undefined : accessOf(inner)?.fallback;
      if (inner === undefined || field === undefined || fallback === undefined) return [];
      return [...gettersIn(inner), field];
    }
    case 'test':
    case 'filter':
      return gettersIn(expression.of);
    case 'binary':
      return [...gettersIn(expression.left), ...gettersIn(expression.right)];
    default:
      return [];
  }
}

/** Filters that are an error for a field that is missing. */
const OF_NUMBERS: ReadonlySet<string> = new Set(['int', 'float', 'abs']);

/** Returns the fields of the record that other fields are looked for in. */
function parentsIn(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'item':
      return expression.of.kind === 'item' && isField(expression.of)
        ? [expression.of]
        : parentsIn(expression.of);
    case 'filter':
      return OF_NUMBERS.has(expression.name) && expression.of.kind === 'item' && isField(expression.of)
        ? [expression.of, ...parentsIn(expression.of)]
        : parentsIn(expression.of);
    case 'test':
      return parentsIn(expression.of);
    case 'binary':
      return [...parentsIn(expression.left), ...parentsIn(expression.right)];
    default:
      return [];
  }
}
