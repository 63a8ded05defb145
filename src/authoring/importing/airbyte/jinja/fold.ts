import { constant, isConstant, type Constant, type Expression } from './ast.ts';
import { compute, NotConstant } from './compute.ts';
import { mapParts, partsOf } from './map-parts.ts';
import { isTruthy } from './values.ts';

/** Names whose values are known; `undefined` as a value means the name is there without one. */
export type Known = ReadonlyMap<string, Constant>;

/**
 * Folds an expression: computes everything that the known names decide, and keeps the rest. `{{ parameters['path'] }}`
 * becomes a constant; of `a if config['x'] else b` only one branch is left if the setting is known.
 */
export function fold(expression: Expression, known: Known): Expression {
  const inner = foldParts(expression, known);
  if (isOpen(inner, known)) return inner;
  try {
    return { kind: 'constant', value: compute(inner, known) };
  } catch (error) {
    if (error instanceof NotConstant) return inner;
    throw error;
  }
}

/** Tells at once what an error would tell: a part that is not known leaves the whole unknown. */
function isOpen(expression: Expression, known: Known): boolean {
  if (expression.kind === 'name') return !known.has(expression.name);
  return partsOf(expression).some((part) => {
    const isCallee = expression.kind === 'call' && part === expression.of;
    // the name of a function or a method is no value
    const value = isCallee ? (part.kind === 'item' ? part.of : undefined) : part;
    return value !== undefined && !isConstant(value);
  });
}

function foldParts(expression: Expression, known: Known): Expression {
  const go = (part: Expression): Expression => fold(part, known);
  switch (expression.kind) {
    case 'call':
      // the name of a method is no value of its own
      return foldJoin(
        mapParts(expression, (part) => (part === expression.of ? foldCallee(part, go) : go(part))),
      );
    case 'filter':
      return foldJoin(mapParts(expression, go));
    case 'binary':
      return foldBinary({ ...expression, left: go(expression.left), right: go(expression.right) });
    case 'choose': {
      const when = go(expression.when);
      if (!isConstant(when))
        return mapParts(expression, (part) => (part === expression.when ? when : go(part)));
      return isTruthy(when.value) ? go(expression.then) : go(expression.otherwise ?? constant(undefined));
    }
    default:
      return mapParts(expression, go);
  }
}

function foldCallee(callee: Expression, go: (part: Expression) => Expression): Expression {
  return callee.kind === 'item' ? { ...callee, of: go(callee.of) } : callee;
}

/** Folds `x or y` and `x and y` if one side is known. */
function foldBinary(expression: Extract<Expression, { kind: 'binary' }>): Expression {
  const { operator, left, right } = expression;
  if (!isConstant(left)) return expression;
  if (operator === 'or') return isTruthy(left.value) ? left : right;
  if (operator === 'and') return isTruthy(left.value) ? right : left;
  return expression;
}

/** Folds `[x, y] | join('-')` and `'-'.join([x, y])` to the text of its parts. */
function foldJoin(expression: Expression): Expression {
  const [list, by] = joinIn(expression);
  if (list?.kind !== 'list' || !isConstant(by) || typeof by.value !== 'string') return expression;
  return { kind: 'join', parts: list.items.flatMap((item, index) => (index === 0 ? [item] : [by, item])) };
}

/** Returns the list and the text between its items, where they are joined. */
function joinIn(expression: Expression): readonly (Expression | undefined)[] {
  if (expression.kind !== 'filter' && expression.kind !== 'call') return [];
  const { of, args } = expression;
  const [first, ...others] = args.positional;
  if (others.length > 0 || Object.keys(args.named).length > 0) return [];
  if (expression.kind === 'filter') return expression.name === 'join' ? [of, first ?? constant('')] : [];
  const isJoin = of.kind === 'item' && isConstant(of.key) && of.key.value === 'join';
  return isJoin ? [first, of.of] : [];
}
