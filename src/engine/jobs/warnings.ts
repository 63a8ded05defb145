import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { nearest } from '../../lib/suggest.ts';
import { parentNames } from './incremental/asked.ts';
import type { Placeholder } from './placeholders.ts';
import { namesIn } from './substitute.ts';

/** Warning about a setting that works, but hardly as meant. */
export interface JobWarning {
  /** JSON path in the configuration. */
  readonly path: string;
  readonly message: string;
  /** Advice in one sentence. */
  readonly hint?: string;
}

/** The parts of a job that are looked at. */
interface Checked {
  readonly at: string;
  readonly name: string;
  readonly level: number;
  readonly endpoint: string;
  readonly placeholders: readonly Placeholder[];
}

/** Names in braces that mean something. */
interface Known {
  /** Placeholders, the job's own and inherited ones. */
  readonly names: readonly string[];
  /** Filled by the pagination. */
  readonly places: readonly string[];
  /** Contexts that the job or one above it has: `window`, `state`. */
  readonly contexts: ReadonlySet<string>;
}

/** @param paths the placeholders that are found in a parent row */
export function warnAbout(
  job: Checked,
  paths: Json | undefined,
  node: AnyObject,
  { names, places, contexts }: Known,
): readonly JobWarning[] {
  // a function has no braces of its own
  const hasText = !isObject(getKey(node, 'endpoint'));
  return [
    ...uselessScroller(job, node),
    ...missingContexts(job, node, contexts),
    ...untoldGroup(job, node),
    ...(job.level > 0 ? startedByEveryRow(job, node, names) : withoutEffect(job, paths, node)),
    ...(hasText && (job.level > 0 || names.length > 0) ? unknownNames(job, [...names, ...places]) : []),
  ];
}

/** Values that a reference has only where the job says so. */
const CONTEXTS = {
  window: { values: new Set(['from', 'to', 'end', 'fromTime', 'toTime']), key: 'windows' },
  state: { values: new Set(['cursor']), key: 'incremental' },
} as const;

function missingContexts(job: Checked, node: AnyObject, known: ReadonlySet<string>): readonly JobWarning[] {
  return (['window', 'state'] as const).flatMap((name) => {
    const { values, key } = CONTEXTS[name];
    const own = withoutKey(node, 'children');
    if (known.has(name) || !refersTo(own, name, values)) return [];
    return [
      {
        path: job.at,
        message: `The job refers to its ${name}, and has none: {"${name}": …} is sent as it is written`,
        hint: `Give the job “${key}”.`,
      },
    ];
  });
}

function refersTo(value: Json, name: string, values: ReadonlySet<string>): boolean {
  if (isList(value)) return value.some((item) => refersTo(item, name, values));
  if (!isObject(value)) return false;
  const named = getKey(value, name);
  if (typeof named === 'string' && values.has(named)) return true;
  return entriesOf(value).some(([, item]) => refersTo(item, name, values));
}

function untoldGroup(job: Checked, node: AnyObject): readonly JobWarning[] {
  const group = getKey(node, 'group');
  if (!isObject(group) || isEmpty(group) || getKey(group, 'by') !== undefined) return [];
  return [
    {
      path: `${job.at}.group`,
      message: 'Nothing says which parent a row of the answer belongs to: it gets no column of its parent',
      hint: 'Give “by” the path of that value in the rows, or set it to false if nobody needs it.',
    },
  ];
}

function uselessScroller(job: Checked, node: AnyObject): readonly JobWarning[] {
  const own = getKey(node, 'pagination');
  if (!isObject(own) || isEmpty(getKey(node, 'scroller')) || getKey(own, 'method') === 'multiple') return [];
  return [
    {
      path: `${job.at}.scroller`,
      message: '“scroller” has no effect in a job with a “pagination” of its own',
      hint: 'Leave one of the two out.',
    },
  ];
}

function withoutEffect(job: Checked, paths: Json | undefined, node: AnyObject): readonly JobWarning[] {
  const parts = [
    ['placeholders', paths],
    ['recursionFilter', getKey(node, 'recursionFilter')],
  ] as const;
  return parts
    .filter(([, value]) => !isEmpty(value))
    .map(([key]) => ({
      path: `${job.at}.${key}`,
      message: `“${key}” has no effect in a job that is no child`,
      hint:
        key === 'placeholders'
          ? 'Put it into an entry of “children”; without a parent row its values are functions, such as {"function": "date", "args": ["Y"]}.'
          : 'Put it into an entry of “children”.',
    }));
}

/** The keys of a job that make its request. */
const REQUEST = ['endpoint', 'params', 'query', 'body', 'headers'];

/** Warns of a child without placeholders, whose request has nothing else of the parent row: the reference never runs it, and only a log line says so. */
function startedByEveryRow(job: Checked, node: AnyObject, names: readonly string[]): readonly JobWarning[] {
  const isOfRow = REQUEST.some((key) => parentNames(getKey(node, key) ?? null).size > 0);
  if (names.length > 0 || isOfRow) return [];
  const message = `The child “${job.name}” has no placeholders: it asks for the same thing once for each parent row`;
  return [{ path: job.at, message, hint: 'Give it “placeholders”, or make it a job of its own.' }];
}

function unknownNames(job: Checked, names: readonly string[]): readonly JobWarning[] {
  return namesIn(job.endpoint)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = nearest(name, names);
      return {
        path: `${job.at}.endpoint`,
        message: `There is no placeholder “${name}” for the endpoint: it is sent as written`,
        hint: near === undefined ? 'Define it in “placeholders”.' : `Did you mean {${near}}?`,
      };
    });
}
