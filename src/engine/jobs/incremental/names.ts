import { jobError } from '../read-job.ts';
import type { JobWarning } from '../warnings.ts';
import type { Incremental } from './read-incremental.ts';

/** Properties of a job that name its state. */
interface Named {
  readonly id: string;
  readonly name: string;
  readonly at: string;
  readonly incremental?: Incremental;
  readonly children: readonly Named[];
}

/**
 * Checks that each state has a name of its own: that of its job, behind those of the jobs above. A name that is not
 * written may change with the job, and the state is then lost.
 *
 * @throws {JobError} for two states of one name
 */
export function checkStateNames(jobs: readonly Named[], warnings: JobWarning[]): void {
  const known = new Map<string, string>();
  const check = (job: Named, above: string): void => {
    const name = `${above}${job.name}`;
    for (const child of job.children) check(child, `${name}/`);
    if (job.incremental === undefined) return;
    const other = known.get(name);
    if (other !== undefined)
      throw jobError(
        `${job.at}.id`,
        `The state of “${name}” is that of two jobs: ${other} has the same name`,
        'Give each of them an “id” of its own.',
      );
    known.set(name, job.at);
    if (job.id !== job.name)
      warnings.push({
        path: job.at,
        message: `The state of this job is kept as “${name}”, its data type, and begins anew when that changes`,
        hint: 'Give it an “id” that stays.',
      });
  };
  for (const job of jobs) check(job, '');
}
