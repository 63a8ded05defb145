import { getKey, type AnyObject } from '../json/index.ts';
import { jobPageSize } from './page-size.ts';
import type { FirstStep, PaginationMethod } from './paginator.ts';
import { placeOf, requestOf, withParam } from './request.ts';
import { COUNT, firstPageParams, queryParamIn } from './shared-options.ts';
import { truncated } from '../settings.ts';
import { invalid, read } from './settings.ts';
import { integerOf } from './state.ts';

/**
 * A page number, and a page size where the API wants one (spec extractor 2.4).
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
 * The job's own parameter named like `limitParam` overrides `limit`.
 */
export const pagenum: PaginationMethod = {
  method: 'pagenum',
  options: {
    type: 'object',
    properties: {
      pageParam: {
        title: 'Page parameter',
        description: 'Name of the parameter that carries the page number.',
        type: 'string',
        default: 'page',
        examples: ['p'],
      },
      limitParam: {
        title: 'Page size parameter',
        description: 'Name of the parameter that carries the page size.',
        type: 'string',
        default: 'limit',
        examples: ['per_page'],
      },
      limit: {
        title: 'Page size',
        description:
          'Rows asked for in each request; a page with fewer rows is the last one. Without it, an empty page is.',
        ...COUNT,
        examples: [100, '100'],
      },
      firstPage: {
        title: 'First page',
        description: 'Number of the first page.',
        type: ['integer', 'string', 'null'],
        pattern: '^\\s*[+-]?\\d*\\s*$',
        default: 1,
        examples: [0],
      },
      firstPageParams,
      queryParamIn,
    },
  },
  create(options, job, { at }) {
    const pageParam = read.text(options, 'pageParam', at) ?? 'page';
    const limitParam = read.text(options, 'limitParam', at) ?? 'limit';
    const size = jobPageSize(job, limitParam, at) ?? read.count(options, 'limit', at);
    const start = firstPage(options, at);
    const inFirst = read.flag(options, 'firstPageParams', at) ?? true;
    const place = placeOf(options, job, at);
    const request = requestOf(job);

    const pageAt = (page: number): FirstStep => {
      const paged = withParam(request, pageParam, page, place);
      return {
        request: size === undefined ? paged : withParam(paged, limitParam, size, place),
        state: { page },
      };
    };
    return {
      needs: {},
      traits: { kind: 'count', at, ...(size === undefined ? {} : { size }) },
      first: () => (inFirst ? pageAt(start) : { request, state: { page: start } }),
      next(page, state) {
        if (page.rows === 0) return { stop: { code: 'noRows' } };
        if (size !== undefined && page.rows < size)
          return { stop: { code: 'shortPage', rows: page.rows, size } };
        return pageAt(integerOf(state, 'page') + 1);
      },
      plan: (state) => pageAt(integerOf(state, 'page') + 1),
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
