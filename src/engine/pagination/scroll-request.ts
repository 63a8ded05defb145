import { option, text } from '../../lib/option.ts';
import type { JobRequest } from '../shared/message.ts';
import { getKey, isEmpty, type AnyObject } from '../../lib/json/index.ts';
import { mergeOver } from '../shared/merge-request.ts';
import { invalid, read } from './pagination-settings.ts';

/** JSON Schema of `scrollRequest`. */
export const SCROLL_REQUEST = option(
  'Request of the following pages',
  'A job-like object whose `endpoint`, `method`, `params` and `headers` replace those of the job after the first request.',
  {
    type: ['object', 'array'],
    maxItems: 0,
    default: {},
    examples: [{ endpoint: 'scroll', method: 'GET', params: { keep: '1m' } }],
    properties: {
      endpoint: text(
        'Endpoint',
        'Address of the following pages; the endpoint of the job when it is left out.',
        ['scroll'],
      ),
      method: text('Method', 'Method of the following requests; the method of the job when it is left out.', [
        'GET',
      ]),
      params: option(
        'Parameters',
        'Parameters of the following requests, beside the value. Functions are not evaluated here.',
        { type: ['object', 'array'], default: {}, examples: [{ keep: '1m' }] },
      ),
      headers: option('Headers', 'Headers that replace those of the job of the same name.', {
        type: ['object', 'array'],
        default: {},
        examples: [{ Accept: 'application/json' }],
      }),
      paramsIn: option(
        'Place of the parameters',
        'Whether `params` go into the query or the body; by default as usual for the method.',
        { enum: ['query', 'body'], examples: ['query'] },
      ),
    },
  },
);

const METHODS = ['GET', 'POST', 'FORM', 'PUT', 'PATCH', 'DELETE'];

/**
 * Overlays a request with a job-like object: keys that it leaves out stay.
 *
 * @throws {PaginationError} when a key has a wrong type
 */
export function overlayRequest(over: AnyObject, request: JobRequest, at: string): JobRequest {
  const endpoint = textAt(over, 'endpoint', at);
  const method = read.word(over, 'method', at, METHODS) ?? request.method;
  const paramsIn =
    read.word(over, 'paramsIn', at, ['query', 'body']) ??
    (method === request.method ? request.paramsIn : undefined);
  const { paramsIn: _paramsIn, fromResponse, ...rest } = request;
  return {
    ...rest,
    endpoint: endpoint ?? request.endpoint,
    method,
    params: mergeOver(read.map(over, 'params', at) ?? {}, request.params, 'winner'),
    headers: mergeOver(read.map(over, 'headers', at) ?? {}, request.headers, 'winner'),
    ...(paramsIn === undefined ? {} : { paramsIn }),
    // An address that the configuration itself names does not come from a response.
    ...(fromResponse === undefined || endpoint !== undefined ? {} : { fromResponse }),
  };
}

/** Reads text that is not empty; "0" is an endpoint. */
function textAt(node: AnyObject, key: string, at: string): string | undefined {
  const value = getKey(node, key);
  if (typeof value === 'string' && value !== '') return value;
  if (isEmpty(value)) return undefined;
  throw invalid(`${at}.${key}`, `\`${key}\` must be text.`);
}
