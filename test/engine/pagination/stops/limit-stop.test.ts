import { describe, expect, test } from 'vitest';
import { parseExact, type Json } from '../../../../src/lib/json/index.ts';
import { items, paginatorOf, run, type Answer } from '../helpers.ts';

const page = (count: number, total?: Json): Answer => ({
  body: { items: items(count), ...(total === undefined ? {} : { meta: { total } }) },
  dataField: ['items'],
});
const options = (limitStop: Json): Json => ({ method: 'pagenum', limitStop });

describe('limitStop', () => {
  test.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 3],
  ])('with count %i downloads %i pages of two rows', (count, pages) => {
    const { shown, rows } = run(paginatorOf(options({ count })), () => page(2));
    expect(shown).toHaveLength(pages);
    expect(rows).toHaveLength(2 * pages);
  });

  test('says why', () => {
    expect(run(paginatorOf(options({ count: '3' })), () => page(2)).stop).toBe(
      'limitStop: 4 of 3 rows have come',
    );
  });

  test('takes the total from the response of each page', () => {
    const answers = [page(2, 9), page(2, '4'), page(2, 9)];
    expect(run(paginatorOf(options({ field: 'meta.total' })), answers).shown).toHaveLength(2);
  });

  test.each<Json | undefined>([undefined, null, 0, '0', false])(
    'a total of %j ends it after the page',
    (total) => {
      expect(run(paginatorOf(options({ field: 'meta.total' })), [page(2, total)]).shown).toHaveLength(1);
    },
  );

  test('says that there was no total', () => {
    const { stop } = run(paginatorOf(options({ field: 'meta.total' })), [page(2)]);
    expect(stop).toBe('limitStop: the response has no total in `meta.total`');
  });

  test.each<Json>(['many', [3], { a: 1 }])('a total of %j is refused', (total) => {
    expect(() => run(paginatorOf(options({ field: 'meta.total' })), [page(2, total)])).toThrow(
      '`meta.total` of the response must be a number of rows',
    );
  });

  test.each<Json>([[], null, 0])('%j is no rule', (limitStop) => {
    expect(run(paginatorOf(options(limitStop)), [page(2), page(0)]).shown).toHaveLength(2);
  });

  test.each<[Json, string]>([
    [{ count: 1, field: 'a' }, ''],
    [{ count: 0, field: '' }, ''],
    [{ other: 1 }, ''],
    [{ count: 'x' }, '.count'],
    [{ count: -1 }, '.count'],
    [{ field: ['a'] }, '.field'],
    ['3', ''],
  ])('%j is refused', (limitStop, key) => {
    expect(() => paginatorOf(options(limitStop))).toThrow(
      expect.objectContaining({ where: { path: `parameters.api.pagination.limitStop${key}` } }),
    );
  });

  test('a configuration read exactly is understood', () => {
    expect(run(paginatorOf(parseExact('{"limitStop":{"count":1e0}}')), [page(2)]).stop).toContain(
      'limitStop',
    );
  });
});
