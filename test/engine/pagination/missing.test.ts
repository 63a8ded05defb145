import { describe, expect, test } from 'vitest';
import { compilePath, type Json } from '../../../src/lib/json/index.ts';
import { nearMiss } from '../../../src/engine/pagination/index.ts';

const response: Json = {
  items: [{ id: 1, cursor: 'x' }],
  scroll: { token: 'b7' },
  meta: { next_page_token: 'c', total: 3, deep: { next: { after: 'd' } } },
  links: { self: '/1', last: '/9' },
  next_cursor: 'e',
};

describe('a path that is not in the response', () => {
  test.each([
    ['scroll.tokn', 'scroll.token'],
    ['scrol.token', 'scroll.token'],
    ['Scroll.Token', 'scroll.token'],
    ['meta.nextPageToken', 'meta.next_page_token'],
    ['meta.nextpagetoken', 'meta.next_page_token'],
    ['nextCursor', 'next_cursor'],
    ['next_page_token', 'meta.next_page_token'],
    ['next.after', 'meta.deep.next.after'],
    ['$.scroll.tokn', '$.scroll.token'],
    ['response.next_cursor', 'next_cursor'],
  ])('%s probably means %s', (path, meant) => {
    expect(nearMiss(compilePath(path), response)).toBe(meant);
  });

  test.each([
    'links.next',
    'paging.cursors.after',
    'meta.next_page',
    'cursor',
    'meta.prev_page_token',
    'scroll.token',
  ])('%s has nothing near, as on a last page', (path) => {
    expect(nearMiss(compilePath(path), response)).toBeUndefined();
  });

  test('rows and scalars have no paths', () => {
    expect(nearMiss(compilePath('0.i'), [{ id: 1 }])).toBeUndefined();
    expect(nearMiss(compilePath('a'), 'a')).toBeUndefined();
  });

  test('nothing is looked for deeper than five keys', () => {
    const nest = (depth: number): Json => (depth === 0 ? { token: 1 } : { a: nest(depth - 1) });
    expect(nearMiss(compilePath('token'), nest(4))).toBe('a.a.a.a.token');
    expect(nearMiss(compilePath('token'), nest(5))).toBeUndefined();
  });
});
