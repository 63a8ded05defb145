import {
  entriesOf,
  getKey,
  isObject,
  objectOf,
  sizeOf,
  withKey,
  type AnyObject,
  type Json,
  type JsonObject,
} from '../../lib/json/index.ts';
import { holdsEmpty } from '../actions/curl/body.ts';
import type { RowsPlace } from './rows.ts';
import { pathOf } from './signs.ts';
import type { FoundRequest } from './target.ts';

/** Parts of a job in the configuration, besides the request. */
export interface FoundJobParts {
  readonly params?: AnyObject;
  /** `dataField`, where it is not left out, and what else says where the rows are. */
  readonly rows?: AnyObject;
  readonly pagination?: AnyObject | undefined;
  /** Further keys of the job. */
  readonly job?: JsonObject;
}

/** Creates a configuration of one job, without unnecessary parts. Pure. */
export function configurationOf(target: FoundRequest, parts: FoundJobParts): AnyObject {
  const params = parts.params ?? target.params;
  const { dataType, endpoint, method, paramsIn } = target;
  const job: [string, Json][] = [['endpoint', endpoint]];
  if (method !== 'GET') job.push(['method', method]);
  // parameters have no empty objects: each would be sent as a list
  const isBody = (method !== 'GET' && method !== 'DELETE' && method !== 'FORM') || paramsIn === 'body';
  if (sizeOf(params) > 0) job.push([isBody && holdsEmpty(params) ? 'body' : 'params', params]);
  else if (target.hasEmptyBody === true) job.push(['body', params]);
  if (paramsIn !== undefined) job.push(['paramsIn', paramsIn]);
  job.push(...entriesOf(parts.rows ?? {}));
  job.push(...Object.entries(parts.job ?? {}));
  // the body gives a type of its own, over which only a header of the job wins
  const own = entriesOf(target.headers).filter(([name]) => isType(name));
  if (own.length > 0) job.push(['headers', objectOf(own)]);
  if (dataType !== endpoint) job.push(['dataType', dataType]);
  const headers = objectOf(entriesOf(target.headers).filter(([name]) => !isType(name)));
  const lists = target.hasLists === true ? { lists: 'repeated' } : {};
  const http = { ...lists, ...(sizeOf(headers) > 0 ? { headers } : {}) };
  const api = {
    baseUrl: target.baseUrl,
    ...(target.authentication === undefined ? {} : { authentication: target.authentication }),
    ...(sizeOf(http) > 0 ? { http } : {}),
    ...(parts.pagination === undefined ? {} : { pagination: parts.pagination }),
  };
  const config = {
    ...(sizeOf(target.secretHeaders) > 0 ? { http: { headers: target.secretHeaders } } : {}),
    ...Object.fromEntries(entriesOf(target.attributes)),
    jobs: [objectOf(job)],
  };
  return { parameters: { api, ...(target.aws === undefined ? {} : { aws: target.aws }), config } };
}

/** Tells whether pages can be asked for beside each other: each is known before the one before it has come. */
export function canBePlanned(pagination: Json | undefined): boolean {
  if (!isObject(pagination)) return false;
  const method = getKey(pagination, 'method');
  return method === 'pagenum' || (method === 'offset' && getKey(pagination, 'advance') !== 'rows');
}

/** Returns the options of an API whose requests are made beside each other, as many as it takes. Pure. */
export function asManyAtOnce(api: AnyObject): AnyObject {
  const http = getKey(api, 'http');
  return withKey(api, 'http', withKey(isObject(http) ? http : {}, 'concurrency', 'auto'));
}

/** Creates a configuration of a request before anything is known of its rows. Pure. */
export function requestConfiguration(target: FoundRequest): AnyObject {
  return configurationOf(target, { rows: { dataField: '.' } });
}

function isType(name: string): boolean {
  return name.toLowerCase() === 'content-type';
}

/** Returns the keys of a job that locate its rows. A list that is the whole answer needs none. */
export function rowsKeys(place: RowsPlace): AnyObject {
  if (place.kind === 'one') return { dataField: '.' };
  if (place.format !== undefined) return { format: place.format };
  const path = place.keys.length === 0 ? {} : { dataField: pathOf(place.keys) };
  const at = place.keys.length === 0 ? { dataField: '.' } : path;
  if (place.kind === 'values') return { ...at, rowsAt: { form: 'values', key: place.keyName ?? 'key' } };
  if (place.kind === 'cells') return { ...at, rowsAt: { form: 'cells', header: pathOf(place.header ?? []) } };
  return path;
}
