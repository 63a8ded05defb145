import {
  constant,
  Float,
  TemplateError,
  type Arguments,
  type BinaryOperator,
  type Expression,
} from './ast.ts';
import { partsOf } from './map-parts.ts';
import { cut, type Piece, type JinjaToken } from './tokens.ts';

/**
 * Reads a template as one expression. A text without `{{` is a constant; text around expressions is joined;
 * `{% if %}` becomes a choice, `{% set %}` is put in where its name is used.
 *
 * @throws {TemplateError} for what is no template, and for statements that no expression can say (`{% for %}`)
 */
export function parseTemplate(template: string): Expression {
  const before = parsed.get(template);
  if (before !== undefined) return before;
  const body = new Body(cut(template));
  const expression = body.read(new Map());
  body.expectEnd();
  refuseLarge(expression);
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(template, expression);
  return expression;
}

/** Templates that were parsed: a manifest has one that many streams share in each of them. */
const parsed = new Map<string, Expression>();
const MAX_PARSED = 2000;

type Names = Map<string, Expression>;

/** Deepest nesting of expressions: deeper ones are mistakes or attacks. */
const MAX_DEPTH = 200;
/** Deepest tree of a template; long sums and many `{% elif %}` make it deep as well. */
const MAX_TREE_DEPTH = 400;
/** Parts of a template: names of `{% set %}` that stand for each other could make more than any time is enough for. */
const MAX_PARTS = 50_000;

/** Refuses a tree that recursion could not walk through. */
function refuseLarge(expression: Expression): void {
  const left: [Expression, number][] = [[expression, 0]];
  let parts = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [part, depth] = next;
    if (depth > MAX_TREE_DEPTH) throw new TemplateError('the expression is nested too deep');
    if (++parts > MAX_PARTS) throw new TemplateError('the expression is too large');
    for (const inner of partsOf(part)) left.push([inner, depth + 1]);
  }
}

/** Reads texts and statements. */
class Body {
  readonly #pieces: readonly Piece[];
  #at = 0;
  #depth = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  read(names: Names): Expression {
    if (++this.#depth > MAX_TREE_DEPTH) throw new TemplateError('statements are nested too deep');
    const parts: Expression[] = [];
    for (;;) {
      const piece = this.#pieces[this.#at];
      if (piece === undefined) break;
      const word = piece.kind === 'statement' ? (piece.tokens[0]?.text ?? '') : '';
      if (END_WORDS.has(word)) break;
      this.#at++;
      if (piece.kind === 'text') parts.push(constant(piece.text));
      else if (piece.kind === 'expression') parts.push(new Parser(piece.tokens, names).whole());
      else if (word === 'if') parts.push(this.#choice(piece, names));
      else if (word === 'set') setName(piece, names);
      else throw new TemplateError(`{% ${word} %} is not supported`);
    }
    this.#depth--;
    return joined(parts);
  }

  expectEnd(): void {
    const piece = this.#pieces[this.#at];
    if (piece !== undefined) throw new TemplateError(`{% ${piece.tokens[0]?.text ?? ''} %} closes nothing`);
  }

  #choice(piece: Piece, names: Names): Expression {
    if (++this.#depth > MAX_TREE_DEPTH) throw new TemplateError('statements are nested too deep');
    const choice = this.#branches(piece, names);
    this.#depth--;
    return choice;
  }

  #branches(piece: Piece, names: Names): Expression {
    const when = new Parser(piece.tokens.slice(1), names).whole();
    const ofThen: Names = new Map(names);
    const ofOther: Names = new Map(names);
    const then = this.read(ofThen);
    const next = this.#pieces[this.#at];
    if (next === undefined) throw new TemplateError('{% if %} is not closed by {% endif %}');
    this.#at++;
    const word = next.tokens[0]?.text;
    let otherwise: Expression | undefined;
    if (word === 'elif') otherwise = this.#choice(next, ofOther);
    else if (word !== 'endif') {
      otherwise = this.read(ofOther);
      const end = this.#pieces[this.#at++];
      if (end?.tokens[0]?.text !== 'endif') throw new TemplateError('{% if %} is not closed by {% endif %}');
    }
    chooseNames(names, when, ofThen, ofOther);
    if (isBlank(then) && isBlank(otherwise)) return constant('');
    return { kind: 'choose', when, then, ...(otherwise === undefined ? {} : { otherwise }) };
  }
}

/** Gives names the values that `{% set %}` inside of a choice gives them: they are seen behind it. */
function chooseNames(names: Names, when: Expression, then: Names, otherwise: Names): void {
  for (const name of new Set([...then.keys(), ...otherwise.keys()])) {
    const [a, b] = [then.get(name), otherwise.get(name)];
    if (a !== b)
      names.set(name, {
        kind: 'choose',
        when,
        then: a ?? constant(undefined),
        otherwise: b ?? constant(undefined),
      });
  }
}

function isBlank(part: Expression | undefined): boolean {
  return part === undefined || (part.kind === 'constant' && part.value === '');
}

const END_WORDS: ReadonlySet<string> = new Set(['elif', 'else', 'endif']);

function setName(piece: Piece, names: Names): void {
  const [, name, sign, ...rest] = piece.tokens;
  if (name?.kind !== 'name' || sign?.text !== '=')
    throw new TemplateError('{% set %} needs a name and a value');
  names.set(name.text, new Parser(rest, names).whole());
}

function joined(all: readonly Expression[]): Expression {
  const parts = all.filter((part) => !isBlank(part));
  const [only] = parts;
  if (only === undefined) return constant('');
  return parts.length === 1 ? only : { kind: 'join', parts };
}

/** The binary operators but for comparisons, from those that bind least; all of them group to the left. */
const LOGIC: readonly (readonly BinaryOperator[])[] = [['or'], ['and']];
const ARITHMETIC: readonly (readonly BinaryOperator[])[] = [['+', '-'], ['~'], ['*', '/', '//', '%'], ['**']];
const COMPARISONS: readonly BinaryOperator[] = ['==', '!=', '<', '>', '<=', '>=', 'in'];

const WORD_CONSTANTS: Readonly<Record<string, boolean | null>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};

/** Reads expressions by precedence: `or`, `and`, `not`, comparisons, arithmetic, signs, filters. */
class Parser {
  readonly #tokens: readonly JinjaToken[];
  readonly #names: Names;
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly JinjaToken[], names: Names) {
    this.#tokens = tokens;
    this.#names = names;
  }

  whole(): Expression {
    const expression = this.#expressionOrTuple();
    const left = this.#tokens[this.#at];
    if (left !== undefined) throw new TemplateError(`“${left.text}” is not expected`);
    return expression;
  }

  #expressionOrTuple(): Expression {
    const first = this.#expression();
    if (!this.#isSign(',')) return first;
    const items = [first];
    while (this.#take(',')) {
      if (this.#tokens[this.#at] === undefined || this.#isSign(')')) break;
      items.push(this.#expression());
    }
    return { kind: 'list', items };
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError('the expression is nested too deep');
    let expression = this.#logic();
    while (this.#takeWord('if')) {
      const when = this.#logic();
      expression = this.#takeWord('else')
        ? { kind: 'choose', when, then: expression, otherwise: this.#expression() }
        : { kind: 'choose', when, then: expression };
    }
    this.#depth--;
    return expression;
  }

  #logic(): Expression {
    return this.#binary(LOGIC, 0, () => this.#not());
  }

  #binary(
    levels: readonly (readonly BinaryOperator[])[],
    level: number,
    operand: () => Expression,
  ): Expression {
    const operators = levels[level];
    if (operators === undefined) return operand();
    let left = this.#binary(levels, level + 1, operand);
    for (;;) {
      const operator = this.#takeOperator(operators);
      if (operator === undefined) return left;
      left = { kind: 'binary', operator, left, right: this.#binary(levels, level + 1, operand) };
    }
  }

  #takeOperator(operators: readonly BinaryOperator[]): BinaryOperator | undefined {
    const token = this.#tokens[this.#at];
    const operator = token?.kind === 'text' ? undefined : operators.find((each) => each === token?.text);
    if (operator !== undefined) this.#at++;
    return operator;
  }

  #not(): Expression {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError('the expression is nested too deep');
    const isNot = this.#takeWord('not');
    const of = isNot ? this.#not() : this.#comparison();
    this.#depth--;
    return isNot ? { kind: 'unary', operator: 'not', of } : of;
  }

  /** Parses comparisons; `a < b < c` compares each with the next. */
  #comparison(): Expression {
    const sum = (): Expression => this.#binary(ARITHMETIC, 0, () => this.#signed(true));
    let left = sum();
    let all: Expression | undefined;
    for (;;) {
      const operator = this.#takeComparison();
      if (operator === undefined) return all ?? left;
      const right = sum();
      const one: Expression = { kind: 'binary', operator, left, right };
      all = all === undefined ? one : { kind: 'binary', operator: 'and', left: all, right: one };
      left = right;
    }
  }

  #takeComparison(): BinaryOperator | undefined {
    if (!this.#isWord('not') || this.#tokens[this.#at + 1]?.text !== 'in')
      return this.#takeOperator(COMPARISONS);
    this.#at += 2;
    return 'not in';
  }

  #signed(hasFilters: boolean): Expression {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError('the expression is nested too deep');
    const operator = this.#take('-') ? '-' : this.#take('+') ? '+' : undefined;
    const inner: Expression =
      operator === undefined ? this.#primary() : { kind: 'unary', operator, of: this.#signed(false) };
    const postfixed = this.#postfix(inner);
    this.#depth--;
    return hasFilters ? this.#filters(postfixed) : postfixed;
  }

  #primary(): Expression {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new TemplateError('the expression ends too early');
    if (token.kind === 'number') return constant(numberOf(token.text));
    if (token.kind === 'text') return constant(this.#adjacent(token.text));
    if (token.kind === 'name') {
      if (Object.hasOwn(WORD_CONSTANTS, token.text)) return constant(WORD_CONSTANTS[token.text]);
      return this.#names.get(token.text) ?? { kind: 'name', name: token.text };
    }
    if (token.text === '(') return this.#parenthesis();
    if (token.text === '[') return { kind: 'list', items: this.#items(']') };
    if (token.text === '{') return this.#map();
    throw new TemplateError(`“${token.text}” is not expected`);
  }

  #adjacent(first: string): string {
    let text = first;
    while (this.#tokens[this.#at]?.kind === 'text') text += this.#tokens[this.#at++]?.text ?? '';
    return text;
  }

  #parenthesis(): Expression {
    if (this.#take(')')) return { kind: 'list', items: [] };
    const inner = this.#expressionOrTuple();
    this.#expect(')');
    return inner;
  }

  #items(close: string): Expression[] {
    const items: Expression[] = [];
    while (!this.#take(close)) {
      items.push(this.#expression());
      if (!this.#take(',')) {
        this.#expect(close);
        break;
      }
    }
    return items;
  }

  #map(): Expression {
    const entries: [Expression, Expression][] = [];
    while (!this.#take('}')) {
      const key = this.#expression();
      this.#expect(':');
      entries.push([key, this.#expression()]);
      if (!this.#take(',')) {
        this.#expect('}');
        break;
      }
    }
    return { kind: 'map', entries };
  }

  #postfix(start: Expression): Expression {
    let of = start;
    for (;;) {
      if (this.#take('.')) {
        const key = this.#tokens[this.#at++];
        if (key?.kind === 'name') of = { kind: 'item', of, key: constant(key.text) };
        else if (key?.kind === 'number') of = { kind: 'item', of, key: constant(Number(key.text)) };
        else throw new TemplateError('a name is missing after “.”');
      } else if (this.#take('[')) of = this.#subscript(of);
      else if (this.#take('(')) of = { kind: 'call', of, args: this.#arguments() };
      else return of;
    }
  }

  #subscript(of: Expression): Expression {
    const bounds: (Expression | undefined)[] = [undefined];
    while (!this.#take(']')) {
      if (this.#take(':')) bounds.push(undefined);
      else bounds[bounds.length - 1] = this.#expression();
      if (this.#tokens[this.#at] === undefined) throw new TemplateError('“]” is missing');
    }
    const [from, to, step] = bounds;
    if (bounds.length === 1) {
      if (from === undefined) throw new TemplateError('a key is missing in “[]”');
      return { kind: 'item', of, key: from };
    }
    return {
      kind: 'slice',
      of,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...(step === undefined ? {} : { step }),
    };
  }

  #arguments(): Arguments {
    const positional: Expression[] = [];
    const named: Record<string, Expression> = {};
    while (!this.#take(')')) {
      const [name, sign] = [this.#tokens[this.#at], this.#tokens[this.#at + 1]];
      if (name?.kind === 'name' && sign?.kind === 'sign' && sign.text === '=') {
        this.#at += 2;
        named[name.text] = this.#expression();
      } else positional.push(this.#expression());
      if (!this.#take(',')) {
        this.#expect(')');
        break;
      }
    }
    return { positional, named };
  }

  #filters(start: Expression): Expression {
    let of = start;
    for (;;) {
      if (this.#take('|')) {
        const name = this.#dotted();
        of = { kind: 'filter', name, of, args: this.#take('(') ? this.#arguments() : NONE };
      } else if (this.#isWord('is')) {
        this.#at++;
        of = this.#test(of);
      } else if (this.#take('(')) of = { kind: 'call', of, args: this.#arguments() };
      else return of;
    }
  }

  #test(of: Expression): Expression {
    const isNot = this.#takeWord('not');
    const name = this.#dotted();
    let args = NONE;
    if (this.#take('(')) args = this.#arguments();
    else if (this.#startsValue()) args = { positional: [this.#postfix(this.#primary())], named: {} };
    const test: Expression = { kind: 'test', name, of, args };
    return isNot ? { kind: 'unary', operator: 'not', of: test } : test;
  }

  #startsValue(): boolean {
    const token = this.#tokens[this.#at];
    if (token === undefined) return false;
    if (token.kind === 'name') return !['else', 'or', 'and', 'if', 'is', 'in', 'not'].includes(token.text);
    return token.kind !== 'sign' || token.text === '[' || token.text === '{';
  }

  #dotted(): string {
    const token = this.#tokens[this.#at++];
    if (token?.kind !== 'name') throw new TemplateError('the name of a filter or a test is missing');
    let name = token.text;
    while (this.#take('.')) name += `.${this.#tokens[this.#at++]?.text ?? ''}`;
    return name;
  }

  #isSign(sign: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === 'sign' && token.text === sign;
  }

  #isWord(word: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === 'name' && token.text === word;
  }

  #take(sign: string): boolean {
    if (!this.#isSign(sign)) return false;
    this.#at++;
    return true;
  }

  #takeWord(word: string): boolean {
    if (!this.#isWord(word)) return false;
    this.#at++;
    return true;
  }

  #expect(sign: string): void {
    if (this.#take(sign)) return;
    const found = this.#tokens[this.#at];
    throw new TemplateError(
      found === undefined ? `“${sign}” is missing` : `“${sign}” is missing before “${found.text}”`,
    );
  }
}

const NONE: Arguments = { positional: [], named: {} };

function numberOf(text: string): number | Float {
  const value = Number(text.replaceAll('_', ''));
  return /[.e]/i.test(text) ? new Float(value) : value;
}
