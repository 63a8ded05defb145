import { getKey, numberOf, isNumber, toText, type Json } from '../../../src/lib/json/index.ts';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import { PAGINATION_METHODS } from '../../../src/engine/pagination/index.ts';
import { expect, test } from 'vitest';
import { testPagination, type ContractCase } from './contract.ts';
import { paginatorOf, type Answer } from './helpers.ts';

const SIZE = 3;
const BASE = 'https://api.example.com';

const listBySize =
  (read: (request: JobRequest) => { from: number; size: number }) =>
  (rows: readonly Json[]) =>
  (request: JobRequest): Answer => {
    const { from, size } = read(request);
    return { body: rows.slice(from, from + size) };
  };

/** An API that gives the rest by a token, which is text. */
const listByToken =
  (tokenOf: (request: JobRequest) => Json | undefined, next: (token: string) => Json, last: Json) =>
  (rows: readonly Json[]) =>
  (request: JobRequest): Answer => {
    const token = tokenOf(request);
    const text = toText(token ?? 't0');
    if (!/^t\d+$/.test(text)) throw new Error(`unknown token ${text}`);
    const from = Number(text.slice(1));
    const rest = from + SIZE;
    return {
      body: {
        items: rows.slice(from, rest),
        ...(rest < rows.length ? asObject(next(`t${rest}`)) : asObject(last)),
      },
      dataField: ['items'],
    };
  };

const asObject = (value: Json): Record<string, Json> => value as Record<string, Json>;

/** An API whose pages have addresses. */
const listByUrl =
  (answer: (rows: readonly Json[], next: string | undefined, url: string) => Answer) =>
  (rows: readonly Json[]) =>
  (request: JobRequest): Answer => {
    const url = new URL(request.endpoint, `${BASE}/`);
    if (url.pathname !== '/users') throw new Error(`unknown address ${request.endpoint}`);
    const page = Number(url.searchParams.get('page') ?? 1);
    const hasMore = page * SIZE < rows.length;
    return answer(
      rows.slice((page - 1) * SIZE, page * SIZE),
      hasMore ? `?page=${page + 1}` : undefined,
      url.href,
    );
  };

const linked = listByUrl((items, next) => ({
  body: { items, next_page: next === undefined ? null : `${BASE}/users${next}` },
  dataField: ['items'],
}));

const numberIn = (request: JobRequest, name: string): number => {
  const value = getKey(request.params, name);
  if (!isNumber(value)) throw new Error(`no number in ${name}`);
  return numberOf(value);
};

const offsetApi = listBySize((request) => ({
  from: numberIn(request, 'offset'),
  size: numberIn(request, 'limit'),
}));
const pageApi = listBySize((request) => ({ from: (numberIn(request, 'page') - 1) * SIZE, size: SIZE }));

const CASES: readonly ContractCase[] = [
  { name: 'none', paginator: () => paginatorOf({}), pageSize: SIZE, api: (rows) => () => ({ body: rows }) },
  {
    name: 'offset',
    paginator: () => paginatorOf({ method: 'offset', limit: SIZE }),
    pageSize: SIZE,
    api: offsetApi,
  },
  { name: 'pagenum', paginator: () => paginatorOf({ method: 'pagenum' }), pageSize: SIZE, api: pageApi },
  {
    name: 'pagenum with a page size',
    paginator: () => paginatorOf({ method: 'pagenum', limit: SIZE }),
    pageSize: SIZE,
    api: pageApi,
  },
  {
    name: 'response.url',
    paginator: () => paginatorOf({ method: 'response.url' }),
    pageSize: SIZE,
    api: linked,
  },
  {
    name: 'zendesk.response.url',
    paginator: () => paginatorOf({ method: 'zendesk.response.url' }),
    pageSize: SIZE,
    api: linked,
  },
  {
    name: 'response.url with a query string',
    paginator: () => paginatorOf({ method: 'response.url', urlKey: 'next', paramIsQuery: true }),
    pageSize: SIZE,
    api: listByToken(
      (request) => getKey(request.params, 'token'),
      (token) => ({ next: `?token=${token}` }),
      { next: '' },
    ),
  },
  {
    name: 'response.param',
    paginator: () =>
      paginatorOf(
        { method: 'response.param', responseParam: 'meta.next', queryParam: 'cursor' },
        { method: 'POST' },
      ),
    pageSize: SIZE,
    api: listByToken(
      (request) => getKey(request.params, 'cursor'),
      (token) => ({ meta: { next: token } }),
      { meta: {} },
    ),
  },
  {
    name: 'response.param with a scrollRequest',
    paginator: () =>
      paginatorOf(
        {
          method: 'response.param',
          responseParam: 'scroll.token',
          queryParam: 'token',
          scrollRequest: { endpoint: 'scroll', method: 'GET' },
        },
        { method: 'POST', endpoint: 'search', params: { q: 'x' } },
      ),
    pageSize: SIZE,
    api: listByToken(
      (request) => (request.endpoint === 'scroll' ? getKey(request.params, 'token') : undefined),
      (token) => ({ scroll: { token } }),
      { scroll: { token: null } },
    ),
  },
  {
    name: 'cursor',
    paginator: () => paginatorOf({ method: 'cursor', idKey: 'id', param: 'since' }),
    pageSize: SIZE,
    api: (rows) => (request) => {
      const since = getKey(request.params, 'since') === undefined ? 0 : numberIn(request, 'since');
      return { body: rows.slice(since, since + SIZE) };
    },
  },
  {
    name: 'link',
    paginator: () => paginatorOf({ method: 'link' }),
    pageSize: SIZE,
    api: listByUrl((body, next, url) => ({
      body,
      url,
      headers: next === undefined ? {} : { link: `<${url}>; rel="self", <${next}>; rel="next"` },
    })),
  },
  {
    name: 'multiple',
    paginator: () =>
      paginatorOf(
        {
          method: 'multiple',
          scrollers: { a: { method: 'pagenum' }, b: { method: 'offset', limit: SIZE } },
          default: 'a',
        },
        { scroller: 'b' },
      ),
    pageSize: SIZE,
    api: offsetApi,
  },
  {
    name: 'a method with all stop rules',
    paginator: () =>
      paginatorOf({
        method: 'pagenum',
        limitStop: { field: 'total' },
        forceStop: { pages: 10, time: 60, volume: 100000 },
        nextPageFlag: { field: 'more', stopOn: false },
      }),
    pageSize: SIZE,
    api: (rows) => (request) => {
      const page = numberIn(request, 'page');
      const items = rows.slice((page - 1) * SIZE, page * SIZE);
      return { body: { items, total: rows.length, more: page * SIZE < rows.length }, dataField: ['items'] };
    },
  },
];

for (const one of CASES) testPagination(one);

test('every method of the package is under the contract', () => {
  const named = CASES.map(({ name }) => name.split(' ')[0]);
  expect(PAGINATION_METHODS.map(({ method }) => method).filter((method) => !named.includes(method))).toEqual(
    [],
  );
});
