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
export type Constant =
  | null
  | undefined
  | boolean
  | number
  | string
  | Float
  | readonly Constant[]
  | { readonly [key: string]: Constant };

/** A number that is written with its fraction, also where it has none: `10 / 2` is `5.0`. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

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

/** Tells whether a constant is a list; `Array.isArray` would lose the type of its items. */
export function isItems(value: Constant): value is readonly Constant[] {
  return Array.isArray(value);
}

export function isMapping(value: Constant): value is { readonly [key: string]: Constant } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Float);
}
