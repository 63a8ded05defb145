import { isConstant, type Expression } from '../jinja/ast.ts';
import type { Decide } from './code-run.ts';
import { CodeRefused, Raised } from './refused.ts';

/** The end of code, by what its conditions decide where they are known only while it runs. */
export type Outcome<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'error' }
  | {
      readonly kind: 'fork';
      readonly when: Expression;
      readonly then: Outcome<T>;
      readonly otherwise: Outcome<T>;
    };

/** Most conditions one after the other. */
const MAX_FORKS = 8;

class Fork extends Error {
  readonly when: Expression;

  constructor(when: Expression) {
    super('A condition is known only while it runs.');
    this.when = when;
  }
}

/** Runs the work once for each way that its open conditions can go. */
export function explore<T>(
  work: (decide: Decide) => T,
  decided: ReadonlyMap<string, boolean> = new Map(),
): Outcome<T> {
  const decide = (when: Expression): boolean => {
    const known = decided.get(JSON.stringify(when));
    if (known === undefined) throw new Fork(when);
    return known;
  };
  try {
    return { kind: 'value', value: work(decide) };
  } catch (error) {
    if (error instanceof Raised) return { kind: 'error' };
    if (!(error instanceof Fork)) throw error;
    if (decided.size >= MAX_FORKS)
      throw new CodeRefused('too many conditions that are known only while it runs');
    const { when } = error;
    const go = (isTrue: boolean): Outcome<T> =>
      explore(work, new Map([...decided, [JSON.stringify(when), isTrue]]));
    const [then, otherwise] = [go(true), go(false)];
    return { kind: 'fork', when, then, otherwise };
  }
}

/** Returns what holds where one of two conditions does, by a third. */
export function chosen(when: Expression, then: Expression, otherwise: Expression): Expression {
  if (!isConstant(then) || !isConstant(otherwise)) return { kind: 'choose', when, then, otherwise };
  if (then.value === otherwise.value) return then;
  return then.value === true ? when : { kind: 'unary', operator: 'not', of: when };
}

/** Returns a condition in words, for notes. */
export function wordsOf(condition: Expression): string {
  switch (condition.kind) {
    case 'name':
      return condition.name;
    case 'item':
      return `${wordsOf(condition.of)}.${wordsOf(condition.key)}`;
    case 'call':
      return condition.of.kind === 'item' && condition.args.positional[0] !== undefined
        ? `${wordsOf(condition.of.of)}.${wordsOf(condition.args.positional[0])}`
        : '…';
    case 'constant':
      return typeof condition.value === 'string' ? condition.value : JSON.stringify(condition.value ?? null);
    default:
      return '…';
  }
}
