import { children } from '../../python/nodes.ts';
import type { PythonNode } from '../../python/python-file.ts';
import { constant, isConstant } from '../jinja/ast.ts';
import type { CodeRun, CodeNames } from './code-run.ts';
import { evaluate, put } from './evaluate.ts';
import { Raised } from './refused.ts';
import { dict, isExpression, keyOf, LOOPED, type CodeValue } from './values.ts';

/** The end of statements before their last: by a `return`, or by a `continue` of the loop around them. */
type Done = { readonly value: CodeValue; readonly isNext?: true } | undefined;

export function runStatements(object: CodeRun, statements: readonly PythonNode[], names: CodeNames): Done {
  for (const statement of statements) {
    const done = runStatement(object, statement, names);
    if (done !== undefined) return done;
  }
  return undefined;
}

function runStatement(object: CodeRun, node: PythonNode, names: CodeNames): Done {
  object.step(node);
  const parts = children(node);
  switch (node.name) {
    case 'PassStatement':
    case 'ImportStatement':
      return undefined;
    case 'ExpressionStatement': {
      const [first] = parts;
      if (first !== undefined && !first.name.endsWith('String')) evaluate(object, first, names);
      return undefined;
    }
    case 'YieldStatement': {
      const isAll = parts[1]?.name === 'from';
      const given = parts.at(-1);
      if (given === undefined || parts.length !== (isAll ? 3 : 2)) throw object.refused(node);
      object.yielded.push({ value: evaluate(object, given, names), isAll, node });
      return undefined;
    }
    case 'ReturnStatement': {
      const [, ...values] = parts;
      const [only] = values;
      if (only === undefined) return { value: constant(null) };
      return { value: values.length === 1 ? evaluate(object, only, names) : tuple(object, values, names) };
    }
    case 'FunctionDefinition': {
      const method = object.type.module.functionAt(node);
      names.set(method.name, { kind: 'function', method, names });
      return undefined;
    }
    case 'ContinueStatement':
      return { value: constant(null), isNext: true };
    case 'RaiseStatement':
      throw new Raised();
    case 'AssignStatement':
      assign(object, parts, names);
      return undefined;
    case 'DeleteStatement':
      for (const part of parts.slice(1)) if (part.name !== ',') remove(object, part, names);
      return undefined;
    case 'IfStatement':
      return runIf(object, parts, names);
    case 'ForStatement':
      return runFor(object, node, parts, names);
    case 'TryStatement': {
      const bodies = parts.filter((part) => part.name === 'Body');
      const isRaised = bodies
        .slice(1)
        .every((body) => bodyOf(body).at(-1)?.name === 'RaiseStatement' || isNoJson(object, parts, body));
      if (!isRaised) throw object.refused(node, 'an error that is passed over');
      return runStatements(object, bodyOf(bodies[0]), names);
    }
    default:
      throw object.refused(node);
  }
}

/** Tells if what is passed over is that an answer is no JSON: it ends the run here. */
function isNoJson(object: CodeRun, parts: readonly PythonNode[], body: PythonNode): boolean {
  const named = parts[parts.indexOf(body) - 1];
  return named !== undefined && /^(?:[\w.]+\.)?JSONDecodeError$/.test(object.type.module.file.text(named));
}

function runIf(object: CodeRun, parts: readonly PythonNode[], names: CodeNames): Done {
  for (let at = 0; at < parts.length;) {
    const word = parts[at]?.name;
    if (word === 'else') return runStatements(object, bodyOf(parts[at + 1]), names);
    const condition = parts[at + 1];
    if (condition === undefined) return undefined;
    const value = evaluate(object, condition, names);
    if (at === 0 && isSettled(object, parts, value, names)) return undefined;
    if (object.isTrue(value)) return runStatements(object, bodyOf(parts[at + 2]), names);
    at += 3;
  }
  return undefined;
}

/** Statements that only compute, and write. */
const LOCAL =
  /^(?:Body|:|PassStatement|ExpressionStatement|AssignStatement|DeleteStatement|IfStatement|ForStatement)$/;

/**
 * Runs all ways of a condition that only change parts of the answer, and tells whether they are that: it does not matter
 * then which of them is gone.
 */
function isSettled(
  object: CodeRun,
  parts: readonly PythonNode[],
  condition: CodeValue,
  names: CodeNames,
): boolean {
  const isOpen = condition.kind === 'computed' || condition.kind === 'entry' || isExpression(condition);
  if (object.base.isLoose !== true || !isOpen || isConstant(isExpression(condition) ? condition : undefined))
    return false;
  const bodies = parts.filter(({ name }) => name === 'Body');
  if (!bodies.every((body) => children(body).every(({ name }) => LOCAL.test(name)))) return false;
  if (bodies.some((body) => ENDS.some((kind) => isWithin(object, kind, body)))) return false;
  const { attributes } = object;
  const [before, kept] = [keyOf([names, attributes]), new Map(attributes)];
  return bodies.every((body) => {
    const inner: CodeNames = new Map([...names].map(([name, value]) => [name, copied(value)]));
    runStatements(object, bodyOf(body), inner);
    const isSame = keyOf([inner, attributes]) === before;
    for (const name of attributes.keys()) {
      const value = kept.get(name);
      if (value === undefined) attributes.delete(name);
      else attributes.set(name, value);
    }
    return isSame;
  });
}

/** Statements that end others, or give rows. */
const ENDS = ['YieldStatement', 'ReturnStatement', 'ContinueStatement', 'BreakStatement', 'RaiseStatement'];

function isWithin(object: CodeRun, kind: string, of: PythonNode): boolean {
  return object.type.module.file.nodesIn(kind, of).length > 0;
}

function copied(value: CodeValue): CodeValue {
  if (value.kind === 'items') return { kind: 'items', values: value.values.map(copied) };
  return value.kind === 'dict' ? dict([...value.entries].map(([name, item]) => [name, copied(item)])) : value;
}

function runFor(object: CodeRun, node: PythonNode, parts: readonly PythonNode[], names: CodeNames): Done {
  const at = parts.findIndex((part) => part.name === 'in');
  const targets = parts.slice(1, at).filter((part) => part.name !== ',');
  const [list, body] = [parts[at + 1], parts.at(-1)];
  if (list === undefined || parts.length !== at + 3) throw object.refused(node);
  const value = evaluate(object, list, names);
  const any = object.base.each?.(value);
  const before = new Map(names);
  const items = any ?? object.items(value, list);
  const isOpen = any !== undefined || items.some(({ kind }) => kind === 'entry');
  for (const item of items) {
    const values = targets.length === 1 ? [item] : object.items(item, list);
    targets.forEach((target, index) => {
      put(object, target, values[index] ?? constant(null), names);
    });
    const done = runStatements(object, bodyOf(body), names);
    if (done === undefined || done.isNext === true) continue;
    if (isOpen) throw object.refused(node, 'a loop that ends early');
    return done;
  }
  // a name that each item gives another value has that of the last one
  if (any !== undefined)
    for (const [name, value] of names)
      if (before.get(name) !== value) names.set(name, { kind: 'given', name: LOOPED });
  return undefined;
}

/** Removes an item of a dictionary, or a field of a part of the answer. */
function remove(object: CodeRun, target: PythonNode, names: CodeNames): void {
  const [of, sign, key] = children(target);
  if (of === undefined || key === undefined || sign?.name !== '[') throw object.refused(target);
  const [owner, index] = [evaluate(object, of, names), evaluate(object, key, names)];
  const name = object.textOf(index);
  if (owner.kind === 'dict' && name !== undefined) owner.entries.delete(name);
  else if (object.base.call?.(object, owner, 'pop', { positional: [index], named: new Map() }) === undefined)
    throw object.refused(target);
}

function assign(object: CodeRun, parts: readonly PythonNode[], names: CodeNames): void {
  const sign = parts.findIndex((part) => part.name === 'AssignOp');
  const targets = parts.slice(0, sign).filter(({ name }) => name !== ',' && name !== 'TypeDef');
  const values = parts.slice(sign + 1).filter((part) => part.name !== ',');
  const [first] = values;
  if (sign === -1 || first === undefined) return;
  if (values.some((part) => part.name === 'AssignOp')) throw object.refused(first.parent ?? first);
  const value = values.length === 1 ? evaluate(object, first, names) : tuple(object, values, names);
  const [target] = targets;
  if (targets.length === 1 && target !== undefined) {
    put(object, target, value, names);
    return;
  }
  const all = object.items(value, first);
  targets.forEach((each, index) => {
    put(object, each, all[index] ?? constant(null), names);
  });
}

function tuple(object: CodeRun, nodes: readonly PythonNode[], names: CodeNames): CodeValue {
  const values = nodes.filter((node) => node.name !== ',').map((node) => evaluate(object, node, names));
  return { kind: 'items', values };
}

function bodyOf(body: PythonNode | undefined): readonly PythonNode[] {
  return body === undefined ? [] : children(body).slice(1);
}
