import { isMap, isSequence } from './node.ts';
import type { TranslatedJob } from './parent-rows.ts';
import type { TranslatedJson } from './translate/position.ts';

/** Names that mean something in a job alone. */
const OF_A_JOB = /"(?:window|placeholder|state|parent)":|\{[^"{}]+\}/;

/**
 * Takes out of jobs what most of them say again, and returns it for the API, where it means the same: the pagination is
 * that of every job without one, and reactions come behind those of a job.
 */
export function takeShared(roots: readonly TranslatedJob[]): Readonly<Record<string, TranslatedJson>> {
  const jobs = allJobs(roots);
  // a request of an export has neither: it would get both
  if (jobs.length < 2 || jobs.some((job) => job['export'] !== undefined)) return {};
  const pagination = mostUsed(
    jobs.map((job) => job['pagination']).filter((one) => isMap(one) && one['method'] !== 'none'),
  );
  const [first] = jobs;
  const reactions = first?.['reactions'];
  return {
    ...(pagination === undefined ? {} : taken(jobs, 'pagination', pagination)),
    ...(reactions !== undefined &&
    isFree(reactions) &&
    jobs.every((job) => isSame(job['reactions'], reactions))
      ? taken(jobs, 'reactions', reactions)
      : {}),
  };
}

/** Returns a value that several jobs have, the one that most of them have. */
function mostUsed(values: readonly (TranslatedJson | undefined)[]): TranslatedJson | undefined {
  const counts = Map.groupBy(values, (value) => JSON.stringify(value));
  const [most] = [...counts.values()].toSorted((a, b) => b.length - a.length);
  const [value] = most ?? [];
  return most === undefined || most.length < 2 || value === undefined || !isFree(value) ? undefined : value;
}

function taken(
  jobs: readonly TranslatedJob[],
  key: string,
  value: TranslatedJson,
): Readonly<Record<string, TranslatedJson>> {
  for (const job of jobs) if (isSame(job[key], value)) delete job[key];
  return { [key]: value };
}

function isFree(value: TranslatedJson): boolean {
  return !OF_A_JOB.test(JSON.stringify(value));
}

function isSame(value: TranslatedJson | undefined, other: TranslatedJson): boolean {
  return JSON.stringify(value) === JSON.stringify(other);
}

function allJobs(roots: readonly TranslatedJob[]): readonly TranslatedJob[] {
  return roots.flatMap((job) => {
    const { children } = job;
    // parts of a tree are the very objects that were put together
    const below = isSequence(children) ? (children.filter(isMap) as readonly TranslatedJob[]) : [];
    return [job, ...allJobs(below)];
  });
}
