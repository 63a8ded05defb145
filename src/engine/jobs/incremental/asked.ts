import type { Contexts } from '../../shared/evaluate.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  isScalar,
  objectOf,
  toText,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import type { JobInvocation } from '../run.ts';
import { substituteText } from '../substitute.ts';
import { contextsOf } from '../values.ts';

/**
 * Definition of a job that decides what it requests, as written: its own, and those of the jobs above it, from the top.
 */
export interface AskedParts {
  readonly own: AnyObject;
  readonly above: readonly AnyObject[];
}

/** Keys of a job that decide what is asked for. The others say what becomes of the rows, and how their pages follow. */
const ASKING: ReadonlySet<string> = new Set([
  'body',
  'bodyFormat',
  'compression',
  'csv',
  'dataField',
  'endpoint',
  'expand',
  'export',
  'format',
  'group',
  'headers',
  'incremental',
  'method',
  'over',
  'params',
  'paramsIn',
  'placeholders',
  'query',
  'queryParamIn',
  'recursionFilter',
  'rowsAt',
  'where',
  'windows',
  'xml',
  'zip',
]);

/** Parts of these keys that are sent. The others choose where a run begins and ends, and may change between runs. */
const SENT: Readonly<Record<string, readonly string[]>> = {
  export: ['create', 'address', 'download'],
  group: ['join'],
  incremental: ['to', 'format'],
  windows: ['format', 'end'],
};

/** Keys that choose among the parts of a job, and not what is asked of each. */
const CHOOSING = ['over', 'recursionFilter', 'where'];

/**
 * Returns the definition of a job without settings that do not affect its requests: keys that are empty or unknown, the
 * default method, and the order of keys.
 *
 * @param method of a job that names none
 */
export function askedOf(definition: AnyObject, method: string): AnyObject {
  return withSortedKeys(
    objectOf(
      entriesOf(definition).flatMap(([key, value]) => {
        if (!ASKING.has(key) || isUnsaid(key, value)) return [];
        if (key === 'method') {
          const own = toText(value).toUpperCase();
          return own === method ? [] : [[key, own] as const];
        }
        const kept = SENT[key];
        if (kept === undefined || !isObject(value)) return [[key, value] as const];
        return [[key, objectOf(entriesOf(value).filter(([name]) => kept.includes(name)))] as const];
      }),
    ),
  );
}

/** Tells whether a setting counts as absent; an empty object is a body, too. */
function isUnsaid(key: string, value: Json): boolean {
  return key === 'body' ? value === null || value === '' : isEmpty(value);
}

/** Keys of objects whose order counts: it is sent, or names the parts of a job. */
const ORDERED: ReadonlySet<string> = new Set(['args', 'body', 'over', 'params', 'placeholders', 'query']);

/** Sorts the keys of all objects in a setting. */
export function withSortedKeys(setting: AnyObject): AnyObject {
  const entries = entriesOf(setting).map(
    ([key, value]) => [key, ORDERED.has(key) ? value : sorted(value)] as const,
  );
  return objectOf(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function sorted(setting: Json): Json {
  if (isList(setting)) return setting.map((item) => sorted(item));
  return isObject(setting) ? withSortedKeys(setting) : setting;
}

/**
 * Returns the definition that the state of a job is valid for: when it changes, an older state does not apply to the
 * rows that are requested now. If each part of the job has a state of its own, the choice of parts is left out, because
 * new parts begin without a state anyway.
 */
export function meaningOf({ own, above }: AskedParts, isPerParent: boolean): Json {
  if (!isPerParent) return [own, ...above];
  return [
    partOf(own),
    ...above.map((each) => partOf(objectOf(entriesOf(each).filter(([key]) => ID_KEYS.has(key))))),
  ];
}

/**
 * Returns the definition without the choice of parts. Names of lists stay, as they name the parts; their values are in
 * the keys of the parts.
 */
function partOf(asked: AnyObject): AnyObject {
  const over = getKey(asked, 'over');
  const without = withoutKey(withoutKey(asked, 'recursionFilter'), 'over');
  if (over === undefined || !isObject(over)) return without;
  return objectOf([...entriesOf(without), ['over', entriesOf(over).map(([name]) => name)]]);
}

/** Keys of a job above that say what the values of its rows are. */
const ID_KEYS: ReadonlySet<string> = new Set([
  'dataField',
  'endpoint',
  'expand',
  'export',
  'format',
  'over',
  'placeholders',
  'rowsAt',
]);

/**
 * Names the part of a job that a run is about: the values that make its requests differ from those of other parts. These
 * are its placeholders, those of the jobs above it, and what it takes from the row that started it.
 *
 * @param run without the computed placeholders of the job itself
 */
export function partKey({ own }: AskedParts, run: JobInvocation): string {
  const placeholders = run.parameters.flatMap(({ isComputed, value, from = [] }) =>
    isComputed === true ? from : [value],
  );
  const asked = CHOOSING.reduce((rest, key) => withoutKey(rest, key), own);
  const values = [...placeholders, ...parentValues(asked, run, {})];
  const [only, second] = values;
  return only !== undefined && second === undefined ? toText(only) : encodeExact(values);
}

/** Returns the values that `{"parent": …}` refers to anywhere in a setting, in their order. */
export function parentValues(setting: Json, run: JobInvocation, common: Contexts): readonly Json[] {
  const names = parentNames(setting);
  if (names.size === 0) return [];
  const { parent = objectOf([]) } = contextsOf(run, common);
  return [...names].map((name) => getKey(parent, substituteText(name, run.parameters)) ?? null);
}

/** Returns what `{"parent": …}` refers to anywhere in a setting. */
export function parentNames(setting: Json): ReadonlySet<string> {
  const names = new Set<string>();
  collect(setting, names);
  return names;
}

function collect(setting: Json, names: Set<string>): void {
  if (isList(setting)) for (const item of setting) collect(item, names);
  else if (isObject(setting))
    for (const [key, value] of entriesOf(setting)) {
      if (key === 'parent' && isScalar(value)) names.add(toText(value));
      else collect(value, names);
    }
}
