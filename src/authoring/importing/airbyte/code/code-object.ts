import type { PythonNode } from '../../python/python-file.ts';
import type { ManifestComponent } from '../component.ts';
import { constant, isConstant, isItems, isMapping, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { isTruthy } from '../jinja/values.ts';
import { get, isMap, type NodeMap } from '../node.ts';
import type { CallArguments } from './builtins.ts';
import type { BaseClass, CodeRun, Decide, CodeNames, Yielded } from './code-run.ts';
import type { CodeClass, CodeMethod } from './component-code.ts';
import { isAround } from './decorators.ts';
import { evaluate } from './evaluate.ts';
import { CodeRefused } from './refused.ts';
import { runStatements } from './statements.ts';
import { ANY_ROW, dict, isAnswered, isExpression, type CodeValue } from './values.ts';

/** Most statements of one component: loops over what is known could be long. */
const MAX_STEPS = 20_000;

/**
 * One object of a class of Python that is worked out as far as it can be: what is known at once, and expressions for
 * the rest. Anything that is not understood is refused.
 */
export class CodeObject implements CodeRun {
  readonly type: CodeClass;
  readonly component: ManifestComponent;
  readonly attributes: CodeNames = new Map();
  readonly base: BaseClass;
  readonly decide: Decide;
  /** Classes whose methods are running. */
  readonly #classes: string[] = [];
  readonly written = new Set<string>();
  readonly yielded: Yielded[] = [];
  #steps = 0;
  #depth = 0;
  /** Counts the calls from outside: time goes by between them. */
  now = 0;

  constructor(type: CodeClass, component: ManifestComponent, base: BaseClass, decide: Decide) {
    this.type = type;
    this.component = component;
    this.base = base;
    this.decide = decide;
  }

  get manifest(): NodeMap {
    return this.type.module.manifest;
  }

  get runningClass(): string | undefined {
    return this.#classes.at(-1);
  }

  step(at: PythonNode): void {
    if (++this.#steps > MAX_STEPS) throw this.refused(at, 'too long');
  }

  /** Tells whether a condition holds; one that is not known now is decided. */
  isTrue(value: CodeValue): boolean {
    if (isExpression(value)) {
      const folded = fold(value, new Map());
      if (isConstant(folded)) return isTruthy(folded.value);
      if (isAnswered(folded)) return true;
      return this.decide(folded);
    }
    if (value.kind === 'entry') throw this.refused(undefined, 'a condition on what an answer has');
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
    return method === undefined ? this.#ofBase(name, args, at) : this.call(method, args);
  }

  call(method: CodeMethod, { positional, named }: CallArguments): CodeValue {
    if (++this.#depth > 40) throw this.refused(method.node, 'calls without end');
    const odd = method.decorators.find((name) => !DECORATORS.has(name) && !isAround(this.type, name));
    if (odd !== undefined) throw this.refused(method.node, `the decorator “${odd}”`);
    const names: CodeNames = new Map();
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
      else if (fallback !== undefined) names.set(name, evaluate(this, fallback, names));
    }
    this.#classes.push(method.of);
    const done = runStatements(this, method.body, names);
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
    if (value.kind === 'items') return value.values;
    if (value.kind === 'dict') return [...value.entries.keys()].map((key) => constant(key));
    if (value.kind === 'list') return value.items;
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
    if (value.kind === 'dict') return [...value.entries];
    if (value.kind === 'written' && isMap(value.node))
      return Object.entries(value.node).map(([key, node]) => [key, { kind: 'written', node }]);
    if (value.kind === 'constant' && isMapping(value.value))
      return Object.entries(value.value).map(([key, item]) => [key, constant(item)]);
    throw this.refused(at);
  }

  itemOf(owner: CodeValue, index: CodeValue): CodeValue | undefined {
    if (owner.kind === 'dict') return owner.entries.get(this.textOf(index) ?? '');
    if (owner.kind === 'items' && index.kind === 'constant' && typeof index.value === 'number')
      return owner.values.at(index.value);
    return undefined;
  }
}

/** Decorators that change nothing in what a method does. */
const DECORATORS: ReadonlySet<string> = new Set(
  'property cached_property staticmethod classmethod abstractmethod override'.split(' '),
);

export function parametersOf(component: ManifestComponent): CodeValue {
  const parameters = get(component.node, '$parameters');
  return constant(isMap(parameters) ? parameters : {});
}
