import {
  API,
  below,
  inQuery,
  pages,
  stream,
  times,
  type Part,
  type TwoRuns,
} from '../../support/two-runs.ts';

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines.toSorted(), lines.toSorted()];

const LOGIN = { type: 'BearerAuthenticator', api_token: 'T' };

const grouped = (size: number): Part => ({
  partition_router: {
    type: 'GroupingPartitionRouter',
    group_size: size,
    underlying_partition_router: below(stream('shops', '/shops'), 'shop')['partition_router'],
  },
});

/** Streams whose requests take parts of what they are asked for. */
export const SLICE_CASES: readonly TwoRuns[] = [
  {
    name: 'keys of an object that a parent row does not have',
    stream: stream('items', '/items', {
      requester: { request_parameters: { b: "{{ stream_slice['of']['b'] }}" } },
      retriever: below(stream('shops', '/shops'), 'of', { parent_key: 'ids' }),
    }),
    api: ({ pathname }) =>
      pathname === '/shops'
        ? [
            { id: 1, ids: { a: 'x', b: 2 } },
            { id: 2, ids: { a: 'y' } },
          ]
        : [{ id: 7 }],
    asks: both('GET /shops', 'GET /items?b=2', 'GET /items'),
  },
  {
    name: 'a field of the parent that was added to it by which keys it has',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      requester: { request_parameters: { at: "{{ stream_slice.extra_fields['at'] }}" } },
      retriever: below(
        stream('shops', '/shops', {
          transformations: [
            {
              type: 'AddFields',
              fields: [{ path: ['at'], value: "{{ record['at'] if 'at' in record else record['made'] }}" }],
            },
          ],
        }),
        'shop',
        { extra_fields: [['at']] },
      ),
    }),
    api: ({ pathname }) =>
      pathname === '/shops'
        ? [
            { id: 1, at: 5, made: 6 },
            { id: 2, made: 7 },
          ]
        : [{ id: 9 }],
    asks: both('GET /shops', 'GET /items/1?at=5', 'GET /items/2?at=7'),
  },
  {
    name: 'keys of an object that the parent row has',
    stream: stream('items', '/items/{{ stream_partition.of.a }}', {
      requester: { request_parameters: { b: "{{ stream_slice['of']['b'] }}" } },
      retriever: below(stream('shops', '/shops'), 'of', { parent_key: 'ids' }),
    }),
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 1, ids: { a: 'x', b: 2 } }] : [{ id: 7 }]),
    asks: both('GET /shops', 'GET /items/x?b=2'),
    ids: [['7'], ['7']],
  },
  {
    name: 'rows of a parent that are left out by a field that was added to them',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(
        stream('shops', '/shops', {
          transformations: [{ type: 'AddFields', fields: [{ path: ['at'], value: '{{ record.more.at }}' }] }],
          ...times({ is_client_side_incremental: true, start_time_option: undefined }),
        }),
        'shop',
      ),
    }),
    api: ({ pathname }) =>
      pathname === '/shops'
        ? [
            { id: 1, more: { at: '2023-12-01' } },
            { id: 2, more: { at: '2024-02-01' } },
          ]
        : [{ id: 7 }],
    asks: both('GET /shops', 'GET /items/2'),
    ids: [['7'], ['7']],
  },
  {
    name: 'rows of a feed above a child that are older than its start',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(
        stream('shops', '/shops', times({ is_data_feed: true, start_time_option: undefined })),
        'shop',
      ),
    }),
    api: ({ pathname }) =>
      pathname === '/shops'
        ? [
            { id: 1, at: '2024-02-01' },
            { id: 2, at: '2023-12-01' },
          ]
        : [{ id: 7 }],
    asks: both('GET /shops', 'GET /items/1'),
    ids: [['7'], ['7']],
  },
  {
    name: 'keys of an object that was added to the parent row, with a state for each',
    outcome: 'more rows',
    stream: stream('votes', '/items/{{ stream_partition.of.item }}/{{ stream_partition.of.comment }}', {
      retriever: below(
        stream('comments', '/items/{{ stream_partition.item }}', {
          retriever: below(stream('items', '/items'), 'item'),
          transformations: [
            {
              type: 'AddFields',
              fields: [
                {
                  path: ['id'],
                  value: "{{ {'item': stream_partition['item'], 'comment': record['id']} }}",
                },
              ],
            },
          ],
        }),
        'of',
      ),
      ...times(),
    }),
    api: ({ pathname }) =>
      pathname === '/items'
        ? [{ id: 1 }, { id: 2 }]
        : pathname.split('/').length === 3
          ? [{ id: 5 }]
          : [{ id: pathname.at(7), at: pathname.startsWith('/items/1') ? '2024-03-01' : '2024-05-01' }],
    asks: [
      [
        'GET /items',
        'GET /items/1',
        'GET /items/1/5?since=2024-01-01',
        'GET /items/2',
        'GET /items/2/5?since=2024-01-01',
      ],
      [
        'GET /items',
        'GET /items/1',
        'GET /items/1/5?since=2024-03-01',
        'GET /items/2',
        'GET /items/2/5?since=2024-05-01',
      ],
    ],
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'the only value of a group',
    stream: stream('items', "/items/{{ stream_partition['shop'][0] }}", { retriever: grouped(1) }),
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 1 }, { id: 2 }] : [{ id: 7 }]),
    asks: both('GET /shops', 'GET /items/1', 'GET /items/2'),
  },
  {
    name: 'the second value of a group',
    stream: stream('items', "/items/{{ stream_partition['shop'][1] }}", { retriever: grouped(2) }),
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 1 }, { id: 2 }] : [{ id: 7 }]),
    asks: both('GET /shops', 'GET /items/2'),
  },
  {
    name: 'a slice that is tested as a whole',
    stream: stream('items', '/a', {
      requester: {
        request_parameters: { q: "{{ stream_interval.start_time if stream_interval else 'none' }}" },
      },
      ...times({ start_time_option: undefined }),
    }),
    api: () => [{ id: 1, at: '2024-03-01' }],
    asks: [['GET /a?q=2024-01-01'], ['GET /a?q=2024-03-01']],
  },
  {
    name: 'a slice that is tested as a whole, where there is none',
    stream: stream('items', '/a', {
      requester: {
        request_parameters: { q: "{{ stream_interval.start_time if stream_interval else 'none' }}" },
      },
    }),
    api: () => [{ id: 1 }],
    asks: both('GET /a?q=none'),
  },
  {
    name: 'a parent at another address',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      requester: { url_base: `${API}/v2/` },
      retriever: below(stream('shops', '/shops', { requester: { url_base: `${API}/v1` } }), 'shop', {
        request_option: inQuery('of'),
      }),
    }),
    api: ({ pathname }) => (pathname === '/v1/shops' ? [{ id: 1 }, { id: 'a/b' }] : [{ id: 7 }]),
    asks: both('GET /v1/shops', 'GET /v2/items/1?of=1', 'GET /v2/items/a/b?of=a/b'),
  },
  {
    name: 'a child with a base of its own that is computed, with the credentials',
    stream: stream('items', '', {
      requester: {
        url_base: `${API}/{{ stream_partition.shop | upper }}/x`,
        authenticator: LOGIN,
      },
      retriever: below(stream('shops', '/shops', { requester: { authenticator: LOGIN } }), 'shop'),
    }),
    api: ({ pathname }) => [{ id: pathname === '/shops' ? 'a' : 7 }],
    asks: both('GET /A/x Bearer T', 'GET /shops Bearer T'),
  },
  {
    name: 'a parent and a child whose addresses are settings, and a grandchild',
    stream: stream('notes', '/notes/{{ stream_partition.item }}', {
      requester: { url_base: "{{ config['second'] }}" },
      retriever: below(
        stream('items', '/items/{{ stream_partition.shop }}', {
          requester: { url_base: "{{ config['second'] }}" },
          retriever: below(
            stream('shops', '/shops', { requester: { url_base: "{{ config['first'] }}" } }),
            'shop',
          ),
        }),
        'item',
      ),
    }),
    settings: { first: `${API}/v1`, second: `${API}/v2/` },
    api: ({ pathname }) => [{ id: pathname.length }],
    asks: both('GET /v1/shops', 'GET /v2/items/9', 'GET /v2/notes/11'),
  },
  // airbyte-cdk 7.39.1 takes the first page of shop 1 from its row in the first run, and none of shop 2; later it asks for both
  {
    name: 'first pages that stand in the rows of the parent',
    stream: stream('items', '/shops/{{ stream_partition.shop }}/items', {
      selector: { extractor: { type: 'DpathExtractor', field_path: ['data'] } },
      retriever: {
        ...below(
          stream('shops', '/shops', {
            selector: { extractor: { type: 'DpathExtractor', field_path: ['data'] } },
          }),
          'shop',
          { lazy_read_pointer: ['items'] },
        ),
        ...pages(
          {
            type: 'CursorPagination',
            cursor_value: "{{ response['data'][-1]['id'] }}",
            stop_condition: "{{ not response.get('has_more', False) }}",
          },
          inQuery('after'),
        ),
      },
    }),
    api: ({ pathname, searchParams }) =>
      pathname === '/shops'
        ? { data: [{ id: 1, items: { data: [{ id: 'a' }], has_more: true } }, { id: 2 }] }
        : pathname === '/shops/2/items'
          ? { data: [{ id: 'c' }] }
          : searchParams.has('after')
            ? { data: [{ id: 'b' }] }
            : { data: [{ id: 'a' }], has_more: true },
    outcome: 'more rows',
    asks: both('GET /shops', 'GET /shops/1/items', 'GET /shops/1/items?after=a', 'GET /shops/2/items'),
    ids: [
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ],
  },
  {
    name: 'a further field of the parent that is null or missing is None in a path and a text',
    stream: stream('items', "/items/{{ stream_slice.extra_fields['code'] }}", {
      requester: { request_headers: { authorization: "of {{ stream_slice.extra_fields['code'] }}" } },
      retriever: below(stream('shops', '/shops'), 'shop', { extra_fields: [['code']] }),
    }),
    api: ({ pathname }) =>
      pathname === '/shops' ? [{ id: 1, code: 'x' }, { id: 2, code: null }, { id: 3 }] : [],
    asks: both('GET /items/None of None', 'GET /items/None of None', 'GET /items/x of x', 'GET /shops'),
  },
  {
    name: 'one that is true or false by its schema is so in Python',
    stream: stream('items', "/items/{{ stream_slice.extra_fields['old'] }}", {
      requester: {
        http_method: 'POST',
        request_parameters: { old: "{{ stream_slice.extra_fields['old'] }}" },
        request_body_json: { old: "{{ stream_slice.extra_fields['old'] }}" },
      },
      retriever: below(
        stream('shops', '/shops', {
          schema_loader: {
            type: 'InlineSchemaLoader',
            schema: { type: 'object', properties: { old: { type: ['null', 'boolean'] } } },
          },
        }),
        'shop',
        { extra_fields: [['old']] },
      ),
    }),
    api: ({ pathname }) =>
      pathname === '/shops' ? [{ id: 1, old: true }, { id: 2, old: false }, { id: 3 }] : [],
    asks: both(
      'GET /shops',
      'POST /items/False?old=False application/json {"old":false}',
      'POST /items/None?old=None',
      'POST /items/True?old=True application/json {"old":true}',
    ),
  },
  {
    name: 'an empty key of the parent is left out where it is sent alone',
    stream: stream('items', '/items', {
      requester: { request_parameters: { shop: '{{ stream_partition.shop }}' } },
      retriever: below(stream('shops', '/shops'), 'shop', { request_option: inQuery('of') }),
    }),
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 'x' }, { id: '' }] : []),
    asks: both('GET /items', 'GET /items?of=x&shop=x', 'GET /shops'),
  },
  {
    name: 'so is an empty value of a list',
    stream: stream('items', '/items', {
      requester: { request_parameters: { area: '{{ stream_partition.area }}' } },
      retriever: {
        partition_router: {
          type: 'ListPartitionRouter',
          values: ['x', ''],
          cursor_field: 'area',
          request_option: inQuery('of'),
        },
      },
    }),
    api: () => [],
    asks: both('GET /items', 'GET /items?area=x&of=x'),
  },
];
