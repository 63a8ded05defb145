import { option, text } from '../../lib/option.ts';
import type { JobRequest } from '../shared/message.ts';
import {
  getKey,
  isEmpty,
  isJsonPath,
  isList,
  isObject,
  equalJson,
  sizeOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { placeSchema, sourceSchema } from '../language/index.ts';
import { includedParams, includeParams } from './include-params.ts';
import { leadsOf, mustBeIn } from './language.ts';
import type { PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';
import { overlayRequest, SCROLL_REQUEST } from './scroll-request.ts';
import { queryParamIn } from './shared-options.ts';
import { applied, isShortForm, MERGE, SET, settersOf, withBlanks } from './setters.ts';
import { invalid, read } from './pagination-settings.ts';

/**
 * Sends a value of the response (a token, a cursor, a page number) in a parameter of the next request.
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
 *
 * The long form sets several places, or merges an object of the response into the request:
 *
 *     { "set": [{ "from": "next.name", "to": "name" }, { "from": "next.type", "to": "type" }] }
 *     { "merge": { "from": "continue", "to": { "query": "*" } } }
 */
export const responseParam: PaginationMethod = {
  method: 'response.param',
  options: {
    type: 'object',
    if: { anyOf: [{ required: ['set'] }, { required: ['merge'] }] },
    else: { required: ['responseParam', 'queryParam'] },
    properties: {
      responseParam: sourceSchema(
        'Path of the value',
        'Path of the property of the response whose value drives the next request, or another source.',
        ['scroll.token', 'meta.next_cursor', { last: 'id' }, { header: 'X-Next' }],
      ),
      queryParam: placeSchema(
        'Parameter of the value',
        'Where the value goes: the name of a parameter, which overrides one of the job, or a place in the request.',
        ['cursor', 'page[after]', { body: 'variables.after' }],
      ),
      set: SET,
      merge: MERGE,
      delimiter: text(
        'Path delimiter',
        'What separates the keys in `responseParam`, for keys that have a dot in their name.',
        { default: '.', examples: ['/'] },
      ),
      includeParams: {
        ...includeParams,
        description: `${String(includeParams['description'])} By default \`false\` where \`responseParam\` and \`queryParam\` are two texts, and \`true\` otherwise.`,
      },
      scrollRequest: SCROLL_REQUEST,
      endValues: option(
        'Further end values',
        'Values that end the pagination besides absent, null, false, empty text, `[]` and `{}`. Compared as JSON: 0 is not "0".',
        { type: 'array', default: [], examples: [[0, '-1', 'END']] },
      ),
      queryParamIn,
    },
  },
  create(options, job, context) {
    const { at } = context;
    const setters = settersOf(options, job, context);
    const [leading] = setters;
    const path = leading.from.text;
    const ends = endValues(options, at);
    const scroll = read.object(options, 'scrollRequest', at);
    const include = includedParams(options, at, !isShortForm(options));
    const followed = (first: JobRequest): JobRequest =>
      scroll === undefined ? include(first) : overlayRequest(scroll, include(first), `${at}.scrollRequest`);
    const request = followed(requestOf(job));
    const written = followed(context.written ?? requestOf(job));
    for (const { to } of setters) mustBeIn(to.place, written, to.at);
    return {
      needs: { sources: setters.map(({ from }) => from) },
      traits: {
        kind: 'follow',
        at,
        asks: leading.to.key,
        looks: leading.fromKey,
        follows: setters.flatMap(({ from }) => leadsOf(from)),
        // the next page may begin with the row whose value was sent
        ...(leading.from.needs.rows || (isJsonPath(path) && path.includes('[')) ? { overlaps: true } : {}),
      },
      first: () => ({ request: withBlanks(setters, requestOf(job)), state: null }),
      next(page) {
        const [value] = page.read;
        if (value === undefined) return { stop: { code: 'noValue', path } };
        if (isEnd(value) || ends.some((end) => equalJson(end, value)))
          return { stop: { code: 'endValue', path } };
        return { request: applied(setters, page.read, request), state: null };
      },
    };
  },
};

/** Tells whether a value always ends the pagination. */
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
