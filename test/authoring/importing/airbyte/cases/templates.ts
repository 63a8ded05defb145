import { API, below, inQuery, pages, stream, times, type TwoRuns } from '../../support/two-runs.ts';

/** How often each place was asked for. */
const tries = new Map<string, number>();

/** Streams whose templates use functions, methods and names of a slice. */
export const TEMPLATE_CASES: readonly TwoRuns[] = [
  {
    name: 'keys of what may be missing',
    stream: stream('items', '/a', {
      requester: { http_method: 'POST', request_body_json: { limit: 1 } },
      retriever: pages(
        {
          type: 'CursorPagination',
          cursor_value: "{{ (((response.get('data') or {}).get('page', {}) or {}).get('end')) }}",
          stop_condition: "{{ not response.get('data', {}).get('page', {}).get('more', false) }}",
        },
        { type: 'RequestOption', inject_into: 'body_json', field_path: ['after'] },
      ),
      selector: { extractor: { type: 'DpathExtractor', field_path: ['data', 'rows'] } },
    }),
    api: (_, body) =>
      body.includes('after')
        ? { data: { rows: [{ id: 2 }], page: { end: 'y', more: false } } }
        : { data: { rows: [{ id: 1 }], page: { end: 'x', more: true } } },
    asks: [
      ['POST /a application/json {"limit":1,"after":"x"}', 'POST /a application/json {"limit":1}'],
      ['POST /a application/json {"limit":1,"after":"x"}', 'POST /a application/json {"limit":1}'],
    ],
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'texts in quotes side by side, which are one text',
    stream: stream('items', '/a', {
      requester: {
        request_parameters: {
          q: `"shop = {{ config['shop'] }} " "{{ 'and open' if config['open'] else '' }}" 'ORDER BY "id"'`,
          r: `'a' "b"`,
          s: `"a" b "c"`,
        },
      },
    }),
    settings: { shop: 'x', open: '' },
    api: () => [{ id: 1 }],
    asks: [
      ['GET /a?q=shop+=+x+ORDER+BY+"id"&r=ab&s="a"+b+"c"'],
      ['GET /a?q=shop+=+x+ORDER+BY+"id"&r=ab&s="a"+b+"c"'],
    ],
  },
  {
    name: 'a value that is encoded for the address',
    stream: stream('items', "/sites/{{ sanitize_url(stream_partition.get('site')) }}/x", {
      requester: {
        request_parameters: {
          q: "{{ config['text'] | urlencode }}",
          r: "{{ config['empty'] | urlencode }}",
        },
      },
      retriever: {
        partition_router: {
          type: 'ListPartitionRouter',
          cursor_field: 'site',
          values: ['https://a.b/~c d', 'sc-domain:e'],
        },
      },
    }),
    settings: { text: 'a b/~c', empty: '' },
    api: () => [{ id: 1 }],
    asks: [
      ['GET /sites/https://a.b/~c+d/x?q=a%20b/~c', 'GET /sites/sc-domain:e/x?q=a%20b/~c'],
      ['GET /sites/https://a.b/~c+d/x?q=a%20b/~c', 'GET /sites/sc-domain:e/x?q=a%20b/~c'],
    ],
  },
  {
    name: 'the day in the zone of a parent row',
    stream: stream('items', '/days/{{ stream_partition.shop }}', {
      requester: {
        request_parameters: {
          day: "{{ today_with_timezone(stream_slice.extra_fields['zone']).strftime('%Y%m%d') }}",
          before:
            "{{ (today_with_timezone(stream_slice.extra_fields['zone']) - duration('P90D')).strftime('%Y-%m-%d') }}",
        },
      },
      retriever: below(stream('shops', '/shops'), 'shop', { extra_fields: [['zone']] }),
    }),
    api: ({ pathname }) =>
      pathname === '/shops'
        ? [
            { id: 1, zone: 'Pacific/Kiritimati' },
            { id: 2, zone: 'America/New_York' },
          ]
        : [{ id: 5 }],
    asks: [
      [
        'GET /days/1?before=2024-04-03&day=20240702',
        'GET /days/2?before=2024-04-02&day=20240701',
        'GET /shops',
      ],
      [
        'GET /days/1?before=2024-04-03&day=20240702',
        'GET /days/2?before=2024-04-02&day=20240701',
        'GET /shops',
      ],
    ],
  },
  ...(
    [
      ['{{ record.a is not none }}', ['1', '3']],
      ["{{ record['a'] != None }}", ['1', '3']],
      ['{{ not record.a is none }}', ['1', '3']],
      ["{{ record.get('a') is not none }}", ['1']],
      ['{{ record.a is none }}', ['2']],
      ["{{ record.get('a') == None }}", ['2', '3']],
    ] as const
  ).map(([condition, kept]) => ({
    name: `rows whose field is null, or missing: ${condition}`,
    stream: stream('items', '/a', { selector: { record_filter: { type: 'RecordFilter', condition } } }),
    api: () => [{ id: 1, a: '' }, { id: 2, a: null }, { id: 3 }],
    asks: [['GET /a'], ['GET /a']] as const,
    ids: [kept, kept] as const,
  })),
  {
    name: 'a filter of rows by the start of the only window',
    stream: stream('items', '/a', {
      selector: {
        record_filter: {
          type: 'RecordFilter',
          condition: "{{ record['at'] >= stream_interval.get('start_time', config.get('text')) }}",
        },
      },
      ...times({ start_time_option: undefined }),
    }),
    settings: { text: 'x' },
    api: () => [
      { id: 1, at: '2023-12-31' },
      { id: 2, at: '2024-02-01' },
      { id: 3, at: '2024-03-01' },
    ],
    asks: [['GET /a'], ['GET /a']],
    ids: [['2', '3'], ['3']],
  },
  {
    name: 'a state that is the end of a window',
    stream: stream('items', '/a', {
      ...times({
        step: 'P2M',
        cursor_granularity: 'P1D',
        end_time_option: inQuery('until'),
        cursor_field: 'day',
      }),
      transformations: [
        { type: 'AddFields', fields: [{ path: ['day'], value: '{{ stream_interval.end_time }}' }] },
      ],
    }),
    api: ({ searchParams }) => [{ id: searchParams.get('since') }],
    asks: [
      [
        'GET /a?since=2024-01-01&until=2024-02-29',
        'GET /a?since=2024-03-01&until=2024-04-30',
        'GET /a?since=2024-05-01&until=2024-06-30',
        'GET /a?since=2024-07-01&until=2024-07-01',
      ],
      ['GET /a?since=2024-07-01&until=2024-07-01'],
    ],
  },
  {
    name: 'an export below a parent, whose download has no base and whose poll repeats a header',
    outcome: 'more rows',
    stream: {
      type: 'DeclarativeStream',
      name: 'items',
      primary_key: ['id'],
      schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties: {} } },
      ...times({
        cursor_field: 'day',
        start_time_option: undefined,
        step: 'P1Y',
        cursor_granularity: 'P1D',
      }),
      transformations: [
        { type: 'AddFields', fields: [{ path: ['day'], value: '{{ stream_interval.end_time }}' }] },
      ],
      retriever: {
        type: 'AsyncRetriever',
        ...below(stream('shops', '/shops'), 'shop'),
        status_mapping: { failed: ['f'], running: ['r'], timeout: ['t'], completed: ['ok'] },
        status_extractor: { type: 'DpathExtractor', field_path: ['status'] },
        download_target_extractor: { type: 'DpathExtractor', field_path: ['url'] },
        record_selector: {
          type: 'RecordSelector',
          extractor: { type: 'DpathExtractor', field_path: [] },
        },
        creation_requester: {
          type: 'HttpRequester',
          url_base: API,
          path: '/reports',
          http_method: 'POST',
          request_headers: { Authorization: 'of {{ stream_partition.shop }}' },
          request_body_json: {
            from: '{{ stream_interval.start_time }}',
            to: '{{ stream_interval.end_time }}',
          },
        },
        polling_requester: {
          type: 'HttpRequester',
          url_base: API,
          path: "/reports/{{ creation_response['n'] }}",
          http_method: 'GET',
          request_headers: {
            Authorization:
              "{{ stream_slice.extra_fields['creation_response'].request.headers['Authorization'] }}",
          },
        },
        download_requester: {
          type: 'HttpRequester',
          url_base: '',
          path: '{{ download_target }}',
          http_method: 'GET',
        },
        download_decoder: { type: 'JsonDecoder' },
        download_extractor: { type: 'DpathExtractor', field_path: [] },
      },
    },
    api: ({ pathname, origin }) =>
      pathname === '/shops'
        ? [{ id: 1 }]
        : pathname === '/reports'
          ? { n: 7 }
          : pathname === '/reports/7'
            ? { status: 'ok', url: `${origin}/file` }
            : [{ id: 'r' }],
    asks: [
      [
        'GET /file',
        'GET /reports/7 of 1',
        'GET /shops',
        'POST /reports application/json {"from":"2024-01-01","to":"2024-07-01"} of 1',
      ],
      [
        'GET /file',
        'GET /reports/7 of 1',
        'GET /shops',
        'POST /reports application/json {"from":"2024-07-01","to":"2024-07-01"} of 1',
      ],
    ],
    ids: [['r'], ['r']],
  },
  {
    name: 'parts of a time, in a parameter and in a body',
    stream: stream('items', '/a', {
      requester: {
        http_method: 'POST',
        request_parameters: { y: '{{ now_utc().year }}', m: "{{ '%02d' % now_utc().month }}" },
        request_body_json: {
          from: {
            day: '{{ str_to_datetime(stream_interval.start_time).day }}',
            month: '{{ str_to_datetime(stream_interval.start_time).month }}',
          },
        },
      },
      ...times({ start_time_option: undefined }),
    }),
    api: () => [{ id: 1, at: '2024-03-05' }],
    asks: [
      ['POST /a?m=07&y=2024 application/json {"from":{"day":1,"month":1}}'],
      ['POST /a?m=07&y=2024 application/json {"from":{"day":5,"month":3}}'],
    ],
  },
  {
    name: 'a field whose value a choice in a template makes, and a state by it',
    stream: stream('items', '/a', {
      transformations: [
        {
          type: 'AddFields',
          fields: [
            {
              path: ['at'],
              value:
                "{%- set parts = record.at.split('|') -%}\n{%- set at = record.at -%}\n{%- if parts | length > 1 -%}\n  {%- set at = parts[0] ~ 'T' ~ '%02d' % (parts[1] | int) ~ ':00:00+00:00' -%}\n{%- endif -%}\n{{ at }}\n",
            },
          ],
        },
      ],
      ...times({
        datetime_format: '%Y-%m-%dT%H:%M:%S+00:00',
        start_datetime: '2024-01-01T00:00:00+00:00',
      }),
    }),
    api: () => [
      { id: 1, at: '2024-06-03|7' },
      { id: 2, at: '2024-06-02|12' },
    ],
    asks: [['GET /a?since=2024-01-01T00:00:00+00:00'], ['GET /a?since=2024-06-03T07:00:00+00:00']],
  },
  {
    name: 'a list in a body that a setting decides, and a list of one value that is sent nowhere',
    stream: stream('items', '/a', {
      requester: {
        http_method: 'POST',
        request_body_json: {
          all: `{% if "names" in config and config["names"] | length %}
[{ "of": "{{ stream_partition.name['first'] }}" }]
{% else %}
[{ "of": "{{ stream_partition['shop'] }}" }]
{% endif %}
`,
        },
      },
      retriever: {
        partition_router: [
          { type: 'ListPartitionRouter', values: ['x'], cursor_field: 'shop' },
          {
            type: 'ListPartitionRouter',
            values: "{{ config['names'] if 'names' in config and config['names'] | length else [''] }}",
            cursor_field: 'name',
          },
        ],
      },
    }),
    settings: { other: 1 },
    api: () => [{ id: 1 }],
    asks: [
      ['POST /a application/json {"all":[{"of":"x"}]}'],
      ['POST /a application/json {"all":[{"of":"x"}]}'],
    ],
  },
  {
    name: 'answers that are passed over: an error has no rows and no next page, a success has them',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      requester: {
        error_handler: {
          type: 'DefaultErrorHandler',
          response_filters: [
            { type: 'HttpResponseFilter', action: 'IGNORE', predicate: "{{ response.get('gone') }}" },
            { type: 'HttpResponseFilter', action: 'SUCCESS', http_codes: [409] },
          ],
        },
      },
      selector: { extractor: { type: 'DpathExtractor', field_path: ['rows'] } },
      retriever: {
        ...below(stream('shops', '/shops'), 'shop'),
        ...pages(
          {
            type: 'CursorPagination',
            cursor_value: '{{ response.next }}',
            stop_condition: '{{ not response.next }}',
          },
          inQuery('page'),
        ),
      },
    }),
    api: ({ pathname, searchParams }) => {
      if (pathname === '/shops') return [{ id: 1 }, { id: 2 }, { id: 3 }];
      const body = { gone: pathname !== '/items/3', rows: [{ id: pathname }], next: 'p2' };
      if (searchParams.has('page')) return { rows: [] };
      return pathname === '/items/1'
        ? body
        : { status: pathname === '/items/2' ? 404 : 409, headers: {}, body };
    },
    asks: [
      ['GET /items/1', 'GET /items/1?page=p2', 'GET /items/2', 'GET /items/3', 'GET /shops'],
      ['GET /items/1', 'GET /items/1?page=p2', 'GET /items/2', 'GET /items/3', 'GET /shops'],
    ],
    ids: [['/items/1'], ['/items/1']],
  },
  {
    name: 'answers that are asked for again by the kind of their errors',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      requester: {
        error_handler: {
          type: 'DefaultErrorHandler',
          backoff_strategies: [{ type: 'ConstantBackoffStrategy', backoff_time_in_seconds: 0.01 }],
          response_filters: [
            {
              type: 'HttpResponseFilter',
              action: 'RETRY',
              predicate:
                "{{ response is mapping and ((response.get('errors') or []) | selectattr('kind', 'defined') | selectattr('kind', 'in', ['FULL', 'BUSY']) | list | length) > 0 }}",
            },
            {
              type: 'HttpResponseFilter',
              action: 'RETRY',
              predicate: "{{ response.notes | selectattr('kind', 'equalto', 'SOON') | list }}",
            },
          ],
        },
      },
      selector: { extractor: { type: 'DpathExtractor', field_path: ['rows'] } },
      retriever: below(stream('shops', '/shops'), 'shop'),
    }),
    api: ({ pathname }) => {
      if (pathname === '/shops') return [1, 2, 3, 4].map((id) => ({ id }));
      const again = { '/items/1': { errors: [{ text: 'a' }, { kind: 'BUSY' }], notes: [] } };
      const soon = { '/items/3': { notes: [{}, { kind: 'SOON' }] } };
      const busy = { ...again, ...soon }[pathname];
      tries.set(pathname, (tries.get(pathname) ?? 0) + 1);
      if (busy !== undefined && (tries.get(pathname) ?? 0) % 2 === 1) return busy;
      const other = { errors: [{ kind: 'SLOW' }, { kind: null }], notes: [{ kind: 'LATER' }] };
      return { rows: [{ id: pathname }], ...(pathname === '/items/2' ? other : { errors: null, notes: [] }) };
    },
    asks: [
      [
        'GET /items/1',
        'GET /items/1',
        'GET /items/2',
        'GET /items/3',
        'GET /items/3',
        'GET /items/4',
        'GET /shops',
      ],
      [
        'GET /items/1',
        'GET /items/1',
        'GET /items/2',
        'GET /items/3',
        'GET /items/3',
        'GET /items/4',
        'GET /shops',
      ],
    ],
    ids: [
      ['/items/1', '/items/2', '/items/3', '/items/4'],
      ['/items/1', '/items/2', '/items/3', '/items/4'],
    ],
  },
  {
    name: 'a key that is there with null, in a filter and in a value',
    stream: stream('items', '/a', {
      selector: {
        record_filter: { type: 'RecordFilter', condition: "{{ 'x' in record and record.a.x is defined }}" },
      },
      transformations: [
        {
          type: 'AddFields',
          fields: [{ path: ['id'], value: "{{ record.id }}-{{ 'none' if record.y is none else 'other' }}" }],
        },
      ],
    }),
    api: () => [
      { id: 1, x: null, a: { x: null }, y: null },
      { id: 2, a: { x: 1 } },
      { id: 3, x: 1, a: {} },
      { id: 4, x: 1, a: { x: 1 } },
    ],
    asks: [['GET /a'], ['GET /a']],
    ids: [
      ['1-none', '4-other'],
      ['1-none', '4-other'],
    ],
  },
  {
    name: 'a field that is removed by the time of the filter, and one that is added',
    stream: stream('items', '/a', {
      selector: {
        transform_before_filtering: true,
        record_filter: { type: 'RecordFilter', condition: "{{ 'x' not in record and 'y' in record }}" },
      },
      transformations: [
        { type: 'RemoveFields', field_pointers: [['x']] },
        { type: 'AddFields', fields: [{ path: ['y'], value: 'n' }] },
      ],
    }),
    api: () => [{ id: 1, x: 1 }, { id: 2 }],
    asks: [['GET /a'], ['GET /a']],
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'times that are compared as the texts that they are',
    stream: stream('items', '/a', {
      selector: {
        record_filter: {
          type: 'RecordFilter',
          condition: "{{ record['at'] > stream_interval.get('start_time', '') }}",
        },
      },
      ...times({
        is_data_feed: true,
        cursor_datetime_formats: ['%Y-%m-%dT%H:%M:%SZ'],
        datetime_format: '%Y-%m-%dT%H:%M:%S.%fZ',
        start_datetime: '2024-01-01T00:00:00.0Z',
        start_time_option: undefined,
      }),
    }),
    // the state is written with its fraction, and is the lesser text
    api: () => [
      { id: 1, at: '2024-06-10T00:00:00Z' },
      { id: 2, at: '2024-06-01T00:00:00Z' },
    ],
    asks: [['GET /a'], ['GET /a']],
    ids: [['1', '2'], ['1']],
  },
];
