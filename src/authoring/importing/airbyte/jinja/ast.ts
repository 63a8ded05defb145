import type { PythonValue } from '../../../../lib/python-literal.ts';

export { Float, isItems, isMapping } from '../../../../lib/python-literal.ts';

/** A template language expression. Texts between expressions are joined by `join`; `{% if %}` is `choose`. */
export type Expression =
  | { readonly kind: 'constant'; readonly value: Constant }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'item'; readonly of: Expression; readonly key: Expression }
  | {
      readonly kind: 'slice';
      readonly of: Expression;
      readonly from?: Expression;
      readonly to?: Expression;
      readonly step?: Expression;
    }
  | { readonly kind: 'call'; readonly of: Expression; readonly args: Arguments }
  | { readonly kind: 'filter'; readonly name: string; readonly of: Expression; readonly args: Arguments }
  | { readonly kind: 'test'; readonly name: string; readonly of: Expression; readonly args: Arguments }
  | { readonly kind: 'unary'; readonly operator: 'not' | '-' | '+'; readonly of: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'choose';
      readonly when: Expression;
      readonly then: Expression;
      /** Absent: nothing. */
      readonly otherwise?: Expression;
    }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Expression, Expression])[] }
  /** The texts of all parts, one after the other. */
  | { readonly kind: 'join'; readonly parts: readonly Expression[] };

export type BinaryOperator =
  | ('or' | 'and' | '==' | '!=' | '<' | '>' | '<=' | '>=' | 'in' | 'not in')
  | ('+' | '-' | '~' | '*' | '/' | '//' | '%' | '**');

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: Readonly<Record<string, Expression>>;
}

/** A value of the template language; `undefined` is its undefined. */
export type Constant = PythonValue;

/** A template that cannot be read, or says what nothing here can say. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

export function constant(value: Constant): Expression {
  return { kind: 'constant', value };
}

export function isConstant(
  expression: Expression | undefined,
): expression is { readonly kind: 'constant'; readonly value: Constant } {
  return expression?.kind === 'constant';
}
