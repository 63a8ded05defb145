import { constant, isConstant, type Expression } from '../jinja/ast.ts';
import type { PythonNode } from '../../python/python-file.ts';
import type { ManifestComponent } from '../component.ts';
import type { ManifestNode, NodeMap } from '../node.ts';
import type { CodeMethod } from './component-code.ts';

/** A value of Python code that is read and not run: an expression of templates, or one of the kinds beside it. */
export type CodeValue =
  | Expression
  | CodeMap
  | { readonly kind: 'items'; readonly values: CodeValue[] }
  /** Something of a module, a class or a builtin: `requests.post`. */
  | { readonly kind: 'module'; readonly path: string }
  /** A value of the manifest as it is written there. */
  | { readonly kind: 'written'; readonly node: ManifestNode }
  /** An `InterpolatedString`, which `eval` renders. */
  | { readonly kind: 'template'; readonly node: ManifestNode }
  | { readonly kind: 'component'; readonly component: ManifestComponent }
  | { readonly kind: 'self' }
  /** A set that is filled while it runs. */
  | { readonly kind: 'set' }
  /** The class that another one extends. */
  | { readonly kind: 'super'; readonly of: string }
  | { readonly kind: 'method'; readonly of: CodeValue; readonly name: string }
  /** A provider of the parts of a request that stand under these keys of the component. */
  | { readonly kind: 'options'; readonly keys: ReadonlySet<string> }
  /** A provider of templates that it has been given. */
  | { readonly kind: 'inputs'; readonly entries: readonly (readonly [string, CodeValue])[] }
  /** The answer to a request of the code. */
  | { readonly kind: 'answer' }
  /** The request that is authenticated. */
  | { readonly kind: 'request'; readonly headers: CodeMap }
  /** The time of a call, and seconds that were added to it; with `isIso` of a class with one form as text. */
  | {
      readonly kind: 'moment';
      readonly call: number;
      readonly plus?: Expression;
      readonly isIso?: true;
    }
  /** A text that is another one each time. */
  | { readonly kind: 'unique' }
  /** A signed token. */
  | {
      readonly kind: 'signed';
      readonly payload: CodeMap;
      readonly key: CodeValue;
      readonly algorithm: string;
      readonly headers: CodeMap;
    }
  /** The seconds between two moments. */
  | { readonly kind: 'elapsed'; readonly from: number; readonly to: number }
  /** The slices of the parents, as they are without code. */
  | { readonly kind: 'parents'; readonly of: readonly ManifestComponent[] }
  /** Any one slice of a parent, by its part of the router. */
  | { readonly kind: 'parentSlice'; readonly of: ManifestComponent }
  /** The value that a slice of a parent has. */
  | { readonly kind: 'sliced'; readonly of: ManifestComponent }
  /** All slices of the stream of a parent. */
  | { readonly kind: 'slices'; readonly parent: ManifestComponent }
  /** All records of the stream of a parent; with `isSliced` those of each of its slices. */
  | { readonly kind: 'records'; readonly parent: ManifestComponent; readonly isSliced: boolean }
  /** Any one of the records of a parent, or a field of it. */
  | {
      readonly kind: 'row';
      readonly parent: ManifestComponent;
      readonly isSliced: boolean;
      /** Keys of a field in it; `*` is any item of a list. */
      readonly keys: readonly string[];
      /** Expression that makes another value of it, in which {@link SLICED} stands for it. */
      readonly made?: Expression;
    }
  /** A part of the answer, or with `*` any one of its items. */
  | { readonly kind: 'entry'; readonly path: readonly string[] }
  /** A value that is computed of the answer, by where that is done; with the item that it is made of, where that is one. */
  | { readonly kind: 'computed'; readonly name: string; readonly of?: readonly string[] }
  /** A schema from a file beside the manifest. */
  | { readonly kind: 'schema'; readonly node: ManifestNode }
  /** An extractor of the other tool, with the keys of its path. */
  | { readonly kind: 'extractor'; readonly path: readonly string[] }
  /** A function inside of another one, with the names that it sees. */
  | {
      readonly kind: 'function';
      readonly method: CodeMethod;
      readonly names: ReadonlyMap<string, CodeValue>;
    }
  /** The keys with their values of what an answer has. */
  | { readonly kind: 'pairs'; readonly path: readonly string[] }
  /** Any one of the items of a list. */
  | { readonly kind: 'each'; readonly list: Expression }
  /** An argument of a call from outside, which is only handed on. */
  | { readonly kind: 'given'; readonly name: string }
  /** An authenticator by user and password. */
  | { readonly kind: 'basic'; readonly user: Expression; readonly password: Expression }
  /** A span of seconds. */
  | { readonly kind: 'seconds'; readonly seconds: Expression };

/** Stands for the value of a field of a row in what is made of it. */
export const SLICED = 'the field of a row';

/** Stands for whether there is any row of a parent. */
export const ANY_ROW = 'any row of a parent';

/** Begins the name that stands for any one item of a list in the answer; the path of the item follows. */
const ITEM = 'item of ';

/** Returns a part of the answer, or of any one item of a list in it, as an expression. */
export function entryExpression(path: readonly string[]): Expression {
  const end = path.lastIndexOf('*') + 1;
  const name = end === 0 ? 'response' : `${ITEM}${JSON.stringify(path.slice(0, end))}`;
  return path
    .slice(end)
    .reduce<Expression>((of, key) => ({ kind: 'item', of, key: constant(key) }), { kind: 'name', name });
}

/** Tells if a name of an expression stands for an item of a list. */
export function isItemName(name: string): boolean {
  return name.startsWith(ITEM);
}

/** Returns the path of the item that such a name stands for. */
export function itemPath(name: string): readonly string[] {
  return (JSON.parse(name.slice(ITEM.length)) as unknown[]).map(String);
}

/** Begins what stands for a field whose name is known only while it runs. */
export const ANY_FIELD = 'any field';

/** Tells if a dictionary has keys that are known only while it runs. */
export function isOpenMap(value: CodeValue): boolean {
  return value.kind === 'dict' && [...value.entries.keys()].some((key) => key.startsWith(ANY_FIELD));
}

/** Returns the item of a list in the answer that values are parts of, or the one part of it that they all are. */
export function commonItem(values: Iterable<CodeValue>): readonly string[] | undefined {
  const items = [...values].flatMap((value) => {
    if (value.kind === 'entry') {
      const end = value.path.lastIndexOf('*') + 1;
      return [end === 0 ? value.path : value.path.slice(0, end)];
    }
    return value.kind === 'computed' ? [value.of ?? []] : [];
  });
  const [item] = items.toSorted((a, b) => b.length - a.length);
  if (item === undefined) return undefined;
  const isAround = (of: readonly string[]): boolean =>
    of.length > 0 && of.every((key, index) => item[index] === key);
  if (!item.includes('*') && items.some((of) => of.length !== item.length)) return undefined;
  return items.every(isAround) ? item : undefined;
}

/** Notes that a part of the answer gets another value: it belongs to a field of each item that it is in. */
export function write(written: Set<string>, path: readonly string[]): void {
  for (const [index, key] of path.entries())
    if (key !== '*' && (path[index - 1] === '*' || !path.includes('*'))) written.add(key);
}

/** Stands for what a name has after a loop over any one item: it is that of the last one. */
export const LOOPED = 'what a loop leaves';

/** A dictionary, which later code may add to. */
export interface CodeMap {
  readonly kind: 'dict';
  readonly entries: Map<string, CodeValue>;
}

export function dict(entries: Iterable<readonly [string, CodeValue]> = []): CodeMap {
  return { kind: 'dict', entries: new Map(entries) };
}

const EXPRESSIONS: ReadonlySet<string> = new Set(
  'constant name item slice call filter test unary binary choose list map join'.split(' '),
);

export function isExpression(value: CodeValue): value is Expression {
  return EXPRESSIONS.has(value.kind);
}

/** Returns a text that is the same for the same values. */
export function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part instanceof Map) return [...part];
    // it sees names among which it is one itself
    const isFunction =
      typeof part === 'object' && part !== null && 'kind' in part && part.kind === 'function';
    return isFunction ? 'function' : part;
  });
}

/** An object whose code calls functions and methods of Python. */
export interface CodeReader {
  readonly component: ManifestComponent;
  readonly attributes: Map<string, CodeValue>;
  /** Counts the calls from outside. */
  readonly now: number;
  isTrue(value: CodeValue): boolean;
  textOf(value: CodeValue): string | undefined;
  expressionOf(value: CodeValue, at: PythonNode | undefined): Expression;
  items(value: CodeValue, at: PythonNode | undefined): readonly CodeValue[];
  entries(value: CodeValue, at: PythonNode | undefined): readonly (readonly [string, CodeValue])[];
  itemOf(owner: CodeValue, index: CodeValue): CodeValue | undefined;
  /** The manifest as it is written. */
  readonly manifest: NodeMap;
  /** Reads the schema of a name from the folder of schemas beside the manifest. */
  schemaOf(name: string): NodeMap | undefined;
  refused(at: PythonNode | undefined, what?: string): Error;
}

/** Joins texts. */
export function joined(parts: readonly Expression[]): Expression {
  const flat = parts.flatMap((part) => (part.kind === 'join' ? part.parts : [part]));
  const merged: Expression[] = [];
  for (const part of flat) {
    const last = merged.at(-1);
    const [a, b] = [last === undefined ? undefined : textIn(last), textIn(part)];
    if (b === '') continue;
    if (a !== undefined && b !== undefined) merged[merged.length - 1] = constant(a + b);
    else merged.push(part);
  }
  const [only = constant('')] = merged;
  return merged.length < 2 && isText(only) ? only : { kind: 'join', parts: merged };
}

function textIn(part: Expression): string | undefined {
  return isConstant(part) && typeof part.value === 'string' ? part.value : undefined;
}

export function isText(expression: Expression): boolean {
  return isConstant(expression) && typeof expression.value === 'string';
}

/** Tells if an expression is a value of the answer: the token that was asked for is there. */
export function isAnswered(expression: Expression): boolean {
  if (expression.kind === 'name') return expression.name === 'response';
  if (expression.kind === 'item') return isAnswered(expression.of);
  if (expression.kind === 'call' && expression.of.kind === 'item') return isAnswered(expression.of.of);
  return false;
}
