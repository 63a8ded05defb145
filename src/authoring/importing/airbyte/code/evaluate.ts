import { children, groups } from '../../python/nodes.ts';
import type { PythonNode } from '../../python/python-file.ts';
import { unescaped } from '../../python/strings.ts';
import type { ManifestComponent } from '../component.ts';
import { constant, isConstant, type BinaryOperator, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { isSequence } from '../node.ts';
import { callBuiltin, callMethod, SPEED, type CallArguments } from './builtins.ts';
import { ASKS } from './transformation.ts';
import type { CodeRun, CodeNames } from './code-run.ts';
import type { OwnFunction } from './component-code.ts';
import {
  ANY_FIELD,
  commonItem,
  dict,
  entryExpression,
  isAnswered,
  isExpression,
  isOpenMap,
  isText,
  joined,
  write,
  type CodeMap,
  type CodeValue,
} from './values.ts';

export function evaluate(object: CodeRun, node: PythonNode, names: CodeNames): CodeValue {
  object.step(node);
  const { file } = object.type.module;
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
      return stringOf(object, node, names);
    case 'VariableName':
      return nameOf(object, node, names);
    case 'ParenthesizedExpression':
      return evaluate(object, second ?? node, names);
    case 'ArrayExpression':
    case 'TupleExpression':
      return { kind: 'items', values: groups(node).flatMap((group) => item(object, group, names)) };
    case 'DictionaryExpression':
      return dictionary(object, node, names);
    case 'ArrayComprehensionExpression':
    case 'ComprehensionExpression':
    case 'DictionaryComprehensionExpression':
      return comprehension(object, node, parts, names);
    case 'MemberExpression':
      return member(object, node, parts, names);
    case 'CallExpression':
      return callOf(object, node, names);
    case 'ConditionalExpression': {
      const otherwise = parts[4];
      if (first === undefined || third === undefined || otherwise === undefined) throw object.refused(node);
      return object.isTrue(evaluate(object, third, names))
        ? evaluate(object, first, names)
        : evaluate(object, otherwise, names);
    }
    case 'UnaryExpression':
      if (first?.name === 'not' && second !== undefined) return negated(object, node, second, names);
      if (first !== undefined && file.text(first) === '-' && second !== undefined) {
        const of = object.expressionOf(evaluate(object, second, names), node);
        return fold({ kind: 'unary', operator: '-', of }, new Map());
      }
      throw object.refused(node);
    case 'BinaryExpression':
      return binary(object, node, parts, names);
    default:
      throw object.refused(node);
  }
}

export function put(object: CodeRun, target: PythonNode, value: CodeValue, names: CodeNames): void {
  const { file } = object.type.module;
  if (target.name === 'VariableName') {
    names.set(file.text(target), value);
    return;
  }
  const [of, sign, key] = children(target);
  if (target.name !== 'MemberExpression' || of === undefined || key === undefined)
    throw object.refused(target);
  const owner = ownList(object, of, evaluate(object, of, names), names);
  if (sign?.name === '.' && owner.kind === 'self') {
    object.attributes.set(file.text(key), value);
    return;
  }
  // how long it waits, and the name and the decoder that a part of a stream gets in any case
  const isPart = sign?.name === '.' && /^(?:backoff_strategies|name|decoder)$/.test(file.text(key));
  if (isPart && owner.kind === 'component') return;
  const index = sign?.name === '[' ? object.textOf(evaluate(object, key, names)) : undefined;
  if (owner.kind === 'entry' && (index !== undefined || object.base.isLoose === true)) {
    write(object.written, [...owner.path, index ?? ANY_FIELD]);
    if (index !== undefined && value.kind === 'computed') object.computed.set(index, value.name);
    return;
  }
  const place = sign?.name === '[' ? evaluate(object, key, names) : undefined;
  if (owner.kind === 'items' && place?.kind === 'constant' && typeof place.value === 'number') {
    owner.values[place.value] = value;
    return;
  }
  const isOpen = sign?.name === '[' && index === undefined && object.base.isLoose === true;
  if (owner.kind !== 'dict' || (index === undefined && !isOpen)) throw object.refused(target);
  owner.entries.set(index ?? `${ANY_FIELD} ${target.from}`, value);
}

/** Returns a list of the manifest as one of the object's own, whose items can be set. */
function ownList(object: CodeRun, node: PythonNode, value: CodeValue, names: CodeNames): CodeValue {
  if (value.kind !== 'written' || !isSequence(value.node)) return value;
  const list: CodeValue = { kind: 'items', values: [...object.items(value, node)] };
  put(object, node, list, names);
  return list;
}

/** Returns a value that need not be known where it makes no row, or makes one of an item. */
function computed(object: CodeRun, node: PythonNode, from: Iterable<CodeValue> = []): CodeValue {
  if (object.base.isLoose !== true) throw object.refused(node);
  const of = commonItem(from);
  const name = `computed ${object.type.module.path} ${node.from}`;
  return { kind: 'computed', name, ...(of === undefined ? {} : { of }) };
}

/** Negates. The parser takes `not a or b` for `not (a or b)`, and `x and not a or b` for `x and not (a or b)`. */
function negated(object: CodeRun, node: PythonNode, operand: PythonNode, names: CodeNames): CodeValue {
  const [left, word, right] = children(operand);
  const isWider = operand.name === 'BinaryExpression' && (word?.name === 'and' || word?.name === 'or');
  if (!isWider) return constant(!object.isTrue(evaluate(object, operand, names)));
  if (left === undefined || right === undefined || node.parent?.name === 'BinaryExpression')
    throw object.refused(node, 'conditions whose order is not clear without brackets');
  const first = negated(object, node, left, names);
  if (object.isTrue(first) === (word.name === 'or')) return first;
  return evaluate(object, right, names);
}

function item(
  object: CodeRun,
  [first, second]: readonly PythonNode[],
  names: CodeNames,
): readonly CodeValue[] {
  if (first === undefined) return [];
  if (first.name === '*' && second !== undefined) return object.items(evaluate(object, second, names), first);
  return [evaluate(object, first, names)];
}

function nameOf(object: CodeRun, node: PythonNode, names: CodeNames): CodeValue {
  const { module } = object.type;
  const name = module.file.text(node);
  const known = names.get(name);
  if (known !== undefined) return known;
  const given = module.constants.get(name);
  if (given !== undefined) return evaluate(object, given, new Map());
  const [base = ''] = module.classes.get(name)?.bases ?? [];
  return { kind: 'module', path: SPEED.test(base) ? base : module.pathOf(name) };
}

function stringOf(object: CodeRun, node: PythonNode, names: CodeNames): CodeValue {
  const { file } = object.type.module;
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
      if (expression === undefined || close?.name !== '}') throw object.refused(each);
      found.push(
        plain(at, replacement.from),
        object.expressionOf(evaluate(object, expression, names), expression),
      );
      at = replacement.to;
    }
    found.push(plain(at, each.to - quotes.length));
  }
  return joined(found);
}

function dictionary(object: CodeRun, node: PythonNode, names: CodeNames): CodeMap {
  const made = dict();
  for (const [first, second, third] of groups(node)) {
    if (first === undefined || second === undefined) continue;
    if (first.name === '**') {
      const all = evaluate(object, second, names);
      for (const [key, value] of object.base.spread?.(all) ?? object.entries(all, second)) {
        // what is put later stands later
        made.entries.delete(key);
        made.entries.set(key, value);
      }
      continue;
    }
    const key = object.textOf(evaluate(object, first, names));
    if (key === undefined || third === undefined) throw object.refused(node);
    made.entries.set(key, evaluate(object, third, names));
  }
  return made;
}

/** Makes a list, or a dictionary, of the items of lists that are known now. */
function comprehension(
  object: CodeRun,
  node: PythonNode,
  parts: readonly PythonNode[],
  names: CodeNames,
): CodeValue {
  const first = parts.findIndex(({ name }) => name === 'for');
  const made = parts.slice(1, first);
  if (first < 1 || made.length === 0) throw object.refused(node);
  const isMade = made.length === 3;
  const values: CodeValue[] = [];
  const entries: [string, CodeValue][] = [];
  const take = (inner: CodeNames): void => {
    const [key, , value] = made;
    if (key === undefined) throw object.refused(node);
    if (!isMade) {
      values.push(evaluate(object, key, inner));
      return;
    }
    const name = object.textOf(evaluate(object, key, inner));
    if (name === undefined || value === undefined) throw object.refused(node);
    entries.push([name, evaluate(object, value, inner)]);
  };
  clauses(object, node, parts.slice(first, -1), names, take);
  return isMade ? dict(entries) : { kind: 'items', values };
}

/** Goes through the loops and conditions of a comprehension, one inside of the other. */
function clauses(
  object: CodeRun,
  node: PythonNode,
  parts: readonly PythonNode[],
  names: CodeNames,
  take: (names: CodeNames) => void,
): void {
  const [word, condition] = parts;
  if (word === undefined) {
    take(names);
    return;
  }
  if (word.name === 'if' && condition !== undefined) {
    if (object.isTrue(evaluate(object, condition, names))) clauses(object, node, parts.slice(2), names, take);
    return;
  }
  const at = parts.findIndex(({ name }) => name === 'in');
  const list = parts[at + 1];
  if (word.name !== 'for' || list === undefined || at < 2) throw object.refused(node);
  const targets = parts.slice(1, at).filter(({ name }) => name !== ',');
  const all = evaluate(object, list, names);
  for (const item of object.base.each?.(all) ?? object.items(all, list)) {
    const inner: CodeNames = new Map(names);
    const each = targets.length === 1 ? [item] : object.items(item, list);
    for (const [index, target] of targets.entries())
      put(object, target, each[index] ?? constant(null), inner);
    clauses(object, node, parts.slice(at + 2), inner, take);
  }
}

function member(
  object: CodeRun,
  node: PythonNode,
  parts: readonly PythonNode[],
  names: CodeNames,
): CodeValue {
  const { file } = object.type.module;
  const [of, sign, key, end] = parts;
  if (of === undefined || key === undefined) throw object.refused(node);
  const owner = evaluate(object, of, names);
  if (sign?.name === '.') {
    const name = file.text(key);
    if (owner.kind === 'self') return object.attribute(name, node);
    if (owner.kind === 'computed') return owner;
    if (owner.kind === 'module') {
      const path = `${owner.path}.${name}`;
      return path.endsWith('HTTPStatus.OK') ? constant(200) : { kind: 'module', path };
    }
    // only an answer that says yes is read
    if (owner.kind === 'answer' && name === 'status_code') return constant(200);
    if (owner.kind === 'answer' && name === 'ok') return constant(true);
    if (owner.kind === 'request' && name === 'headers') return owner.headers;
    const ofBase = object.base.part?.(owner, name);
    if (ofBase !== undefined) return ofBase;
    if (owner.kind === 'component') return partOf(owner.component, name, owner);
    if (owner.kind === 'written' && name === 'string') return owner;
    if (owner.kind === 'seconds' && name === 'seconds' && isOfDay(owner.seconds)) return owner.seconds;
    return { kind: 'method', of: owner, name };
  }
  if (sign?.name !== '[' || end?.name !== ']') throw object.refused(node);
  if (owner.kind === 'computed') return owner;
  const index = evaluate(object, key, names);
  if (owner.kind === 'module' && owner.path.endsWith('.HttpMethod')) return index;
  const field = owner.kind === 'row' && owner.made === undefined ? object.textOf(index) : undefined;
  if (owner.kind === 'row' && field !== undefined) return { ...owner, keys: [...owner.keys, field] };
  if (owner.kind === 'entry') {
    const name = object.textOf(index);
    if (name === undefined && object.base.isLoose === true)
      return { kind: 'entry', path: [...owner.path, `${ANY_FIELD} ${node.from}`] };
    if (name === undefined) throw object.refused(node);
    return { kind: 'entry', path: [...owner.path, name] };
  }
  if (owner.kind === 'dict' || owner.kind === 'items' || owner.kind === 'written') {
    const found = object.itemOf(owner, index);
    if (found === undefined) throw object.refused(node);
    return found;
  }
  return fold(
    { kind: 'item', of: object.expressionOf(owner, node), key: object.expressionOf(index, node) },
    new Map(),
  );
}

function callOf(object: CodeRun, node: PythonNode, names: CodeNames): CodeValue {
  const [callee, list] = children(node);
  if (callee === undefined || list?.name !== 'ArgList') throw object.refused(node);
  const of = evaluate(object, callee, names);
  if (of.kind === 'module' && of.path === 'super') {
    const [first] = groups(list)[0] ?? [];
    const named = first === undefined ? undefined : object.type.module.file.text(first);
    return { kind: 'super', of: named ?? object.runningClass ?? object.type.name };
  }
  // rows in another order are the same ones
  const [sorted] = of.kind === 'module' && of.path === 'sorted' ? (groups(list)[0] ?? []) : [];
  if (sorted !== undefined) return evaluate(object, sorted, names);
  const args = argumentsOf(object, list, names);
  const given = [...args.positional, ...args.named.values()];
  const isOfEntry = given.some(({ kind }) => kind === 'entry' || kind === 'computed');
  const own =
    of.kind === 'module' && callee.name === 'VariableName'
      ? object.type.module.functionOf(object.type.module.file.text(callee))
      : undefined;
  if (own !== undefined) return object.callFunction(own, args);
  const ofClass = staticMethod(object, callee);
  if (ofClass !== undefined) return object.callFunction(ofClass, args);
  if (of.kind === 'function') return object.callInner(of.method, args, of.names);
  if (of.kind === 'computed') return of;
  if (of.kind === 'method') {
    if (of.of.kind === 'self') return object.callMethod(of.name, args, node);
    if (of.of.kind === 'super') return object.callMethod(of.name, args, node, of.of.of);
    const ofBase = object.base.call?.(object, of.of, of.name, args);
    if (ofBase !== undefined) return ofBase;
    if (object.base.isLoose === true && isOfEntry && isExpression(of.of)) return computed(object, node);
    return callMethod(object, of.of, of.name, args, node);
  }
  const made = of.kind === 'module' ? object.base.make?.(object, of.path, args) : undefined;
  if (made !== undefined) return made;
  if (of.kind === 'module' && object.base.isLoose === true && COMPUTES.test(of.path))
    return computed(object, node);
  if (of.kind === 'module' && object.base.isLoose === true && isOfEntry && MAKES.test(of.path))
    return computed(object, node);
  // an object of a class that is not known, of an item
  const isMaking = of.kind === 'module' && MAKES_OBJECT.test(of.path) && !ASKS.test(of.path);
  if (isMaking && object.base.isLoose === true && isOfEntry) return computed(object, node, given);
  if (of.kind === 'module') return callBuiltin(object, of.path, args, node);
  throw object.refused(node);
}

/** Returns a method that needs no object of its class: `Dates.converted`. */
function staticMethod(object: CodeRun, callee: PythonNode): OwnFunction | undefined {
  const { module } = object.type;
  const [of, sign, key] = children(callee);
  if (callee.name !== 'MemberExpression' || of?.name !== 'VariableName' || sign?.name !== '.')
    return undefined;
  const method =
    key === undefined
      ? undefined
      : module.classes.get(module.file.text(of))?.methods.get(module.file.text(key));
  return method?.decorators.includes('staticmethod') === true ? { module, method } : undefined;
}

function argumentsOf(object: CodeRun, list: PythonNode, names: CodeNames): CallArguments {
  const positional: CodeValue[] = [];
  const named = new Map<string, CodeValue>();
  for (const group of groups(list)) {
    const [first, second, third] = group;
    if (first === undefined) continue;
    if (first.name === '**' && second !== undefined) {
      const all = evaluate(object, second, names);
      const isPart = object.base.isLoose === true && (all.kind === 'entry' || all.kind === 'computed');
      if (isPart) named.set('**', all);
      else for (const [key, value] of object.entries(all, second)) named.set(key, value);
    } else if (second?.name === 'AssignOp' && third !== undefined)
      named.set(object.type.module.file.text(first), evaluate(object, third, names));
    else if (group.length === 1) positional.push(evaluate(object, first, names));
    else throw object.refused(list);
  }
  return { positional, named };
}

function binary(
  object: CodeRun,
  node: PythonNode,
  parts: readonly PythonNode[],
  names: CodeNames,
): CodeValue {
  const [first, ...rest] = parts;
  const last = rest.pop();
  if (first === undefined || last === undefined) throw object.refused(node);
  const operator = rest.map((part) => object.type.module.file.text(part)).join(' ');
  const left = evaluate(object, first, names);
  if (operator === 'or') return object.isTrue(left) ? left : evaluate(object, last, names);
  if (operator === 'and') return object.isTrue(left) ? evaluate(object, last, names) : left;
  const right = evaluate(object, last, names);
  const isChain = first.name === 'BinaryExpression' && children(first)[1]?.name === 'CompareOp';
  if (isChain && rest[0]?.name === 'CompareOp') throw object.refused(node);
  if (operator === 'is' || operator === 'is not') {
    const isOne = isNone(object, left, right, node);
    return constant(operator === 'is' ? isOne : !isOne);
  }
  const ofTime = object.base.compare?.(left, operator, right);
  if (ofTime !== undefined) return ofTime;
  if ((operator === 'in' || operator === 'not in') && (right.kind === 'dict' || right.kind === 'items')) {
    const key = object.textOf(left);
    if (isOpenMap(right)) return computed(object, node);
    const keys = object.items(right, node).map((item) => object.textOf(item));
    if (keys.includes(undefined)) throw object.refused(node);
    if (key !== undefined) return constant(keys.includes(key) === (operator === 'in'));
  }
  if ((operator === 'in' || operator === 'not in') && isExpression(right) && isAnswered(right))
    return constant(operator === 'in');
  const [a, b] = [object.expressionOf(left, node), object.expressionOf(right, node)];
  if (operator === '+' && [a, b].some((one) => one.kind === 'join' || isText(one))) return joined([a, b]);
  if (!OPERATORS.has(operator)) return computed(object, node);
  return fold({ kind: 'binary', operator: operator as BinaryOperator, left: a, right: b }, new Map());
}

function isNone(object: CodeRun, left: CodeValue, right: CodeValue, node: PythonNode): boolean {
  if (!isConstant(isExpression(right) ? right : undefined) || object.isTrue(right))
    throw object.refused(node);
  const of = left.kind === 'entry' ? entryExpression(left.path) : left;
  if (!isExpression(of)) return false;
  const folded = fold(of, new Map());
  if (isConstant(folded)) return folded.value === null || folded.value === undefined;
  if (isAnswered(folded)) return false;
  const test: Expression = { kind: 'test', name: 'none', of: folded, args: { positional: [], named: {} } };
  return object.decide(test);
}

/** Tells if a span is not known to have whole days, which Python keeps apart from its seconds. */
function isOfDay(seconds: Expression): boolean {
  return !isConstant(seconds) || Number(seconds.value) < 86_400;
}

/** Functions that make a value of another one. */
const MAKES = /^(?:len|str|int|float|round|abs|min|max|sum|hash|repr|callable|type)$/;

/** Names of classes, of which those of typing and of the other tool are known by themselves. */
const MAKES_OBJECT = /^(?!airbyte_cdk\.|typing\.)(?:\w+\.)*[A-Z]\w*[a-z]\w*$/;

/** Modules whose functions only compute. */
const COMPUTES = /^(?:pendulum|json|datetime|re|math|decimal|html|hashlib|dateutil|pytz|ciso8601)\./;

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

/** Returns a part of a component; what is none is a method of it. */
function partOf(component: ManifestComponent, name: string, of: CodeValue): CodeValue {
  const child = component.child(name);
  if (child !== undefined) return { kind: 'component', component: child };
  const node = component.get(name);
  return node === undefined ? { kind: 'method', of, name } : { kind: 'written', node };
}
