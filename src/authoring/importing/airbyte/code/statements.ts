import { children } from '../../python/nodes.ts';
import type { PythonNode } from '../../python/python-file.ts';
import { constant } from '../jinja/ast.ts';
import type { CodeRun, CodeNames } from './code-run.ts';
import { evaluate, put } from './evaluate.ts';
import { Raised } from './refused.ts';
import type { CodeValue } from './values.ts';

/** The end of a method by a `return`. */
type Done = { readonly value: CodeValue } | undefined;

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
    case 'RaiseStatement':
      throw new Raised();
    case 'AssignStatement':
      assign(object, parts, names);
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
    if (object.isTrue(evaluate(object, condition, names)))
      return runStatements(object, bodyOf(parts[at + 2]), names);
    at += 3;
  }
  return undefined;
}

function runFor(object: CodeRun, node: PythonNode, parts: readonly PythonNode[], names: CodeNames): Done {
  const at = parts.findIndex((part) => part.name === 'in');
  const targets = parts.slice(1, at).filter((part) => part.name !== ',');
  const [list, body] = [parts[at + 1], parts.at(-1)];
  if (list === undefined || parts.length !== at + 3) throw object.refused(node);
  const value = evaluate(object, list, names);
  const any = object.base.each?.(value);
  for (const item of any ?? object.items(value, list)) {
    const values = targets.length === 1 ? [item] : object.items(item, list);
    targets.forEach((target, index) => {
      put(object, target, values[index] ?? constant(null), names);
    });
    const done = runStatements(object, bodyOf(body), names);
    if (done !== undefined && any !== undefined) throw object.refused(node, 'a loop that ends early');
    if (done !== undefined) return done;
  }
  return undefined;
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
