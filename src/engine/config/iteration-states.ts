import { JobError } from '../../lib/errors.ts';
import { parseJobs, type Job } from '../jobs/index.ts';
import { encodeExact, entriesOf, objectOf, type AnyObject } from '../../lib/json/index.ts';
import type { ExtractorConfig } from './extractor-config.ts';

/**
 * Returns the settings that identify an iteration for its states: without secrets, which change, and jobs, whose states
 * have names of their own.
 */
export function iterationNames(own: AnyObject): AnyObject {
  return objectOf(entriesOf(own).filter(([key]) => !/^#|^jobs$|^mappings$/.test(key)));
}

/**
 * Checks that no two iterations share a state: the second would begin where the first one ended.
 *
 * @throws {JobError} naming the second
 */
export function checkIterationStates({ configs, api }: ExtractorConfig): void {
  const known = new Map<string, number>();
  for (const { own, iteration, jobs, jobsAt } of configs) {
    if (own === undefined || iteration === undefined) continue;
    const names = encodeExact(iterationNames(own));
    for (const path of statePaths(parseJobs(jobs, jobsAt, [], api.defaultOptions, api.pagination))) {
      const key = encodeExact([names, path]);
      const other = known.get(key);
      if (other !== undefined)
        throw new JobError(
          'job.invalid',
          `The state of “${path}” is that of two iterations: nothing but secrets or jobs tells this one from iteration ${other}`,
          {
            where: { path: `parameters.iterations[${iteration}]` },
            hint: 'Give each of them a name that stays, such as "account": "north".',
          },
        );
      known.set(key, iteration);
    }
  }
}

function statePaths(jobs: readonly Job[], above = ''): readonly string[] {
  return jobs.flatMap(({ name, incremental, children }) => [
    ...(incremental === undefined ? [] : [above + name]),
    ...statePaths(children, `${above}${name}/`),
  ]);
}
