import { TemplateError, type Expression } from './jinja/ast.ts';
import type { Node } from './node.ts';
import { accessOf } from './translate/position.ts';

/** A place in the request that gets the token of the next page. */
export interface TokenPlace {
  readonly place: Node;
  /** What stands there in the first request. */
  readonly first?: Expression;
}

/** Whether a template speaks of the token of the next page. */
export function isPageToken(expression: Expression): boolean {
  return JSON.stringify(expression).includes('"name":"next_page_token"');
}

/**
 * How the token is used: alone, or with something else in the first request.
 *
 * @throws {TemplateError} where it is a part of something
 */
export function tokenUse(expression: Expression, place: Node): TokenPlace {
  if (isToken(expression)) return { place };
  if (expression.kind === 'choose' && isTokenTest(expression.when) && isToken(expression.then)) {
    return first(place, expression.otherwise);
  }
  if (expression.kind === 'binary' && expression.operator === 'or' && isToken(expression.left)) {
    return first(place, expression.right);
  }
  if (expression.kind === 'filter' && ['default', 'd', 'string', 'int'].includes(expression.name)) {
    const [fallback] = expression.args.positional;
    if (isToken(expression.of)) return expression.name.startsWith('d') ? first(place, fallback) : { place };
  }
  throw new TemplateError('the token of the next page as a part of an expression');
}

function first(place: Node, expression: Expression | undefined): TokenPlace {
  const isEmpty = expression === undefined || (expression.kind === 'constant' && !expression.value);
  return isEmpty ? { place } : { place, first: expression };
}

/** `next_page_token['next_page_token']`, with or without tests that it is there. */
export function isToken(expression: Expression): boolean {
  const access = accessOf(expression);
  if (access?.name === 'next_page_token')
    return access.keys.length === 1 && access.keys[0] === 'next_page_token';
  if (expression.kind === 'binary' && expression.operator === 'and')
    return isTokenTest(expression.left) && isToken(expression.right);
  return false;
}

/** A test of whether there is a token. */
export function isTokenTest(expression: Expression): boolean {
  if (accessOf(expression)?.name === 'next_page_token') return true;
  if (expression.kind === 'test' && expression.name === 'defined') return isTokenTest(expression.of);
  if (expression.kind === 'binary' && ['!=', 'and'].includes(expression.operator)) {
    const isNone = expression.right.kind === 'constant' && !expression.right.value;
    return isTokenTest(expression.left) && (isNone || isTokenTest(expression.right));
  }
  if (expression.kind !== 'unary' || expression.operator !== 'not') return false;
  const { of } = expression;
  return of.kind === 'test' && of.name === 'none' && isTokenTest(of.of);
}
