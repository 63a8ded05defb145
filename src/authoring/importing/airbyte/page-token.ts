import { constant, TemplateError, type Expression } from './jinja/ast.ts';
import { mapParts } from './jinja/map-parts.ts';
import type { ManifestNode } from './node.ts';
import { accessOf } from './translate/position.ts';

/** A place in the request that gets the token of the next page. */
export interface TokenPlace {
  /** Its target; `{"address": true}` is the address itself. */
  readonly place: ManifestNode;
  /** The value that is put there, in terms of the name {@link TOKEN}; absent: the token alone. */
  readonly with?: Expression;
  /** The value in the first request; absent: nothing. */
  readonly first?: Expression;
  /** The value is rendered, and read as a literal. */
  readonly isRead?: boolean;
}

/** Stands for the token in `with`. */
export const TOKEN = 'the token of the next page';

/** Stands for a part of a template that is an error in the first request, where there is no token: all of it is nothing. */
const RAISED = 'an error without a token';

/** Tells if a template uses the token of the next page. */
export function isPageToken(expression: Expression): boolean {
  return JSON.stringify(expression).includes('"name":"next_page_token"');
}

/**
 * Finds the use of the token in a template: alone, with something around it, or with something else in the first request.
 *
 * @param fold works out what is known
 */
export function tokenUse(
  expression: Expression,
  place: ManifestNode,
  fold: (expression: Expression) => Expression,
): TokenPlace {
  const later = unwrapped(fold(put(expression, true)));
  const first = fold(put(expression, false));
  const isEmpty = isRaised(first) || (first.kind === 'constant' && isBlank(first.value));
  if (!isPageTokenName(later)) throw new TemplateError('a place that has a token in the first request alone');
  return {
    place,
    ...(later.kind === 'name' ? {} : { with: later }),
    ...(isEmpty ? {} : { first }),
  };
}

/** Returns the value of a template that is there in the first request alone; undefined for any other use of the token. */
export function firstAlone(
  expression: Expression,
  fold: (expression: Expression) => Expression,
): Expression | undefined {
  const later = fold(put(expression, true));
  return later.kind === 'constant' && isBlank(later.value) ? fold(put(expression, false)) : undefined;
}

/** Returns the part of a text that is the token, as a name in braces, with its first value. */
export function tokenInText(
  expression: Expression,
  name: string,
  fold: (expression: Expression) => Expression,
): { readonly text: Expression; readonly first: Expression } | undefined {
  if (expression.kind !== 'join') return undefined;
  const index = expression.parts.findIndex(isPageToken);
  const part = expression.parts[index];
  if (part === undefined || expression.parts.filter(isPageToken).length > 1) return undefined;
  if (unwrapped(fold(put(part, true))).kind !== 'name') return undefined;
  const first = fold(put(part, false));
  if (first.kind !== 'constant') return undefined;
  const parts = expression.parts.map((each, i) => (i === index ? constant(`{${name}}`) : each));
  return { text: fold({ kind: 'join', parts }), first: isBlank(first.value) ? constant('') : first };
}

function isRaised(expression: Expression): boolean {
  return JSON.stringify(expression).includes(JSON.stringify({ name: RAISED }).slice(1, -1));
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Returns the expression with a token, or without one. */
function put(expression: Expression, hasToken: boolean): Expression {
  const access = accessOf(expression);
  if (access?.name === 'next_page_token') {
    if (!hasToken && isError(expression)) return { kind: 'name', name: RAISED };
    const isToken = access.keys.length === 1 && access.keys[0] === 'next_page_token';
    if (isToken) return hasToken ? { kind: 'name', name: TOKEN } : constant(undefined);
    // it is there in the first request, too, as None
    if (access.keys.length === 0) return constant(hasToken ? { next_page_token: '…' } : null);
    if (access.keys[0] !== 'next_page_token') throw new TemplateError('a part of the token of the next page');
    if (!hasToken) return constant(undefined);
    return access.keys.slice(1).reduce<Expression>((of, key) => ({ kind: 'item', of, key: constant(key) }), {
      kind: 'name',
      name: TOKEN,
    });
  }
  return mapParts(expression, (part) => put(part, hasToken));
}

/** Tells if an access is an error where there is no token: a method of None, or a part of what is not there. */
function isError(expression: Expression): boolean {
  const isMethod = expression.kind === 'call';
  const access = isMethod ? expression.of : expression;
  if (access.kind !== 'item') return false;
  const { of } = access;
  if (of.kind === 'name') return isMethod;
  if (of.kind === 'binary') return isError(of.left);
  return of.kind !== 'call' || of.args.positional.length < 2 || isError(of);
}

/** Tests and fallbacks that do nothing where there is a token. */
function unwrapped(expression: Expression): Expression {
  if (expression.kind === 'binary' && expression.operator === 'or' && isName(expression.left))
    return expression.left;
  if (expression.kind === 'binary' && expression.operator === 'and' && isName(expression.left))
    return unwrapped(expression.right);
  if (
    expression.kind === 'filter' &&
    isName(expression.of) &&
    ['default', 'd', 'string', 'int'].includes(expression.name)
  )
    return expression.of;
  if (expression.kind === 'choose' && isThere(expression.when)) return unwrapped(expression.then);
  return expression;
}

function isThere(expression: Expression): boolean {
  if (isName(expression)) return true;
  if (expression.kind === 'test') return expression.name === 'defined' && isName(expression.of);
  if (expression.kind === 'unary' && expression.operator === 'not')
    return expression.of.kind === 'test' && expression.of.name === 'none' && isName(expression.of.of);
  if (expression.kind !== 'binary') return false;
  const isNothing = expression.right.kind === 'constant' && isBlank(expression.right.value);
  if (expression.operator === '!=') return isName(expression.left) && isNothing;
  return expression.operator === 'and' && isThere(expression.left) && isThere(expression.right);
}

function isName(expression: Expression): boolean {
  return expression.kind === 'name' && expression.name === TOKEN;
}

function isPageTokenName(expression: Expression): boolean {
  return JSON.stringify(expression).includes(JSON.stringify({ name: TOKEN }).slice(1, -1));
}
