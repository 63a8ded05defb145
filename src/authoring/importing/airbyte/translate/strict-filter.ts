import { constant, isConstant, isItems, type BinaryOperator, type Expression } from '../jinja/ast.ts';
import { accessOf } from './position.ts';

/**
 * Returns the condition of a filter with what Python does besides: a field below one that is missing is an error, which
 * drops the record; null that is compared by order is another one, which keeps it; and 1 is not `'1'`. The same
 * expression where none of it matters.
 */
export function strictFilter(expression: Expression): Expression {
  const typed = typedOf(expression);
  const kept = keepingError(expression);
  const known = withoutError(expression, true);
  const holds = kept === undefined ? typed : both('or', kept, typed);
  return known === undefined ? holds : both('and', known, holds);
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

/** Writes comparisons with a text that reads as a number so that a number is not equal to it. */
function typedOf(expression: Expression): Expression {
  switch (expression.kind) {
    case 'unary':
      return expression.operator === 'not' ? not(typedOf(expression.of)) : expression;
    case 'choose':
      return {
        ...expression,
        when: typedOf(expression.when),
        then: typedOf(expression.then),
        ...(expression.otherwise === undefined ? {} : { otherwise: typedOf(expression.otherwise) }),
      };
    case 'binary':
      break;
    default:
      return expression;
  }
  const { operator, left, right } = expression;
  if (operator === 'and' || operator === 'or') return both(operator, typedOf(left), typedOf(right));
  const isPositive = operator === '==' || operator === 'in';
  if (!isPositive && operator !== '!=' && operator !== 'not in') return expression;
  if (!isField(left) || !isOfNumerals(right)) return expression;
  const same = both(
    'and',
    test('string', left),
    both(operator === '!=' ? '==' : isPositive ? operator : 'in', left, right),
  );
  return isPositive ? same : not(same);
}

function isOfNumerals(expression: Expression): boolean {
  if (expression.kind === 'list') return expression.items.length > 0 && expression.items.every(isOfNumerals);
  if (!isConstant(expression)) return false;
  const { value } = expression;
  if (isItems(value)) return value.length > 0 && value.every((item) => isOfNumerals(constant(item)));
  return typeof value === 'string' && /^[+-]?\d+(?:\.\d+)?$/.test(value);
}

/** Returns when null is compared by order: that error leaves the text of the template, which counts as true. */
function keepingError(expression: Expression): Expression | undefined {
  if (expression.kind === 'unary') return keepingError(expression.of);
  if (expression.kind === 'choose') {
    const { when, then, otherwise } = expression;
    const [ofThen, ofOther] = [
      keepingError(then),
      otherwise === undefined ? undefined : keepingError(otherwise),
    ];
    return joined(
      'or',
      keepingError(when),
      ofThen === undefined ? undefined : both('and', when, ofThen),
      ofOther === undefined ? undefined : both('and', not(when), ofOther),
    );
  }
  if (expression.kind !== 'binary') return undefined;
  const { operator, left, right } = expression;
  if (ORDER.has(operator)) return joined('or', nullOf(left), nullOf(right));
  if (operator !== 'and' && operator !== 'or') return undefined;
  const later = keepingError(right);
  const reached = operator === 'and' ? left : not(left);
  return joined('or', keepingError(left), later === undefined ? undefined : both('and', reached, later));
}

function nullOf(side: Expression): Expression | undefined {
  if (!isField(side)) return undefined;
  const isNone = test('none', side);
  const isNested = side.kind === 'item' && (accessOf(side)?.keys.length ?? 0) > 1;
  return isNested ? both('and', test('defined', side), isNone) : isNone;
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
  if (isAlone && isFalseWithout(expression)) return undefined;
  return joined(
    'and',
    ...[...parentsIn(expression), ...orderedIn(expression)].map((field) => test('defined', field)),
  );
}

function isFalseWithout(expression: Expression): boolean {
  if (expression.kind === 'item') return true;
  if (expression.kind === 'test') return expression.name === 'defined';
  if (expression.kind !== 'binary') return false;
  const isOfNone = isConstant(expression.right) && expression.right.value === null;
  return !isOfNone && ['==', 'in', ...ORDER].includes(expression.operator);
}

/** Returns the fields that are compared by order, which is an error for one that is missing. */
function orderedIn(expression: Expression): readonly Expression[] {
  if (expression.kind !== 'binary' || !ORDER.has(expression.operator)) return [];
  return [expression.left, expression.right].filter((side) => side.kind === 'item' && isField(side));
}

/** Returns the fields of the record that other fields are looked for in. */
function parentsIn(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'item':
      return expression.of.kind === 'item' && isField(expression.of)
        ? [expression.of]
        : parentsIn(expression.of);
    case 'test':
    case 'filter':
      return parentsIn(expression.of);
    case 'binary':
      return [...parentsIn(expression.left), ...parentsIn(expression.right)];
    default:
      return [];
  }
}
