import { constant, isConstant, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
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

/** Returns a time that is days away from another one; undefined for anything else. */
export function shifted(left: CodeValue, operator: string, right: CodeValue): CodeValue | undefined {
  if (left.kind !== 'moment' || left.plus !== undefined || right.kind !== 'seconds') return undefined;
  if (operator === '+') return { ...left, plus: right.seconds };
  return operator === '-'
    ? { ...left, plus: fold({ kind: 'unary', operator: '-', of: right.seconds }, new Map()) }
    : undefined;
}

/** Returns a time that is whole days from now as a text; undefined for any other one. */
export function dayText({ plus = constant(0) }: Moment, format: string): Expression | undefined {
  const days = isConstant(plus) ? Number(plus.value) / SECONDS_A_DAY : NaN;
  if (!Number.isInteger(days)) return undefined;
  const args = { positional: [constant(days), constant(format)], named: {} };
  return { kind: 'call', of: { kind: 'name', name: DAYS_AWAY }, args };
}

/** Tells if an expression is the text of a time, which is never empty. */
export function isDayText(expression: Expression): boolean {
  return expression.kind === 'call' && expression.of.kind === 'name' && expression.of.name === DAYS_AWAY;
}

type Moment = Extract<CodeValue, { kind: 'moment' }>;

const SECONDS_A_DAY = 86_400;

/** The macro for a day that is some days away from now. */
const DAYS_AWAY = 'day_delta';

function isPast(expiry: Moment, now: Moment, onExpiry: (seconds: Expression) => void): CodeValue | undefined {
  if (now.plus !== undefined || now.call < expiry.call) return undefined;
  if (expiry.plus === undefined) return now.call > expiry.call ? constant(true) : undefined;
  if (now.call > 1 && expiry.call > 0) onExpiry(expiry.plus);
  return constant(false);
}
