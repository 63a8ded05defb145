import { getKey, isEmpty, type AnyObject } from '../../lib/json/index.ts';
import type { Place } from '../language/index.ts';
import { truncated } from '../../lib/read-settings.ts';
import { placeAt } from './language.ts';
import type { MethodContext, PaginatedJob } from './paginator.ts';
import { invalid } from './pagination-settings.ts';

/** Returns the place of the page size; undefined when the page size is not sent. */
export function sizePlace(options: AnyObject, job: PaginatedJob, context: MethodContext): Place | undefined {
  return getKey(options, 'limitParam') === false
    ? undefined
    : placeAt(options, 'limitParam', job, context, 'limit');
}

/** Returns the page size of the job's own request, which overrides the pagination's; undefined when there is none. */
export function jobPageSize(job: PaginatedJob, place: Place | undefined, at: string): number | undefined {
  const value = place?.read(job);
  if (place === undefined || isEmpty(value)) return undefined;
  const size = truncated(value);
  if (size !== undefined && Number.isSafeInteger(size) && size > 0) return size;
  throw invalid(
    at,
    `In the job, ${place.text} is the page size and must be a whole number of at least 1.`,
    'Correct it in the job, or name another place in `limitParam`.',
  );
}
