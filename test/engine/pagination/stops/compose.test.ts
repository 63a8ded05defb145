import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/lib/json/index.ts';
import { items, observe, paginatorOf, run, type Answer } from '../helpers.ts';

const all = {
  limitStop: { field: 'meta.total' },
  forceStop: { pages: 3, volume: 1000 },
  nextPageFlag: { field: 'more', stopOn: false },
};
const page = (total: number, more: boolean, next?: string): Answer => ({
  body: { items: items(2), meta: { total, next: next ?? null }, more },
  dataField: ['items'],
});
const param: Json = { method: 'response.param', responseParam: 'meta.next', queryParam: 'c', ...all };

describe('stop rules around a method', () => {
  test.each<[string, Answer, string]>([
    ['limitStop comes first', page(2, false), 'limitStop: 2 of 2 rows have come'],
    ['then nextPageFlag', page(9, false), 'nextPageFlag: `more` is false'],
    ['then the method', page(9, true), '`meta.next` of the response is an end value'],
  ])('%s', (_name, answer, stop) => {
    expect(run(paginatorOf(param), [answer]).stop).toBe(stop);
  });

  test('forceStop comes before nextPageFlag', () => {
    const paginator = paginatorOf({ ...(param as object), forceStop: { pages: 1 } });
    expect(run(paginator, [page(9, false)]).stop).toBe('forceStop: page 1 is the last one allowed');
  });

  test('their states stand beside that of the method', () => {
    const paginator = paginatorOf({ ...all, method: 'offset', limit: 2 });
    const first = paginator.first(5000);
    expect(first.state).toEqual({
      method: { offset: 0 },
      limit: { rows: 0, left: 0, largest: 0 },
      force: { pages: 1, start: 5000, volume: 0 },
    });
    const answer = page(9, true);
    const step = paginator.next(observe(answer, paginator.needs, { now: 6000 }), first.state);
    expect(step).toHaveProperty('state', {
      method: { offset: 2 },
      limit: { rows: 2, left: 7, largest: 2 },
      force: { pages: 2, start: 5000, volume: JSON.stringify(answer.body).length },
    });
  });

  test('without counting rules the state is that of the method', () => {
    expect(
      paginatorOf({ method: 'offset', limit: 2, nextPageFlag: { field: 'a', stopOn: true } }).first(0).state,
    ).toEqual({
      offset: 0,
    });
  });

  test('all that they need is asked for at once, and each reads its own', () => {
    const { sources, expected, volume } = paginatorOf(param).needs;
    expect(sources?.map(({ text }) => text)).toEqual(['meta.next', 'meta.total', 'more']);
    expect(expected?.map(({ text }) => text)).toEqual(['meta.total']);
    expect(volume).toBe(true);
    expect(run(paginatorOf(param), [page(9, true, 'a'), page(9, true)]).shown).toEqual([
      'GET users {}',
      'GET users {"c":"a"}',
    ]);
  });

  test('what a method needs besides paths is kept', () => {
    const link = paginatorOf({ method: 'link', limitStop: { count: 9 } });
    expect(link.needs.headers).toEqual(['link']);
    const cursor = paginatorOf({ method: 'cursor', idKey: 'a.id', param: 'since', limitStop: { count: 9 } });
    expect(cursor.needs.ids?.find({ a: { id: 7 } })).toBe(7);
  });

  test('a plan goes through limitStop and nextPageFlag, and leaves their counts alone', () => {
    const paginator = paginatorOf({ method: 'offset', limit: 2, limitStop: { count: 9 } });
    const planned = paginator.plan?.(paginator.first(0).state);
    expect(planned?.request.params).toEqual({ limit: 2, offset: 2 });
    expect(planned?.state).toEqual({ method: { offset: 2 }, limit: { rows: 0, left: 0, largest: 0 } });
  });
});
