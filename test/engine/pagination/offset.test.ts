import { describe, expect, test } from 'vitest';
import { PaginationError } from '../../../src/lib/errors.ts';
import type { Json } from '../../../src/lib/json/index.ts';
import type { PaginatedJob } from '../../../src/engine/pagination/index.ts';
import { items, paginatorOf, run, show } from './helpers.ts';

const two = { body: items(2) };
const one = { body: items(1) };
const none = { body: [] };

describe('offset', () => {
  test('counts in page sizes until a page is short', () => {
    const { shown, stop } = run(paginatorOf({ method: 'offset', limit: 2 }), [two, two, one]);
    expect(shown).toEqual([
      'GET users {"limit":2,"offset":0}',
      'GET users {"limit":2,"offset":2}',
      'GET users {"limit":2,"offset":4}',
    ]);
    expect(stop).toBe('the page has fewer rows (1) than the page size (2)');
  });

  test('counts in page sizes also where the API gives more than was asked for', () => {
    const { shown } = run(paginatorOf({ method: 'offset', limit: 2 }), [{ body: items(3) }, one]);
    expect(shown).toEqual(['GET users {"limit":2,"offset":0}', 'GET users {"limit":2,"offset":2}']);
  });

  test('a full last page is followed by one request that finds nothing', () => {
    expect(run(paginatorOf({ method: 'offset', limit: 2 }), [two, none]).shown).toHaveLength(2);
  });

  const firstTwo: readonly [string, Json, Partial<PaginatedJob>, string, string][] = [
    [
      'parameters keep the place of the job, new ones follow',
      { method: 'offset', limit: '2' },
      { params: { offset: 7, q: 'x' } },
      'GET users {"offset":0,"q":"x","limit":2}',
      'GET users {"offset":2,"q":"x","limit":2}',
    ],
    [
      'parameters may have other names',
      { method: 'offset', limit: 2, limitParam: 'count', offsetParam: 'skip' },
      {},
      'GET users {"count":2,"skip":0}',
      'GET users {"count":2,"skip":2}',
    ],
    [
      'a page size of the job overrides the limit',
      { method: 'offset', limit: 100 },
      { params: { limit: '2' } },
      'GET users {"limit":2,"offset":0}',
      'GET users {"limit":2,"offset":2}',
    ],
    [
      'an empty page size of the job does not',
      { method: 'offset', limit: 2 },
      { params: { limit: 0 } },
      'GET users {"limit":2,"offset":0}',
      'GET users {"limit":2,"offset":2}',
    ],
    [
      'without firstPageParams the first request is the job as it is',
      { method: 'offset', limit: 2, firstPageParams: false },
      { params: { q: 'x', offset: 9 } },
      'GET users {"q":"x","offset":9}',
      'GET users {"q":"x","offset":2,"limit":2}',
    ],
    [
      'offsetFromJob starts at the offset of the job',
      { method: 'offset', limit: 2, offsetFromJob: true },
      { params: { offset: '10' } },
      'GET users {"offset":10,"limit":2}',
      'GET users {"offset":12,"limit":2}',
    ],
    [
      'offsetFromJob counts from the offset of the job without firstPageParams, too',
      { method: 'offset', limit: 2, offsetFromJob: true, firstPageParams: false },
      { params: { offset: 10 } },
      'GET users {"offset":10}',
      'GET users {"offset":12,"limit":2}',
    ],
    [
      'offsetFromJob without an offset starts at 0',
      { method: 'offset', limit: 2, offsetFromJob: true },
      {},
      'GET users {"limit":2,"offset":0}',
      'GET users {"limit":2,"offset":2}',
    ],
    [
      'a POST has the parameters in its body',
      { method: 'offset', limit: 2 },
      { method: 'POST', params: { q: 'x' } },
      'POST users {"q":"x","limit":2,"offset":0}',
      'POST users {"q":"x","limit":2,"offset":2}',
    ],
    [
      'queryParamIn puts them into the query of a POST and takes the names out of the body',
      { method: 'offset', limit: 2, queryParamIn: 'query' },
      { method: 'POST', params: { q: 'x', offset: 5 } },
      'POST users {"q":"x"} ?{"limit":2,"offset":0}',
      'POST users {"q":"x"} ?{"limit":2,"offset":2}',
    ],
    [
      'the job may ask for the query itself',
      { method: 'offset', limit: 2 },
      { method: 'POST', queryParamIn: 'query' },
      'POST users {} ?{"limit":2,"offset":0}',
      'POST users {} ?{"limit":2,"offset":2}',
    ],
    [
      'queryParamIn changes nothing where parameters are in the query anyway',
      { method: 'offset', limit: 2, queryParamIn: 'query' },
      {},
      'GET users {"limit":2,"offset":0}',
      'GET users {"limit":2,"offset":2}',
    ],
  ];
  test.each(firstTwo)('%s', (_name, options, changes, first, second) => {
    expect(run(paginatorOf(options, changes), [two, one]).shown).toEqual([first, second]);
  });

  test('headers, endpoint and method of the job stay, and its scroller is no part of the request', () => {
    const paginator = paginatorOf(
      { method: 'offset', limit: 2 },
      { headers: { A: 'b' }, method: 'FORM', scroller: 's' },
    );
    expect(run(paginator, [two, one]).requests[1]).toEqual({
      endpoint: 'users',
      method: 'FORM',
      headers: { A: 'b' },
      params: { limit: 2, offset: 2 },
    });
  });

  test('plans the requests that follow from its state alone', () => {
    const paginator = paginatorOf({ method: 'offset', limit: 2 });
    const planned = paginator.plan?.(paginator.first(0).state);
    expect(planned && show(planned.request)).toBe('GET users {"limit":2,"offset":2}');
    expect(planned && paginator.plan?.(planned.state).request.params).toEqual({ limit: 2, offset: 4 });
  });

  test.each<[string, Json, Partial<PaginatedJob>, string]>([
    ['limit is missing', {}, {}, '.limit'],
    ['limit is zero', { limit: 0 }, {}, '.limit'],
    ['limit is no number', { limit: 'ten' }, {}, '.limit'],
    ['limit is negative', { limit: -1 }, {}, '.limit'],
    ['limit is a list', { limit: [2] }, {}, '.limit'],
    ['a name is a list', { limit: 2, limitParam: ['a'] }, {}, '.limitParam'],
    ['a flag is no flag', { limit: 2, firstPageParams: 'false' }, {}, '.firstPageParams'],
    ['the place is unknown', { limit: 2, queryParamIn: 'header' }, {}, '.queryParamIn'],
    ['the page size of the job is no number', { limit: 2 }, { params: { limit: 'all' } }, ''],
    [
      'the offset of the job is no number',
      { limit: 2, offsetFromJob: true },
      { params: { offset: 'x' } },
      '',
    ],
  ])('is refused when %s', (_name, options, changes, path) => {
    const make = (): unknown => paginatorOf({ ...(options as object), method: 'offset' }, changes);
    expect(make).toThrow(PaginationError);
    expect(make).toThrow(
      expect.objectContaining({
        code: 'pagination.invalid',
        where: { path: `parameters.api.pagination${path}` },
      }),
    );
  });
});
