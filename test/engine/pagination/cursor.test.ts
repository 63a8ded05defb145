import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePath, parseExact, toJsonText, type Json } from '../../../src/lib/json/index.ts';
import { idRange } from '../../../src/engine/pagination/index.ts';
import { paginatorOf, run } from './helpers.ts';

const rows = (...ids: Json[]) => ({ body: ids.map((id) => ({ id })) });
const options = (more: object = {}): Json => ({ method: 'cursor', idKey: 'id', param: 'since', ...more });

describe('cursor', () => {
  test('sends the highest id of all pages so far until a page is empty', () => {
    const { shown, stop } = run(paginatorOf(options(), { params: { since: 1, q: 'x' } }), [
      rows(2, 9, '4'),
      rows(5, 3),
      rows(),
    ]);
    expect(shown).toEqual([
      'GET users {"since":1,"q":"x"}',
      'GET users {"since":9,"q":"x"}',
      'GET users {"since":9,"q":"x"}',
    ]);
    expect(stop).toBe('the page has no rows');
  });

  test('reverse sends the lowest, and increment is added', () => {
    const { shown } = run(paginatorOf(options({ reverse: true, increment: -1 })), [
      rows(9, 7),
      rows(8, 5),
      rows(),
    ]);
    expect(shown.slice(1)).toEqual(['GET users {"since":6}', 'GET users {"since":4}']);
  });

  test('numbers are truncated, and an id may lie deeper in the row', () => {
    const paginator = paginatorOf(options({ idKey: 'fields.id', increment: 1 }));
    const { shown } = run(paginator, [
      { body: [{ fields: { id: '12.9' } }, { fields: { id: -3.5 } }] },
      rows(),
    ]);
    expect(shown[1]).toBe('GET users {"since":13}');
  });

  test('ids beyond 2^53 stay exact, from page to page and through a saved state', () => {
    const paginator = paginatorOf(options({ increment: 1 }));
    const big = { body: parseExact('[{"id":9223372036854775806},{"id":"9223372036854775805"},{"id":3}]') };
    expect(run(paginator, [big, rows(4), rows()]).shown.slice(1)).toEqual([
      'GET users {"since":9223372036854775807}',
      'GET users {"since":9223372036854775807}',
    ]);
  });

  test.each<Json>(['abc', null, true, [1], '', '0x10'])('refuses the id %j', (id) => {
    expect(() => run(paginatorOf(options()), [rows(1, id)])).toThrow('where the cursor needs a number');
  });

  test('queryParamIn puts the id into the query of a POST', () => {
    const paginator = paginatorOf(options({ queryParamIn: 'query' }), {
      method: 'POST',
      params: { since: 0 },
    });
    expect(run(paginator, [rows(3), rows()]).shown[1]).toBe('POST users {} ?{"since":3}');
  });

  test.each<[string, object, string]>([
    ['idKey is missing', { idKey: '' }, 'idKey'],
    ['param is missing', { param: undefined }, 'param'],
    ['increment is text', { increment: '1' }, 'increment'],
    ['increment is a fraction', { increment: 0.5 }, 'increment'],
  ])('is refused when %s', (_name, more, key) => {
    expect(() => paginatorOf(JSON.parse(JSON.stringify(options(more))) as Json)).toThrow(
      expect.objectContaining({ where: { path: `parameters.api.pagination.${key}` } }),
    );
  });
});

describe('the range of ids', () => {
  test('equals the smallest and largest integer, however they are written and cut into chunks', () => {
    const id = fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.bigInt({ min: -99n, max: 99n }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.tuple(id, fc.boolean()), { minLength: 1 }), { minLength: 1 }),
        (chunks) => {
          const all = chunks.flat().map(([value]) => value);
          const parsed = chunks.map((chunk) =>
            chunk.map(([value, isText]) => parseExact(isText ? `{"id":"${value}"}` : `{"id":${value}}`)),
          );
          const range = idRange(parsed, compilePath('id'));
          const least = all.reduce((a, b) => (a < b ? a : b));
          const most = all.reduce((a, b) => (a > b ? a : b));
          expect(range && [toJsonText(range.min), toJsonText(range.max)]).toEqual([
            String(least),
            String(most),
          ]);
        },
      ),
    );
  });

  test('there is none without rows', () => {
    expect(idRange([[], []], compilePath('id'))).toBeUndefined();
  });
});
