import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json/index.ts';
import type { PaginatedJob } from '../../../src/engine/pagination/index.ts';
import { items, paginatorOf, run } from './helpers.ts';

const two = { body: items(2) };
const one = { body: items(1) };
const none = { body: [] };

describe('pagenum', () => {
  test('without a page size counts until a page is empty', () => {
    const { shown, stop } = run(paginatorOf({ method: 'pagenum' }), [two, one, none]);
    expect(shown).toEqual(['GET users {"page":1}', 'GET users {"page":2}', 'GET users {"page":3}']);
    expect(stop).toBe('the page has no rows');
  });

  test('with a page size counts until a page is short', () => {
    const { shown, stop } = run(paginatorOf({ method: 'pagenum', limit: '2' }), [two, one]);
    expect(shown).toEqual(['GET users {"page":1,"limit":2}', 'GET users {"page":2,"limit":2}']);
    expect(stop).toBe('the page has fewer rows (1) than the page size (2)');
  });

  const firstTwo: readonly [string, Json, Partial<PaginatedJob>, string, string][] = [
    [
      'names may differ',
      { method: 'pagenum', limit: 2, limitParam: 'count', pageParam: 'set' },
      {},
      'GET users {"set":1,"count":2}',
      'GET users {"set":2,"count":2}',
    ],
    [
      'may start at 0',
      { method: 'pagenum', firstPage: 0 },
      {},
      'GET users {"page":0}',
      'GET users {"page":1}',
    ],
    [
      'may start at "0"',
      { method: 'pagenum', firstPage: '0' },
      {},
      'GET users {"page":0}',
      'GET users {"page":1}',
    ],
    [
      'a page size of the job is used and sent',
      { method: 'pagenum' },
      { params: { limit: '2', q: 'x' } },
      'GET users {"limit":2,"q":"x","page":1}',
      'GET users {"limit":2,"q":"x","page":2}',
    ],
    [
      'a page of the job is overwritten',
      { method: 'pagenum', limit: 2 },
      { params: { page: 5 } },
      'GET users {"page":1,"limit":2}',
      'GET users {"page":2,"limit":2}',
    ],
    [
      'without firstPageParams the first request is the job as it is, and the second page follows',
      { method: 'pagenum', limit: 2, firstPage: 0, firstPageParams: false },
      { params: { q: 'x' } },
      'GET users {"q":"x"}',
      'GET users {"q":"x","page":1,"limit":2}',
    ],
    [
      'queryParamIn puts the parameters into the query of a POST',
      { method: 'pagenum', limit: 2, queryParamIn: 'query' },
      { method: 'POST', params: { q: 'x' } },
      'POST users {"q":"x"} ?{"page":1,"limit":2}',
      'POST users {"q":"x"} ?{"page":2,"limit":2}',
    ],
  ];
  test.each(firstTwo)('%s', (_name, options, changes, first, second) => {
    expect(run(paginatorOf(options, changes), [two, none]).shown).toEqual([first, second]);
  });

  test('plans the requests that follow from its state alone', () => {
    const paginator = paginatorOf({ method: 'pagenum', firstPageParams: false });
    const planned = paginator.plan?.(paginator.first(0).state);
    expect(planned?.request.params).toEqual({ page: 2 });
  });

  test.each<[string, Json]>([
    ['firstPage', 'one'],
    ['firstPage', false],
    ['limit', 'many'],
  ])('is refused when `%s` is %j', (key, value) => {
    expect(() => paginatorOf({ method: 'pagenum', [key]: value })).toThrow(
      expect.objectContaining({ where: { path: `parameters.api.pagination.${key}` } }),
    );
  });
});
