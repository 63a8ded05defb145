import type { CallFunction, Contexts } from '../shared/evaluate.ts';
import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  isScalar,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { isSourceObject } from '../language/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { checkContextValue, contextValue } from './context-value.ts';
import { jobError } from './read-job.ts';
import type { JobInvocation, InvocationParameter } from './run.ts';

/** A placeholder with several values, each of which gets runs of the job. */
export interface OverList {
  readonly name: string;
  /** A list, or a source that gives one. */
  readonly values: Json;
  readonly at: string;
}

/** More runs than these are a mistake in the lists. */
const MAX_PRODUCT = 100_000;

/**
 * Reads `over`: names of placeholders and their values, a list or a source that gives one.
 *
 * @param written the definition of the job, in which the names must stand
 * @throws {JobError} for what is no list, and for a name that is nowhere in the request
 */
export function parseOver(written: AnyObject, at: string): readonly OverList[] {
  const node = getKey(written, 'over');
  if (node === undefined || isEmpty(node)) return [];
  const place = `${at}.over`;
  if (!isObject(node))
    throw jobError(place, `“over” is an object of names and lists, and here is ${kindOf(node)}`, EXAMPLE);
  const lists = entriesOf(node).map(([name, values]) => readList(name, values, `${place}.${name}`));
  const used = namesUsed(written);
  for (const { name, at: where } of lists) {
    if ([...used].some((text) => text === name || text.startsWith(`${name}.`))) continue;
    throw jobError(
      where,
      `{${name}} stands nowhere in the job: each of its values would bring the same rows again`,
      `Write {${name}} in the endpoint, the parameters, the body or the headers.`,
    );
  }
  return lists;
}

const EXAMPLE = 'Write {"country": ["cz", "sk"]}, or {"country": {"attr": "countries"}}.';

function readList(name: string, values: Json, at: string): OverList {
  if (name === '' || /[{}]/.test(name))
    throw jobError(at, `“${name}” cannot name a placeholder`, 'Write the name without braces.');
  if (!isList(values) && !isSourceObject(values))
    throw jobError(at, `The values of “${name}” are no list, but ${kindOf(values)}`, EXAMPLE);
  checkContextValue(values, at);
  if (isList(values)) checkItems(name, values, at);
  return { name, values, at };
}

function checkItems(name: string, items: readonly Json[], at: string): void {
  const seen = new Set<string>();
  for (const [i, item] of items.entries()) {
    const isFlat =
      isScalar(item) || (isObject(item) && entriesOf(item).every(([, inner]) => isScalar(inner)));
    if (!isFlat)
      throw jobError(
        `${at}[${i}]`,
        `A value of “${name}” is ${kindOf(item)}`,
        'Give texts, numbers, or objects of them.',
      );
    const text = isObject(item)
      ? JSON.stringify(entriesOf(item).map(([key, inner]) => [key, toText(inner)]))
      : toText(item);
    if (seen.has(text))
      throw jobError(
        `${at}[${i}]`,
        `A value stands twice in “${name}”: its rows would come twice`,
        'Leave one of them out.',
      );
    seen.add(text);
  }
}

/** Returns the names in braces, and those of references, in all texts of a job and its children. */
function namesUsed(written: AnyObject): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (value: Json): void => {
    if (typeof value === 'string')
      for (const [, name = ''] of value.matchAll(/\{([^{}]+)\}/g)) names.add(name);
    else if (isList(value)) value.forEach(walk);
    else if (isObject(value)) {
      for (const [key, inner] of entriesOf(value)) {
        if (key === 'placeholder' && typeof inner === 'string') names.add(inner);
        walk(inner);
      }
    }
  };
  for (const [key, value] of entriesOf(written)) if (key !== 'over') walk(value);
  return names;
}

export interface OverOptions {
  readonly call: CallFunction;
  /** Contexts that the lists may refer to. */
  readonly contexts: Contexts;
}

/**
 * Returns the invocations of a job for each combination of the values of its lists, the first list varying slowest; the
 * invocation itself if it has no lists.
 *
 * @returns `empty`: the name of a list without values, for which nothing is asked
 * @throws {JobError} for a list that is none, has a value twice, or for too many combinations
 */
export function overRuns(
  over: readonly OverList[],
  run: JobInvocation,
  options: OverOptions,
): { readonly runs: readonly JobInvocation[]; readonly empty?: string } {
  if (over.length === 0) return { runs: [run] };
  const lists = over.map((list) => ({ list, items: itemsOf(list, options) }));
  const empty = lists.find(({ items }) => items.length === 0);
  if (empty !== undefined) return { runs: [], empty: empty.list.name };
  const count = lists.reduce((product, { items }) => product * items.length, 1);
  const [first] = over;
  if (count > MAX_PRODUCT)
    throw jobError(
      (first?.at ?? '').replace(/\.[^.]*$/, ''),
      `The lists give ${count} combinations; at most ${MAX_PRODUCT} are run`,
      'Leave values out, or split the job.',
    );
  return {
    runs: lists.reduce<readonly JobInvocation[]>(
      (runs, { list: { name }, items }) =>
        runs.flatMap((each) => items.map((item) => withParameters(each, parametersOf(name, item)))),
      [run],
    ),
  };
}

function itemsOf({ name, values, at }: OverList, { call, contexts }: OverOptions): readonly Json[] {
  if (isList(values)) return values;
  const found = contextValue(values, { call, contexts, at });
  if (!isList(found))
    throw jobError(at, `“over” needs a list for “${name}”, and there is ${kindOf(found)}`, EXAMPLE);
  checkItems(name, found, at);
  return found;
}

function parametersOf(name: string, item: Json): readonly InvocationParameter[] {
  return isObject(item)
    ? entriesOf(item).map(([key, value]) => ({ name: `${name}.${key}`, value }))
    : [{ name, value: item }];
}

function withParameters(run: JobInvocation, own: readonly InvocationParameter[]): JobInvocation {
  const names = own.map(({ name }) => name);
  return { ...run, parameters: [...run.parameters.filter(({ name }) => !names.includes(name)), ...own] };
}
