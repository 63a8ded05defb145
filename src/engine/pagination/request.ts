import type { JobRequest } from '../shared/message.ts';
import { getKey, isObject, type AnyObject } from '../../lib/json/index.ts';
import type { PaginatedJob } from './paginator.ts';
import { invalid } from './pagination-settings.ts';

/** Place of the pagination's parameters. */
type ParamPlace = 'params' | 'query';

/** Returns the job's own request, without the settings of pagination. */
export function requestOf(job: PaginatedJob): JobRequest {
  const { scroller: _scroller, queryParamIn: _place, ...request } = job;
  return request;
}

/** Returns the request without the parameters that the job has written. A body that contains none of them stays. */
export function withoutParams(request: JobRequest): JobRequest {
  const { query: _query, body, ...rest } = request;
  return { ...rest, params: {}, ...(body === undefined || isObject(body) ? {} : { body }) };
}

/** Returns the place that the job, else the pagination asks for. */
export function placeOf(options: AnyObject, job: PaginatedJob, at: string): ParamPlace {
  const place = job.queryParamIn ?? getKey(options, 'queryParamIn') ?? 'params';
  if (place === 'params' || place === 'query') return place;
  throw invalid(`${at}.queryParamIn`, '`queryParamIn` must be "params" or "query".');
}
