import { TemplateError, type Expression } from '../jinja/ast.ts';
import { isMap } from '../node.ts';
import { keyIn, type TranslatedJson } from './position.ts';
import type { TranslatePart } from './calls.ts';
import { beginningOf, COMPARISONS, call, refuseMixedTimes, thereWord } from './out.ts';

/**
 * Translates an expression to a value that is true or false, by functions.
 *
 * @throws {TemplateError} for what has no counterpart
 */
export function testOf(expression: Expression, translate: TranslatePart): TranslatedJson {
  if (expression.kind === 'unary' && expression.operator === 'not')
    return call('not', testOf(expression.of, translate));
  if (expression.kind === 'binary') {
    const { operator, left, right } = expression;
    if (operator === 'and')
      return call('all', ...flat('all', [testOf(left, translate), testOf(right, translate)]));
    if (operator === 'or')
      return call('any', ...flat('any', [testOf(left, translate), testOf(right, translate)]));
    const name = COMPARISONS[operator];
    if (name !== undefined) {
      const [a, b] = [translate(left), translate(right)];
      refuseMixedTimes(a, b);
      return compared(a.out, name, b.out);
    }
    const key = keyIn(left, right);
    if (key !== undefined && operator === 'in') return there(translate(key).out, true);
    if (key !== undefined && operator === 'not in') return there(translate(key).out, false);
    if (operator === 'in') return membership(translate(left).out, translate(right).out);
    if (operator === 'not in') return call('not', membership(translate(left).out, translate(right).out));
  }
  if (expression.kind === 'test') return wordOf(expression, translate);
  return translate(expression).out;
}

function wordOf(expression: Extract<Expression, { kind: 'test' }>, translate: TranslatePart): TranslatedJson {
  const { out } = translate(expression.of);
  const [other] = expression.args.positional;
  switch (expression.name) {
    case 'defined':
      return there(out, true);
    case 'undefined':
    case 'none':
      return there(out, false);
    case 'true':
      return call('is', out, 'equals', true);
    case 'false':
      return call('is', out, 'equals', false);
    case 'equalto':
    case 'eq':
      if (other !== undefined) return compared(out, 'equals', translate(other).out);
      break;
  }
  const beginning = beginningOf(expression.name);
  // a setting, and a value that is made here, may be of another type than it was there
  if (beginning === undefined || !isRead(out)) throw new TemplateError(`the test “is ${expression.name}”`);
  return call('is', call('json_encode', out), 'matches', beginning);
}

/** Tells if a value is read from a row or an answer, where it has the type that the API gave it. */
export function isRead(out: TranslatedJson): boolean {
  return isMap(out) && ['path', 'response', 'parent', 'last'].some((key) => out[key] !== undefined);
}

function there(out: TranslatedJson, isThere: boolean): TranslatedJson {
  return call('is', out, thereWord(out, isThere));
}

function compared(a: TranslatedJson, word: string, b: TranslatedJson): TranslatedJson {
  if (b === null && word === 'equals') return there(a, false);
  if (b === null && word === 'differs') return there(a, true);
  return call('is', a, word, b);
}

function membership(item: TranslatedJson, of: TranslatedJson): TranslatedJson {
  return Array.isArray(of) ? call('is', item, 'in', of) : call('is', of, 'contains', item);
}

function flat(name: string, parts: readonly TranslatedJson[]): TranslatedJson[] {
  return parts.flatMap((part) =>
    isMap(part) && part['function'] === name && Array.isArray(part['args'])
      ? (part['args'] as readonly TranslatedJson[])
      : [part],
  );
}
