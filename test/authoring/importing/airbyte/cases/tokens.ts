import {
  API,
  below,
  inQuery,
  pages,
  stream,
  times,
  type MockAnswer,
  type TwoRuns,
} from '../../support/two-runs.ts';

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines, lines];

/** Answers with pages of two rows; the last one has one. */
const byOffset =
  (name: string, last: number, read: (text: string) => number): MockAnswer =>
  ({ searchParams, pathname }) => {
    const from = read(searchParams.get(name) ?? '');
    return [from, from + 1].filter((id) => id <= last).map((id) => ({ id: `${pathname.at(-1)}${id}` }));
  };

const twoRuns = (lines: readonly string[]): TwoRuns['asks'] => [lines.toSorted(), lines.toSorted()];

export const TOKEN_CASES: readonly TwoRuns[] = [
  {
    name: 'an offset inside of a text',
    stream: stream('items', '/a', {
      requester: { request_parameters: { limit: "'{{ next_page_token['next_page_token'] or '0' }},2'" } },
      retriever: pages({ type: 'OffsetIncrement', page_size: 2 }, undefined),
    }),
    api: byOffset('limit', 4, (text) => Number(text.split(',')[0])),
    asks: twoRuns(['GET /a?limit=0,2', 'GET /a?limit=2,2', 'GET /a?limit=4,2']),
    ids: [
      ['a0', 'a1', 'a2', 'a3', 'a4'],
      ['a0', 'a1', 'a2', 'a3', 'a4'],
    ],
  },
  {
    name: 'a token that is written as JSON and read as a literal again',
    stream: stream('items', '/a', {
      retriever: pages(
        {
          type: 'CursorPagination',
          cursor_value: "{{ response.get('next') | tojson() }}",
          stop_condition: '{{ not response.next }}',
        },
        inQuery('offset'),
      ),
      selector: { extractor: { type: 'DpathExtractor', field_path: ['rows'] } },
    }),
    api: ({ searchParams }) =>
      searchParams.has('offset') ? { rows: [{ id: 2 }] } : { rows: [{ id: 1 }], next: '["17","x"]' },
    asks: twoRuns(['GET /a', 'GET /a?offset=["17","x"]']),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'a token inside of a JSON body, and a setting that is not given in its place in the first request',
    stream: stream('items', '/a', {
      requester: {
        http_method: 'POST',
        request_body_json: {
          o: { t: "{{ next_page_token['next_page_token'] if next_page_token else config.none }}" },
        },
      },
      retriever: pages({ type: 'CursorPagination', cursor_value: '{{ response.next }}' }, undefined),
    }),
    settings: { none: '' },
    api: (_, body) => (body.includes('abc') ? { id: 2 } : { id: 1, next: 'abc' }),
    asks: twoRuns(['POST /a application/json {"o":{"t":"abc"}}', 'POST /a application/json {"o":{}}']),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'an offset that is reckoned with, for each parent',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      requester: {
        request_parameters: {
          q: 'select * STARTPOSITION {{ (next_page_token.next_page_token or 0) + 1 }} MAXRESULTS 2',
        },
      },
      retriever: {
        ...pages({ type: 'OffsetIncrement', page_size: 2 }, undefined),
        ...below(stream('shops', '/shops'), 'shop'),
      },
    }),
    api: (url, ...more) =>
      url.pathname === '/shops'
        ? [{ id: 'x' }, { id: 'y' }]
        : byOffset('q', 3, (text) => Number(/STARTPOSITION (\d+)/.exec(text)?.[1]))(url, ...more),
    asks: twoRuns([
      'GET /items/x?q=select+*+STARTPOSITION+1+MAXRESULTS+2',
      'GET /items/x?q=select+*+STARTPOSITION+3+MAXRESULTS+2',
      'GET /items/y?q=select+*+STARTPOSITION+1+MAXRESULTS+2',
      'GET /items/y?q=select+*+STARTPOSITION+3+MAXRESULTS+2',
      'GET /shops',
    ]),
    ids: [
      ['x1', 'x2', 'x3', 'y1', 'y2', 'y3'],
      ['x1', 'x2', 'x3', 'y1', 'y2', 'y3'],
    ],
  },
  {
    name: 'a number of a page in a parameter and in a header, from the first page on',
    stream: stream('items', '/a', {
      requester: { request_parameters: { of: 'page {{ next_page_token.next_page_token }}' } },
      retriever: pages(
        { type: 'PageIncrement', page_size: 2, start_from_page: 5, inject_on_first_request: true },
        inQuery('page'),
      ),
    }),
    api: byOffset('page', 12, (text) => Number(text) * 2),
    asks: twoRuns(['GET /a?of=page+5&page=5', 'GET /a?of=page+6&page=6']),
  },
  {
    name: 'a size of pages whose parameter has no name',
    stream: stream('items', '/a', {
      retriever: pages({ type: 'PageIncrement', page_size: 2 }, inQuery('page'), {
        page_size_option: inQuery("{{ config['nothing'] }}"),
      }),
    }),
    api: byOffset('page', 2, (text) => Number(text) * 2),
    asks: twoRuns(['GET /a?=2', 'GET /a?=2&page=1']),
  },
  {
    name: 'a next token that is a sum of numbers, or of texts',
    stream: stream('items', '/a', {
      requester: { url_base: API },
      retriever: pages(
        {
          type: 'CursorPagination',
          cursor_value: "{{ response.get('at') + response['size'] }}",
          stop_condition: "{{ response['at'] == 4 }}",
        },
        inQuery('at'),
      ),
      selector: { extractor: { type: 'DpathExtractor', field_path: ['rows'] } },
    }),
    api: ({ searchParams }) => ({ rows: [{ id: 1 }], at: Number(searchParams.get('at')), size: 2 }),
    asks: twoRuns(['GET /a', 'GET /a?at=2', 'GET /a?at=4']),
  },
  {
    name: 'parameters of the first request alone, beside a window and one that stays',
    stream: stream('items', '/items', {
      requester: {
        request_parameters: {
          sort: "{{ 'at,asc' if not next_page_token else '' }}",
          'between[]':
            "{{ [stream_interval['start_time'], '2024-12-31'] if next_page_token is none else '' }}",
          kind: 'k',
        },
      },
      selector: { extractor: { type: 'DpathExtractor', field_path: ['rows'] } },
      retriever: pages(
        {
          type: 'CursorPagination',
          cursor_value: "{{ last_record['id'] }}",
          stop_condition: '{{ not last_record }}',
        },
        inQuery('after'),
      ),
      ...times({ start_time_option: undefined }),
    }),
    api: ({ searchParams }) => ({
      rows: searchParams.has('after') ? [] : [{ id: 7, at: '2024-06-30' }],
    }),
    asks: [
      [
        'GET /items?after=7&kind=k',
        'GET /items?between[]=2024-01-01&between[]=2024-12-31&kind=k&sort=at,asc',
      ],
      [
        'GET /items?after=7&kind=k',
        'GET /items?between[]=2024-06-30&between[]=2024-12-31&kind=k&sort=at,asc',
      ],
    ],
    ids: [['7'], ['7']],
  },
  ...['{{ last_page_size < 2 }}', '{{ last_page_size == 0 }}', '{{ not last_record }}'].map(
    (stop): TwoRuns => {
      const last = stop.includes('<') ? '' : 'GET /items?after=b&since=';
      const asks = (since: string): readonly string[] =>
        [
          `GET /items?after=a&since=${since}`,
          last === '' ? '' : `${last}${since}`,
          `GET /items?since=${since}`,
        ].filter((line) => line !== '');
      return {
        name: `a state beside the end ${stop}, where a next page is named each time`,
        stream: stream('items', '/items', {
          selector: { extractor: { type: 'DpathExtractor', field_path: ['rows'] } },
          retriever: pages(
            { type: 'CursorPagination', cursor_value: '{{ response.next }}', stop_condition: stop },
            inQuery('after'),
          ),
          ...times(),
        }),
        api: ({ searchParams }) =>
          ({
            a: { rows: [{ id: 3, at: '2024-06-02' }], next: 'b' },
            b: { rows: [], next: 'c' },
          })[searchParams.get('after') ?? ''] ?? {
            rows: [
              { id: 1, at: '2024-06-01' },
              { id: 2, at: '2024-06-01' },
            ],
            next: 'a',
          },
        asks: [asks('2024-01-01'), asks('2024-06-02')],
      };
    },
  ),
  {
    name: 'parts of the token in a text of the body that reads as an object',
    stream: stream('items', '/items', {
      requester: {
        http_method: 'POST',
        request_body_json: {
          since:
            "{ 'from': {{ format_datetime('2024-01-01', '%s') }}, 'day': '{{ format_datetime('2024-01-01', '%d') }}' }",
          page: "{ 'size': 2, 'at': { 'after': '{{ next_page_token.get('next_page_token').get('after') }}', 'n': {{ next_page_token['next_page_token']['n'] }} } }",
        },
      },
      selector: { extractor: { type: 'DpathExtractor', field_path: ['rows'] } },
      retriever: pages(
        {
          type: 'CursorPagination',
          cursor_value: '{{ response.next }}',
          stop_condition: '{{ not response.next }}',
        },
        undefined,
      ),
    }),
    api: (_, body) =>
      body.includes('page') ? { rows: [{ id: 3 }] } : { rows: [{ id: 1 }], next: { after: 'b', n: 7 } },
    asks: both(
      'POST /items application/json {"since":{"from":1704067200,"day":"01"},"page":{"size":2,"at":{"after":"b","n":7}}}',
      'POST /items application/json {"since":{"from":1704067200,"day":"01"}}',
    ),
    ids: [
      ['1', '3'],
      ['1', '3'],
    ],
  },
  {
    name: 'the number of a page in the place of the path',
    stream: stream('items', '/a', {
      requester: { url_base: `${API}/v1`, request_parameters: { kind: 'x' } },
      retriever: pages(
        { type: 'PageIncrement', page_size: 2, start_from_page: 1 },
        { type: 'RequestPath' },
        { page_size_option: inQuery('size') },
      ),
    }),
    api: ({ pathname }) =>
      pathname === '/v1/a' ? [{ id: 1 }, { id: 2 }] : pathname === '/v1/2' ? [{ id: 3 }, { id: 4 }] : [],
    asks: twoRuns(['GET /v1/a?kind=x&size=2', 'GET /v1/2?kind=x&size=2', 'GET /v1/3?kind=x&size=2']),
    ids: [
      ['1', '2', '3', '4'],
      ['1', '2', '3', '4'],
    ],
  },
  {
    name: 'a page by number that nothing sends',
    stream: stream('items', '/items', {
      retriever: pages({ type: 'PageIncrement', page_size: 3 }, undefined, {
        page_size_option: inQuery('size'),
      }),
    }),
    api: () => [{ id: 1 }, { id: 2 }],
    asks: twoRuns(['GET /items?size=3']),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
];
