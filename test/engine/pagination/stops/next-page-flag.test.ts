import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/lib/json/index.ts';
import { items, paginatorOf, run, type Answer } from '../helpers.ts';

const page = (more?: Json): Answer => ({
  body: { items: items(2), ...(more === undefined ? {} : { more }) },
  dataField: ['items'],
});
const last: Answer = { body: { items: [], more: true }, dataField: ['items'] };
const options = (nextPageFlag: Json): Json => ({ method: 'pagenum', nextPageFlag });

describe('nextPageFlag', () => {
  test.each<[Json | undefined, object, boolean]>([
    [false, { stopOn: false }, true],
    [true, { stopOn: false }, false],
    [true, { stopOn: true }, true],
    [false, { stopOn: true }, false],
    [0, { stopOn: false }, true],
    ['0', { stopOn: false }, true],
    ['', { stopOn: false }, true],
    [[], { stopOn: false }, true],
    ['false', { stopOn: false }, false],
    [{}, { stopOn: true }, true],
    [7, { stopOn: true }, true],
    [undefined, { stopOn: false }, true],
    [undefined, { stopOn: true }, true],
    [null, { stopOn: false }, true],
    [undefined, { stopOn: false, ifNotSet: true }, false],
    [null, { stopOn: true, ifNotSet: false }, false],
    [undefined, { stopOn: true, ifNotSet: true }, true],
  ])('the flag %j with %j stops: %j', (more, flag, stops) => {
    const { shown } = run(paginatorOf(options({ field: 'more', ...flag })), [page(more), last, last]);
    expect(shown.length === 1).toBe(stops);
  });

  test('says why', () => {
    const flag = options({ field: 'more', stopOn: false });
    expect(run(paginatorOf(flag), [page(false)]).stop).toBe('nextPageFlag: `more` is false');
    expect(run(paginatorOf(flag), [page()]).stop).toBe('nextPageFlag: `more` is not set');
  });

  test('the field is a path; a property at the root of that very name comes first', () => {
    const flag = options({ field: 'a.b', stopOn: true, ifNotSet: false });
    const nested: Answer = { body: { items: items(2), a: { b: true } }, dataField: ['items'] };
    const flat: Answer = { body: { items: items(2), 'a.b': true }, dataField: ['items'] };
    const both: Answer = { body: { items: items(2), 'a.b': false, a: { b: true } }, dataField: ['items'] };
    const neither: Answer = { body: { items: items(2), b: true }, dataField: ['items'] };
    expect(run(paginatorOf(flag), [both, neither, nested]).stop).toBe('nextPageFlag: `a.b` is true');
    expect(run(paginatorOf(flag), [both, neither, flat]).stop).toBe('nextPageFlag: `a.b` is true');
  });

  test('a list has no flag', () => {
    expect(
      run(paginatorOf(options({ field: 'more', stopOn: false })), [{ body: items(2) }]).shown,
    ).toHaveLength(1);
  });

  test.each<[Json, string]>([
    [{ stopOn: true }, '.field'],
    [{ field: '', stopOn: true }, '.field'],
    [{ field: 'more' }, '.stopOn'],
    [{ field: 'more', stopOn: 'true' }, '.stopOn'],
    [{ field: 'more', stopOn: true, ifNotSet: 1 }, '.ifNotSet'],
    ['more', ''],
  ])('%j is refused', (nextPageFlag, key) => {
    expect(() => paginatorOf(options(nextPageFlag))).toThrow(
      expect.objectContaining({ where: { path: `parameters.api.pagination.nextPageFlag${key}` } }),
    );
  });
});
