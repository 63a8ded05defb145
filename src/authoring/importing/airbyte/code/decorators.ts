import { children } from '../../python/nodes.ts';
import type { PythonFile, PythonNode } from '../../python/python-file.ts';
import type { CodeClass, CodeMethod, CodeModule } from './component-code.ts';

/**
 * Tells if a decorator calls what it decorates with the same arguments, gives what that gave, and does no more than to
 * wait and to try again.
 */
export function isAround({ module }: CodeClass, decorator: string): boolean {
  const [name = ''] = decorator.split('(');
  if (module.pathOf(name) === 'backoff.on_exception') return true;
  const factory = named(module, name);
  if (factory === undefined) return false;
  const made = decorator.includes('(') ? innerOf(module.file, factory.node) : factory.node;
  const wrapper = made === undefined ? undefined : innerOf(module.file, made);
  const parameter = made === undefined ? undefined : parametersOf(module.file, made);
  if (wrapper === undefined || parametersOf(module.file, wrapper) !== '*args,**kwargs') return false;
  const statements = bodyOf(wrapper);
  const last = statements.pop();
  const isGiven =
    last?.name === 'ReturnStatement' &&
    module.file.oneLine(last).replaceAll(' ', '') === `return${parameter}(*args,**kwargs)`;
  return isGiven && statements.every((each) => each.name === 'ExpressionStatement' && isQuiet(module, each));
}

/** Returns a function of the file, or a method of one of its classes. */
function named(module: CodeModule, name: string): CodeMethod | undefined {
  const [first = '', method, ...more] = name.split('.');
  if (method === undefined) return module.functions.get(first);
  return more.length > 0 ? undefined : module.classes.get(first)?.methods.get(method);
}

/** Returns the function that another one makes and gives back, where it does nothing else. */
function innerOf(file: PythonFile, node: PythonNode): PythonNode | undefined {
  const [made, given, ...more] = bodyOf(node);
  const inner = made?.name === 'DecoratedStatement' ? made.lastChild : made;
  if (inner?.name !== 'FunctionDefinition' || given?.name !== 'ReturnStatement' || more.length > 0)
    return undefined;
  const [name, value] = [children(inner)[1], children(given)[1]];
  return name !== undefined && value !== undefined && file.text(name) === file.text(value)
    ? inner
    : undefined;
}

function parametersOf(file: PythonFile, node: PythonNode): string {
  const list = children(node).find(({ name }) => name === 'ParamList');
  return list === undefined ? '' : file.oneLine(list).replaceAll(' ', '').slice(1, -1);
}

/** Returns the statements of a function without the text that describes it, which the parser puts before the next one. */
function bodyOf(node: PythonNode): PythonNode[] {
  const body = children(node).find(({ name }) => name === 'Body');
  return (body === undefined ? [] : children(body).slice(1)).flatMap((statement) => {
    const [first, ...rest] = children(statement);
    const isText = statement.name === 'ExpressionStatement' && first?.name.endsWith('String') === true;
    return isText ? rest : [statement];
  });
}

/** Functions that wait, log or compute. */
const QUIET =
  /(?:^|\.)(?:sleep|get|int|float|str|bool|len|min|max|round|abs|isinstance|debug|info|warning|error|now|time)$/;

/** Tells if code calls nothing but what waits and computes, and writes into nothing that it is given. */
function isQuiet(module: CodeModule, code: PythonNode, seen: ReadonlySet<PythonNode> = new Set()): boolean {
  if (seen.has(code)) return true;
  const { file } = module;
  const found = (kind: string): readonly PythonNode[] => file.nodesIn(kind, code);
  if (found('RaiseStatement').length > 0 || found('DeleteStatement').length > 0) return false;
  const writes = [...found('AssignStatement'), ...found('UpdateStatement')];
  if (writes.some((node) => children(node)[0]?.name === 'MemberExpression')) return false;
  return found('CallExpression').every((node) => {
    const [callee] = children(node);
    const path = callee === undefined ? '' : file.oneLine(callee);
    const own = named(module, path);
    return own === undefined ? QUIET.test(path) : isQuiet(module, own.node, new Set([...seen, code]));
  });
}
