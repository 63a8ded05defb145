import type { OptionSchema } from '../evaluate.ts';
import type { JobRequest } from '../http/message.ts';
import { getKey, isEmpty, isList, isObject, objectOf, type AnyObject } from '../json/index.ts';
import { mergeOver } from '../merge-request.ts';
import { nearest } from '../suggest.ts';
import { invalid } from './settings.ts';

/** JSON Schema of `scrollRequest`. */
export const SCROLL_REQUEST: OptionSchema = {
  title: 'Request of the following pages',
  description:
    'A job-like object whose `endpoint`, `method`, `params` and `headers` replace those of the job after the first request.',
  type: ['object', 'array'],
  maxItems: 0,
  default: {},
  examples: [{ endpoint: 'scroll', method: 'GET', params: { keep: '1m' } }],
  properties: {
    endpoint: {
      title: 'Endpoint',
      description: 'Address of the following pages; the endpoint of the job when it is left out.',
      type: 'string',
      examples: ['scroll'],
    },
    method: {
      title: 'Method',
      description: 'Method of the following requests; the method of the job when it is left out.',
      type: 'string',
      examples: ['GET'],
    },
    params: {
      title: 'Parameters',
      description:
        'Parameters of the following requests, beside the value. Functions are not evaluated here.',
      type: ['object', 'array'],
      default: {},
      examples: [{ keep: '1m' }],
    },
    headers: {
      title: 'Headers',
      description: 'Headers that replace those of the job of the same name.',
      type: ['object', 'array'],
      default: {},
      examples: [{ Accept: 'application/json' }],
    },
    paramsIn: {
      title: 'Place of the parameters',
      description: 'Whether `params` go into the query or the body; by default as usual for the method.',
      enum: ['query', 'body'],
      examples: ['query'],
    },
  },
};

const METHODS = ['GET', 'POST', 'FORM', 'PUT', 'PATCH', 'DELETE'];

/**
 * A job-like object over a request (spec extractor 2.6): what it leaves out stays.
 *
 * @throws {PaginationError} when a key has a wrong type
 */
export function overlayRequest(over: AnyObject, request: JobRequest, at: string): JobRequest {
  const endpoint = textAt(over, 'endpoint', at);
  const method = methodAt(over, at) ?? request.method;
  const paramsIn = placeAt(over, at) ?? (method === request.method ? request.paramsIn : undefined);
  const { paramsIn: _paramsIn, fromResponse, ...rest } = request;
  return {
    ...rest,
    endpoint: endpoint ?? request.endpoint,
    method,
    params: mergeOver(objectAt(over, 'params', at), request.params, 'winner'),
    headers: mergeOver(objectAt(over, 'headers', at), request.headers, 'winner'),
    ...(paramsIn === undefined ? {} : { paramsIn }),
    // An address that the configuration itself names is not one of a response.
    ...(fromResponse === undefined || endpoint !== undefined ? {} : { fromResponse }),
  };
}

/** Text that is not empty; "0" is an endpoint. */
function textAt(node: AnyObject, key: string, at: string): string | undefined {
  const value = getKey(node, key);
  if (typeof value === 'string' && value !== '') return value;
  if (isEmpty(value)) return undefined;
  throw invalid(`${at}.${key}`, `\`${key}\` must be text.`);
}

function methodAt(node: AnyObject, at: string): string | undefined {
  const method = textAt(node, 'method', at)?.toUpperCase();
  if (method === undefined || METHODS.includes(method)) return method;
  const meant = nearest(method, METHODS);
  throw invalid(
    `${at}.method`,
    `The method \`${method}\` is not known.`,
    meant === undefined ? `Use one of ${METHODS.join(', ')}.` : `Did you mean ${meant}?`,
  );
}

function placeAt(node: AnyObject, at: string): 'query' | 'body' | undefined {
  const place = textAt(node, 'paramsIn', at);
  if (place === undefined || place === 'query' || place === 'body') return place;
  throw invalid(`${at}.paramsIn`, '`paramsIn` must be "query" or "body".');
}

/** A map; one with the keys 0..n-1 has been read as a list. */
function objectAt(node: AnyObject, key: string, at: string): AnyObject {
  const value = getKey(node, key);
  if (isObject(value)) return value;
  if (isList(value)) return objectOf(value.map((item, i) => [String(i), item] as const));
  if (isEmpty(value)) return {};
  throw invalid(`${at}.${key}`, `\`${key}\` must be an object.`);
}
