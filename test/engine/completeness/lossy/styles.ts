import { parseExact, getKey, isObject, toText, type Json } from '../../../../src/lib/json/index.ts';

export const SIZE = 5;

/** One page, before it is written in the form of an API. */
export interface Page {
  readonly rows: readonly object[];
  /** The first row of the page, from 0. */
  readonly from: number;
  /** Pointer to the next page; undefined on the last one. */
  readonly next: string | undefined;
  /** Beside the rows, where the API has a place for it. */
  readonly more?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
  /** In the place of all of it. */
  readonly body?: unknown;
}

export interface Ask {
  readonly url: URL;
  readonly body: Json;
}

/** A way in which APIs give lists in pages of {@link SIZE}, and the configuration for it. */
export interface Style {
  readonly name: string;
  /** Counts by itself, follows what the answers say, or asks once. */
  readonly kind: 'count' | 'follow' | 'none';
  /** The body is the list: there is no place beside the rows. */
  readonly isBare?: boolean;
  /** Its jobs share an address, so that each needs a run of its own. */
  readonly isAlone?: boolean;
  readonly pagination: object;
  readonly job: object;
  /** The first row that is asked for, from 0, with anything behind “~”; undefined on the first page. */
  readonly asked: (ask: Ask) => string | undefined;
  readonly write: (page: Page, base: string) => { readonly body: unknown; readonly headers?: object };
}

const query =
  (name: string) =>
  ({ url }: Ask): string | undefined =>
    url.searchParams.get(name) ?? undefined;
const inBody =
  (...keys: readonly string[]) =>
  ({ body }: Ask): string | undefined => {
    let value: Json | undefined = body;
    for (const key of keys) value = isObject(value) ? getKey(value, key) : undefined;
    return value === undefined || value === null ? undefined : toText(value);
  };
const items = ({ rows, more }: Page, lead: object = {}): { body: object } => ({
  body: { items: rows, ...lead, ...more },
});
const link = (base: string, next: string | undefined, name = 'after'): string | undefined =>
  next === undefined ? undefined : `${base}?${name}=${encodeURIComponent(next)}`;
const linkHeader = (base: string, next: string | undefined): object =>
  next === undefined ? {} : { link: `<${link(base, next) ?? ''}>; rel="next"` };
const counted = ({ url }: Ask): string => String((Number(url.searchParams.get('page') ?? 1) - 1) * SIZE);

const LIST = { dataField: 'items' };
const TOKEN = { method: 'response.param', responseParam: 'next', queryParam: 'after' };

export const styles: readonly Style[] = [
  {
    name: 'offset',
    kind: 'count',
    pagination: { method: 'offset', limit: SIZE },
    job: LIST,
    asked: query('offset'),
    write: (page) => items(page),
  },
  {
    name: 'offset, the list is all of the body',
    kind: 'count',
    isBare: true,
    pagination: { method: 'offset', limit: SIZE },
    job: { dataField: '.' },
    asked: query('offset'),
    write: ({ rows }) => ({ body: rows }),
  },
  {
    name: 'offset by the rows that came',
    kind: 'count',
    pagination: { method: 'offset', advance: 'rows' },
    job: LIST,
    asked: query('offset'),
    write: (page) => items(page),
  },
  {
    name: 'pages by number and size',
    kind: 'count',
    pagination: { method: 'pagenum', limit: SIZE },
    job: LIST,
    asked: counted,
    write: (page) => items(page),
  },
  {
    name: 'pages by number',
    kind: 'count',
    pagination: { method: 'pagenum' },
    job: {},
    asked: counted,
    write: (page) => items(page),
  },
  {
    name: 'pages by number, the list is all of the body',
    kind: 'count',
    isBare: true,
    pagination: { method: 'pagenum' },
    job: { dataField: '.' },
    asked: counted,
    write: ({ rows }) => ({ body: rows }),
  },
  {
    name: 'pages by number until a flag',
    kind: 'follow',
    pagination: { method: 'pagenum', nextPageFlag: { field: 'has_more', stopOn: false } },
    job: LIST,
    asked: counted,
    write: (page) => items(page, { has_more: page.next !== undefined }),
  },
  {
    name: 'token',
    kind: 'follow',
    pagination: TOKEN,
    job: LIST,
    asked: query('after'),
    write: (page) => items(page, page.next === undefined ? {} : { next: page.next }),
  },
  {
    name: 'token that is null in the end',
    kind: 'follow',
    pagination: { ...TOKEN, responseParam: 'meta.next_cursor' },
    job: LIST,
    asked: query('after'),
    write: (page) => items(page, { meta: { next_cursor: page.next ?? null } }),
  },
  {
    name: 'token in a header, the list is all of the body',
    kind: 'follow',
    isBare: true,
    pagination: { ...TOKEN, responseParam: { header: 'X-Next-Token' } },
    job: { dataField: '.' },
    asked: query('after'),
    write: ({ rows, next }) => ({ body: rows, headers: next === undefined ? {} : { 'x-next-token': next } }),
  },
  {
    name: 'token in a body',
    kind: 'follow',
    pagination: TOKEN,
    job: { ...LIST, method: 'POST', params: { filter: 'all' } },
    asked: inBody('after'),
    write: (page) => items(page, page.next === undefined ? {} : { next: page.next }),
  },
  {
    name: 'GraphQL',
    kind: 'follow',
    pagination: {
      method: 'response.param',
      responseParam: 'data.users.pageInfo.endCursor',
      queryParam: { body: 'variables.after' },
      nextPageFlag: { field: 'data.users.pageInfo.hasNextPage', stopOn: false },
    },
    job: {
      method: 'POST',
      dataField: 'data.users.nodes',
      body: {
        query: 'query($after: String) { users(first: 5, after: $after) { nodes { id name } } }',
        variables: { after: null },
      },
    },
    asked: inBody('variables', 'after'),
    write: ({ rows, next, more }) => ({
      body: {
        data: {
          users: {
            nodes: rows,
            pageInfo: { hasNextPage: next !== undefined, endCursor: next ?? 'end' },
            ...more,
          },
        },
      },
    }),
  },
  {
    name: 'link in the body',
    kind: 'follow',
    pagination: { method: 'response.url', urlKey: 'links.next' },
    job: LIST,
    asked: query('after'),
    write: (page, base) => items(page, { links: { next: link(base, page.next) ?? null } }),
  },
  {
    name: 'link in the body, gone in the end',
    kind: 'follow',
    pagination: { method: 'response.url', urlKey: 'next_page' },
    job: LIST,
    asked: query('after'),
    write: (page, base) => items(page, page.next === undefined ? {} : { next_page: link(base, page.next) }),
  },
  {
    name: 'Link header, the list is all of the body',
    kind: 'follow',
    isBare: true,
    pagination: { method: 'link' },
    job: { dataField: '.' },
    asked: query('after'),
    write: ({ rows, next }, base) => ({ body: rows, headers: linkHeader(base, next) }),
  },
  {
    name: 'Link header',
    kind: 'follow',
    pagination: { method: 'link' },
    job: LIST,
    asked: query('after'),
    write: (page, base) => ({ ...items(page), headers: linkHeader(base, page.next) }),
  },
  {
    name: 'scroll',
    kind: 'follow',
    isAlone: true,
    pagination: {
      method: 'response.param',
      responseParam: 'scroll_id',
      queryParam: 'scroll_id',
      scrollRequest: { endpoint: 'scroll', method: 'GET' },
    },
    job: LIST,
    asked: query('scroll_id'),
    write: (page) => items(page, page.next === undefined ? {} : { scroll_id: page.next }),
  },
  {
    name: 'cursor of the last id',
    kind: 'follow',
    pagination: { method: 'cursor', idKey: 'id', param: 'since_id' },
    job: LIST,
    asked: query('since_id'),
    write: (page) => items(page),
  },
  {
    name: 'offset until a total',
    kind: 'count',
    pagination: { method: 'offset', limit: SIZE, limitStop: { field: 'total' } },
    job: LIST,
    asked: query('offset'),
    write: (page) => items(page, { total: 23 }),
  },
];

export function parsedBody(text: string): Json {
  try {
    return text === '' ? null : parseExact(text);
  } catch {
    return null;
  }
}
