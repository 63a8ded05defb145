import type { JobRequest } from '../http/message.ts';
import { getKey, isObject, objectOf, withKey, withoutKey, type AnyObject, type Json } from '../json/index.ts';
import { goesToQuery } from '../language/index.ts';
import type { PaginatedJob } from './paginator.ts';
import { invalid } from './settings.ts';

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

/**
 * The request with one parameter set, in place when it is there, else at the end. In the query it replaces a
 * parameter of the same name in the body.
 */
export function withParam(request: JobRequest, name: string, value: Json, place: ParamPlace): JobRequest {
  if (place === 'params' || goesToQuery(request)) {
    return { ...request, params: withKey(request.params, name, value) };
  }
  return {
    ...request,
    params: withoutKey(request.params, name),
    query: withKey(request.query ?? objectOf([]), name, value),
  };
}

/** A parameter of the request, wherever it goes. */
export function paramOf(request: JobRequest, name: string): Json | undefined {
  return getKey(request.params, name) ?? getKey(request.query ?? objectOf([]), name);
}

/** The place that the job, else the pagination asks for. */
export function placeOf(options: AnyObject, job: PaginatedJob, at: string): ParamPlace {
  const place = job.queryParamIn ?? getKey(options, 'queryParamIn') ?? 'params';
  if (place === 'params' || place === 'query') return place;
  throw invalid(`${at}.queryParamIn`, '`queryParamIn` must be "params" or "query".');
}
