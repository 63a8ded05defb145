import type { Expression } from './ast.ts';

/** Returns the expression with each of its parts changed. */
export function mapParts(expression: Expression, change: (part: Expression) => Expression): Expression {
  switch (expression.kind) {
    case 'constant':
    case 'name':
      return expression;
    case 'item':
      return { ...expression, of: change(expression.of), key: change(expression.key) };
    case 'slice': {
      const { from, to, step } = expression;
      return {
        ...expression,
        of: change(expression.of),
        ...(from === undefined ? {} : { from: change(from) }),
        ...(to === undefined ? {} : { to: change(to) }),
        ...(step === undefined ? {} : { step: change(step) }),
      };
    }
    case 'unary':
      return { ...expression, of: change(expression.of) };
    case 'call':
    case 'filter':
    case 'test': {
      const { positional, named } = expression.args;
      const args = {
        positional: positional.map(change),
        named: Object.fromEntries(Object.entries(named).map(([name, part]) => [name, change(part)])),
      };
      return { ...expression, of: change(expression.of), args };
    }
    case 'binary':
      return { ...expression, left: change(expression.left), right: change(expression.right) };
    case 'choose': {
      const { otherwise } = expression;
      return {
        kind: 'choose',
        when: change(expression.when),
        then: change(expression.then),
        ...(otherwise === undefined ? {} : { otherwise: change(otherwise) }),
      };
    }
    case 'list':
      return { ...expression, items: expression.items.map(change) };
    case 'map':
      return {
        ...expression,
        entries: expression.entries.map(([key, value]) => [change(key), change(value)] as const),
      };
    default:
      return { ...expression, parts: expression.parts.map(change) };
  }
}

/** Returns the parts of an expression, in the order in which they are changed. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'constant':
    case 'name':
      return [];
    case 'item':
      return [expression.of, expression.key];
    case 'slice': {
      const { of, from, to, step } = expression;
      return [of, from, to, step].filter((part) => part !== undefined);
    }
    case 'unary':
      return [expression.of];
    case 'call':
    case 'filter':
    case 'test': {
      const { positional, named } = expression.args;
      return [...positional, ...Object.values(named), expression.of];
    }
    case 'binary':
      return [expression.left, expression.right];
    case 'choose': {
      const { when, then, otherwise } = expression;
      return otherwise === undefined ? [when, then] : [when, then, otherwise];
    }
    case 'list':
      return expression.items;
    case 'map':
      return expression.entries.flat();
    default:
      return expression.parts;
  }
}
