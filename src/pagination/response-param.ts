import type { JobRequest } from '../http/message.ts';
import {
  compilePath,
  equalJson,
  getKey,
  isEmpty,
  isList,
  isObject,
  sizeOf,
  type AnyObject,
  type Json,
  isJsonPath,
} from '../json/index.ts';

import type { PaginationMethod } from './paginator.ts';
import { placeOf, requestOf, withoutParams, withParam } from './request.ts';
import { overlayRequest, SCROLL_REQUEST } from './scroll-request.ts';
import { includeParams, queryParamIn } from './shared-options.ts';
import { invalid, read, requiredText } from './settings.ts';

/**
 * A value of the response (a token, a cursor, a page number) goes into a parameter of the next request
 * (spec service-core 2.5).
 *
 * The API answers with a token until there are no more pages:
 *
 *     { "items": [{ "id": 1 }], "scroll": { "token": "b7" } }
 *
 * Configuration, where the pages after the first are asked for in another way:
 *
 *     { "pagination": { "method": "response.param", "responseParam": "scroll.token", "queryParam": "token",
 *         "scrollRequest": { "endpoint": "scroll", "method": "GET" } } }
 *
 * Requests, until `scroll.token` is absent, null, false, empty text, `[]` or `{}`:
 *
 *     POST /search        {"q": "shoes"}
 *     GET  /scroll?token=b7
 *
 * Without `scrollRequest` the endpoint and method stay the job's. 0, "0" and true are tokens like any other;
 * `endValues` names more values that end it.
 */
export const responseParam: PaginationMethod = {
  method: 'response.param',
  options: {
    type: 'object',
    required: ['responseParam', 'queryParam'],
    properties: {
      responseParam: {
        title: 'Path of the value',
        description: 'Path of the property of the response whose value drives the next request.',
        type: 'string',
        minLength: 1,
        examples: ['scroll.token', 'meta.next_cursor'],
      },
      queryParam: {
        title: 'Parameter of the value',
        description:
          'Name of the parameter that carries the value. It overrides a parameter of the job of the same name.',
        type: 'string',
        minLength: 1,
        examples: ['cursor', 'page[after]'],
      },
      delimiter: {
        title: 'Path delimiter',
        description: 'What separates the keys in `responseParam`, for keys that have a dot in their name.',
        type: 'string',
        default: '.',
        examples: ['/'],
      },
      includeParams,
      scrollRequest: SCROLL_REQUEST,
      endValues: {
        title: 'Further end values',
        description:
          'Values that end the pagination besides absent, null, false, empty text, `[]` and `{}`. Compared as JSON: 0 is not "0".',
        type: 'array',
        default: [],
        examples: [[0, '-1', 'END']],
      },
      queryParamIn,
    },
  },
  create(options, job, { at }) {
    const path = requiredText(options, 'responseParam', at);
    const name = requiredText(options, 'queryParam', at);
    const delimiter = read.text(options, 'delimiter', at) ?? '.';
    const ends = endValues(options, at);
    const place = placeOf(options, job, at);
    const scroll = read.object(options, 'scrollRequest', at);
    const plain =
      (read.flag(options, 'includeParams', at) ?? false) ? requestOf(job) : withoutParams(requestOf(job));
    const request: JobRequest =
      scroll === undefined ? plain : overlayRequest(scroll, plain, `${at}.scrollRequest`);
    return {
      needs: { paths: [compilePath(path, { delimiter, at: `${at}.responseParam` })] },
      // the next page may begin with the row whose value led on
      traits: { kind: 'follow', at, ...(isJsonPath(path) && path.includes('[') ? { overlaps: true } : {}) },
      first: () => ({ request: requestOf(job), state: null }),
      next(page) {
        const [value] = page.values;
        if (value === undefined) return { stop: { code: 'noValue', path } };
        if (isEnd(value) || ends.some((end) => equalJson(end, value))) {
          return { stop: { code: 'endValue', path } };
        }
        return { request: withParam(request, name, value, place), state: null };
      },
    };
  },
};

/** The values that always end it (service-core 2.5, design 8.3). */
function isEnd(value: Json): boolean {
  if (value === null || value === false || value === '') return true;
  return isList(value) ? value.length === 0 : isObject(value) && sizeOf(value) === 0;
}

function endValues(options: AnyObject, at: string): readonly Json[] {
  const values = getKey(options, 'endValues');
  if (isList(values)) return values;
  if (isEmpty(values)) return [];
  throw invalid(
    `${at}.endValues`,
    '`endValues` must be a list.',
    'Write the values in brackets, such as [0, "END"].',
  );
}
