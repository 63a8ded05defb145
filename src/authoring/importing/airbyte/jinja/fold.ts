import { isConstant, type Arguments, type Constant, type Expression } from './ast.ts';
import { compute, NotConstant } from './compute.ts';
import { isTruthy } from './values.ts';

/** Names whose values are known; `undefined` as a value means the name is there without one. */
export type Known = ReadonlyMap<string, Constant>;

/**
 * The expression with everything worked out that the known names decide. What depends on anything else stays.
 * `{{ parameters['path'] }}` becomes a constant; in `a if config['x'] else b` only one branch is left where the
 * setting is known.
 */
export function fold(expression: Expression, known: Known): Expression {
  const inner = foldParts(expression, known);
  try {
    return { kind: 'constant', value: compute(inner, known) };
  } catch (error) {
    if (error instanceof NotConstant) return inner;
    throw error;
  }
}

function foldParts(expression: Expression, known: Known): Expression {
  const go = (part: Expression): Expression => fold(part, known);
  switch (expression.kind) {
    case 'constant':
    case 'name':
      return expression;
    case 'item':
      return { ...expression, of: go(expression.of), key: go(expression.key) };
    case 'slice':
      return {
        ...expression,
        of: go(expression.of),
        ...(expression.from === undefined ? {} : { from: go(expression.from) }),
        ...(expression.to === undefined ? {} : { to: go(expression.to) }),
        ...(expression.step === undefined ? {} : { step: go(expression.step) }),
      };
    case 'call':
      // the name of a method is no value of its own
      return { ...expression, of: foldCallee(expression.of, go), args: foldArguments(expression.args, go) };
    case 'filter':
    case 'test':
      return { ...expression, of: go(expression.of), args: foldArguments(expression.args, go) };
    case 'unary':
      return { ...expression, of: go(expression.of) };
    case 'binary':
      return foldBinary({ ...expression, left: go(expression.left), right: go(expression.right) });
    case 'choose': {
      const when = go(expression.when);
      const { then, otherwise } = expression;
      if (isConstant(when)) {
        if (isTruthy(when.value)) return go(then);
        return otherwise === undefined ? { kind: 'constant', value: undefined } : go(otherwise);
      }
      return {
        kind: 'choose',
        when,
        then: go(then),
        ...(otherwise === undefined ? {} : { otherwise: go(otherwise) }),
      };
    }
    case 'list':
      return { ...expression, items: expression.items.map(go) };
    case 'map':
      return {
        ...expression,
        entries: expression.entries.map(([key, value]) => [go(key), go(value)] as const),
      };
    default:
      return { ...expression, parts: expression.parts.map(go) };
  }
}

function foldCallee(callee: Expression, go: (part: Expression) => Expression): Expression {
  return callee.kind === 'item' ? { ...callee, of: go(callee.of) } : callee;
}

function foldArguments({ positional, named }: Arguments, go: (part: Expression) => Expression): Arguments {
  return {
    positional: positional.map(go),
    named: Object.fromEntries(Object.entries(named).map(([name, part]) => [name, go(part)])),
  };
}

/** `x or y` and `x and y` where one side is known already. */
function foldBinary(expression: Extract<Expression, { kind: 'binary' }>): Expression {
  const { operator, left, right } = expression;
  if (!isConstant(left)) return expression;
  if (operator === 'or') return isTruthy(left.value) ? left : right;
  if (operator === 'and') return isTruthy(left.value) ? right : left;
  return expression;
}
