import { ConfigError } from '../../lib/errors.ts';
import { parseJobs, type Job } from '../jobs/index.ts';
import { entriesOf, getKey, isList, isObject, type AnyObject, type Json } from '../../lib/json/index.ts';

/** One job of a configuration, and the jobs above it that give it its rows. */
export interface SelectedJob {
  /** The top-level job. It and those below it have one child each, down to the selected job, which has none. */
  readonly top: Job;
  readonly job: Job;
  /** Names of all of them, from the top: no two are equal, and none is that of a login. */
  readonly names: readonly string[];
}

/**
 * Finds a job by its indexes, from 0: `[0, 1]` is the second child of the first job.
 *
 * @param node the `jobs` as written
 * @param at JSON path of the node
 * @param defaultOptions `api.http.defaultOptions`, for jobs that name no method
 * @throws {ConfigError} when there is no such job, or it never runs
 * @throws {JobError} for the first mistake in the jobs
 */
export function selectJob(
  node: Json,
  at: string,
  indexes: readonly number[],
  defaultOptions: AnyObject = {},
): SelectedJob {
  const names: string[] = [];
  const path: Job[] = [];
  let [jobs, list, place]: [readonly Job[], Json | undefined, string] = [
    parseJobs(node, at, [], defaultOptions),
    node,
    at,
  ];
  for (const index of indexes) {
    const items: readonly Item[] = itemsOf(list);
    const [key, definition]: Item = items[index] ?? missing(index, items.length, place);
    const jobAt = isList(list) ? `${place}[${key}]` : `${place}.${key}`;
    for (const job of pathTo(jobs, jobAt) ?? overridden(jobAt)) {
      const name = freeName(job.name, names);
      names.push(name);
      path.push({ ...job, name });
      jobs = job.children;
    }
    list = isObject(definition) ? getKey(definition, 'children') : undefined;
    place = `${jobAt}.children`;
  }
  const chain = path.reduceRight<Job | undefined>(
    (child, job) => ({ ...job, children: child === undefined ? [] : [child] }),
    undefined,
  );
  const last = path.at(-1);
  if (chain === undefined || last === undefined) throw new Error('a job is selected by one index at least');
  return { top: chain, job: last, names };
}

/** Returns the path to the job that is defined there, below the first of its parents if it names them. */
function pathTo(jobs: readonly Job[], at: string): readonly Job[] | undefined {
  const direct = jobs.find((each) => each.at === at);
  if (direct !== undefined) return [direct];
  for (const job of jobs) {
    const below = pathTo(job.children, at);
    if (below !== undefined) return [job, ...below];
  }
  return undefined;
}

type Item = readonly [key: string, definition: Json];

function itemsOf(list: Json | undefined): readonly Item[] {
  if (isList(list)) return list.map((item, index) => [String(index), item] as const);
  return isObject(list) ? entriesOf(list) : [];
}

/**
 * Returns a free name: a request is known by the name of its job, so a child may not have the name of its parent, and
 * no job that of logins.
 */
function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  while (free === 'login' || taken.includes(free)) free += taken.length === 0 ? ' (job)' : ' (child)';
  return free;
}

function missing(index: number, count: number, place: string): never {
  throw new ConfigError(
    'config.invalid',
    `There is no job ${index} here: ${count === 0 ? 'there are none' : `the last one is ${count - 1}`}.`,
    {
      where: { path: place },
      hint: 'Jobs are counted from 0.',
    },
  );
}

function overridden(place: string): never {
  throw new ConfigError(
    'config.invalid',
    'This job never runs: a later one of the same list has the same id or definition.',
    {
      where: { path: place },
      hint: 'Give each job its own “id”.',
    },
  );
}
