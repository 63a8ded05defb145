import { isEmpty } from '../json/index.ts';
import type { PaginatedJob } from './paginator.ts';
import { paramOf } from './request.ts';
import { invalid, toInteger } from './settings.ts';

/** The page size in the job's own parameters, which counts more than the pagination's; undefined when there is none. */
export function jobPageSize(job: PaginatedJob, limitParam: string, at: string): number | undefined {
  const value = paramOf(job, limitParam);
  if (isEmpty(value)) return undefined;
  const size = toInteger(value);
  if (size !== undefined && Number.isSafeInteger(size) && size > 0) return size;
  throw invalid(
    at,
    `The job's parameter \`${limitParam}\` is the page size and must be a whole number of at least 1.`,
    `Correct \`${limitParam}\` in the params of the job, or name another \`limitParam\`.`,
  );
}

/** Why counting ends: a page that is not full is the last one. */
export function shortPage(rows: number, size: number): string {
  return `the page has fewer rows (${rows}) than the page size (${size})`;
}
