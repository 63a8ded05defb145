import { flattenContext, objectOf, type AnyObject } from '../../../lib/json/index.ts';
import type { ApiRequest } from '../../shared/message.ts';
import { targetOf } from '../send/target.ts';
import { queryOf, splitQuery } from './url-query.ts';

/** Returns the context `request`: the request that is about to be sent. */
export function requestContext(request: ApiRequest): AnyObject {
  const { hostname, port, path: resource } = targetOf(request.url);
  const { base: path, query = '' } = splitQuery(resource);
  return {
    url: request.url,
    path,
    queryString: query,
    method: request.method,
    hostname: hostname.includes(':') ? `[${hostname}]` : hostname,
    port,
    resource: query === '' ? path : `${path}?${query}`,
  };
}

/** Returns the context `query`: the query of the URL, decoded; a name that comes twice is `name.0`, `name.1`. */
export function queryContext(request: ApiRequest): AnyObject {
  return flattenContext(objectOf(queryOf(request.url)));
}
