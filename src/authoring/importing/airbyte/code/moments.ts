import { constant, type Expression } from '../jinja/ast.ts';
import { isExpression, type CodeValue } from './values.ts';

/** Compares moments: a later call is one before the token expires, and the lifetime is kept. */
export function compared(
  left: CodeValue,
  operator: string,
  right: CodeValue,
  onExpiry: (seconds: Expression) => void,
): CodeValue | undefined {
  if (left.kind === 'moment' && operator === '+' && left.plus === undefined) {
    if (right.kind === 'seconds') return { ...left, plus: right.seconds };
    if (isExpression(right)) return { ...left, plus: right };
  }
  if (left.kind === 'moment' && right.kind === 'moment') {
    if (operator === '-' && left.plus === undefined && right.plus === undefined)
      return { kind: 'elapsed', from: right.call, to: left.call };
    if (operator === '>' || operator === '>=') return isPast(right, left, onExpiry);
    if (operator === '<' || operator === '<=') return isPast(left, right, onExpiry);
  }
  if (left.kind === 'elapsed' && isExpression(right) && (operator === '>' || operator === '>=')) {
    if (left.to > 1) onExpiry(right);
    return constant(false);
  }
  return undefined;
}

function isPast(
  expiry: Extract<CodeValue, { kind: 'moment' }>,
  now: Extract<CodeValue, { kind: 'moment' }>,
  onExpiry: (seconds: Expression) => void,
): CodeValue | undefined {
  if (now.plus !== undefined || now.call < expiry.call) return undefined;
  if (expiry.plus === undefined) return now.call > expiry.call ? constant(true) : undefined;
  if (now.call > 1 && expiry.call > 0) onExpiry(expiry.plus);
  return constant(false);
}
