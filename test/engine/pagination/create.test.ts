import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json/index.ts';
import {
  DEFAULT_MAX_PAGES,
  createGuard,
  guardOptionsOf,
  PAGINATION_METHODS,
  type PaginationMethod,
} from '../../../src/engine/pagination/index.ts';
import { items, job, paginatorOf, run } from './helpers.ts';

const two = { body: items(2) };

describe('a pagination', () => {
  test.each<Json>([{}, [], null, 'offset', { method: '' }, { method: null }, { method: 'none' }])(
    '%j means one request',
    (options) => {
      const { requests, stop } = run(paginatorOf(options, { params: { q: 1 }, scroller: 's' }), [two]);
      expect(requests).toEqual([{ endpoint: 'users', method: 'GET', params: { q: 1 }, headers: {} }]);
      expect(stop).toBe('the job has no pagination');
    },
  );

  test('an unknown method names the known ones and the one that was meant', () => {
    expect(() => paginatorOf({ method: 'pagnum' })).toThrow(
      expect.objectContaining({
        code: 'pagination.invalid',
        message: 'The pagination method `pagnum` is not known.',
        hint: `Did you mean \`pagenum\`? Known are ${PAGINATION_METHODS.map(({ method }) => method).join(', ')}.`,
        where: { path: 'parameters.api.pagination.method' },
      }),
    );
  });

  test('a method of a library user is a value like the others, inside multiple, too', () => {
    const twice: PaginationMethod = {
      method: 'twice',
      options: { type: 'object', properties: {} },
      create: (_options, { endpoint, method, params, headers }) => ({
        needs: {},
        first: () => ({ request: { endpoint, method, params, headers }, state: 1 }),
        next: (_page, state) =>
          state === 2
            ? { stop: { code: 'other', text: 'twice is enough' } }
            : { request: { endpoint, method, params, headers }, state: 2 },
      }),
    };
    const methods = [...PAGINATION_METHODS, twice];
    const nested: Json = { method: 'multiple', scrollers: { a: { method: 'twice' } }, default: 'a' };
    for (const options of [{ method: 'twice' }, nested]) {
      expect(run(paginatorOf(options, {}, { methods }), [two, two]).stop).toBe('twice is enough');
    }
  });

  test.each([
    [{ status: 204, body: items(2) }, 1],
    [{ status: 200, body: items(2) }, 2],
  ])('an empty response ends every method: %j', (answer, requests) => {
    expect(run(paginatorOf({ method: 'pagenum' }), [answer, { body: [] }]).shown).toHaveLength(requests);
  });

  test('the JSON path of the options may be given', () => {
    expect(() => paginatorOf({ method: 'offset' }, {}, { at: 'here' })).toThrow(
      expect.objectContaining({ where: { path: 'here.limit' } }),
    );
  });

  test('a saved state of something else is a mistake of this program', () => {
    const paginator = paginatorOf({ method: 'offset', limit: 2 });
    const page = {
      page: 1,
      status: 200,
      url: '',
      values: [],
      read: [],
      met: [],
      headers: {},
      rows: 2,
      bytes: 9,
      now: 0,
    };
    expect(() => paginator.next(page, { page: 1 })).toThrow(
      expect.objectContaining({ code: 'internal', audience: 'application' }),
    );
  });

  test.each<[Json, boolean]>([
    [5, true],
    ['5', true],
    [null, true],
    ['five', false],
    [[1], false],
    [1.5, false],
  ])('`pages` %j is accepted: %j', (pages, isAccepted) => {
    const make = (): unknown => paginatorOf({ pages });
    if (isAccepted) expect(make).not.toThrow();
    else expect(make).toThrow('`pages` must be a whole number');
  });
});

describe('the page budget', () => {
  test.each<[Json, number]>([
    [{}, DEFAULT_MAX_PAGES],
    [[], DEFAULT_MAX_PAGES],
    [{ maxPages: '500' }, 500],
    [{ maxPages: 5 }, 5],
  ])('of %j is %i', (options, pages) => {
    expect(createGuard(guardOptionsOf(options, job())).maxPages).toBe(pages);
  });

  test('must be a whole number', () => {
    expect(() => guardOptionsOf({ maxPages: 'all' }, job())).toThrow(
      '`maxPages` must be a whole number of at least 1, and it is a text.',
    );
  });
});
