import { isEmpty, type AnyObject } from '../json/index.ts';
import { jobPageSize } from './page-size.ts';
import type { FirstStep, PaginatedJob, PaginationMethod } from './paginator.ts';
import { paramOf, placeOf, requestOf, withParam } from './request.ts';
import { firstPageParams, FLAG, queryParamIn } from './shared-options.ts';
import { truncated } from '../settings.ts';
import { invalid, read } from './settings.ts';
import { integerOf } from './state.ts';

/**
 * A page size and the number of rows to skip (spec extractor 2.3).
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
 * The job's own parameter named like `limitParam` overrides `limit`.
 */
export const offset: PaginationMethod = {
  method: 'offset',
  options: {
    type: 'object',
    required: ['limit'],
    properties: {
      limit: {
        title: 'Page size',
        description: 'Rows asked for in each request. A page with fewer rows is the last one.',
        type: ['number', 'string'],
        minimum: 1,
        pattern: '^\\s*\\+?0*[1-9]\\d*(?:\\.\\d*)?\\s*$',
        examples: [100, '100'],
      },
      limitParam: {
        title: 'Page size parameter',
        description: 'Name of the parameter that carries the page size.',
        type: 'string',
        default: 'limit',
        examples: ['count'],
      },
      offsetParam: {
        title: 'Offset parameter',
        description: 'Name of the parameter that carries the number of rows to skip.',
        type: 'string',
        default: 'offset',
        examples: ['skip'],
      },
      firstPageParams,
      offsetFromJob: {
        title: "Start at the job's offset",
        description: 'Whether to start at the offset in the `params` of the job instead of at 0.',
        ...FLAG,
        default: false,
        examples: [true],
      },
      queryParamIn,
    },
  },
  create(options, job, { at }) {
    const limitParam = read.text(options, 'limitParam', at) ?? 'limit';
    const offsetParam = read.text(options, 'offsetParam', at) ?? 'offset';
    const size = pageSize(options, job, limitParam, at);
    const start = (read.flag(options, 'offsetFromJob', at) ?? false) ? jobOffset(job, offsetParam, at) : 0;
    const inFirst = read.flag(options, 'firstPageParams', at) ?? true;
    const place = placeOf(options, job, at);
    const request = requestOf(job);

    const pageAt = (pointer: number): FirstStep => ({
      request: withParam(withParam(request, limitParam, size, place), offsetParam, pointer, place),
      state: { offset: pointer },
    });
    return {
      needs: {},
      traits: { kind: 'count', at, size, countsRows: true, ...(start === 0 ? {} : { start }) },
      first: () => (inFirst ? pageAt(start) : { request, state: { offset: start } }),
      next(page, state) {
        if (page.rows < size) return { stop: { code: 'shortPage', rows: page.rows, size } };
        return pageAt(integerOf(state, 'offset') + size);
      },
      plan: (state) => pageAt(integerOf(state, 'offset') + size),
    };
  },
};

function pageSize(options: AnyObject, job: PaginatedJob, limitParam: string, at: string): number {
  const size = read.count(options, 'limit', at);
  if (size === undefined) {
    throw invalid(
      `${at}.limit`,
      '`limit` is missing.',
      'Set `limit` to the number of rows in a page, such as 100.',
    );
  }
  return jobPageSize(job, limitParam, at) ?? size;
}

function jobOffset(job: PaginatedJob, offsetParam: string, at: string): number {
  const value = paramOf(job, offsetParam);
  if (isEmpty(value)) return 0;
  const start = truncated(value);
  if (start !== undefined && Number.isSafeInteger(start) && start >= 0) return start;
  throw invalid(
    at,
    `The job's parameter \`${offsetParam}\` is the first offset and must be a whole number.`,
    `Correct \`${offsetParam}\` in the params of the job, or leave \`offsetFromJob\` out.`,
  );
}
