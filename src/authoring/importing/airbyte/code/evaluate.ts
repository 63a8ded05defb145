import { children, groups } from '../../python/nodes.ts';
import type { PythonNode } from '../../python/python-file.ts';
import { unescaped } from '../../python/strings.ts';
import type { ManifestComponent } from '../component.ts';
import {
  constant,
  isConstant,
  isItems,
  isMapping,
  type Expression,
  type BinaryOperator,
} from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { isTruthy } from '../jinja/values.ts';
import { get, isMap } from '../node.ts';
import { callBuiltin, callMethod, type CallArguments } from './builtins.ts';
import type { CodeClass, CodeMethod } from './component-code.ts';
import { CodeRefused, Raised } from './refused.ts';
import {
  dict,
  isExpression,
  isText,
  joined,
  type CodeMap,
  type CodeReader,
  type CodeValue,
} from './values.ts';

/** Tells what a condition of the code comes to. */
export type Decide = (condition: Expression) => boolean;

/** Most statements of one component: loops over what is known could be long. */
const MAX_STEPS = 20_000;

/** A value of a generator; with `isAll` all values of another one. */
export interface Yielded {
  readonly value: CodeValue;
  readonly isAll: boolean;
  readonly node: PythonNode;
}

type Done = { readonly value: CodeValue } | undefined;
type Names = Map<string, CodeValue>;

/**
 * One object of a class of Python that is worked out as far as it can be: what is known at once, and expressions for
 * the rest. Anything that is not understood is refused.
 */
export class CodeObject implements CodeReader {
  readonly type: CodeClass;
  readonly component: ManifestComponent;
  readonly attributes: Names = new Map();
  readonly #decide: Decide;
  readonly #base: BaseClass;
  /** Classes whose methods are running. */
  readonly #classes: string[] = [];
  /** Fields that parts of the answer were given. */
  readonly written = new Set<string>();
  /** Values that a generator has given. */
  readonly yielded: Yielded[] = [];
  #steps = 0;
  #depth = 0;
  /** Counts the calls from outside: time goes by between them. */
  now = 0;

  constructor(type: CodeClass, component: ManifestComponent, base: BaseClass, decide: Decide) {
    this.type = type;
    this.component = component;
    this.#base = base;
    this.#decide = decide;
  }

  /** Tells whether a condition holds; one that is not known now is decided. */
  isTrue(value: CodeValue): boolean {
    if (isExpression(value)) {
      const folded = fold(value, new Map());
      if (isConstant(folded)) return isTruthy(folded.value);
      if (isAnswered(folded)) return true;
      return this.#decide(folded);
    }
    if (value.kind === 'entry') throw this.refused(undefined, 'a condition on what an answer has');
    if (value.kind === 'dict') return value.entries.size > 0;
    if (value.kind === 'items') return value.values.length > 0;
    return value.kind === 'written' ? isTruthy(value.node) : true;
  }

  /** Calls a method of the class, or of what it extends. */
  callMethod(name: string, args: CallArguments, at: PythonNode | undefined, above?: string): CodeValue {
    const type = above === undefined ? this.type : this.#parentOf(above);
    const method = type?.methods.get(name);
    return method === undefined ? this.#ofBase(name, args, at) : this.call(method, args);
  }

  call(method: CodeMethod, { positional, named }: CallArguments): CodeValue {
    if (++this.#depth > 40) throw this.refused(method.node, 'calls without end');
    const odd = method.decorators.find((name) => !DECORATORS.has(name));
    if (odd !== undefined) throw this.refused(method.node, `the decorator “${odd}”`);
    const names: Names = new Map();
    const isStatic = method.decorators.includes('staticmethod');
    const given: CodeValue[] = isStatic ? [...positional] : [{ kind: 'self' }, ...positional];
    const left = new Map(named);
    for (const { name, stars, fallback } of method.parameters) {
      if (stars === 1) continue;
      if (stars === 2) {
        names.set(name, dict(left));
        continue;
      }
      const value = given.shift() ?? left.get(name);
      left.delete(name);
      if (value !== undefined) names.set(name, value);
      else if (fallback !== undefined) names.set(name, this.evaluate(fallback, names));
    }
    this.#classes.push(method.of);
    const done = this.#run(method.body, names);
    this.#classes.pop();
    this.#depth--;
    return done?.value ?? constant(null);
  }

  #parentOf(name: string): CodeClass | undefined {
    let type: CodeClass | undefined = this.type;
    while (type !== undefined && type.name !== name) type = type.parent;
    return type?.parent;
  }

  #ofBase(name: string, args: CallArguments, at: PythonNode | undefined): CodeValue {
    const found = this.#base.method(this, name, args);
    if (found === undefined) throw this.refused(at, `the method “${name}” of what the class extends`);
    return found;
  }

  /** Returns an attribute of the object. */
  attribute(name: string, at: PythonNode | undefined): CodeValue {
    const own = this.attributes.get(name);
    if (own !== undefined) return own;
    const method = this.type.methods.get(name);
    if (method?.decorators.some((name) => /^(?:functools\.)?(?:cached_)?property$/.test(name)) === true)
      return this.call(method, { positional: [], named: new Map() });
    if (method !== undefined) return { kind: 'method', of: { kind: 'self' }, name };
    if (name === 'config') return { kind: 'name', name: 'config' };
    if (name === '_parameters') return parametersOf(this.component);
    const child = this.component.child(name);
    const isComponent = child !== undefined && (child.type !== '' || child.className !== undefined);
    if (isComponent) return { kind: 'component', component: child };
    const node = this.component.get(name);
    if (this.type.fields.has(name)) {
      if (node !== undefined) return { kind: 'written', node };
      const fallback = this.type.fields.get(name);
      if (fallback !== undefined) return this.evaluate(fallback, new Map());
    }
    const ofBase = this.#base.attribute(this, name);
    if (ofBase !== undefined) return ofBase;
    throw this.refused(at, `the attribute “${name}”, whose value is not known`);
  }

  refused(at: PythonNode | undefined, what?: string): CodeRefused {
    const { file, path } = this.type.module;
    if (at === undefined) return new CodeRefused(`${path}: ${what ?? ''}`);
    const text = file.oneLine(at);
    const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    return new CodeRefused(`${path}, line ${file.place(at.from).line}: ${what ?? `“${shown}”`}`);
  }

  #run(statements: readonly PythonNode[], names: Names): Done {
    for (const statement of statements) {
      const done = this.#statement(statement, names);
      if (done !== undefined) return done;
    }
    return undefined;
  }

  #statement(node: PythonNode, names: Names): Done {
    if (++this.#steps > MAX_STEPS) throw this.refused(node, 'too long');
    const parts = children(node);
    switch (node.name) {
      case 'PassStatement':
      case 'ImportStatement':
        return undefined;
      case 'ExpressionStatement': {
        const [first] = parts;
        if (first !== undefined && !first.name.endsWith('String')) this.evaluate(first, names);
        return undefined;
      }
      case 'YieldStatement': {
        const isAll = parts[1]?.name === 'from';
        const given = parts.at(-1);
        if (given === undefined || parts.length !== (isAll ? 3 : 2)) throw this.refused(node);
        this.yielded.push({ value: this.evaluate(given, names), isAll, node });
        return undefined;
      }
      case 'ReturnStatement': {
        const [, ...values] = parts;
        const [only] = values;
        if (only === undefined) return { value: constant(null) };
        return { value: values.length === 1 ? this.evaluate(only, names) : this.#tuple(values, names) };
      }
      case 'RaiseStatement':
        throw new Raised();
      case 'AssignStatement':
        this.#assign(parts, names);
        return undefined;
      case 'IfStatement':
        return this.#if(parts, names);
      case 'ForStatement':
        return this.#for(node, parts, names);
      case 'TryStatement': {
        const bodies = parts.filter((part) => part.name === 'Body');
        const isRaised = bodies
          .slice(1)
          .every((body) => bodyOf(body).at(-1)?.name === 'RaiseStatement' || this.#isNoJson(parts, body));
        if (!isRaised) throw this.refused(node, 'an error that is passed over');
        return this.#run(bodyOf(bodies[0]), names);
      }
      default:
        throw this.refused(node);
    }
  }

  /** Tells if what is passed over is that an answer is no JSON: it ends the run here. */
  #isNoJson(parts: readonly PythonNode[], body: PythonNode): boolean {
    const named = parts[parts.indexOf(body) - 1];
    return named !== undefined && /^(?:[\w.]+\.)?JSONDecodeError$/.test(this.type.module.file.text(named));
  }

  #if(parts: readonly PythonNode[], names: Names): Done {
    for (let at = 0; at < parts.length;) {
      const word = parts[at]?.name;
      if (word === 'else') return this.#run(bodyOf(parts[at + 1]), names);
      const condition = parts[at + 1];
      if (condition === undefined) return undefined;
      if (this.isTrue(this.evaluate(condition, names))) return this.#run(bodyOf(parts[at + 2]), names);
      at += 3;
    }
    return undefined;
  }

  #for(node: PythonNode, parts: readonly PythonNode[], names: Names): Done {
    const at = parts.findIndex((part) => part.name === 'in');
    const targets = parts.slice(1, at).filter((part) => part.name !== ',');
    const [list, body] = [parts[at + 1], parts.at(-1)];
    if (list === undefined || parts.length !== at + 3) throw this.refused(node);
    const value = this.evaluate(list, names);
    const any = this.#base.each?.(value);
    for (const item of any ?? this.items(value, list)) {
      const values = targets.length === 1 ? [item] : this.items(item, list);
      targets.forEach((target, index) => {
        this.#put(target, values[index] ?? constant(null), names);
      });
      const done = this.#run(bodyOf(body), names);
      if (done !== undefined && any !== undefined) throw this.refused(node, 'a loop that ends early');
      if (done !== undefined) return done;
    }
    return undefined;
  }

  /** Returns the items of a list, and the keys of a dictionary, that are known now. */
  items(value: CodeValue, at: PythonNode | undefined): readonly CodeValue[] {
    if (value.kind === 'items') return value.values;
    if (value.kind === 'dict') return [...value.entries.keys()].map((key) => constant(key));
    if (value.kind === 'list') return value.items;
    if (value.kind === 'constant') {
      if (isItems(value.value)) return value.value.map((item) => constant(item));
      if (isMapping(value.value)) return Object.keys(value.value).map((key) => constant(key));
    }
    throw this.refused(at, 'a loop over what is known only while it runs');
  }

  #assign(parts: readonly PythonNode[], names: Names): void {
    const sign = parts.findIndex((part) => part.name === 'AssignOp');
    const targets = parts.slice(0, sign).filter(({ name }) => name !== ',' && name !== 'TypeDef');
    const values = parts.slice(sign + 1).filter((part) => part.name !== ',');
    const [first] = values;
    if (sign === -1 || first === undefined) return;
    if (values.some((part) => part.name === 'AssignOp')) throw this.refused(first.parent ?? first);
    const value = values.length === 1 ? this.evaluate(first, names) : this.#tuple(values, names);
    const [target] = targets;
    if (targets.length === 1 && target !== undefined) {
      this.#put(target, value, names);
      return;
    }
    const all = this.items(value, first);
    targets.forEach((each, index) => {
      this.#put(each, all[index] ?? constant(null), names);
    });
  }

  #put(target: PythonNode, value: CodeValue, names: Names): void {
    const { file } = this.type.module;
    if (target.name === 'VariableName') {
      names.set(file.text(target), value);
      return;
    }
    const [of, sign, key] = children(target);
    if (target.name !== 'MemberExpression' || of === undefined || key === undefined)
      throw this.refused(target);
    const owner = this.evaluate(of, names);
    if (sign?.name === '.' && owner.kind === 'self') {
      this.attributes.set(file.text(key), value);
      return;
    }
    const index = sign?.name === '[' ? this.textOf(this.evaluate(key, names)) : undefined;
    if (owner.kind === 'entry' && index !== undefined) {
      this.written.add(index);
      return;
    }
    if (owner.kind !== 'dict' || index === undefined) throw this.refused(target);
    owner.entries.set(index, value);
  }

  #tuple(nodes: readonly PythonNode[], names: Names): CodeValue {
    const values = nodes.filter((node) => node.name !== ',').map((node) => this.evaluate(node, names));
    return { kind: 'items', values };
  }

  /** Returns the text of a value that is one now. */
  textOf(value: CodeValue): string | undefined {
    if (value.kind === 'written') return typeof value.node === 'string' ? value.node : undefined;
    if (!isExpression(value)) return undefined;
    const folded = fold(value, new Map());
    return isConstant(folded) && typeof folded.value === 'string' ? folded.value : undefined;
  }

  /** Returns a value as an expression. */
  expressionOf(value: CodeValue, at: PythonNode | undefined): Expression {
    if (isExpression(value)) return value;
    if (value.kind === 'written') {
      const { node } = value;
      if (typeof node === 'string' && node.includes('{{'))
        throw this.refused(at, 'a template that is not rendered');
      return constant(node);
    }
    if (value.kind === 'items') {
      return { kind: 'list', items: value.values.map((item) => this.expressionOf(item, at)) };
    }
    if (value.kind === 'dict') {
      const entries = [...value.entries].map(
        ([key, item]) => [constant(key), this.expressionOf(item, at)] as const,
      );
      return { kind: 'map', entries };
    }
    throw this.refused(at);
  }

  evaluate(node: PythonNode, names: Names): CodeValue {
    if (++this.#steps > MAX_STEPS) throw this.refused(node, 'too long');
    const { file } = this.type.module;
    const parts = children(node);
    const [first, second, third] = parts;
    switch (node.name) {
      case 'None':
        return constant(null);
      case 'Boolean':
        return constant(file.text(node) === 'True');
      case 'Number':
        return constant(Number(file.text(node).replaceAll('_', '')));
      case 'String':
      case 'FormatString':
      case 'ContinuedString':
        return this.#string(node, names);
      case 'VariableName':
        return this.#name(node, names);
      case 'ParenthesizedExpression':
        return this.evaluate(second ?? node, names);
      case 'ArrayExpression':
      case 'TupleExpression':
        return { kind: 'items', values: groups(node).flatMap((group) => this.#item(group, names)) };
      case 'DictionaryExpression':
        return this.#dictionary(node, names);
      case 'ArrayComprehensionExpression':
      case 'ComprehensionExpression':
      case 'DictionaryComprehensionExpression':
        return this.#comprehension(node, parts, names);
      case 'MemberExpression':
        return this.#member(node, parts, names);
      case 'CallExpression':
        return this.#call(node, names);
      case 'ConditionalExpression': {
        const otherwise = parts[4];
        if (first === undefined || third === undefined || otherwise === undefined) throw this.refused(node);
        return this.isTrue(this.evaluate(third, names))
          ? this.evaluate(first, names)
          : this.evaluate(otherwise, names);
      }
      case 'UnaryExpression':
        if (first?.name === 'not' && second !== undefined) return this.#not(node, second, names);
        if (first !== undefined && file.text(first) === '-' && second !== undefined) {
          const of = this.expressionOf(this.evaluate(second, names), node);
          return fold({ kind: 'unary', operator: '-', of }, new Map());
        }
        throw this.refused(node);
      case 'BinaryExpression':
        return this.#binary(node, parts, names);
      default:
        throw this.refused(node);
    }
  }

  /** Negates. The parser takes `not a or b` for `not (a or b)`, and `x and not a or b` for `x and not (a or b)`. */
  #not(node: PythonNode, operand: PythonNode, names: Names): CodeValue {
    const [left, word, right] = children(operand);
    const isWider = operand.name === 'BinaryExpression' && (word?.name === 'and' || word?.name === 'or');
    if (!isWider) return constant(!this.isTrue(this.evaluate(operand, names)));
    if (left === undefined || right === undefined || node.parent?.name === 'BinaryExpression')
      throw this.refused(node, 'conditions whose order is not clear without brackets');
    const first = this.#not(node, left, names);
    if (this.isTrue(first) === (word.name === 'or')) return first;
    return this.evaluate(right, names);
  }

  #item([first, second]: readonly PythonNode[], names: Names): readonly CodeValue[] {
    if (first === undefined) return [];
    if (first.name === '*' && second !== undefined) return this.items(this.evaluate(second, names), first);
    return [this.evaluate(first, names)];
  }

  #name(node: PythonNode, names: Names): CodeValue {
    const { module } = this.type;
    const name = module.file.text(node);
    const known = names.get(name);
    if (known !== undefined) return known;
    const given = module.constants.get(name);
    if (given !== undefined) return this.evaluate(given, new Map());
    return { kind: 'module', path: module.pathOf(name) };
  }

  #string(node: PythonNode, names: Names): CodeValue {
    const { file } = this.type.module;
    const found: Expression[] = [];
    for (const each of node.name === 'ContinuedString' ? children(node) : [node]) {
      const whole = file.text(each);
      const [start = '', prefix = '', quotes = ''] = /^([a-z]*)("""|'''|"|')/i.exec(whole) ?? [];
      const plain = (from: number, to: number): Expression => {
        const text = file.text({ from, to });
        const written =
          each.name === 'FormatString' ? text.replaceAll(/\{\{|\}\}/g, (twice) => twice.charAt(0)) : text;
        return constant(/r/i.test(prefix) ? written : unescaped(written));
      };
      let at = each.from + start.length;
      for (const replacement of children(each).filter(({ name }) => name === 'FormatReplacement')) {
        const [, expression, close] = children(replacement);
        if (expression === undefined || close?.name !== '}') throw this.refused(each);
        found.push(
          plain(at, replacement.from),
          this.expressionOf(this.evaluate(expression, names), expression),
        );
        at = replacement.to;
      }
      found.push(plain(at, each.to - quotes.length));
    }
    return joined(found);
  }

  #dictionary(node: PythonNode, names: Names): CodeMap {
    const made = dict();
    for (const [first, second, third] of groups(node)) {
      if (first === undefined || second === undefined) continue;
      if (first.name === '**') {
        for (const [key, value] of this.entries(this.evaluate(second, names), second))
          made.entries.set(key, value);
        continue;
      }
      const key = this.textOf(this.evaluate(first, names));
      if (key === undefined || third === undefined) throw this.refused(node);
      made.entries.set(key, this.evaluate(third, names));
    }
    return made;
  }

  /** Makes a list, or a dictionary, of the items of one list that are known now. */
  #comprehension(node: PythonNode, parts: readonly PythonNode[], names: Names): CodeValue {
    const [first, at] = [
      parts.findIndex(({ name }) => name === 'for'),
      parts.findIndex(({ name }) => name === 'in'),
    ];
    const made = parts.slice(1, first);
    const targets = parts.slice(first + 1, at).filter(({ name }) => name !== ',');
    const list = parts[at + 1];
    const rest = parts.slice(at + 2, -1);
    const [word, condition] = rest;
    if (list === undefined || first < 1 || (rest.length > 0 && (word?.name !== 'if' || rest.length !== 2)))
      throw this.refused(node);
    const isMade = made.length === 3;
    const values: CodeValue[] = [];
    const entries: [string, CodeValue][] = [];
    const all = this.evaluate(list, names);
    for (const item of this.#base.each?.(all) ?? this.items(all, list)) {
      const inner: Names = new Map(names);
      const each = targets.length === 1 ? [item] : this.items(item, list);
      for (const [index, target] of targets.entries())
        this.#put(target, each[index] ?? constant(null), inner);
      if (condition !== undefined && !this.isTrue(this.evaluate(condition, inner))) continue;
      const [key, , value] = made;
      if (key === undefined) throw this.refused(node);
      if (!isMade) values.push(this.evaluate(key, inner));
      else {
        const name = this.textOf(this.evaluate(key, inner));
        if (name === undefined || value === undefined) throw this.refused(node);
        entries.push([name, this.evaluate(value, inner)]);
      }
    }
    return isMade ? dict(entries) : { kind: 'items', values };
  }

  /** Returns the entries of a dictionary that are known now. */
  entries(value: CodeValue, at: PythonNode | undefined): readonly (readonly [string, CodeValue])[] {
    if (value.kind === 'dict') return [...value.entries];
    if (value.kind === 'written' && isMap(value.node))
      return Object.entries(value.node).map(([key, node]) => [key, { kind: 'written', node }]);
    if (value.kind === 'constant' && isMapping(value.value))
      return Object.entries(value.value).map(([key, item]) => [key, constant(item)]);
    throw this.refused(at);
  }

  #member(node: PythonNode, parts: readonly PythonNode[], names: Names): CodeValue {
    const { file } = this.type.module;
    const [of, sign, key, end] = parts;
    if (of === undefined || key === undefined) throw this.refused(node);
    const owner = this.evaluate(of, names);
    if (sign?.name === '.') {
      const name = file.text(key);
      if (owner.kind === 'self') return this.attribute(name, node);
      if (owner.kind === 'module') {
        const path = `${owner.path}.${name}`;
        return path.endsWith('HTTPStatus.OK') ? constant(200) : { kind: 'module', path };
      }
      // only an answer that says yes is read
      if (owner.kind === 'answer' && name === 'status_code') return constant(200);
      if (owner.kind === 'answer' && name === 'ok') return constant(true);
      if (owner.kind === 'request' && name === 'headers') return owner.headers;
      const ofBase = this.#base.part?.(owner, name);
      if (ofBase !== undefined) return ofBase;
      if (owner.kind === 'component') return partOf(owner.component, name, owner);
      if (owner.kind === 'written' && name === 'string') return owner;
      if (owner.kind === 'seconds' && name === 'seconds') return owner.seconds;
      return { kind: 'method', of: owner, name };
    }
    if (sign?.name !== '[' || end?.name !== ']') throw this.refused(node);
    const index = this.evaluate(key, names);
    const field = owner.kind === 'row' && owner.key === undefined ? this.textOf(index) : undefined;
    if (owner.kind === 'row' && field !== undefined) return { ...owner, key: field };
    if (owner.kind === 'entry') {
      const name = this.textOf(index);
      if (name === undefined) throw this.refused(node);
      return { kind: 'entry', path: [...owner.path, name] };
    }
    if (owner.kind === 'dict' || owner.kind === 'items') {
      const found = this.itemOf(owner, index);
      if (found === undefined) throw this.refused(node);
      return found;
    }
    return fold(
      { kind: 'item', of: this.expressionOf(owner, node), key: this.expressionOf(index, node) },
      new Map(),
    );
  }

  itemOf(owner: CodeValue, index: CodeValue): CodeValue | undefined {
    if (owner.kind === 'dict') return owner.entries.get(this.textOf(index) ?? '');
    if (owner.kind === 'items' && index.kind === 'constant' && typeof index.value === 'number')
      return owner.values.at(index.value);
    return undefined;
  }

  #call(node: PythonNode, names: Names): CodeValue {
    const [callee, list] = children(node);
    if (callee === undefined || list?.name !== 'ArgList') throw this.refused(node);
    const of = this.evaluate(callee, names);
    if (of.kind === 'module' && of.path === 'super') {
      const [first] = groups(list)[0] ?? [];
      const named = first === undefined ? undefined : this.type.module.file.text(first);
      return { kind: 'super', of: named ?? this.#classes.at(-1) ?? this.type.name };
    }
    const args = this.#arguments(list, names);
    if (of.kind === 'method') {
      if (of.of.kind === 'self') return this.callMethod(of.name, args, node);
      if (of.of.kind === 'super') return this.callMethod(of.name, args, node, of.of.of);
      return callMethod(this, of.of, of.name, args, node);
    }
    if (of.kind === 'module') return callBuiltin(this, of.path, args, node);
    throw this.refused(node);
  }

  #arguments(list: PythonNode, names: Names): CallArguments {
    const positional: CodeValue[] = [];
    const named = new Map<string, CodeValue>();
    for (const group of groups(list)) {
      const [first, second, third] = group;
      if (first === undefined) continue;
      if (first.name === '**' && second !== undefined) {
        for (const [key, value] of this.entries(this.evaluate(second, names), second)) named.set(key, value);
      } else if (second?.name === 'AssignOp' && third !== undefined)
        named.set(this.type.module.file.text(first), this.evaluate(third, names));
      else if (group.length === 1) positional.push(this.evaluate(first, names));
      else throw this.refused(list);
    }
    return { positional, named };
  }

  #binary(node: PythonNode, parts: readonly PythonNode[], names: Names): CodeValue {
    const [first, ...rest] = parts;
    const last = rest.pop();
    if (first === undefined || last === undefined) throw this.refused(node);
    const operator = rest.map((part) => this.type.module.file.text(part)).join(' ');
    const left = this.evaluate(first, names);
    if (operator === 'or') return this.isTrue(left) ? left : this.evaluate(last, names);
    if (operator === 'and') return this.isTrue(left) ? this.evaluate(last, names) : left;
    const right = this.evaluate(last, names);
    const isChain = first.name === 'BinaryExpression' && children(first)[1]?.name === 'CompareOp';
    if (isChain && rest[0]?.name === 'CompareOp') throw this.refused(node);
    if (operator === 'is' || operator === 'is not') {
      const isNone = this.#isNone(left, right, node);
      return constant(operator === 'is' ? isNone : !isNone);
    }
    const ofTime = this.#base.compare?.(left, operator, right);
    if (ofTime !== undefined) return ofTime;
    if ((operator === 'in' || operator === 'not in') && (right.kind === 'dict' || right.kind === 'items')) {
      const key = this.textOf(left);
      const keys = this.items(right, node).map((item) => this.textOf(item));
      if (key === undefined || keys.includes(undefined)) throw this.refused(node);
      return constant(keys.includes(key) === (operator === 'in'));
    }
    if ((operator === 'in' || operator === 'not in') && isExpression(right) && isAnswered(right))
      return constant(operator === 'in');
    const [a, b] = [this.expressionOf(left, node), this.expressionOf(right, node)];
    if (operator === '+' && [a, b].some((one) => one.kind === 'join' || isText(one))) return joined([a, b]);
    if (!OPERATORS.has(operator)) throw this.refused(node);
    return fold({ kind: 'binary', operator: operator as BinaryOperator, left: a, right: b }, new Map());
  }

  #isNone(left: CodeValue, right: CodeValue, node: PythonNode): boolean {
    if (!isConstant(isExpression(right) ? right : undefined) || this.isTrue(right)) throw this.refused(node);
    if (!isExpression(left)) return false;
    const folded = fold(left, new Map());
    if (isConstant(folded)) return folded.value === null || folded.value === undefined;
    if (isAnswered(folded)) return false;
    const test: Expression = { kind: 'test', name: 'none', of: folded, args: { positional: [], named: {} } };
    return this.#decide(test);
  }
}

/** Decorators that change nothing in what a method does. */
const DECORATORS: ReadonlySet<string> = new Set(
  'property cached_property staticmethod classmethod abstractmethod override'.split(' '),
);

const OPERATORS: ReadonlySet<string> = new Set([
  '==',
  '!=',
  '<',
  '>',
  '<=',
  '>=',
  'in',
  'not in',
  '+',
  '-',
  '*',
]);

/** A class of the other tool, for those that extend it. */
export interface BaseClass {
  method(object: CodeObject, name: string, args: CallArguments): CodeValue | undefined;
  attribute(object: CodeObject, name: string): CodeValue | undefined;
  /** Returns what stands for the items of a loop that goes through what is known only while it runs: any one of them. */
  each?(list: CodeValue): readonly CodeValue[] | undefined;
  /** Returns a part of a value that only this class has. */
  part?(of: CodeValue, name: string): CodeValue | undefined;
  /** Compares, and subtracts, moments. */
  compare?(left: CodeValue, operator: string, right: CodeValue): CodeValue | undefined;
}

function bodyOf(body: PythonNode | undefined): readonly PythonNode[] {
  return body === undefined ? [] : children(body).slice(1);
}

/** Tells if an expression is a value of the answer: the token that was asked for is there. */
function isAnswered(expression: Expression): boolean {
  if (expression.kind === 'name') return expression.name === 'response';
  if (expression.kind === 'item') return isAnswered(expression.of);
  if (expression.kind === 'call' && expression.of.kind === 'item') return isAnswered(expression.of.of);
  return false;
}

/** Returns a part of a component; what is none is a method of it. */
function partOf(component: ManifestComponent, name: string, of: CodeValue): CodeValue {
  const child = component.child(name);
  if (child !== undefined) return { kind: 'component', component: child };
  const node = component.get(name);
  return node === undefined ? { kind: 'method', of, name } : { kind: 'written', node };
}

export function parametersOf(component: ManifestComponent): CodeValue {
  const parameters = get(component.node, '$parameters');
  return constant(isMap(parameters) ? parameters : {});
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
