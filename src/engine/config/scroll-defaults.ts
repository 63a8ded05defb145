import {
  entriesOf,
  getKey,
  isObject,
  objectOf,
  withKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { deepen } from '../shared/merge-request.ts';

/**
 * Merges the nested parameters of the `scrollRequest` of a pagination with those of `api.http.defaultOptions`, while
 * both are still as written; and those of each pagination in `multiple`.
 */
export function withDefaults(pagination: AnyObject, defaultOptions: AnyObject): AnyObject {
  const base = getKey(defaultOptions, 'params');
  return isObject(base) ? inPagination(pagination, base) : pagination;
}

function inPagination(node: AnyObject, base: AnyObject): AnyObject {
  return ['scrollRequest', 'scrollers'].reduce((result, key) => {
    const value = getKey(node, key);
    if (!isObject(value)) return result;
    return withKey(result, key, key === 'scrollers' ? inScrollers(value, base) : inRequest(value, base));
  }, node);
}

function inScrollers(scrollers: AnyObject, base: AnyObject): AnyObject {
  const each = (value: Json): Json => (isObject(value) ? inPagination(value, base) : value);
  return objectOf(entriesOf(scrollers).map(([name, value]) => [name, each(value)] as const));
}

function inRequest(request: AnyObject, base: AnyObject): AnyObject {
  const params = getKey(request, 'params');
  return isObject(params) ? withKey(request, 'params', deepen(params, base)) : request;
}
