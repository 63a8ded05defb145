import { children, groups } from '../../python/nodes.ts';
import type { PythonFile, PythonNode } from '../../python/python-file.ts';
import { unescaped } from '../../python/strings.ts';
import type { ManifestComponent } from '../component.ts';
import { isSequence } from '../node.ts';
import type { CodeClass, CodeMethod, CodeModule, OwnFunction } from './component-code.ts';
import { once } from './once.ts';
import { CodeRefused } from './refused.ts';

/** The fields of records that code changes. */
export interface ChangedFields {
  /** Fields at the top of the record. */
  readonly names: ReadonlySet<string>;
  /** Fields that are known only while it runs are removed or emptied. */
  readonly isEmptied: boolean;
  /** Fields that are known only while it runs get other values. */
  readonly isOpen: boolean;
  /** Fields that keep their names and values all the same. */
  readonly kept?: ReadonlySet<string>;
  /** Fields under names that are put together while it runs get values. */
  readonly isMade: boolean;
}

/** Names of classes that may ask an API. */
export const ASKS = /request|session|client|http|connect|driver|engine/i;

/** Modules that only compute: code with any other might ask the API. */
const HARMLESS =
  /^(?:pendulum|datetime|re|json|orjson|dataclasses|typing|typing_extensions|abc|logging|copy|html|unicodedata|anyascii|unidecode|hashlib|base64|math|decimal|collections|itertools|functools|enum|time|urllib\.parse|dpath|dateutil|pytz|ciso8601|inflection|string|struct|binascii|uuid)(?:\.|$)/;
const OF_THE_TOOL =
  /^airbyte_cdk\.(?:models|logger|utils\.datetime_helpers|sources\.utils\.transform|sources\.types|sources\.declarative\.(?:types|schema|transformations|interpolation|extractors))(?:\.|$)/;

const BASES = /\.(?:RecordTransformation|AddFields|TypeTransformer)$/;

/**
 * Tells which fields a transformation of Python changes. Rows stay the same rows: such code only gets one record, and
 * gives none back.
 *
 * @throws {CodeRefused} for code that may do more than compute
 */
export const changedFields = once((type, component): ChangedFields => {
  const { module } = type;
  const [base = '', ...others] = type.bases;
  if (!BASES.test(base) || others.length > 0)
    throw new CodeRefused(`${module.path}: a class that extends ${type.bases.join(', ') || 'nothing'}`);
  for (const key of Object.keys(component.node)) {
    const part = key === '$parameters' ? undefined : component.child(key)?.node;
    if (part !== undefined && ('class_name' in part || part['type'] !== undefined))
      throw new CodeRefused(`${module.path}: ${type.name} with “${key}”, which may ask the API`);
  }
  const callsWriter = WRITERS.get(type) ?? isCallingWriter(type);
  WRITERS.set(type, callsWriter);
  const found = new Writes(type, component).found();
  // a function may change whatever part of the record it is given
  return callsWriter ? { ...found, isOpen: true, isEmptied: true } : found;
});

/** Classes that do no harm, with what is said of the functions that they call. */
const WRITERS = new WeakMap<CodeClass, boolean>();

/** Refuses a class that may do more than compute, and tells if a function that it calls may change what it is given. */
function isCallingWriter(type: CodeClass): boolean {
  const functions = new Set<OwnFunction>();
  for (const method of type.methods.values()) refuseHarm(type.module, method, functions);
  return [...functions].some(isWriting);
}

/** Refuses code that names a module which might ask the API or read files, and collects the functions that it calls. */
function refuseHarm(
  module: CodeModule,
  { node: definition }: Pick<CodeMethod, 'node'>,
  functions: Set<OwnFunction>,
  constants = new Set<string>(),
  makesObjects = false,
): void {
  for (const node of module.file.nodesIn('VariableName', definition)) {
    const name = module.file.text(node);
    const key = `${module.path} ${name}`;
    const value = constants.has(key) ? undefined : module.constants.get(name);
    constants.add(key);
    if (value !== undefined) refuseHarm(module, { node: value }, functions, constants, makesObjects);
    const own = module.functionOf(name);
    const called =
      own?.method.decorators.length === 0 ? [own] : staticMethods(module, module.classes.get(name));
    if (called !== undefined) {
      for (const one of called) {
        if ([...functions].some(({ method }) => method.node === one.method.node)) continue;
        functions.add(one);
        refuseHarm(one.module, one.method, functions, constants, makesObjects);
      }
      continue;
    }
    const path = module.imports.get(name);
    if (makesObjects && path !== undefined && /^[A-Z]\w*[a-z]/.test(name) && !ASKS.test(path)) continue;
    const isOdd = path !== undefined && !HARMLESS.test(path) && !OF_THE_TOOL.test(path);
    // something that is made elsewhere in the file, and is no plain value
    const isOwn = module.functions.has(name) || module.classes.has(name);
    if (isOdd || isOwn || DANGEROUS.has(name) || (path === undefined && isPlainImport(module, name)))
      throw new CodeRefused(
        `${module.path}, line ${module.file.place(node.from).line}: “${name}”, which may do more than compute`,
      );
  }
}

/** Returns the methods of a class that has no other ones than those which need no object of it. */
function staticMethods(module: CodeModule, type: CodeClass | undefined): readonly OwnFunction[] | undefined {
  const methods = [...(type?.methods.values() ?? [])];
  const isStatic = methods.every(({ decorators }) => decorators.includes('staticmethod'));
  return methods.length > 0 && isStatic ? methods.map((method) => ({ module, method })) : undefined;
}

/** Attributes of an object whose methods only compute. */
const PLAIN_ATTRIBUTE = /^(?:config|_?parameters|logger)$/;

/**
 * Tells if a function changes nothing but the values in what it is given, whatever it does. With `isList` that may be a
 * list of rows: none is put in or taken out then.
 */
export function onlyChangesValues(
  type: CodeClass,
  { module, method }: OwnFunction,
  isList: boolean,
): boolean {
  const { file } = module;
  const functions = new Set<OwnFunction>([{ module, method }]);
  try {
    refuseHarm(module, method, functions, new Set(), true);
    for (const { module: of, method: called } of functions) {
      if (isKeeping(of.file, called.node)) return false;
      for (const node of of.file.nodesIn('MemberExpression', called.node)) {
        const [, name = '', more] = /^self\.(\w+)(\.\w+)?$/.exec(of.file.text(node)) ?? [];
        const own = type.methods.get(name);
        if (own === undefined && more !== undefined && !PLAIN_ATTRIBUTE.test(name)) return false;
        if (own === undefined || [...functions].some((each) => each.method.node === own.node)) continue;
        functions.add({ module: type.module, method: own });
        refuseHarm(type.module, own, functions, new Set(), true);
      }
    }
  } catch (error) {
    if (error instanceof CodeRefused) return false;
    throw error;
  }
  if (file.nodesIn('YieldStatement', method.node).length > 0) return false;
  return !isList || ![...functions].some((each) => isTaking(each));
}

/** Tells if a function keeps something for later calls. */
function isKeeping(file: PythonFile, definition: PythonNode): boolean {
  const targets = ['AssignStatement', 'UpdateStatement'].flatMap((kind) =>
    file.nodesIn(kind, definition).flatMap((node) => children(node).slice(0, 1)),
  );
  return (
    targets.some((target) => file.text(target).startsWith('self.')) ||
    /\b(?:global|nonlocal)\s+\w/.test(file.text(definition))
  );
}

/** Tells if a function takes something out of a list, or puts something in. */
function isTaking({ module: { file }, method: { node } }: OwnFunction): boolean {
  if (file.nodesIn('DeleteStatement', node).length > 0) return true;
  return file.nodesIn('CallExpression', node).some((call) => {
    const name = children(call)[0]?.lastChild;
    const text = name?.name === 'PropertyName' ? file.text(name) : '';
    return TAKES.test(text) || PUTS.test(text);
  });
}

/** Values that are no part of a record. */
const FRESH: ReadonlySet<string> = new Set([
  'DictionaryExpression',
  'ArrayExpression',
  'SetExpression',
  'ArrayComprehensionExpression',
  'DictionaryComprehensionExpression',
]);

/** Names of files that were asked for before. */
const ASKED = new WeakMap<PythonFile, Map<string, boolean>>();

/** Tells if a name of a file stands for nothing but dictionaries and lists that are made there. */
function isFresh(file: PythonFile, name: string): boolean {
  if (!/^\w+$/.test(name)) return false;
  const asked = ASKED.get(file) ?? new Map<string, boolean>();
  ASKED.set(file, asked);
  const isMade = asked.get(name) ?? isAlwaysMade(file, name);
  asked.set(name, isMade);
  return isMade;
}

function isAlwaysMade(file: PythonFile, name: string): boolean {
  const isNamed = (node: PythonNode | undefined): boolean =>
    node?.name === 'VariableName' && file.text(node) === name;
  const isGiven = [...file.nodes('ParamList'), ...file.nodes('ForStatement')].some((node) =>
    children(node).some(
      (part, index, all) => isNamed(part) && (node.name === 'ParamList' || all[index + 1]?.name !== 'Body'),
    ),
  );
  const values = file.nodes('AssignStatement').flatMap((node) => {
    const parts = children(node);
    const sign = parts.findIndex((part) => part.name === 'AssignOp');
    return parts.slice(0, sign).some(isNamed) ? [parts.slice(sign + 1)] : [];
  });
  return (
    !isGiven &&
    values.length > 0 &&
    values.every(([value, more]) => more === undefined && FRESH.has(value?.name ?? ''))
  );
}

/** Tells if a function may change what it is given. */
function isWriting({ module: { file }, method: { node: definition } }: OwnFunction): boolean {
  const isPart = (node: PythonNode | undefined): boolean => {
    const of = node?.name === 'MemberExpression' ? children(node)[0] : undefined;
    return of !== undefined && !(of.name === 'VariableName' && isFresh(file, file.text(of)));
  };
  const written = ['AssignStatement', 'UpdateStatement', 'DeleteStatement'].flatMap((kind) =>
    file.nodesIn(kind, definition),
  );
  if (written.some((node) => children(node).slice(0, 2).some(isPart))) return true;
  return file.nodesIn('CallExpression', definition).some((node) => {
    const [callee] = children(node);
    const method = callee?.lastChild;
    const name = method?.name === 'PropertyName' ? file.text(method) : '';
    const of = callee === undefined ? undefined : children(callee)[0];
    if (of?.name === 'VariableName' && isFresh(file, file.text(of))) return false;
    return PUTS.test(name) || TAKES.test(name);
  });
}

const DANGEROUS: ReadonlySet<string> = new Set([
  'open',
  'exec',
  'eval',
  'compile',
  '__import__',
  'globals',
  'setattr',
]);

function isPlainImport(module: CodeModule, name: string): boolean {
  return module.plainImports.has(name) && !HARMLESS.test(name);
}

/** Expressions that make a text of others. */
const COMPUTED: ReadonlySet<string> = new Set(['CallExpression', 'BinaryExpression', 'FormatString']);

/** Methods of dictionaries and lists that take something out, and those that put something in. */
const TAKES = /^(?:pop|popitem|remove|clear)$/;
const PUTS = /^(?:update|setdefault|append|extend|insert|sort|reverse|add)$/;

/** The places of a class that write into something. */
class Writes {
  readonly #type: CodeClass;
  readonly #component: ManifestComponent;
  readonly #names = new Set<string>();
  #isEmptied = false;
  #isOpen = false;
  #isMade = false;

  constructor(type: CodeClass, component: ManifestComponent) {
    this.#type = type;
    this.#component = component;
  }

  found(): ChangedFields {
    const { methods, module } = this.#type;
    for (const method of methods.values()) {
      if (method.name === '__post_init__' || method.name === '__init__') continue;
      for (const kind of ['AssignStatement', 'UpdateStatement', 'DeleteStatement', 'CallExpression'])
        for (const node of module.file.nodesIn(kind, method.node)) this.#statement(node);
    }
    return { names: this.#names, isEmptied: this.#isEmptied, isOpen: this.#isOpen, isMade: this.#isMade };
  }

  #statement(node: PythonNode): void {
    const parts = children(node);
    if (node.name === 'CallExpression') {
      this.#call(parts);
      return;
    }
    const isDelete = node.name === 'DeleteStatement';
    const sign = parts.findIndex(({ name }) => name === 'AssignOp' || name === 'UpdateOp');
    const targets = isDelete ? parts.slice(1) : parts.slice(0, sign);
    const isEmpty = isDelete || parts.at(-1)?.name === 'None';
    for (const target of targets)
      if (target.name === 'MemberExpression' && children(target)[1]?.name === '[')
        this.#write(target, isEmpty);
  }

  #write(target: PythonNode, isEmpty: boolean): void {
    const { file } = this.#type.module;
    let at = target;
    let first: PythonNode | undefined;
    while (at.name === 'MemberExpression') {
      const [of, , key] = children(at);
      if (of === undefined) break;
      first = key;
      at = of;
    }
    const root = at.name === 'VariableName' ? file.text(at) : '';
    if (root === 'self' || (children(target)[0] === at && isFresh(file, root))) return;
    const name = root === 'record' && first?.name === 'String' ? this.#text(first) : undefined;
    const listed = root === 'record' && first?.name === 'VariableName' ? this.#listed(first) : undefined;
    if (name !== undefined) this.#names.add(name);
    else if (listed !== undefined) for (const one of listed) this.#names.add(one);
    else if (isEmpty) this.#isEmptied = true;
    else if (first !== undefined && this.#isComputed(first)) this.#isMade = true;
    else this.#isOpen = true;
  }

  /** Tells if a key is a text that code puts together, and none of the keys that the record has. */
  #isComputed(key: PythonNode): boolean {
    const { file } = this.#type.module;
    if (key.name !== 'VariableName') return COMPUTED.has(key.name);
    const name = file.text(key);
    const values = file.nodes('AssignStatement').flatMap((node) => {
      const [target, sign, value] = children(node);
      const isOf = target?.name === 'VariableName' && file.text(target) === name && sign?.name === 'AssignOp';
      return isOf ? [value] : [];
    });
    return values.length > 0 && values.every((value) => value !== undefined && COMPUTED.has(value.name));
  }

  #call([callee, list]: readonly PythonNode[]): void {
    const { file } = this.#type.module;
    if (callee === undefined) return;
    const path = file.path(callee) ?? '';
    if (/^dpath(?:\.util)?\.(?:new|set|delete)$|\.(?:transform|_transform)$/.test(path)) this.#isOpen = true;
    const method = callee.name === 'MemberExpression' ? callee.lastChild : undefined;
    if (method?.name !== 'PropertyName' || path.startsWith('self.') || path.startsWith('super')) return;
    const name = file.text(method);
    if (isFresh(file, path.slice(0, path.lastIndexOf('.')))) return;
    if (PUTS.test(name)) this.#isOpen = true;
    if (!TAKES.test(name)) return;
    const [key] = list === undefined ? [] : (groups(list)[0] ?? []);
    const known = path === 'record.pop' && key?.name === 'String' ? this.#text(key) : undefined;
    if (known === undefined) this.#isEmptied = true;
    else this.#names.add(known);
  }

  /** Returns the names that a loop over a list of the component gives a variable: `for name in self.field_names`. */
  #listed(variable: PythonNode): readonly string[] | undefined {
    const { file } = this.#type.module;
    const name = file.text(variable);
    const loops = file.nodes('ForStatement').filter((node) => {
      const [, target, sign] = children(node);
      const isAround = node.from <= variable.from && node.to >= variable.to;
      return isAround && target !== undefined && file.text(target) === name && sign?.name === 'in';
    });
    const [loop] = loops;
    const list = loop === undefined || loops.length > 1 ? undefined : children(loop)[3];
    const key = list === undefined ? undefined : /^self\.(\w+)$/.exec(file.text(list))?.[1];
    const values = key === undefined ? undefined : this.#component.get(key);
    if (!isSequence(values) || this.#isAssigned(name)) return undefined;
    const names = values.filter((value) => typeof value === 'string' && !value.includes('{'));
    return names.length === values.length ? names.map(String) : undefined;
  }

  #isAssigned(name: string): boolean {
    const { file } = this.#type.module;
    return ['AssignStatement', 'UpdateStatement', 'NamedExpression'].some((kind) =>
      file.nodes(kind).some((node) => {
        const [target] = children(node);
        return target !== undefined && file.text(target) === name;
      }),
    );
  }

  #text(node: PythonNode): string {
    return unescaped(this.#type.module.file.text(node).replaceAll(/^[a-z]*['"]+|['"]+$/gi, ''));
  }
}
