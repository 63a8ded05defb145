import type { CallFunction, Contexts } from '../shared/evaluate.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { isSourceObject } from '../language/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { checkContextValue, contextValue } from './context-value.ts';
import { parentValues } from './incremental/asked.ts';
import { jobError } from './read-job.ts';
import type { JobInvocation, InvocationParameter } from './run.ts';
import { contextsOf } from './values.ts';

/** A placeholder whose value is computed, and not found in a parent row. */
export interface Computed {
  readonly name: string;
  /** A function or reference. */
  readonly value: AnyObject;
  /** JSON path in the configuration. */
  readonly at: string;
}

/** Takes the computed ones out of `placeholders`: objects without `path`. The others are left. */
export function splitComputed(
  node: Json | undefined,
  at: string,
): { readonly computed: readonly Computed[]; readonly others: Json | undefined } {
  if (node === undefined || !isObject(node)) return { computed: [], others: node };
  const computed: Computed[] = [];
  const others: (readonly [string, Json])[] = [];
  for (const [name, value] of entriesOf(node)) {
    if (isObject(value) && !isEmpty(value) && getKey(value, 'path') === undefined)
      computed.push(readComputed(name, value, `${at}.${name}`));
    else others.push([name, value]);
  }
  return computed.length === 0 ? { computed, others: node } : { computed, others: objectOf(others) };
}

/**
 * Adds the values of the job's computed placeholders to an invocation, in their order: each may refer to those before
 * it.
 *
 * @param call with the functions that only placeholders have
 * @throws {JobError} for a value that is a list or an object, or for none
 * @throws {FunctionError} when a function fails
 */
export function withComputed(
  run: JobInvocation,
  computed: readonly Computed[],
  call: CallFunction,
  common: Contexts,
): JobInvocation {
  return computed.reduce<JobInvocation>((done, { name, value, at }) => {
    const result = contextValue(value, { call, contexts: contextsOf(done, common), at });
    if (result === undefined || isObject(result) || isList(result))
      throw jobError(
        at,
        `The placeholder “${name}” gives ${result === undefined ? 'nothing' : kindOf(result)}, not a value`,
        'Give a function or a reference, such as {"function": "date", "args": ["Y", {"window": "from"}]}.',
      );
    const from = parentValues(value, done, common);
    const parameter: InvocationParameter = {
      name,
      value: result,
      isComputed: true,
      ...(from.length === 0 ? {} : { from }),
    };
    return { ...done, parameters: [...done.parameters.filter((each) => each.name !== name), parameter] };
  }, run);
}

/** Tells whether a value comes from an answer of the export, and is not known before it. */
export function isOfExport({ value }: Computed): boolean {
  return refersTo(value, ['created', 'polled']);
}

function refersTo(value: Json, contexts: readonly string[]): boolean {
  if (isList(value)) return value.some((item) => refersTo(item, contexts));
  if (!isObject(value)) return false;
  return entriesOf(value).some(([key, item]) => contexts.includes(key) || refersTo(item, contexts));
}

function readComputed(name: string, value: AnyObject, at: string): Computed {
  if (name === '' || /[{}]/.test(name))
    throw jobError(
      at,
      `“${name}” cannot name a placeholder`,
      'Write the name without braces: "year" stands for {year}.',
    );
  if (!isSourceObject(value))
    throw jobError(
      at,
      `The placeholder “${name}” does not say where its value comes from`,
      'Give the path of the value in the parent row, such as "id"; or a function, such as {"function": "date", "args": ["Y", {"window": "from"}]}.',
    );
  checkContextValue(value, at);
  return { name, value, at };
}
