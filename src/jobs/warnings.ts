import { getKey, isEmpty, isObject, type AnyObject, type Json } from '../json/index.ts';
import { nearest } from '../suggest.ts';
import type { Placeholder } from './placeholders.ts';
import { namesIn } from './substitute.ts';

/** What works, but hardly as meant. */
export interface JobWarning {
  /** JSON path in the configuration. */
  readonly path: string;
  readonly message: string;
  /** What to do about it: one sentence. */
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
}

/** @param paths the placeholders that are found in a parent row */
export function warnAbout(
  job: Checked,
  paths: Json | undefined,
  node: AnyObject,
  { names, places }: Known,
): readonly JobWarning[] {
  // a function has no braces of its own
  const hasText = !isObject(getKey(node, 'endpoint'));
  return [
    ...uselessScroller(job, node),
    ...(job.level > 0 ? startedByEveryRow(job, names) : withoutEffect(job, paths, node)),
    ...(hasText && (job.level > 0 || names.length > 0) ? unknownNames(job, [...names, ...places]) : []),
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

/** The reference never runs such a child, and says so only in a log line (spec extractor 5.4). */
function startedByEveryRow(job: Checked, names: readonly string[]): readonly JobWarning[] {
  if (names.length > 0) return [];
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
