import type { JobRequest } from '../shared/message.ts';
import { getKey, isObject, type AnyObject } from '../../lib/json/index.ts';
import type { PaginatedJob } from './paginator.ts';
import { invalid } from './pagination-settings.ts';

/** Where the parameters of the pagination go. */
type ParamPlace = 'params' | 'query';

/** The job's own request, without what concerns pagination only. */
export function requestOf(job: PaginatedJob): JobRequest {
  const { scroller: _scroller, queryParamIn: _place, ...request } = job;
  return request;
}

/** The request without the parameters that the job has written. A body that takes in none of them stays. */
export function withoutParams(request: JobRequest): JobRequest {
  const { query: _query, body, ...rest } = request;
  return { ...rest, params: {}, ...(body === undefined || isObject(body) ? {} : { body }) };
}

/** The place that the job, else the pagination asks for. */
export function placeOf(options: AnyObject, job: PaginatedJob, at: string): ParamPlace {
  const place = job.queryParamIn ?? getKey(options, 'queryParamIn') ?? 'params';
  if (place === 'params' || place === 'query') return place;
  throw invalid(`${at}.queryParamIn`, '`queryParamIn` must be "params" or "query".');
}
