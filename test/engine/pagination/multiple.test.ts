import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json/index.ts';
import { guardOptionsOf } from '../../../src/engine/pagination/index.ts';
import { items, job, paginatorOf, run } from './helpers.ts';

const options = (more: object = {}): Json => ({
  method: 'multiple',
  scrollers: {
    lists: { method: 'offset', limit: 2 },
    search: { method: 'pagenum', forceStop: { pages: 2 } },
    inner: {
      method: 'multiple',
      scrollers: { deep: { method: 'pagenum', pageParam: 'p' } },
      default: 'deep',
    },
    once: {},
  },
  default: 'lists',
  ...more,
});
const two = { body: items(2) };
const none = { body: [] };

describe('multiple', () => {
  test.each([
    ['the default', undefined, 'GET users {"limit":2,"offset":2}'],
    ['the default for an empty name', '', 'GET users {"limit":2,"offset":2}'],
    ['the scroller of the job', 'search', 'GET users {"page":2}'],
  ])('takes %s', (_name, scroller, second) => {
    expect(
      run(paginatorOf(options(), scroller === undefined ? {} : { scroller }), [two, none]).shown[1],
    ).toBe(second);
  });

  test('without a default and a scroller a job makes one request', () => {
    expect(run(paginatorOf(options({ default: null })), [two]).shown).toEqual(['GET users {}']);
  });

  test('a scroller without method makes one request', () => {
    expect(run(paginatorOf(options(), { scroller: 'once' }), [two]).shown).toEqual(['GET users {}']);
  });

  test('stop rules hold inside a scroller and around all of them', () => {
    const inside = run(paginatorOf(options(), { scroller: 'search' }), () => two);
    expect(inside.stop).toBe('forceStop: page 2 is the last one allowed');
    const around = run(paginatorOf(options({ limitStop: { count: 2 } }), { scroller: 'search' }), () => two);
    expect(around.stop).toBe('limitStop: 2 of 2 rows have come');
    expect(around.shown).toHaveLength(1);
  });

  test('may be nested, where the names of the job are those of the inner one, too', () => {
    expect(() => paginatorOf(options(), { scroller: 'inner' })).toThrow(
      expect.objectContaining({ where: { path: 'parameters.api.pagination.scrollers.inner' } }),
    );
    const { shown } = run(paginatorOf(options({ default: 'inner' })), [two, none]);
    expect(shown).toEqual(['GET users {"p":1}', 'GET users {"p":2}']);
  });

  test('an unknown scroller of the job names the defined ones and the one that was meant', () => {
    expect(() => paginatorOf(options(), { scroller: 'serach' })).toThrow(
      expect.objectContaining({
        message: "The job's scroller `serach` is not defined; defined are lists, search, inner, once.",
        hint: 'Did you mean `search`?',
      }),
    );
  });

  test.each<[string, object, string]>([
    ['there are no scrollers', { scrollers: [] }, 'scrollers'],
    ['a scroller is text', { scrollers: { lists: 'offset' } }, 'scrollers.lists'],
    ['the default is unknown', { default: 'other' }, 'default'],
    ['the chosen scroller is wrong', { scrollers: { lists: { method: 'offset' } } }, 'scrollers.lists.limit'],
  ])('is refused when %s', (_name, more, key) => {
    expect(() => paginatorOf(options(more))).toThrow(
      expect.objectContaining({ where: { path: `parameters.api.pagination.${key}` } }),
    );
  });

  test('a page budget of the scroller counts more than the one around', () => {
    const budgets: Json = {
      method: 'multiple',
      maxPages: 7,
      scrollers: { a: { maxPages: 3 }, b: {} },
      default: 'a',
    };
    expect(guardOptionsOf(budgets, job()).maxPages).toBe(3);
    expect(guardOptionsOf(budgets, job({ scroller: 'b' })).maxPages).toBe(7);
  });
});
