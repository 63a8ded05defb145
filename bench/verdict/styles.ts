/** Styles of APIs: each answers with a slice of rows, and has the configuration that reads it right. */

export interface Asked {
  /** Parameters of the query, or of the body of a POST. */
  readonly params: Readonly<Record<string, string>>;
  /** Address of the API, without a slash at the end. */
  readonly base: string;
}

/** A slice of the rows that the API is to answer with. */
export interface Slice {
  readonly rows: readonly Row[];
  readonly offset: number;
  readonly size: number;
  /** Rows there are, as far as the API says. */
  readonly total: number;
  /** Start of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

export interface Row {
  readonly id: number;
  readonly [key: string]: unknown;
}

export interface Answer {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Signal that can reveal a mistake: a number of rows, of pages, the place of the page, or that there is more. */
export type Told = 'total' | 'pages' | 'place' | 'more';

export interface Style {
  readonly name: string;
  /** `count`: the configuration counts; `follow`: it follows what the answer says. */
  readonly kind: 'count' | 'follow';
  readonly dataField?: string;
  readonly method?: 'POST';
  readonly pagination: Readonly<Record<string, unknown>>;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Name of the parameter that says where a page begins, in the requests. */
  readonly from: string;
  /** Returns the start of a page of that size, by the value of the parameter. */
  readonly read: (value: string | undefined, size: number) => number;
  readonly write: (offset: number, size: number) => string;
  readonly sizeParam: string;
  /**
   * Signals of the style, if they differ from those of its kind: only runs that one of them could reveal are counted.
   */
  readonly says?: readonly Told[];
  /** @param signs whether more is said than the pagination needs */
  readonly answer: (slice: Slice, asked: Asked, signs: boolean) => Answer;
}

export const SIZE = 10;

export const byOffset = { read: (value: string | undefined): number => Number(value ?? 0), write: String };
export const byPage = {
  read: (value: string | undefined, size: number): number => Math.max(Number(value ?? 1) - 1, 0) * size,
  write: (offset: number, size: number): string => String(offset / size + 1),
};
export const byToken = {
  read: (value: string | undefined): number => (value === undefined ? 0 : Number(value.replace(/^t/, ''))),
  write: (offset: number): string => `t${offset}`,
};

export const link = (
  slice: Slice,
  { base }: Asked,
  param: string,
  write: Style['write'],
  size: string,
): string | null =>
  slice.next === undefined
    ? null
    : `${base}/users?${size}=${slice.size}&${param}=${encodeURIComponent(write(slice.next, slice.size))}`;
export const pages = ({ total, size }: Slice): number => Math.ceil(total / size);
export const only = (signs: boolean, more: object): object => (signs ? more : {});
export const back = ({ offset }: Slice): boolean => offset > 0;

export const STYLES: readonly Style[] = [
  {
    name: 'offset and limit, total',
    kind: 'count',
    dataField: 'items',
    pagination: { method: 'offset', limit: SIZE },
    from: 'offset',
    sizeParam: 'limit',
    ...byOffset,
    answer: (s, _asked, signs) => ({
      body: { items: s.rows, ...only(signs, { total: s.total, limit: s.size, offset: s.offset }) },
    }),
  },
  {
    name: 'page number, total_pages',
    says: ['pages', 'place', 'more'],
    kind: 'count',
    dataField: 'data',
    pagination: { method: 'pagenum', limit: SIZE, limitParam: 'per_page' },
    from: 'page',
    sizeParam: 'per_page',
    ...byPage,
    answer: (s, _asked, signs) => ({
      body: {
        data: s.rows,
        ...only(signs, { meta: { page: s.offset / s.size + 1, per_page: s.size, total_pages: pages(s) } }),
      },
    }),
  },
  {
    name: 'page number until an empty page, has_more',
    says: ['more'],
    kind: 'count',
    dataField: 'data',
    pagination: { method: 'pagenum' },
    from: 'page',
    sizeParam: 'per_page',
    ...byPage,
    answer: (s, _asked, signs) => ({
      body: { data: s.rows, ...only(signs, { has_more: s.next !== undefined }) },
    }),
  },
  {
    name: 'Jira: startAt, maxResults, total, isLast',
    kind: 'count',
    dataField: 'values',
    pagination: { method: 'offset', limit: SIZE, limitParam: 'maxResults', offsetParam: 'startAt' },
    from: 'startAt',
    sizeParam: 'maxResults',
    ...byOffset,
    answer: (s, _asked, signs) => ({
      body: {
        values: s.rows,
        ...only(signs, {
          startAt: s.offset,
          maxResults: s.size,
          total: s.total,
          isLast: s.next === undefined,
        }),
      },
    }),
  },
  {
    name: 'Stripe: has_more, starting_after',
    says: ['more'],
    kind: 'follow',
    dataField: 'data',
    pagination: {
      method: 'response.param',
      responseParam: '$.data[-1].id',
      queryParam: 'starting_after',
      includeParams: true,
      nextPageFlag: { field: 'has_more', stopOn: false },
    },
    params: { limit: SIZE },
    from: 'starting_after',
    sizeParam: 'limit',
    read: (value) => Number(value ?? 0),
    write: String,
    answer: (s) => ({
      body: { object: 'list', data: s.rows, has_more: s.next !== undefined, url: '/v1/users' },
    }),
  },
  {
    name: 'Google: nextPageToken',
    kind: 'follow',
    dataField: 'items',
    pagination: {
      method: 'response.param',
      responseParam: 'nextPageToken',
      queryParam: 'pageToken',
      includeParams: true,
    },
    params: { maxResults: SIZE },
    from: 'pageToken',
    sizeParam: 'maxResults',
    ...byToken,
    answer: (s, _asked, signs) => ({
      body: {
        kind: 'list',
        items: s.rows,
        ...only(s.next !== undefined, { nextPageToken: byToken.write(s.next ?? 0) }),
        ...only(signs, { pageInfo: { totalResults: s.total, resultsPerPage: s.size } }),
      },
    }),
  },
  {
    name: 'HubSpot: paging.next.after',
    kind: 'follow',
    dataField: 'results',
    pagination: {
      method: 'response.param',
      responseParam: 'paging.next.after',
      queryParam: 'after',
      includeParams: true,
    },
    params: { limit: SIZE },
    from: 'after',
    sizeParam: 'limit',
    ...byToken,
    answer: (s, asked, signs) => ({
      body: {
        ...only(signs, { total: s.total }),
        results: s.rows,
        ...only(s.next !== undefined, {
          paging: {
            next: {
              after: byToken.write(s.next ?? 0),
              link: link(s, asked, 'after', byToken.write, 'limit'),
            },
          },
        }),
      },
    }),
  },
  {
    name: 'Link header, X-Total-Count',
    kind: 'follow',
    pagination: { method: 'link' },
    params: { per_page: SIZE },
    from: 'page',
    sizeParam: 'per_page',
    ...byPage,
    answer: (s, asked, signs) => {
      const next = link(s, asked, 'page', byPage.write, 'per_page');
      return {
        body: s.rows,
        headers: {
          ...(next === null
            ? {}
            : { link: `<${next}>; rel="next", <${asked.base}/users?page=9>; rel="last"` }),
          ...(signs ? { 'x-total-count': String(s.total) } : {}),
        },
      };
    },
  },
  {
    name: 'OData: @odata.nextLink',
    kind: 'follow',
    dataField: 'value',
    pagination: { method: 'response.url', urlKey: '@odata.nextLink', delimiter: '/' },
    params: { $top: SIZE },
    from: '$skiptoken',
    sizeParam: '$top',
    ...byToken,
    answer: (s, asked, signs) => ({
      body: {
        ...only(signs, { '@odata.count': s.total }),
        value: s.rows,
        ...only(s.next !== undefined, {
          '@odata.nextLink': link(s, asked, '$skiptoken', byToken.write, '$top'),
        }),
      },
    }),
  },
  {
    name: 'JSON:API: links.next',
    kind: 'follow',
    dataField: 'data',
    pagination: { method: 'response.url', urlKey: 'links.next' },
    params: { 'page[size]': SIZE },
    from: 'page[number]',
    sizeParam: 'page[size]',
    ...byPage,
    answer: (s, asked, signs) => ({
      body: {
        data: s.rows,
        links: {
          next: link(s, asked, 'page[number]', byPage.write, 'page[size]'),
          ...only(signs, { prev: back(s) ? `${asked.base}/users` : null }),
        },
        ...only(signs, { meta: { totalItems: s.total } }),
      },
    }),
  },
  {
    name: 'HAL: _links.next.href',
    kind: 'follow',
    dataField: '_embedded.users',
    pagination: { method: 'response.url', urlKey: '_links.next.href' },
    params: { size: SIZE },
    from: 'cursor',
    sizeParam: 'size',
    ...byToken,
    answer: (s, asked, signs) => ({
      body: {
        _embedded: { users: s.rows },
        _links: {
          self: { href: `${asked.base}/users` },
          ...only(s.next !== undefined, { next: { href: link(s, asked, 'cursor', byToken.write, 'size') } }),
        },
        ...only(signs, { total_items: s.total, page_count: pages(s) }),
      },
    }),
  },
  {
    name: 'Salesforce: done, nextRecordsUrl',
    kind: 'follow',
    dataField: 'records',
    pagination: { method: 'response.url', urlKey: 'nextRecordsUrl' },
    params: { batch: SIZE },
    from: 'locator',
    sizeParam: 'batch',
    ...byToken,
    answer: (s, asked, signs) => ({
      body: {
        ...only(signs, { totalSize: s.total, done: s.next === undefined }),
        records: s.rows,
        ...only(s.next !== undefined, { nextRecordsUrl: link(s, asked, 'locator', byToken.write, 'batch') }),
      },
    }),
  },
  {
    name: 'Laravel: current_page, last_page',
    kind: 'count',
    dataField: 'data',
    pagination: { method: 'pagenum', limit: SIZE, limitParam: 'per_page' },
    from: 'page',
    sizeParam: 'per_page',
    ...byPage,
    answer: (s, asked, signs) => ({
      body: {
        data: s.rows,
        ...only(signs, {
          current_page: s.offset / s.size + 1,
          from: s.rows.length === 0 ? null : s.offset + 1,
          to: s.offset + s.rows.length,
          last_page: pages(s),
          per_page: s.size,
          total: s.total,
          next_page_url: link(s, asked, 'page', byPage.write, 'per_page'),
          prev_page_url: back(s) ? `${asked.base}/users?page=1` : null,
          links: [
            { url: null, label: '&laquo; Previous', active: false },
            { url: link(s, asked, 'page', byPage.write, 'per_page'), label: 'Next &raquo;', active: false },
          ],
        }),
      },
    }),
  },
  {
    name: 'Spring: number, totalPages, last',
    kind: 'count',
    dataField: 'content',
    pagination: { method: 'pagenum', limit: SIZE, limitParam: 'size', firstPage: 0 },
    from: 'page',
    sizeParam: 'size',
    read: (value, size) => Number(value ?? 0) * size,
    write: (offset, size) => String(offset / size),
    answer: (s, _asked, signs) => ({
      body: {
        content: s.rows,
        ...only(signs, {
          pageable: { pageNumber: s.offset / s.size, pageSize: s.size, offset: s.offset, paged: true },
          last: s.next === undefined,
          first: !back(s),
          totalPages: pages(s),
          totalElements: s.total,
          size: s.size,
          number: s.offset / s.size,
          numberOfElements: s.rows.length,
          empty: s.rows.length === 0,
        }),
      },
    }),
  },
  {
    name: 'Django: count, next, previous',
    kind: 'follow',
    dataField: 'results',
    pagination: { method: 'response.url', urlKey: 'next' },
    params: { page_size: SIZE },
    from: 'page',
    sizeParam: 'page_size',
    ...byPage,
    answer: (s, asked, signs) => ({
      body: {
        ...only(signs, { count: s.total, previous: back(s) ? `${asked.base}/users` : null }),
        next: link(s, asked, 'page', byPage.write, 'page_size'),
        results: s.rows,
      },
    }),
  },
  {
    name: 'Content-Range header',
    kind: 'count',
    pagination: { method: 'offset', limit: SIZE, limitParam: 'count', offsetParam: 'start' },
    from: 'start',
    sizeParam: 'count',
    ...byOffset,
    answer: (s, _asked, signs) => ({
      body: s.rows,
      headers: signs
        ? {
            'content-range':
              s.rows.length === 0
                ? `users */${s.total}`
                : `users ${s.offset}-${s.offset + s.rows.length - 1}/${s.total}`,
          }
        : {},
    }),
  },
  {
    name: 'Elasticsearch: from, size, hits.total',
    kind: 'count',
    dataField: 'hits.hits',
    pagination: { method: 'offset', limit: SIZE, limitParam: 'size', offsetParam: 'from' },
    from: 'from',
    sizeParam: 'size',
    ...byOffset,
    answer: (s, _asked, signs) => ({
      body: {
        took: 3,
        timed_out: false,
        _shards: { total: 5, successful: 5, skipped: 0, failed: 0 },
        hits: { ...only(signs, { total: { value: s.total, relation: 'eq' } }), max_score: 1.5, hits: s.rows },
      },
    }),
  },
  {
    name: 'CouchDB: total_rows, skip, limit',
    kind: 'count',
    dataField: 'rows',
    pagination: { method: 'offset', limit: SIZE, offsetParam: 'skip' },
    from: 'skip',
    sizeParam: 'limit',
    ...byOffset,
    answer: (s, _asked, signs) => ({
      body: { ...only(signs, { total_rows: s.total, offset: s.offset }), rows: s.rows },
    }),
  },
  {
    name: 'MediaWiki: continue',
    says: ['more'],
    kind: 'follow',
    dataField: 'query.allusers',
    pagination: {
      method: 'response.param',
      responseParam: 'continue.aufrom',
      queryParam: 'aufrom',
      includeParams: true,
    },
    params: { aulimit: SIZE },
    from: 'aufrom',
    sizeParam: 'aulimit',
    ...byToken,
    answer: (s, _asked, signs) => ({
      body: {
        ...only(signs, { batchcomplete: s.next === undefined }),
        ...only(s.next !== undefined, { continue: { aufrom: byToken.write(s.next ?? 0), continue: '-||' } }),
        query: { allusers: s.rows },
      },
    }),
  },
  {
    name: 'GraphQL-like: pageInfo.hasNextPage, endCursor',
    kind: 'follow',
    dataField: 'data.users.nodes',
    method: 'POST',
    pagination: {
      method: 'response.param',
      responseParam: 'data.users.pageInfo.endCursor',
      queryParam: 'after',
      includeParams: true,
    },
    params: { first: SIZE },
    from: 'after',
    sizeParam: 'first',
    ...byToken,
    answer: (s, _asked, signs) => ({
      body: {
        data: {
          users: {
            ...only(signs, { totalCount: s.total }),
            nodes: s.rows,
            pageInfo: {
              ...only(signs, { hasNextPage: s.next !== undefined }),
              endCursor: s.next === undefined ? null : byToken.write(s.next),
            },
          },
        },
      },
    }),
  },
  {
    name: 'Slack: response_metadata.next_cursor',
    says: ['more'],
    kind: 'follow',
    dataField: 'members',
    pagination: {
      method: 'response.param',
      responseParam: 'response_metadata.next_cursor',
      queryParam: 'cursor',
      includeParams: true,
    },
    params: { limit: SIZE },
    from: 'cursor',
    sizeParam: 'limit',
    ...byToken,
    answer: (s) => ({
      body: {
        ok: true,
        members: s.rows,
        response_metadata: { next_cursor: s.next === undefined ? '' : byToken.write(s.next) },
      },
    }),
  },
];
