import { TemplateError, type Expression } from '../jinja/ast.ts';
import { isMap } from '../node.ts';
import type { Out } from './position.ts';
import type { TranslatePart } from './calls.ts';
import { call } from './out.ts';

const COMPARISONS: Readonly<Record<string, string>> = {
  '==': 'equals',
  '!=': 'differs',
  '<': 'below',
  '<=': 'atMost',
  '>': 'above',
  '>=': 'atLeast',
};

/**
 * An expression as a value that is true or false, by functions.
 *
 * @throws {TemplateError} for what has no counterpart
 */
export function testOf(expression: Expression, translate: TranslatePart): Out {
  if (expression.kind === 'unary' && expression.operator === 'not')
    return call('not', testOf(expression.of, translate));
  if (expression.kind === 'binary') {
    const { operator, left, right } = expression;
    if (operator === 'and')
      return call('all', ...flat('all', [testOf(left, translate), testOf(right, translate)]));
    if (operator === 'or')
      return call('any', ...flat('any', [testOf(left, translate), testOf(right, translate)]));
    const name = COMPARISONS[operator];
    if (name !== undefined) return call(name, translate(left).out, translate(right).out);
    if (operator === 'in') return call('contains', translate(right).out, translate(left).out);
    if (operator === 'not in')
      return call('not', call('contains', translate(right).out, translate(left).out));
  }
  if (expression.kind === 'test') return wordOf(expression, translate);
  return translate(expression).out;
}

function wordOf(expression: Extract<Expression, { kind: 'test' }>, translate: TranslatePart): Out {
  const { out } = translate(expression.of);
  const [other] = expression.args.positional;
  switch (expression.name) {
    case 'defined':
      return call('present', out);
    case 'undefined':
    case 'none':
      return call('not', call('present', out));
    case 'true':
      return call('equals', out, true);
    case 'false':
      return call('equals', out, false);
    case 'equalto':
    case 'eq':
      if (other !== undefined) return call('equals', out, translate(other).out);
      break;
  }
  throw new TemplateError(`the test “is ${expression.name}”`);
}

function flat(name: string, parts: readonly Out[]): Out[] {
  return parts.flatMap((part) =>
    isMap(part) && part['function'] === name && Array.isArray(part['args'])
      ? (part['args'] as readonly Out[])
      : [part],
  );
}
