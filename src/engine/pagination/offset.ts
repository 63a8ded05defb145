import { option, whole } from '../../lib/option.ts';
import { isEmpty, type AnyObject, type Json } from '../../lib/json/index.ts';
import { placeSchema, type Place } from '../language/index.ts';
import { truncated } from '../../lib/read-settings.ts';
import { checkPlaces, filled, lastPage } from './counting.ts';
import { placeAt } from './language.ts';
import { jobPageSize, sizePlace } from './page-size.ts';
import type { FirstStep, PaginatedJob, PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';
import { firstPageParams, FLAG, limitParam, queryParamIn } from './shared-options.ts';
import { invalid, read } from './pagination-settings.ts';
import { integerOf } from './state.ts';
import { emptyPageOf } from './stops/empty-page.ts';

/**
 * Sends a page size and the number of rows to skip.
 *
 * The API answers a page of rows, a short one at the end:
 *
 *     [{ "id": 1 }, { "id": 2 }]
 *
 * Configuration:
 *
 *     { "pagination": { "method": "offset", "limit": 2 } }
 *
 * Requests, until a page has fewer than 2 rows:
 *
 *     GET /users?limit=2&offset=0
 *     GET /users?limit=2&offset=2
 *     GET /users?limit=2&offset=4
 *
 * The job's own page size, where it has one at that place, overrides `limit`.
 *
 * With `"advance": "rows"` the offset advances by the number of rows received, so an API may return fewer rows than
 * requested. The last page is then the first one without rows.
 */
export const offset: PaginationMethod = {
  method: 'offset',
  options: {
    type: 'object',
    if: { required: ['advance'], properties: { advance: { const: 'rows' } } },
    else: { required: ['limit'] },
    properties: {
      limit: option(
        'Page size',
        'Rows asked for in each request. A page with fewer rows is the last one. Required, unless `advance` is `rows`.',
        {
          type: ['number', 'string'],
          minimum: 1,
          pattern: '^\\s*\\+?0*[1-9]\\d*(?:\\.\\d*)?\\s*$',
          examples: [100, '100'],
        },
      ),
      limitParam,
      offsetParam: {
        ...placeSchema(
          'Offset parameter',
          'Where the number of rows to skip goes: the name of a parameter, or a place in the request.',
          ['skip', { body: 'page.offset' }, { template: 'offset' }],
        ),
        default: 'offset',
      },
      advance: option(
        'Advance by',
        'What the offset goes on by: the page size (`limit`), or the rows that came (`rows`), for APIs that give fewer than are asked for. With `rows`, a page without rows is the last one.',
        { enum: ['limit', 'rows', '', null], default: 'limit', examples: ['rows'] },
      ),
      firstOffset: whole('First offset', 'Offset of the first row: 1 where the API counts rows from 1.', {
        pattern: '^\\s*\\+?\\d*\\s*$',
        default: 0,
        examples: [1],
      }),
      firstPageParams,
      offsetFromJob: option(
        "Start at the job's offset",
        'Whether to start at the offset in the `params` of the job instead of at the first one.',
        { ...FLAG, default: false, examples: [true] },
      ),
      queryParamIn,
    },
  },
  create(options, job, context) {
    const { at } = context;
    const byRows = read.word(options, 'advance', at, ['limit', 'rows']) === 'rows';
    const limit = { key: 'limitParam', place: sizePlace(options, job, context) };
    const position = { key: 'offsetParam', place: placeAt(options, 'offsetParam', job, context, 'offset') };
    const size = pageSize(options, job, limit.place, at, byRows);
    const base = read.count(options, 'firstOffset', at, 0) ?? 0;
    const isFromJob = read.flag(options, 'offsetFromJob', at) ?? false;
    const start = isFromJob ? (jobOffset(job, position.place, at) ?? base) : base;
    const inFirst = read.flag(options, 'firstPageParams', at) ?? true;
    const isLast = lastPage(options, at);
    if (byRows && emptyPageOf(options, at) === 'goOn')
      throw invalid(
        `${at}.emptyPage`,
        'An offset that goes on by the rows stands still at a page without rows.',
        'Leave `emptyPage` out, or go on by `limit`.',
      );
    const request = requestOf(job);
    // a size that is not known is not sent
    const sizes = size === undefined ? { ...limit, place: undefined } : limit;
    checkPlaces([sizes, position], request, context);

    const pageAt = (pointer: number | undefined): FirstStep => ({
      request: filled(request, [
        { ...sizes, value: pointer === undefined ? undefined : size },
        { ...position, value: pointer },
      ]),
      state: { offset: pointer ?? start },
    });
    const plan = (state: Json): FirstStep => pageAt(integerOf(state, 'offset') + (size ?? 0));
    return {
      needs: {},
      traits: {
        kind: 'count',
        at,
        ...(size === undefined ? {} : { size }),
        ...(byRows ? {} : { countsRows: true }),
        ...(start === base ? {} : { start: start - base }),
      },
      first: () => pageAt(inFirst ? start : undefined),
      next(page, state) {
        const stop = isLast(page, byRows ? undefined : size);
        if (stop !== undefined) return { stop };
        return byRows ? pageAt(integerOf(state, 'offset') + page.rows) : plan(state);
      },
      ...(byRows ? {} : { plan }),
    };
  },
};

function pageSize(
  options: AnyObject,
  job: PaginatedJob,
  place: Place | undefined,
  at: string,
  mayBeUnknown: boolean,
): number | undefined {
  const size = read.count(options, 'limit', at);
  if (size === undefined && !mayBeUnknown)
    throw invalid(
      `${at}.limit`,
      '`limit` is missing.',
      'Set `limit` to the number of rows in a page, such as 100; or `"advance": "rows"` where it is not known.',
    );
  return jobPageSize(job, place, at) ?? size;
}

function jobOffset(job: PaginatedJob, place: Place, at: string): number | undefined {
  const value = place.read(job);
  if (isEmpty(value)) return undefined;
  const start = truncated(value);
  if (start !== undefined && Number.isSafeInteger(start) && start >= 0) return start;
  throw invalid(
    at,
    `In the job, ${place.text} is the first offset and must be a whole number.`,
    'Correct it in the job, or leave `offsetFromJob` out.',
  );
}
