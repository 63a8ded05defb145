import { children, groups } from '../../python/nodes.ts';
import type { PythonFile, PythonNode } from '../../python/python-file.ts';
import { unescaped } from '../../python/strings.ts';
import { Untaken } from '../findings.ts';
import { call, Code, isList, type FunctionCode, type TranslatedValue, type Value } from '../value.ts';
import { asCall, both, either, negated } from './row-conditions.ts';
import type { RowShape, RowValue } from './row-shape.ts';

const ORDER: Readonly<Record<string, string>> = {
  '>': 'above',
  '>=': 'atLeast',
  '<': 'below',
  '<=': 'atMost',
};
const TURNED: Readonly<Record<string, string>> = { '>': '<', '>=': '<=', '<': '>', '<=': '>=' };
const COMPARES = /^(?:[<>]=?|[=!]=|(?:not )?in|is(?: not)?)$/;
const SUMS: Readonly<Record<string, string>> = { '+': 'add', '-': 'subtract', '*': 'multiply' };

/** Values that count as false in Python, as JSON. */
const NOTHING = String.raw`^(?:null|false|""|\[\]|\{\}|-?0(?:\.0*)?(?:[eE].*)?)$`;

/** A field of the row: its keys from the top, and what takes its place where it is missing. */
interface Access {
  readonly keys: readonly string[];
  readonly fallback?: RowValue;
}
/** Reads expressions over a row, as it is at the place where they stand. */
export class RowExpressions {
  readonly #step: FunctionCode;
  readonly #file: PythonFile;
  /** The name of the row. */
  readonly #row: string;
  shape: RowShape;
  /** Names that the function gives values. */
  readonly own = new Map<string, RowValue>();

  constructor(step: FunctionCode, row: string, shape: RowShape) {
    this.#step = step;
    this.#file = step.file;
    this.#row = row;
    this.shape = shape;
  }

  refuse(node: PythonNode): Untaken {
    return new Untaken(
      'a step whose code is not understood',
      new Code(this.#file.oneLine(node), this.#file.place(node.from).line),
    );
  }

  isRow(node: PythonNode): boolean {
    return node.name === 'VariableName' && this.#file.text(node) === this.#row;
  }

  /** Refuses a key that a path would take for more than one. */
  plainKey(key: string, node: PythonNode): string {
    if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key)) throw this.refuse(node);
    return key;
  }

  methodOf(
    node: PythonNode,
  ): { readonly of: PythonNode; readonly name: string; readonly args: readonly PythonNode[] } | undefined {
    if (node.name !== 'CallExpression') return undefined;
    const [callee, list] = children(node);
    if (callee?.name !== 'MemberExpression' || callee.lastChild?.name !== 'PropertyName') return undefined;
    if (callee.firstChild === null || list === undefined) return undefined;
    const args = groups(list).flatMap((group) =>
      group.length === 1 ? group : group.length === 0 ? [] : [node],
    );
    return { of: callee.firstChild, name: this.#file.text(callee.lastChild), args };
  }

  /** Returns a value that is known now; undefined for any other one. */
  constant(node: PythonNode): Value | undefined {
    if (node.name === 'VariableName' && (this.isRow(node) || this.own.has(this.#file.text(node))))
      return undefined;
    const value = node.name === 'SetExpression' ? this.#items(node) : this.#step.read(node);
    return isPlain(value) ? value : undefined;
  }

  #items(node: PythonNode): readonly Value[] {
    return groups(node).flatMap((group) => group.map((item) => this.#step.read(item)));
  }

  /** Returns the value of an expression. @throws {Untaken} */
  value(node: PythonNode): RowValue {
    const constant = this.constant(node);
    if (constant !== undefined) return constantOf(constant);
    const access = this.#access(node);
    if (access !== undefined) return this.field(access, node);
    const parts = children(node);
    const [first, second, third, , last] = parts;
    switch (node.name) {
      case 'VariableName': {
        const own = this.own.get(this.#file.text(node));
        if (own !== undefined) return own;
        break;
      }
      case 'ParenthesizedExpression':
        if (second !== undefined) return this.value(second);
        break;
      case 'FormatString':
        return this.#text(node);
      case 'CallExpression':
        return this.#called(node);
      case 'ConditionalExpression':
        if (first !== undefined && third !== undefined && last !== undefined)
          return this.#choice(third, this.value(first), this.value(last));
        break;
      case 'BinaryExpression':
        if (first !== undefined && second !== undefined && third !== undefined) {
          const sign = this.#file.text(second);
          if (sign === 'or') return this.#choice(first, this.value(first), this.value(third));
          if (sign === 'and') return this.#choice(first, this.value(third), this.value(first));
          if (Object.hasOwn(SUMS, sign)) return this.#sum(sign, this.value(first), this.value(third), node);
        }
        break;
    }
    const sign = this.#signOf(parts);
    if (COMPARES.test(sign) || (node.name === 'UnaryExpression' && first?.name === 'not'))
      return { out: asCall(this.test(node)), kind: 'boolean' };
    throw this.refuse(node);
  }

  #choice(test: PythonNode, yes: RowValue, no: RowValue): RowValue {
    const kind = yes.kind === no.kind ? yes.kind : undefined;
    return {
      out: call('if', asCall(this.test(test)), yes.out, no.out),
      ...(kind === undefined ? {} : { kind }),
    };
  }

  /** Only whole numbers are reckoned with: fractions are rounded there, and not here. */
  #sum(sign: string, left: RowValue, right: RowValue, node: PythonNode): RowValue {
    const isText = left.kind === 'text' || right.kind === 'text';
    if (sign === '+' && isText && left.kind !== 'number' && right.kind !== 'number')
      return { out: call('concat', left.out, right.out), kind: 'text' };
    throw this.refuse(node);
  }

  /** Returns `f"…{row["a"]}…"`. */
  #text(node: PythonNode): RowValue {
    const [, quote = ''] = /^f("""|'''|"|')/i.exec(this.#file.text(node)) ?? [];
    if (quote === '') throw this.refuse(node);
    const parts: TranslatedValue[] = [];
    const add = (from: number, to: number): void => {
      const text = this.#file.text({ from, to }).replaceAll(/\{\{|\}\}/g, (twice) => twice.charAt(0));
      if (text !== '') parts.push(unescaped(text));
    };
    let at = node.from + 1 + quote.length;
    for (const part of children(node).filter(({ name }) => name === 'FormatReplacement')) {
      const [, expression, close] = children(part);
      if (expression === undefined || close?.name !== '}') throw this.refuse(node);
      add(at, part.from);
      const { out, kind } = this.value(expression);
      parts.push(kind === 'text' ? out : call('python_text', out));
      at = part.to;
    }
    add(at, node.to - quote.length);
    return { out: call('concat', ...parts), kind: 'text' };
  }

  #called(node: PythonNode): RowValue {
    const method = this.methodOf(node);
    if (method !== undefined) {
      const name = { lower: 'lower', upper: 'upper', strip: 'trim' }[method.name];
      if (name === undefined || method.args.length > 0) throw this.refuse(node);
      return { out: call(name, this.value(method.of).out), kind: 'text' };
    }
    const [callee, list] = children(node);
    const given = list === undefined ? [] : groups(list).filter((group) => group.length > 0);
    const [only] = given;
    const name = callee === undefined ? '' : this.#file.text(callee);
    if (given.length !== 1 || only?.length !== 1 || only[0] === undefined) throw this.refuse(node);
    if (name === 'str') return { out: call('python_text', this.value(only[0]).out), kind: 'text' };
    if (name === 'len') return { out: call('length', this.value(only[0]).out), kind: 'number' };
    if (name === 'bool') return { out: asCall(this.test(only[0])), kind: 'boolean' };
    throw this.refuse(node);
  }

  /** Returns the field that an expression is: `row["a"]["b"]`, `row.get("a", {}).get("b")`. */
  #access(node: PythonNode): Access | undefined {
    if (node.name === 'MemberExpression') {
      const [object, bracket, key] = children(node);
      if (object === undefined || bracket?.name !== '[' || key === undefined) return undefined;
      return this.#below(object, key, undefined, node);
    }
    const method = this.methodOf(node);
    const [key, fallback, ...more] = method?.args ?? [];
    if (method?.name !== 'get' || key === undefined || more.length > 0) return undefined;
    const given = fallback === undefined ? { out: null } : this.#fallback(fallback);
    return this.#below(method.of, key, given, node);
  }

  #fallback(node: PythonNode): RowValue {
    // an object to look into
    if (node.name === 'DictionaryExpression' && children(node).length === 2) return { out: {} };
    return this.value(node);
  }

  #below(
    object: PythonNode,
    keyNode: PythonNode,
    fallback: RowValue | undefined,
    node: PythonNode,
  ): Access | undefined {
    const around = this.isRow(object) ? { keys: [] } : this.#access(object);
    if (around === undefined) return undefined;
    const key = this.constant(keyNode);
    if (typeof key !== 'string') throw this.refuse(node);
    // below an object that is missing there is nothing
    if (around.fallback !== undefined && JSON.stringify(around.fallback.out) !== '{}')
      throw this.refuse(node);
    return {
      keys: [...around.keys, this.plainKey(key, node)],
      ...(fallback === undefined ? {} : { fallback }),
    };
  }

  field({ keys, fallback }: Access, node: PythonNode): RowValue {
    const [root = '', ...below] = keys;
    const { fields, keepsRest } = this.shape;
    if (fields.has(root) || !keepsRest) {
      const known = fields.get(root);
      if (known === undefined) {
        if (fallback === undefined) throw this.refuse(node);
        return fallback;
      }
      if (below.length > 0) throw this.refuse(node);
      return known;
    }
    const path = keys.join('.');
    if (keys.some((key) => key.includes('-'))) throw this.refuse(node);
    if (fallback === undefined || fallback.out === null) return { out: { path } };
    const parent = keys.slice(0, -1).join('.');
    const isThere = call('is', { path: parent === '' ? '.' : parent }, 'contains', keys.at(-1) ?? '');
    return { out: call('if', isThere, { path }, fallback.out) };
  }

  /** Returns the condition that an expression counts as true. @throws {Untaken} */
  test(node: PythonNode): TranslatedValue {
    const parts = children(node);
    const [first, second] = parts;
    if (node.name === 'ParenthesizedExpression' && second !== undefined) return this.test(second);
    if (node.name === 'UnaryExpression' && second !== undefined && first?.name === 'not')
      return negated(this.test(second));
    if (node.name === 'BinaryExpression' && first !== undefined && second !== undefined) {
      const right = parts.at(-1);
      const sign = this.#signOf(parts);
      if (right === undefined) throw this.refuse(node);
      if (sign === 'and') return both(this.test(first), this.test(right));
      if (sign === 'or') return either(this.test(first), this.test(right));
      const middle = first.name === 'BinaryExpression' ? children(first) : [];
      // a < b < c
      if (Object.hasOwn(ORDER, sign) && middle[1]?.name === 'CompareOp' && middle[2] !== undefined)
        return both(this.test(first), this.#compared(sign, middle[2], right, node));
      if (COMPARES.test(sign)) return this.#compared(sign, first, right, node);
    }
    if (node.name === 'ConditionalExpression') {
      const [then, , test, , otherwise] = parts;
      if (then === undefined || test === undefined || otherwise === undefined) throw this.refuse(node);
      const holds = this.test(test);
      return either(both(holds, this.test(then)), both(negated(holds), this.test(otherwise)));
    }
    const method = this.methodOf(node);
    const word =
      method === undefined ? undefined : { startswith: 'startsWith', endswith: 'endsWith' }[method.name];
    if (method !== undefined && word !== undefined) {
      const [given] = method.args;
      const text = given === undefined ? undefined : this.constant(given);
      if (typeof text !== 'string' || method.args.length > 1) throw this.refuse(node);
      return { value: sourceOf(this.value(method.of)), is: word, than: text };
    }
    const value = this.value(node);
    if (value.isConstant === true) return isTrue(value.out);
    return both(
      { value: sourceOf(value), is: 'present' },
      negated({ value: call('json_encode', value.out), is: 'matches', than: NOTHING }),
    );
  }

  /** Returns the words between the two sides of an expression. */
  #signOf(parts: readonly PythonNode[]): string {
    return parts
      .slice(1, -1)
      .map((part) => this.#file.text(part))
      .join(' ');
  }

  #compared(sign: string, left: PythonNode, right: PythonNode, node: PythonNode): TranslatedValue {
    const isNot = sign.startsWith('not') || sign.endsWith('not') || sign === '!=';
    const plain = isNot ? ({ 'not in': 'in', 'is not': 'is', '!=': '==' }[sign] ?? sign) : sign;
    const condition = this.#comparison(plain, left, right, node);
    return isNot ? negated(condition) : condition;
  }

  #comparison(sign: string, left: PythonNode, right: PythonNode, node: PythonNode): TranslatedValue {
    const than = this.constant(right);
    if (sign === 'in') {
      if (isList(than)) {
        const value = this.value(left);
        return than.map((item) => this.#equal(value, item, node)).reduce(either, false);
      }
      const text = this.constant(left);
      if (typeof text !== 'string') throw this.refuse(node);
      if (this.isRow(right)) {
        if (!this.shape.keepsRest || this.shape.fields.has(text)) throw this.refuse(node);
        return { value: { path: '.' }, is: 'contains', than: text };
      }
      // which a number in a list would be, too
      if (mayBeOther(text)) throw this.refuse(node);
      return { value: sourceOf(this.value(right)), is: 'contains', than: text };
    }
    if (than === undefined) {
      const turned = TURNED[sign] ?? sign;
      if (this.constant(left) === undefined) throw this.refuse(node);
      return this.#comparison(turned, right, left, node);
    }
    const value = this.value(left);
    if (sign === '==' || (sign === 'is' && (than === null || typeof than === 'boolean')))
      return sign === 'is' && typeof than === 'boolean'
        ? { value: call('json_encode', value.out), is: 'matches', than: `^${than}$` }
        : this.#equal(value, than, node);
    const is = ORDER[sign];
    if (is === undefined || value.isConstant === true) throw this.refuse(node);
    if (typeof than === 'number') return { value: sourceOf(value), is, than, as: 'number' };
    if (typeof than === 'string') return { value: sourceOf(value), is, than, as: 'text' };
    throw this.refuse(node);
  }

  #equal(value: RowValue, than: Value, node: PythonNode): TranslatedValue {
    if (value.isConstant === true) throw this.refuse(node);
    const source = sourceOf(value);
    const json = call('json_encode', value.out);
    if (than === null) return { value: source, is: 'absent' };
    // true is 1 there, and false is 0
    if (typeof than === 'boolean' || than === 0 || than === 1)
      return {
        value: json,
        is: 'matches',
        than: Number(than) === 1 ? String.raw`^(?:true|1(?:\.0+)?)$` : String.raw`^(?:false|-?0(?:\.0+)?)$`,
      };
    if (typeof than === 'number')
      return both({ value: json, is: 'matches', than: '^-?[0-9]' }, { value: source, is: 'equals', than });
    if (typeof than !== 'string') throw this.refuse(node);
    const equal = { value: source, is: 'equals', than, as: 'text' };
    return mayBeOther(than) ? both({ value: json, is: 'matches', than: '^"' }, equal) : equal;
  }
}

/** Tells whether a text could be the same as a number, true, false or nothing. */
function mayBeOther(text: string): boolean {
  return /^(?:true|false|[-+]?[\d.].*)?$/.test(text);
}

function isPlain(value: Value): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'number') return true;
  return typeof value === 'boolean' || (isList(value) && value.every(isPlain));
}

/** @param value one that {@link isPlain} */
function constantOf(value: Value): RowValue {
  // a plain value is JSON, which the two types write in different words
  const out = JSON.parse(JSON.stringify(value)) as TranslatedValue;
  const kind = typeof out;
  return {
    out,
    isConstant: true,
    ...(kind === 'string' ? { kind: 'text' } : kind === 'number' || kind === 'boolean' ? { kind } : {}),
  };
}

/** Returns a value as the one that a condition looks at. */
function sourceOf({ out, isConstant }: RowValue): TranslatedValue {
  return isConstant === true ? { value: out } : out;
}

function isTrue(out: TranslatedValue): boolean {
  return Array.isArray(out) ? out.length > 0 : Boolean(out);
}
