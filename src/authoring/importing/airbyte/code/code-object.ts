import type { PythonNode } from '../../python/python-file.ts';
import type { ManifestComponent } from '../component.ts';
import { constant, isConstant, isItems, isMapping, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { isTruthy } from '../jinja/values.ts';
import { get, isMap, isSequence, type NodeMap } from '../node.ts';
import { readYaml } from '../read-yaml.ts';
import type { CallArguments } from './builtins.ts';
import type { BaseClass, CodeRun, Decide, CodeNames, Yielded } from './code-run.ts';
import type { CodeClass, CodeMethod, OwnFunction } from './component-code.ts';
import { isAround } from './decorators.ts';
import { evaluate } from './evaluate.ts';
import { explore, type Outcome } from './explore.ts';
import { CodeRefused, Raised } from './refused.ts';
import { runStatements } from './statements.ts';
import { onlyChangesValues } from './transformation.ts';
import {
  ANY_FIELD,
  ANY_ROW,
  commonItem,
  dict,
  entryExpression,
  isAnswered,
  isExpression,
  isOpenMap,
  keyOf,
  LOOPED,
  type CodeValue,
} from './values.ts';

/** Most statements of one component: loops over what is known could be long. */
const MAX_STEPS = 20_000;

/**
 * One object of a class of Python that is worked out as far as it can be: what is known at once, and expressions for
 * the rest. Anything that is not understood is refused.
 */
export class CodeObject implements CodeRun {
  readonly type: CodeClass;
  readonly component: ManifestComponent;
  readonly attributes: CodeNames;
  readonly base: BaseClass;
  readonly decide: Decide;
  /** Classes whose methods are running. */
  readonly #classes: string[] = [];
  readonly written: Set<string>;
  readonly computed: Map<string, string>;
  readonly yielded: Yielded[] = [];
  readonly #effort: { steps: number; depth: number; readonly calls: Map<string, CodeValue> };
  /** Counts the calls from outside: time goes by between them. */
  now = 0;

  /** @param caller the object whose code calls a function of another file */
  constructor(
    type: CodeClass,
    component: ManifestComponent,
    base: BaseClass,
    decide: Decide,
    caller?: CodeObject,
  ) {
    this.type = type;
    this.component = component;
    this.base = base;
    this.decide = decide;
    this.attributes = new Map(caller?.attributes);
    this.written = caller?.written ?? new Set();
    this.computed = caller?.computed ?? new Map<string, string>();
    this.#effort = caller === undefined ? { steps: 0, depth: 0, calls: new Map() } : caller.#effort;
  }

  get manifest(): NodeMap {
    return this.type.module.manifest;
  }

  schemaOf(name: string): NodeMap | undefined {
    const path = `schemas/${name}.json`;
    const text = this.type.module.textBeside(path);
    return text === undefined ? undefined : readYaml(text, path);
  }

  get runningClass(): string | undefined {
    return this.#classes.at(-1);
  }

  step(at: PythonNode): void {
    if (++this.#effort.steps > MAX_STEPS) throw this.refused(at, 'too long');
  }

  /** Tells whether a condition holds; one that is not known now is decided. */
  isTrue(value: CodeValue): boolean {
    if (isExpression(value)) {
      const folded = fold(value, new Map());
      if (isConstant(folded)) return isTruthy(folded.value);
      if (isAnswered(folded)) return true;
      return this.decide(folded);
    }
    if (value.kind === 'entry') return this.isTrue(entryExpression(value.path));
    if (value.kind === 'computed') return this.decide({ kind: 'name', name: value.name });
    if (value.kind === 'given' && value.name === LOOPED) throw this.refused(undefined, LOOPED);
    if (isOpenMap(value)) return this.decide({ kind: 'name', name: `any of ${keyOf(value)}` });
    if (value.kind === 'dict') return value.entries.size > 0;
    if (value.kind === 'items') {
      // rows of a parent may be none at all
      const isOpen = value.values.length > 0 && value.values.every(({ kind }) => kind === 'row');
      return isOpen ? this.decide({ kind: 'name', name: ANY_ROW }) : value.values.length > 0;
    }
    return value.kind === 'written' ? isTruthy(value.node) : true;
  }

  /** Calls a method of the class, or of what it extends. */
  callMethod(name: string, args: CallArguments, at: PythonNode | undefined, above?: string): CodeValue {
    const type = above === undefined ? this.type : this.#parentOf(above);
    const method = type?.methods.get(name);
    if (method === undefined) return this.#ofBase(name, args, at);
    return this.#together({ module: this.type.module, method }, args, (decide) =>
      decide === undefined ? this.call(method, args) : this.#beside(this.type, decide, method, args),
    );
  }

  call(
    method: CodeMethod,
    { positional, named }: CallArguments,
    around: ReadonlyMap<string, CodeValue> = new Map(),
  ): CodeValue {
    if (++this.#effort.depth > 40) throw this.refused(method.node, 'calls without end');
    const odd = method.decorators.find((name) => !DECORATORS.has(name) && !isAround(this.type, name));
    if (odd !== undefined) throw this.refused(method.node, `the decorator “${odd}”`);
    const names: CodeNames = new Map(around);
    const isStatic = method.decorators.includes('staticmethod');
    const isBare = isStatic || method.of === '';
    const given: CodeValue[] = isBare ? [...positional] : [{ kind: 'self' }, ...positional];
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
      else if (fallback !== undefined) names.set(name, evaluate(this, fallback, names));
    }
    this.#classes.push(method.of);
    const from = this.yielded.length;
    const done = runStatements(this, method.body, names);
    this.#classes.pop();
    this.#effort.depth--;
    if (this.#effort.depth > 0 && isGenerator(this.type, method)) return this.#generated(from);
    return done?.value ?? constant(null);
  }

  /** Calls a function outside of the classes. */
  callFunction(own: OwnFunction, args: CallArguments): CodeValue {
    const { module, method } = own;
    const type: CodeClass = { name: '', module, bases: [], methods: new Map(), fields: new Map() };
    return this.#together(own, args, (decide = this.decide) => this.#beside(type, decide, method, args));
  }

  /** Calls a function inside of another one. */
  callInner(method: CodeMethod, args: CallArguments, names: ReadonlyMap<string, CodeValue>): CodeValue {
    return this.#together({ module: this.type.module, method }, args, (decide = this.decide) =>
      this.#beside(this.type, decide, method, args, names),
    );
  }

  /** Calls code with conditions that are decided otherwise. */
  #beside(
    type: CodeClass,
    decide: Decide,
    method: CodeMethod,
    args: CallArguments,
    names?: ReadonlyMap<string, CodeValue>,
  ): CodeValue {
    const object = new CodeObject(type, this.component, this.base, decide, this);
    const given = object.call(method, args, names);
    const isChanged = [...object.attributes].some(([name, value]) => this.attributes.get(name) !== value);
    if (isChanged) throw this.refused(method.node, 'what it has read is kept');
    return given;
  }

  /**
   * Calls code with a part of the answer, once for each way that its conditions can go: what it makes of the part
   * matters only where it gives other values then.
   */
  #together(own: OwnFunction, args: CallArguments, work: (decide?: Decide) => CodeValue): CodeValue {
    const given = [...args.positional, ...args.named.values()];
    const isOfAnswer = given.some(
      (arg) => arg.kind === 'entry' || arg.kind === 'computed' || isResponse(arg),
    );
    if (this.base.isLoose !== true || !isOfAnswer) return work();
    const [depth, classes] = [this.#effort.depth, this.#classes.length];
    try {
      return this.#everyWay(own, args, work);
    } catch (error) {
      const isOpen = error instanceof CodeRefused && this.#changesValues(own, given);
      if (!isOpen) throw error;
      // what it makes of the values in an item is not known
      this.#effort.depth = depth;
      this.#classes.length = classes;
      this.written.add(ANY_FIELD);
      const of = commonItem(given);
      const name = `computed ${own.module.path} ${own.method.node.from} ${keyOf(given)}`;
      return { kind: 'computed', name, ...(of === undefined ? {} : { of }) };
    }
  }

  /** Tells if code that is not understood changes nothing but values in what it is given. */
  #changesValues(own: OwnFunction, given: readonly CodeValue[]): boolean {
    if (given.some(({ kind }) => kind === 'items' || kind === 'dict' || kind === 'set')) return false;
    const isList = given.some((value) =>
      value.kind === 'entry' ? value.path.at(-1) !== '*' : isResponse(value),
    );
    return onlyChangesValues(this.type, own, isList);
  }

  #everyWay(
    { module, method }: OwnFunction,
    args: CallArguments,
    work: (decide?: Decide) => CodeValue,
  ): CodeValue {
    const key = `${module.path} ${method.node.from} ${keyOf([args.positional, args.named])}`;
    const found = this.#effort.calls.get(key);
    if (found !== undefined) return found;
    const { depth } = this.#effort;
    const given = valuesOf(
      explore((decide) => {
        this.#effort.depth = depth;
        return work(decide);
      }),
    );
    this.#effort.depth = depth;
    const [first, ...others] = given;
    if (first === undefined) throw new Raised();
    if (others.every((other) => keyOf(other) === keyOf(first))) {
      // a list or a dictionary may get other items later
      if (first.kind === 'entry') this.#effort.calls.set(key, first);
      return first;
    }
    const isOfRow = given.some(
      (value) => value.kind === 'entry' || (isExpression(value) && isConstant(value)),
    );
    return isOfRow ? work() : { kind: 'computed', name: `computed ${key}` };
  }

  /** Returns what a generator that other code calls has given. */
  #generated(from: number): CodeValue {
    const values = this.yielded.splice(from).flatMap(({ value, isAll, node }) => {
      if (!isAll) return [value];
      return this.base.each?.(value) ?? this.items(value, node);
    });
    return { kind: 'items', values };
  }

  #parentOf(name: string): CodeClass | undefined {
    let type: CodeClass | undefined = this.type;
    while (type !== undefined && type.name !== name) type = type.parent;
    return type?.parent;
  }

  #ofBase(name: string, args: CallArguments, at: PythonNode | undefined): CodeValue {
    const found = this.base.method(this, name, args);
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
      // a value that is made for each object
      const isMade = fallback?.name === 'CallExpression';
      const made = isMade ? this.base.attribute(this, name) : undefined;
      if (made !== undefined) return made;
      if (fallback !== undefined) return evaluate(this, fallback, new Map());
    }
    const ofBase = this.base.attribute(this, name);
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

  /** Returns the items of a list, and the keys of a dictionary, that are known now. */
  items(value: CodeValue, at: PythonNode | undefined): readonly CodeValue[] {
    if (isOpenMap(value)) throw this.refused(at, 'keys that are known only while it runs');
    if (value.kind === 'items') return value.values;
    if (value.kind === 'dict') return [...value.entries.keys()].map((key) => constant(key));
    if (value.kind === 'list') return value.items;
    if (value.kind === 'written' && isSequence(value.node))
      return value.node.map((node): CodeValue => ({ kind: 'written', node }));
    if (value.kind === 'constant') {
      if (isItems(value.value)) return value.value.map((item) => constant(item));
      if (isMapping(value.value)) return Object.keys(value.value).map((key) => constant(key));
    }
    throw this.refused(at, 'a loop over what is known only while it runs');
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
    if (value.kind === 'entry') return entryExpression(value.path);
    if (value.kind === 'computed') return { kind: 'name', name: value.name };
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

  /** Returns the entries of a dictionary that are known now. */
  entries(value: CodeValue, at: PythonNode | undefined): readonly (readonly [string, CodeValue])[] {
    if (isOpenMap(value)) throw this.refused(at, 'keys that are known only while it runs');
    if (value.kind === 'dict') return [...value.entries];
    if (value.kind === 'written' && isMap(value.node))
      return Object.entries(value.node).map(([key, node]) => [key, { kind: 'written', node }]);
    if (value.kind === 'constant' && isMapping(value.value))
      return Object.entries(value.value).map(([key, item]) => [key, constant(item)]);
    throw this.refused(at);
  }

  itemOf(owner: CodeValue, index: CodeValue): CodeValue | undefined {
    if (isOpenMap(owner)) throw this.refused(undefined, 'a key of those that are known only while it runs');
    if (owner.kind === 'dict') return owner.entries.get(this.textOf(index) ?? '');
    if (owner.kind === 'written' && isMap(owner.node)) {
      const node = get(owner.node, this.textOf(index) ?? '');
      return node === undefined ? undefined : { kind: 'written', node };
    }
    if (index.kind !== 'constant' || typeof index.value !== 'number') return undefined;
    if (owner.kind === 'items') return owner.values.at(index.value);
    if (owner.kind === 'written' && isSequence(owner.node))
      return { kind: 'written', node: owner.node.at(index.value) ?? null };
    return undefined;
  }
}

/** Tells if a value is a part of the answer. */
function isResponse(value: CodeValue): boolean {
  return isExpression(value) && isAnswered(value);
}

function isIn(of: PythonNode, inner: PythonNode): boolean {
  return inner.from >= of.from && inner.to <= of.to;
}

/** Tells if a method gives its values one by one. */
function isGenerator({ module: { file } }: CodeClass, { node }: CodeMethod): boolean {
  const functions = file.nodesIn('FunctionDefinition', node).filter((one) => one.from > node.from);
  return file.nodesIn('YieldStatement', node).some((one) => !functions.some((inner) => isIn(inner, one)));
}

/** Returns the values at the end of each way through code. */
function valuesOf(outcome: Outcome<CodeValue>): readonly CodeValue[] {
  if (outcome.kind === 'error') return [];
  if (outcome.kind === 'value') return [outcome.value];
  return [...valuesOf(outcome.then), ...valuesOf(outcome.otherwise)];
}

/** Decorators that change nothing in what a method does. */
const DECORATORS: ReadonlySet<string> = new Set(
  'property cached_property staticmethod classmethod abstractmethod override'.split(' '),
);

export function parametersOf(component: ManifestComponent): CodeValue {
  return constant(component.parameters());
}
