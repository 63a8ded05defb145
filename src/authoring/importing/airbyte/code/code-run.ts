import type { PythonNode } from '../../python/python-file.ts';
import type { Expression } from '../jinja/ast.ts';
import type { CallArguments } from './builtins.ts';
import type { CodeClass, CodeMethod, OwnFunction } from './component-code.ts';
import type { CodeReader, CodeValue } from './values.ts';

/** Values of a method by their names. */
export type CodeNames = Map<string, CodeValue>;

/** Tells what a condition of the code comes to. */
export type Decide = (condition: Expression) => boolean;

/** A value of a generator; with `isAll` all values of another one. */
export interface Yielded {
  readonly value: CodeValue;
  readonly isAll: boolean;
  readonly node: PythonNode;
}

/** An object while its methods are worked out, as their statements and expressions see it. */
export interface CodeRun extends CodeReader {
  readonly type: CodeClass;
  readonly base: BaseClass;
  readonly decide: Decide;
  /** The class whose method is running. */
  readonly runningClass: string | undefined;
  /** Fields that parts of the answer were given. */
  readonly written: Set<string>;
  /** Names of computed values that such fields were given. */
  readonly computed: Map<string, string>;
  /** Values that a generator has given. */
  readonly yielded: Yielded[];
  /** Counts a statement, or a part of one; too many are refused. */
  step(at: PythonNode): void;
  attribute(name: string, at: PythonNode | undefined): CodeValue;
  call(method: CodeMethod, args: CallArguments): CodeValue;
  callMethod(name: string, args: CallArguments, at: PythonNode | undefined, above?: string): CodeValue;
  callFunction(own: OwnFunction, args: CallArguments): CodeValue;
  callInner(method: CodeMethod, args: CallArguments, names: ReadonlyMap<string, CodeValue>): CodeValue;
}

/** A class of the other tool, for those that extend it. */
export interface BaseClass {
  method(object: CodeRun, name: string, args: CallArguments): CodeValue | undefined;
  attribute(object: CodeRun, name: string): CodeValue | undefined;
  /** Returns what stands for the items of a loop that goes through what is known only while it runs: any one of them. */
  each?(list: CodeValue): readonly CodeValue[] | undefined;
  /** Values that are computed of the answer, and make no row, need not be known. */
  readonly isLoose?: true;
  /** Returns what a class of the other tool gives that code makes an object of. */
  make?(object: CodeRun, path: string, args: CallArguments): CodeValue | undefined;
  /** Returns a part of a value that only this class has. */
  part?(of: CodeValue, name: string): CodeValue | undefined;
  /** Calls a method of a value that only this class has. */
  call?(object: CodeRun, of: CodeValue, name: string, args: CallArguments): CodeValue | undefined;
  /** Returns what stands for the entries of a dictionary that is known only while it runs. */
  spread?(of: CodeValue): readonly (readonly [string, CodeValue])[] | undefined;
  /** Compares, and subtracts, moments. */
  compare?(left: CodeValue, operator: string, right: CodeValue): CodeValue | undefined;
}
