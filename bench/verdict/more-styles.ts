/** Further styles, of APIs that many know, and of envelopes that are much like them. */

import { back, byOffset, byPage, byToken, link, only, pages, SIZE, type Style, type Told } from './styles.ts';

const token = (next: number | undefined): string | null => (next === undefined ? null : byToken.write(next));

/** Follows a token at a path. */
function follows(
  name: string,
  dataField: string,
  path: string,
  param: string,
  sizeParam: string,
  answer: Style['answer'],
): Style {
  return {
    name,
    kind: 'follow',
    dataField,
    pagination: { method: 'response.param', responseParam: path, queryParam: param, includeParams: true },
    params: { [sizeParam]: SIZE },
    from: param,
    sizeParam,
    ...byToken,
    answer,
  };
}

/** Follows a link at a path. */
function links(
  name: string,
  dataField: string,
  urlKey: string,
  sizeParam: string,
  answer: Style['answer'],
): Style {
  return {
    name,
    kind: 'follow',
    dataField,
    pagination: { method: 'response.url', urlKey },
    params: { [sizeParam]: SIZE },
    from: 'page',
    sizeParam,
    ...byPage,
    answer,
  };
}

function offsets(
  name: string,
  dataField: string | undefined,
  offsetParam: string,
  limitParam: string,
  answer: Style['answer'],
): Style {
  return {
    name,
    kind: 'count',
    ...(dataField === undefined ? {} : { dataField }),
    pagination: { method: 'offset', limit: SIZE, offsetParam, limitParam },
    from: offsetParam,
    sizeParam: limitParam,
    ...byOffset,
    answer,
  };
}

function numbers(
  name: string,
  dataField: string | undefined,
  pageParam: string,
  limitParam: string,
  answer: Style['answer'],
): Style {
  return {
    name,
    kind: 'count',
    ...(dataField === undefined ? {} : { dataField }),
    pagination: { method: 'pagenum', limit: SIZE, pageParam, limitParam },
    from: pageParam,
    sizeParam: limitParam,
    ...byPage,
    answer,
  };
}

/** These say only whether there is more, and some of them where the page begins. */
const SAYS: readonly (readonly [string, readonly Told[]])[] = [
  ['Notion', ['more']],
  ['Shopify', ['more', 'place']],
  ['Bitbucket Server', ['more', 'place']],
  ['Twitter', ['more']],
  ['DynamoDB', ['more']],
  ['Facebook', ['more']],
  ['AWS', ['more']],
  ['Square', ['more']],
  ['Pipedrive', ['more', 'place']],
  ['GraphQL: data', ['more']],
];

const STYLES: readonly Style[] = [
  follows('Notion: has_more, next_cursor', 'results', 'next_cursor', 'start_cursor', 'page_size', (s) => ({
    body: {
      object: 'list',
      results: s.rows,
      next_cursor: token(s.next),
      has_more: s.next !== undefined,
      type: 'user',
      request_id: 'a1b2',
    },
  })),
  {
    ...links('Shopify: Link header, page_info', 'users', 'qqq', 'limit', (s, asked) => {
      const next = link(s, asked, 'page_info', byToken.write, 'limit');
      const ways = [
        ...(back(s) ? [`<${asked.base}/users?page_info=t0>; rel="previous"`] : []),
        ...(next === null ? [] : [`<${next}>; rel="next"`]),
      ];
      return { body: { users: s.rows }, headers: ways.length === 0 ? {} : { link: ways.join(', ') } };
    }),
    pagination: { method: 'link' },
    from: 'page_info',
    ...byToken,
  },
  links('Zendesk: next_page, previous_page, count', 'users', 'next_page', 'per_page', (s, asked, signs) => ({
    body: {
      users: s.rows,
      next_page: link(s, asked, 'page', byPage.write, 'per_page'),
      ...only(signs, { previous_page: back(s) ? `${asked.base}/users` : null, count: s.total }),
    },
  })),
  links('Intercom: pages.next', 'data', 'pages.next', 'per_page', (s, asked, signs) => ({
    body: {
      type: 'user.list',
      data: s.rows,
      ...only(signs, { total_count: s.total }),
      pages: {
        type: 'pages',
        next: link(s, asked, 'page', byPage.write, 'per_page'),
        ...only(signs, { page: s.offset / s.size + 1, per_page: s.size, total_pages: pages(s) }),
      },
    },
  })),
  offsets('Mailchimp: total_items', 'members', 'offset', 'count', (s, asked, signs) => ({
    body: {
      members: s.rows,
      list_id: 'abc',
      ...only(signs, { total_items: s.total }),
      _links: [{ rel: 'self', href: `${asked.base}/users`, method: 'GET' }],
    },
  })),
  follows(
    'Bitbucket Server: isLastPage, nextPageStart',
    'values',
    'nextPageStart',
    'start',
    'limit',
    (s, _asked, signs) => ({
      body: {
        ...only(signs, {
          size: s.rows.length,
          limit: s.size,
          isLastPage: s.next === undefined,
          start: s.offset,
        }),
        values: s.rows,
        nextPageStart: token(s.next),
      },
    }),
  ),
  links('Bitbucket: pagelen, size, next', 'values', 'next', 'pagelen', (s, asked, signs) => ({
    body: {
      ...only(signs, { pagelen: s.size, size: s.total, page: s.offset / s.size + 1 }),
      values: s.rows,
      ...only(s.next !== undefined, { next: link(s, asked, 'page', byPage.write, 'pagelen') }),
    },
  })),
  numbers('GitLab: X-Next-Page, X-Total', undefined, 'page', 'per_page', (s, _asked, signs) => ({
    body: s.rows,
    headers: signs
      ? {
          'x-next-page': s.next === undefined ? '' : byPage.write(s.next, s.size),
          'x-page': String(s.offset / s.size + 1),
          'x-per-page': String(s.size),
          'x-prev-page': back(s) ? String(s.offset / s.size) : '',
          'x-total': String(s.total),
          'x-total-pages': String(pages(s)),
        }
      : {},
  })),
  numbers('WordPress: X-WP-Total, X-WP-TotalPages', undefined, 'page', 'per_page', (s, _asked, signs) => ({
    body: s.rows,
    headers: signs ? { 'x-wp-total': String(s.total), 'x-wp-totalpages': String(pages(s)) } : {},
  })),
  {
    ...links('SharePoint: d.results, d.__next', 'd.results', 'd.__next', '$top', (s, asked, signs) => ({
      body: {
        d: {
          results: s.rows,
          ...only(signs, { __count: String(s.total) }),
          ...only(s.next !== undefined, { __next: link(s, asked, '$skiptoken', byToken.write, '$top') }),
        },
      },
    })),
    from: '$skiptoken',
    ...byToken,
  },
  offsets('NetSuite: hasMore, count, totalResults', 'items', 'offset', 'limit', (s, asked, signs) => ({
    body: {
      links: [
        { rel: 'self', href: `${asked.base}/users` },
        ...(signs && s.next !== undefined
          ? [{ rel: 'next', href: link(s, asked, 'offset', String, 'limit') }]
          : []),
      ],
      ...only(signs, {
        count: s.rows.length,
        hasMore: s.next !== undefined,
        offset: s.offset,
        totalResults: s.total,
      }),
      items: s.rows,
    },
  })),
  follows(
    'Twitter: meta.next_token, result_count',
    'data',
    'meta.next_token',
    'pagination_token',
    'max_results',
    (s, _asked, signs) => ({
      body: {
        data: s.rows,
        meta: {
          ...only(signs, { result_count: s.rows.length }),
          ...only(s.next !== undefined, { next_token: token(s.next) }),
        },
      },
    }),
  ),
  follows(
    'DynamoDB: LastEvaluatedKey',
    'Items',
    'LastEvaluatedKey',
    'start',
    'Limit',
    (s, _asked, signs) => ({
      body: {
        Items: s.rows,
        ...only(signs, { Count: s.rows.length, ScannedCount: s.rows.length }),
        ...only(s.next !== undefined, { LastEvaluatedKey: token(s.next) }),
      },
    }),
  ),
  follows(
    'Facebook: paging.cursors.after, paging.next',
    'data',
    'paging.cursors.after',
    'after',
    'limit',
    (s, asked) => ({
      body: {
        data: s.rows,
        ...only(s.next !== undefined, {
          paging: {
            cursors: { before: byToken.write(s.offset), after: token(s.next) },
            next: link(s, asked, 'after', byToken.write, 'limit'),
          },
        }),
      },
    }),
  ),
  follows(
    'AWS: IsTruncated, NextMarker',
    'Users',
    'NextMarker',
    'Marker',
    'MaxItems',
    (s, _asked, signs) => ({
      body: {
        Users: s.rows,
        ...only(signs, { IsTruncated: s.next !== undefined }),
        ...only(s.next !== undefined, { NextMarker: token(s.next) }),
      },
    }),
  ),
  follows('Square: cursor', 'objects', 'cursor', 'cursor', 'limit', (s) => ({
    body: { objects: s.rows, ...only(s.next !== undefined, { cursor: token(s.next) }) },
  })),
  numbers(
    'Magento: total_count, search_criteria',
    'items',
    'currentPage',
    'pageSize',
    (s, _asked, signs) => ({
      body: {
        items: s.rows,
        search_criteria: { filter_groups: [], page_size: s.size, current_page: s.offset / s.size + 1 },
        ...only(signs, { total_count: s.total }),
      },
    }),
  ),
  offsets('Pipedrive: additional_data.pagination', 'data', 'start', 'limit', (s, _asked, signs) => ({
    body: {
      success: true,
      data: s.rows,
      ...only(signs, {
        additional_data: {
          pagination: {
            start: s.offset,
            limit: s.size,
            more_items_in_collection: s.next !== undefined,
            ...only(s.next !== undefined, { next_start: s.next }),
          },
        },
      }),
    },
  })),
  numbers('Kaminari: meta.next_page, total_pages', 'users', 'page', 'per_page', (s, _asked, signs) => ({
    body: {
      users: s.rows,
      ...only(signs, {
        meta: {
          current_page: s.offset / s.size + 1,
          next_page: s.next === undefined ? null : s.next / s.size + 1,
          prev_page: back(s) ? s.offset / s.size : null,
          total_pages: pages(s),
          total_count: s.total,
        },
      }),
    },
  })),
  offsets(
    'SCIM: startIndex, itemsPerPage, totalResults',
    'Resources',
    'skip',
    'count',
    (s, _asked, signs) => ({
      body: {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        ...only(signs, { totalResults: s.total, startIndex: s.offset + 1, itemsPerPage: s.rows.length }),
        Resources: s.rows,
      },
    }),
  ),
  numbers('page of pages in words: “page 1 of 4”', 'list', 'p', 'n', (s, _asked, signs) => ({
    body: {
      list: s.rows,
      ...only(signs, {
        page: { number: s.offset / s.size + 1, size: s.size, totalPages: pages(s), totalElements: s.total },
      }),
    },
  })),
  numbers('X-Pagination header with JSON', undefined, 'pageNumber', 'pageSize', (s, _asked, signs) => ({
    body: s.rows,
    headers: signs
      ? {
          'x-pagination': JSON.stringify({
            TotalCount: s.total,
            PageSize: s.size,
            CurrentPage: s.offset / s.size + 1,
            TotalPages: pages(s),
            HasNext: s.next !== undefined,
          }),
        }
      : {},
  })),
  offsets('Solr: response.numFound, start', 'response.docs', 'start', 'rows', (s, _asked, signs) => ({
    body: {
      responseHeader: { status: 0, QTime: 1, params: { q: '*:*', rows: '10' } },
      response: { ...only(signs, { numFound: s.total, start: s.offset, numFoundExact: true }), docs: s.rows },
    },
  })),
  offsets('total as text', 'rows', 'from', 'max', (s, _asked, signs) => ({
    body: { rows: s.rows, ...only(signs, { paging: { total: String(s.total) } }) },
  })),
  {
    ...follows(
      'GraphQL: data.users.edges, pageInfo',
      'data.users.edges',
      'data.users.pageInfo.endCursor',
      'after',
      'first',
      (s) => ({
        body: {
          data: {
            users: {
              edges: s.rows.map((node) => ({ node, cursor: byToken.write(node.id) })),
              pageInfo: {
                hasNextPage: s.next !== undefined,
                endCursor: byToken.write(s.offset + s.rows.length),
              },
            },
          },
        },
      }),
    ),
    method: 'POST',
    pagination: {
      method: 'response.param',
      responseParam: 'data.users.pageInfo.endCursor',
      queryParam: 'after',
      includeParams: true,
      nextPageFlag: { field: 'data.users.pageInfo.hasNextPage', stopOn: false },
    },
  },
];

export const MORE_STYLES = STYLES.map((style) => {
  const says = SAYS.find(([name]) => style.name.startsWith(name))?.[1];
  return says === undefined ? style : { ...style, says };
});
