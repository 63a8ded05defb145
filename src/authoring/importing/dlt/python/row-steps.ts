import { children, groups } from '../../python/nodes.ts';
import type { PythonFile, PythonNode } from '../../python/python-file.ts';
import { Untaken } from '../findings.ts';
import { call, isList, type FunctionCode, type TranslatedValue } from '../value.ts';
import { asCall, both, either, negated } from './row-conditions.ts';
import { RowExpressions } from './row-expressions.ts';
import { withField, type RowShape, type RowValue } from './row-shape.ts';

/**
 * Returns what a step makes of the rows that earlier steps made: a function that is given a row and returns it changed, or
 * tells whether it is kept. It is only read.
 *
 * @throws {Untaken} for code that does anything else
 */
export function withStep(shape: RowShape, kind: 'filter' | 'map', step: FunctionCode): RowShape {
  const { file, node } = step;
  const [row, ...others] = parametersOf(node, file);
  const isLambda = node.name === 'LambdaExpression';
  const body = isLambda ? node.lastChild : children(node).at(-1);
  if (row === undefined || others.length > 0 || body === null || body === undefined)
    throw new Untaken('a step with other arguments than a row', step);
  const reading = new RowBody(step, row, shape);
  if (kind === 'filter') {
    const holds = isLambda ? reading.verdictOf(body) : reading.verdict(statementsOf(body));
    if (holds === true) return shape;
    if (holds === false) throw new Untaken('a filter that keeps no row', step);
    return { ...shape, where: [...shape.where, holds] };
  }
  const made = isLambda ? reading.row(body) : reading.rowOfBody(statementsOf(body));
  return { ...made, where: shape.where };
}

/** Returns the names of the parameters; those of a lambda are in no brackets. */
function parametersOf(node: PythonNode, file: PythonFile): readonly string[] {
  const list = children(node).find(({ name }) => name === 'ParamList');
  return (list === undefined ? [] : children(list))
    .filter(({ name }) => !['(', ')', ',', 'TypeDef'].includes(name))
    .map((part) => (part.name === 'VariableName' ? file.text(part) : '*'));
}

/** Returns the statements of a body, without its text of documentation. */
function statementsOf(body: PythonNode): readonly PythonNode[] {
  const [, ...all] = children(body);
  return all.filter(
    ({ name, firstChild }) =>
      name !== 'PassStatement' &&
      !(name === 'ExpressionStatement' && /^(?:String|ContinuedString)$/.test(firstChild?.name ?? '')),
  );
}

/** Reads what the statements of a function do with a row. */
class RowBody {
  readonly #step: FunctionCode;
  readonly #file: PythonFile;
  readonly #row: string;
  readonly #of: RowExpressions;

  constructor(step: FunctionCode, row: string, shape: RowShape) {
    this.#step = step;
    this.#file = step.file;
    this.#row = row;
    this.#of = new RowExpressions(step, row, shape);
  }

  /** Returns what the expression of a filter says. */
  verdictOf(expression: PythonNode): TranslatedValue {
    return this.#of.test(expression);
  }

  /** Returns what the statements of a filter say: each way through them ends with `return`. */
  verdict([first, ...rest]: readonly PythonNode[]): TranslatedValue {
    if (first === undefined) return false;
    if (first.name === 'ReturnStatement') {
      const [, value] = children(first);
      return value === undefined ? false : this.#of.test(value);
    }
    if (first.name === 'AssignStatement' && this.#assigns(first)) return this.verdict(rest);
    if (first.name !== 'IfStatement') throw this.#of.refuse(first);
    const { test, then, otherwise } = this.#branches(first);
    const holds = this.#of.test(test);
    // what follows is reached where a branch does not return
    const [yes, no] = [this.verdict([...then, ...rest]), this.verdict([...otherwise, ...rest])];
    return either(both(holds, yes), both(negated(holds), no));
  }

  #branches(node: PythonNode): {
    readonly test: PythonNode;
    readonly then: readonly PythonNode[];
    readonly otherwise: readonly PythonNode[];
  } {
    const [, test, then, sign, ...others] = children(node);
    const [body] = others;
    if (test === undefined || then === undefined || sign?.name === 'elif') throw this.#of.refuse(node);
    return { test, then: statementsOf(then), otherwise: body === undefined ? [] : statementsOf(body) };
  }

  /** Keeps the value of `name = …`. */
  #assigns(node: PythonNode): boolean {
    const parts = children(node).filter(({ name }) => name !== 'TypeDef');
    const [name, sign, value, ...more] = parts;
    if (name?.name !== 'VariableName' || sign?.name !== 'AssignOp' || value === undefined) return false;
    if (more.length > 0 || this.#of.isRow(name)) throw this.#of.refuse(node);
    this.#of.own.set(this.#file.text(name), this.#of.value(value));
    return true;
  }

  /** Returns the row that a function returns, changed by its statements. */
  rowOfBody(statements: readonly PythonNode[]): RowShape {
    const last = statements.at(-1);
    if (last?.name !== 'ReturnStatement') throw this.#of.refuse(last ?? this.#step.node);
    for (const statement of statements.slice(0, -1)) this.#run(statement);
    const [, value] = children(last);
    if (value === undefined) throw this.#of.refuse(last);
    return this.row(value);
  }

  #run(statement: PythonNode): void {
    const parts = children(statement);
    const [first, second, third] = parts;
    if (statement.name === 'AssignStatement') {
      if (this.#assigns(statement)) return;
      const key = first === undefined ? undefined : this.#keyOf(first);
      if (key === undefined || second?.name !== 'AssignOp' || third === undefined || parts.length > 3)
        throw this.#of.refuse(statement);
      const popped = this.#popped(third);
      const value = popped ?? this.#of.value(third);
      this.#set(key, value);
      return;
    }
    if (statement.name === 'DeleteStatement') {
      const keys = parts.slice(1).filter(({ name }) => name !== ',');
      for (const part of keys) {
        const key = this.#keyOf(part);
        if (key === undefined) throw this.#of.refuse(statement);
        this.#set(key, undefined);
      }
      return;
    }
    if (statement.name === 'IfStatement') {
      this.#runIf(statement);
      return;
    }
    if (statement.name !== 'ExpressionStatement' || first === undefined) throw this.#of.refuse(statement);
    if (this.#popped(first) !== undefined) return;
    const [callee, list] = children(first);
    const given = list === undefined ? [] : groups(list).filter((group) => group.length > 0);
    const [only] = given;
    const isUpdate =
      callee?.name === 'MemberExpression' &&
      callee.firstChild !== null &&
      this.#of.isRow(callee.firstChild) &&
      callee.lastChild !== null &&
      this.#file.text(callee.lastChild) === 'update';
    if (!isUpdate || given.length !== 1 || only?.length !== 1 || only[0] === undefined)
      throw this.#of.refuse(statement);
    this.#of.shape = this.#withEntries(this.#of.shape, only[0]);
  }

  /** Sets fields where a test holds; the others keep what they have. */
  #runIf(statement: PythonNode): void {
    const { test, then, otherwise } = this.#branches(statement);
    const holds = this.#of.test(test);
    const before = this.#of.shape;
    const after = [then, otherwise].map((branch) => {
      this.#of.shape = before;
      const own = [...this.#of.own];
      for (const each of branch) this.#run(each);
      // a name with one value here and another one there
      if (this.#of.own.size !== own.length) throw this.#of.refuse(statement);
      return this.#of.shape;
    });
    this.#of.shape = before;
    const names = new Set(after.flatMap(({ fields }) => [...fields.keys()]));
    for (const name of names) {
      const [yes, no] = after.map(({ fields, keepsRest }) =>
        fields.has(name) || !keepsRest ? fields.get(name) : { out: { path: name } },
      );
      const isSame = JSON.stringify(yes) === JSON.stringify(no);
      // a field that is taken out of some rows: an empty cell
      const chosen = { out: call('if', asCall(holds), yes?.out ?? null, no?.out ?? null) };
      this.#set(name, isSame ? yes : chosen);
    }
  }

  #set(key: string, value: RowValue | undefined): void {
    this.#of.shape = { ...this.#of.shape, fields: new Map([...this.#of.shape.fields, [key, value]]) };
  }

  /** Returns the key of `row["key"]`. */
  #keyOf(node: PythonNode): string | undefined {
    const [object, bracket, key, close] = children(node);
    if (node.name !== 'MemberExpression' || bracket?.name !== '[' || close?.name !== ']') return undefined;
    if (object === undefined || key === undefined || !this.#of.isRow(object)) return undefined;
    const name = this.#of.constant(key);
    return typeof name === 'string' ? this.#of.plainKey(name, node) : undefined;
  }

  /** Takes out the field of `row.pop("key")`, and returns its value; undefined for anything else. */
  #popped(node: PythonNode): RowValue | undefined {
    const called = this.#of.methodOf(node);
    if (called === undefined || called.name !== 'pop' || !this.#of.isRow(called.of)) return undefined;
    const [key, fallback] = called.args;
    const name = key === undefined ? undefined : this.#of.constant(key);
    if (typeof name !== 'string') throw this.#of.refuse(node);
    const value = this.#of.field(
      {
        keys: [this.#of.plainKey(name, node)],
        ...(fallback === undefined ? {} : { fallback: this.#of.value(fallback) }),
      },
      node,
    );
    this.#set(name, undefined);
    return value;
  }

  /** Returns a row that an expression makes: the row itself, or a dictionary. */
  row(node: PythonNode): RowShape {
    if (this.#of.isRow(node)) return this.#of.shape;
    const parts = children(node);
    const [first, second, third] = parts;
    if (node.name === 'ParenthesizedExpression' && second !== undefined) return this.row(second);
    if (node.name === 'DictionaryExpression')
      return this.#withEntries({ where: [], fields: new Map(), keepsRest: false }, node);
    if (node.name === 'DictionaryComprehensionExpression') return this.#chosen(node);
    if (node.name === 'BinaryExpression' && first !== undefined && third !== undefined)
      if (second !== undefined && this.#file.text(second) === '|')
        return this.#withEntries(this.row(first), third);
    if (node.name === 'CallExpression' && first !== undefined && this.#file.text(first) === 'dict') {
      const [of, ...named] = second === undefined ? [] : groups(second);
      if (of?.length === 1 && of[0] !== undefined)
        return named.reduce((shape, [name, sign, value]) => {
          if (name?.name !== 'VariableName' || sign?.name !== 'AssignOp' || value === undefined)
            throw this.#of.refuse(node);
          return withField(shape, this.#file.text(name), this.#of.value(value));
        }, this.row(of[0]));
    }
    throw this.#of.refuse(node);
  }

  /** Returns a row with the entries of a dictionary besides. */
  #withEntries(start: RowShape, node: PythonNode): RowShape {
    if (node.name !== 'DictionaryExpression') throw this.#of.refuse(node);
    let shape = start;
    for (const [first, second, third] of groups(node)) {
      if (first === undefined) continue;
      if (first.name === '**' && second !== undefined) {
        if (this.#of.isRow(second) && shape.fields.size > 0) throw this.#of.refuse(node);
        shape = this.#of.isRow(second) ? this.#of.shape : this.#withEntries(shape, second);
        continue;
      }
      const key = this.#of.constant(first);
      if (typeof key !== 'string' || third === undefined) throw this.#of.refuse(node);
      shape = withField(shape, this.#of.plainKey(key, node), this.#of.value(third));
    }
    return shape;
  }

  /** Returns the row of `{k: v for k, v in row.items() if k not in (…)}` and `{k: row[k] for k in (…)}`. */
  #chosen(node: PythonNode): RowShape {
    const text = this.#file.oneLine(node).replaceAll(/\s/g, '');
    const [, key = '', value = ''] = /^\{(\w+):(.+?)for(?=\w)/.exec(text) ?? [];
    const inside = children(node).filter(({ name }) => !['{', '}'].includes(name));
    const last = inside.at(-1);
    const list = last?.name === 'BinaryExpression' ? last.lastChild : last;
    const given = list === null || list === undefined ? undefined : this.#of.constant(list);
    const words = typeof given === 'string' ? [given] : given;
    const names = isList(words) ? words.filter((name) => typeof name === 'string') : [];
    if (list === null || list === undefined || last === undefined || names.length === 0)
      throw this.#of.refuse(node);
    const start = text.slice(0, -1 - this.#file.oneLine(last).replaceAll(/\s/g, '').length);
    const test = this.#file.oneLine({ from: last.from, to: list.from }).replaceAll(/\s/g, '');
    const items = `{${key}:${value}for${key},${value}in${this.#row}.items()if`;
    const isOne = typeof given === 'string';
    if (start === items && test === (isOne ? `${key}!=` : `${key}notin`))
      return names.reduce(
        (shape, name) => withField(shape, this.#of.plainKey(name, node), undefined),
        this.#of.shape,
      );
    const isPicked =
      !isOne &&
      ((start === items && test === `${key}in`) ||
        (last === list && start === `{${key}:${this.#row}[${key}]for${key}in`));
    if (!isPicked) throw this.#of.refuse(node);
    const fields = names.map((name): [string, RowValue | undefined] => [
      name,
      this.#of.field({ keys: [this.#of.plainKey(name, node)], fallback: { out: null } }, node),
    ]);
    return { where: [], fields: new Map(fields), keepsRest: false };
  }
}
