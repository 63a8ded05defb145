import { isEmpty } from '../json/index.ts';
import type { PaginatedJob } from './paginator.ts';
import { paramOf } from './request.ts';
import { truncated } from '../settings.ts';
import { invalid } from './settings.ts';

/** The page size in the job's own parameters, which counts more than the pagination's; undefined when there is none. */
export function jobPageSize(job: PaginatedJob, limitParam: string, at: string): number | undefined {
  const value = paramOf(job, limitParam);
  if (isEmpty(value)) return undefined;
  const size = truncated(value);
  if (size !== undefined && Number.isSafeInteger(size) && size > 0) return size;
  throw invalid(
    at,
    `The job's parameter \`${limitParam}\` is the page size and must be a whole number of at least 1.`,
    `Correct \`${limitParam}\` in the params of the job, or name another \`limitParam\`.`,
  );
}
