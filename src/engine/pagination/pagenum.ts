import { option, whole } from '../../lib/option.ts';
import { getKey, type AnyObject, type Json } from '../../lib/json/index.ts';
import { placeSchema } from '../language/index.ts';
import { truncated } from '../../lib/read-settings.ts';
import { checkPlaces, filled, lastPage } from './counting.ts';
import { placeAt } from './language.ts';
import { jobPageSize, sizePlace } from './page-size.ts';
import type { FirstStep, PaginationMethod } from './paginator.ts';
import { requestOf } from './request.ts';
import { COUNT, firstPageParams, FLAG, limitParam, queryParamIn } from './shared-options.ts';
import { invalid, read } from './pagination-settings.ts';
import { integerOf } from './state.ts';

/**
 * Sends a page number, and a page size where the API wants one.
 *
 * The API answers a page of rows; the last one is short, or empty:
 *
 *     [{ "id": 1 }, { "id": 2 }]
 *
 * Configuration:
 *
 *     { "pagination": { "method": "pagenum", "limit": 2 } }
 *
 * Requests, until a page has fewer than 2 rows (without `limit`: no rows):
 *
 *     GET /users?page=1&limit=2
 *     GET /users?page=2&limit=2
 *     GET /users?page=3&limit=2
 *
 * The job's own page size, where it has one at that place, overrides `limit`.
 */
export const pagenum: PaginationMethod = {
  method: 'pagenum',
  options: {
    type: 'object',
    properties: {
      pageParam: {
        ...placeSchema(
          'Page parameter',
          'Where the page number goes: the name of a parameter, or a place in the request.',
          ['p', { path: 'page' }, { body: 'paging.page' }],
        ),
        default: 'page',
      },
      limitParam,
      limit: option(
        'Page size',
        'Rows asked for in each request; a page with fewer rows is the last one. Without it, an empty page is.',
        { ...COUNT, examples: [100, '100'] },
      ),
      firstPage: whole('First page', 'Number of the first page.', {
        pattern: '^\\s*[+-]?\\d*\\s*$',
        default: 1,
        examples: [0],
      }),
      firstPageParams,
      firstMayRepeat: option(
        'First page again',
        'Whether the second page may be the first one again, as where an API that counts from 1 takes 0 for 1. It is then passed over; without it, a page that comes again is the end.',
        { ...FLAG, default: false, examples: [true] },
      ),
      queryParamIn,
    },
  },
  create(options, job, context) {
    const { at } = context;
    const limit = { key: 'limitParam', place: sizePlace(options, job, context) };
    const number = { key: 'pageParam', place: placeAt(options, 'pageParam', job, context, 'page') };
    const size = jobPageSize(job, limit.place, at) ?? read.count(options, 'limit', at);
    const start = firstPage(options, at);
    const inFirst = read.flag(options, 'firstPageParams', at) ?? true;
    const isLast = lastPage(options, at);
    const request = requestOf(job);
    const sizes = size === undefined ? { ...limit, place: undefined } : limit;
    checkPlaces([number, sizes], request, context);

    const pageAt = (page: number | undefined): FirstStep => ({
      request: filled(request, [
        { ...number, value: page },
        { ...sizes, value: page === undefined ? undefined : size },
      ]),
      state: { page: page ?? start },
    });
    const plan = (state: Json): FirstStep => pageAt(integerOf(state, 'page') + 1);
    return {
      needs: {},
      traits: { kind: 'count', at, ...(size === undefined ? {} : { size }) },
      first: () => pageAt(inFirst ? start : undefined),
      next(page, state) {
        const stop = page.rows === 0 ? isLast(page) : isLast(page, size);
        return stop === undefined ? plan(state) : { stop };
      },
      plan,
    };
  },
};

function firstPage(options: AnyObject, at: string): number {
  const value = getKey(options, 'firstPage');
  if (value === undefined || value === null || value === '') return 1;
  const page = truncated(value);
  if (page !== undefined && Number.isSafeInteger(page)) return page;
  throw invalid(`${at}.firstPage`, '`firstPage` must be a whole number.');
}
