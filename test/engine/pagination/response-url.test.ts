import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/lib/json/index.ts';
import type { PaginatedJob } from '../../../src/engine/pagination/index.ts';
import { items, paginatorOf, run, type Answer } from './helpers.ts';

const page = (envelope: Record<string, Json>): Answer => ({
  body: { items: items(1), ...envelope },
  dataField: ['items'],
});

describe('response.url', () => {
  test('follows the link byte for byte, without the parameters of the job', () => {
    const link = "https://api.example.com/users?page=2&q=a%2fb+c%7E&x[]=1'";
    const { requests, stop } = run(
      paginatorOf({ method: 'response.url', urlKey: 'links.next' }, { params: { q: 'x' } }),
      [page({ links: { next: link } }), page({ links: {} })],
    );
    expect(requests).toEqual([
      { endpoint: 'users', method: 'GET', params: { q: 'x' }, headers: {} },
      { endpoint: link, method: 'GET', params: {}, headers: {}, fromResponse: true },
    ]);
    expect(stop).toBe('the response has no link in `links.next`');
  });

  const second: readonly [string, Json, Partial<PaginatedJob>, Record<string, Json>, string][] = [
    ['the link is in next_page by default', {}, {}, { next_page: '/users?p=2' }, 'GET /users?p=2 {}'],
    [
      'a delimiter lets keys have dots',
      { urlKey: '@odata.nextLink', delimiter: '/' },
      {},
      { '@odata.nextLink': '/n' },
      'GET /n {}',
    ],
    [
      'includeParams keeps the parameters of the job',
      { includeParams: true },
      { params: { q: 'x' } },
      { next_page: '/users?p=2' },
      'GET /users?p=2 {"q":"x"}',
    ],
    [
      'a POST stays one, and its parameters are the body',
      { includeParams: true },
      { method: 'POST', params: { q: 'x' } },
      { next_page: '/users?p=2' },
      'POST /users?p=2 {"q":"x"}',
    ],
    [
      'relativeTo resolves it against the page',
      { relativeTo: 'page' },
      {},
      { next_page: '?p=2' },
      'GET https://api.example.com/users?p=2 {}',
    ],
    [
      'relativeTo leaves a whole link as it is',
      { relativeTo: 'page' },
      {},
      { next_page: 'https://other.example.com/p/2' },
      'GET https://other.example.com/p/2 {}',
    ],
    [
      'relativeTo means nothing to a query string',
      { relativeTo: 'page', paramIsQuery: true },
      {},
      { next_page: '?page=2' },
      'GET users {"page":"2"}',
    ],
    [
      'paramIsQuery reads the value as a query string',
      { paramIsQuery: true },
      { params: { q: 'x' } },
      { next_page: '?page=2&name=a+b%20c&tag=1&tag=2&flag&bad=%zz' },
      'GET users {"page":"2","name":"a b c","tag":["1","2"],"flag":null,"bad":"%zz"}',
    ],
    [
      'paramIsQuery overrides parameters of the job one by one',
      { paramIsQuery: true, includeParams: true },
      { params: { q: 'x', page: { old: 1 } } },
      { next_page: 'page=2' },
      'GET users {"q":"x","page":"2"}',
    ],
  ];
  test.each(second)('%s', (_name, options, changes, envelope, request) => {
    const paginator = paginatorOf({ ...(options as object), method: 'response.url' }, changes);
    expect(run(paginator, [page(envelope), page({})]).shown[1]).toBe(request);
  });

  test('a query string is no address of the response', () => {
    const paginator = paginatorOf({ method: 'response.url', paramIsQuery: true });
    expect(run(paginator, [page({ next_page: 'page=2' }), page({})]).requests[1]).not.toHaveProperty(
      'fromResponse',
    );
  });

  test.each<Json>([null, '', false, 0, '0', []])('ends at %j', (value) => {
    expect(run(paginatorOf({ method: 'response.url' }), [page({ next_page: value })]).shown).toHaveLength(1);
  });

  test.each<Json>([2, true, { href: '/x' }, ['/x']])('refuses %j as a link', (value) => {
    expect(() => run(paginatorOf({ method: 'response.url' }), [page({ next_page: value })])).toThrow(
      '`next_page` of the response is not text',
    );
  });
});

const at = (seconds: number): string => `https://api.example.com/tickets?a=1&start_time=${seconds}#x`;

describe('zendesk.response.url', () => {
  const NOW = 1_700_000_000_000;

  test.each([
    ['earlier than six minutes ago is followed', 1_700_000_000 - 361, 2],
    ['exactly six minutes ago is followed', 1_700_000_000 - 360, 2],
    ['later ends the job', 1_700_000_000 - 359, 1],
  ])('a start_time %s', (_name, start, requests) => {
    const paginator = paginatorOf({ method: 'zendesk.response.url' });
    expect(run(paginator, [page({ next_page: at(start) }), page({})], () => NOW).shown).toHaveLength(
      requests,
    );
  });

  test('a bare query string has a start_time, too', () => {
    const paginator = paginatorOf({ method: 'zendesk.response.url', paramIsQuery: true });
    const { stop } = run(paginator, [page({ next_page: 'start_time=1699999999' })], () => NOW);
    expect(stop).toBe('the start_time of the next page is less than six minutes ago');
  });

  test('a link without start_time is followed', () => {
    const { shown } = run(paginatorOf({ method: 'zendesk.response.url' }), [
      page({ next_page: '/n?b=1' }),
      page({}),
    ]);
    expect(shown[1]).toBe('GET /n?b=1 {}');
  });
});
