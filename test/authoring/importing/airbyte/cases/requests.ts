import {
  inQuery,
  pages,
  stream,
  times,
  type MockAnswer,
  type Part,
  type TwoRuns,
} from '../../support/two-runs.ts';

const twice = (...lines: readonly string[]): TwoRuns['asks'] => [lines.toSorted(), lines.toSorted()];
const none: MockAnswer = () => [];

const asking = (name: string, requester: Part, line: string, more: Partial<TwoRuns> = {}): TwoRuns => ({
  name,
  stream: stream('items', '/a', { requester }),
  api: none,
  asks: twice(line),
  ...more,
});

const byDay = {
  datetime_format: '%d/%m/%Y %H:%M',
  start_datetime: '29/06/2024 00:00',
  end_datetime: {
    type: 'MinMaxDatetime',
    datetime: "{{ now_utc().strftime('%d/%m/%Y %H:%M') }}",
    datetime_format: '%d/%m/%Y %H:%M',
  },
  end_time_option: inQuery('until'),
  step: 'P1D',
  cursor_granularity: 'P1D',
};

export const REQUEST_CASES: readonly TwoRuns[] = [
  {
    name: 'the last window takes the end, and a state inside of a day stays there',
    stream: stream('items', '/a', times(byDay)),
    api: ({ searchParams }) =>
      searchParams.get('since')?.startsWith('30') === true ? [{ id: 1, at: '30/06/2024 08:15' }] : [],
    asks: [
      [
        'GET /a?since=01/07/2024+00:00&until=01/07/2024+12:30',
        'GET /a?since=29/06/2024+00:00&until=29/06/2024+00:00',
        'GET /a?since=30/06/2024+00:00&until=30/06/2024+00:00',
      ],
      [
        'GET /a?since=01/07/2024+08:15&until=01/07/2024+12:30',
        'GET /a?since=30/06/2024+08:15&until=30/06/2024+08:15',
      ],
    ],
  },
  {
    name: 'settings that are not given, inside of a JSON body',
    stream: stream('items', '/a', {
      requester: {
        http_method: 'POST',
        request_body_json: {
          q: "{{ config['none'] }}",
          r: { s: "{{ config['none'] }}", t: 1 },
          u: { "{{ config['none'] }}": "{{ config['none'] }}" },
        },
      },
    }),
    settings: { none: '' },
    api: none,
    asks: twice('POST /a application/json {"r":{"t":1},"u":{}}'),
  },
  {
    name: 'a JSON body whose only fields are settings that are not given, and the token of a next page',
    stream: stream('items', '/a', {
      requester: { http_method: 'POST', request_body_json: { q: "{{ config['none'] }}" } },
      retriever: pages(
        {
          type: 'CursorPagination',
          cursor_value: '{{ response.next }}',
          stop_condition: '{{ not response.next }}',
        },
        { ...inQuery('after'), inject_into: 'body_json' },
      ),
      selector: { extractor: { type: 'DpathExtractor', field_path: ['items'] } },
    }),
    settings: { none: '' },
    api: (_, body) => (body === '' ? { items: [{ id: 1 }], next: 'n' } : { items: [{ id: 2 }] }),
    asks: twice('POST /a', 'POST /a application/json {"after":"n"}'),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'windows that end a microsecond before the next one begins',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%Y-%m-%dT%H:%M:%S.%fZ',
        start_datetime: '2024-06-29T12:30:00.250000Z',
        end_time_option: inQuery('until'),
        step: 'P1D',
        cursor_granularity: 'PT0.000001S',
      }),
    ),
    api: none,
    asks: twice(
      'GET /a?since=2024-06-29T12:30:00.250000Z&until=2024-06-30T12:30:00.249999Z',
      'GET /a?since=2024-06-30T12:30:00.250000Z&until=2024-07-01T12:30:00.000000Z',
    ),
  },
  {
    name: 'a state in microseconds of a text, with a lookback',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%Y-%m-%dT%H:%M:%S.%fZ',
        start_datetime: '2024-06-01T00:00:00.000000Z',
        end_time_option: inQuery('until'),
        lookback_window: 'PT1S',
      }),
    ),
    api: () => [{ id: 1, at: '2024-06-10T08:15:31.123456Z' }],
    asks: [
      ['GET /a?since=2024-06-01T00:00:00.000000Z&until=2024-07-01T12:30:00.000000Z'],
      ['GET /a?since=2024-06-10T08:15:30.123456Z&until=2024-07-01T12:30:00.000000Z'],
    ],
  },
  {
    name: 'times in the form of the state move it beside those that the cursor lists',
    stream: stream('items', '/a', times({ start_datetime: '2024-06-01', cursor_datetime_formats: ['%s'] })),
    api: () => [
      { id: 1, at: '2024-06-04' },
      { id: 2, at: 1717286400 },
    ],
    asks: [['GET /a?since=2024-06-01'], ['GET /a?since=2024-06-04']],
  },
  {
    name: 'times in another form than that of the state do not move it',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%Y-%m-%dT%H:%M:%SZ',
        cursor_datetime_formats: ['%Y-%m-%dT%H:%M:%SZ', '%d/%m/%Y %H:%M'],
        start_datetime: '2024-06-01T00:00:00Z',
        lookback_window: 'PT1S',
      }),
    ),
    api: () => [
      { id: 1, at: '2024-06-04T08:15:31Z' },
      { id: 2, at: '05/06/2024 08:15' },
      { id: 3, at: '2024-06-25T08:15:31.250Z' },
      { id: 4, at: '2024-06-26' },
      { id: 5, at: '2024-06-27T08:15:31+00:00' },
      { id: 6, at: 1719000000 },
    ],
    asks: [['GET /a?since=2024-06-01T00:00:00Z'], ['GET /a?since=2024-06-05T08:14:59Z']],
  },
  {
    name: 'a state with an offset, which windows and a lookback keep up to the present',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%Y-%m-%dT%H:%M:%S.%f%z',
        start_datetime: '2024-06-01T00:00:00.000000-0300',
        end_time_option: inQuery('until'),
        lookback_window: 'PT1S',
        step: 'P20D',
        cursor_granularity: 'PT0.000001S',
      }),
    ),
    api: () => [
      { id: 1, at: '2024-06-10T08:15:31.123456-05:30' },
      { id: 2, at: '2024-06-10T15:45:31.123455+0200' },
    ],
    asks: [
      [
        'GET /a?since=2024-06-01T00:00:00.000000-0300&until=2024-06-20T23:59:59.999999-0300',
        'GET /a?since=2024-06-21T00:00:00.000000-0300&until=2024-07-01T12:30:00.000000+0000',
      ],
      [
        'GET /a?since=2024-06-10T08:15:30.123456-0530&until=2024-06-30T08:15:30.123455-0530',
        'GET /a?since=2024-06-30T08:15:30.123456-0530&until=2024-07-01T12:30:00.000000+0000',
      ],
    ],
    ids: [
      ['1', '1', '2', '2'],
      ['1', '1', '2', '2'],
    ],
  },
  {
    name: 'old rows by a state of days, with a start inside of a day, where the window is sent',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%Y-%m-%d',
        cursor_datetime_formats: ['%Y-%m-%dT%H:%M:%SZ'],
        start_datetime: {
          type: 'MinMaxDatetime',
          datetime: '2024-06-10T05:00:00Z',
          datetime_format: '%Y-%m-%dT%H:%M:%SZ',
        },
        is_client_side_incremental: true,
      }),
    ),
    api: () => [
      { id: 1, at: '2024-06-10T18:15:31Z' },
      { id: 2, at: '2024-06-10T08:15:31Z' },
      { id: 3, at: '2024-06-10T02:15:31Z' },
      { id: 4 },
    ],
    asks: twice('GET /a?since=2024-06-10'),
    ids: [
      ['1', '2', '4'],
      ['1', '2', '4'],
    ],
  },
  {
    name: 'old rows by a state of seconds, whose times have microseconds',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%Y-%m-%dT%H:%M:%SZ',
        cursor_datetime_formats: ['%Y-%m-%dT%H:%M:%S.%fZ'],
        start_datetime: '2024-06-01T00:00:00Z',
        is_client_side_incremental: true,
      }),
    ),
    api: () => [
      { id: 1, at: '2024-06-10T08:15:31.500000Z' },
      { id: 2, at: '2024-06-10T08:15:31.100000Z' },
      { id: 3, at: '2024-06-10T08:15:30.900000Z' },
      { id: 4, at: null },
      { id: 5, at: '2024-05-31T23:59:59.900000Z' },
    ],
    asks: [['GET /a?since=2024-06-01T00:00:00Z'], ['GET /a?since=2024-06-10T08:15:31Z']],
    ids: [
      ['1', '2', '3', '4'],
      ['1', '2', '4'],
    ],
  },
  {
    name: 'windows of days by a state inside of a day',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%Y-%m-%d',
        cursor_datetime_formats: ['%Y-%m-%dT%H:%M:%S%z'],
        start_datetime: '2024-06-27',
        end_time_option: inQuery('until'),
        step: 'P2D',
        cursor_granularity: 'P1D',
      }),
    ),
    api: () => [{ id: 1, at: '2024-06-29T23:15:31-0500' }],
    asks: [
      [
        'GET /a?since=2024-06-27&until=2024-06-28',
        'GET /a?since=2024-06-29&until=2024-06-30',
        'GET /a?since=2024-07-01&until=2024-07-01',
      ],
      ['GET /a?since=2024-06-29&until=2024-06-30', 'GET /a?since=2024-07-01&until=2024-07-01'],
    ],
  },
  {
    name: 'milliseconds since 1970 from a text on, and other times that do not move them',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%ms',
        start_datetime: { datetime: '1717200000000', datetime_format: '%ms' },
      }),
    ),
    api: () => [
      { id: 1, at: 1718000000000 },
      { id: 2, at: '1718000001000' },
      { id: 3, at: '2024-06-20T00:00:00Z' },
    ],
    asks: [['GET /a?since=1717200000000'], ['GET /a?since=1718000001000']],
  },
  {
    name: 'microseconds since 1970',
    stream: stream(
      'items',
      '/a',
      times({
        datetime_format: '%epoch_microseconds',
        start_datetime: { datetime: '2024-01-01', datetime_format: '%Y-%m-%d' },
      }),
    ),
    api: () => [{ id: 1, at: 1_718_000_000_456_789 }],
    asks: [['GET /a?since=1704067200000000'], ['GET /a?since=1718000000456789']],
  },
  {
    name: 'seconds since 1970 are a text in a JSON body, and a number in a template of it',
    stream: stream('items', '/a', {
      requester: { http_method: 'POST', request_body_json: { s: "{{ stream_interval['start_time'] }}" } },
      ...times({
        datetime_format: '%s',
        start_datetime: { datetime: '2024-01-01', datetime_format: '%Y-%m-%d' },
        start_time_option: { type: 'RequestOption', inject_into: 'body_json', field_name: 'since' },
      }),
    }),
    api: () => [{ id: 1, at: 1_718_000_000 }],
    asks: [
      ['POST /a application/json {"s":1704067200,"since":"1704067200"}'],
      ['POST /a application/json {"s":1718000000,"since":"1718000000"}'],
    ],
  },
  {
    name: 'a setting for the end that is not given, or else today',
    stream: stream(
      'items',
      '/a',
      times({
        start_datetime: '2024-06-29',
        end_datetime: "{{ config['end'] or today_utc() }}",
        step: 'P1D',
        cursor_granularity: 'P1D',
      }),
    ),
    api: none,
    asks: twice('GET /a?since=2024-06-29', 'GET /a?since=2024-06-30'),
  },
  {
    name: 'a day is asked for again while it lasts',
    stream: stream('items', '/a', times({ end_time_option: inQuery('until') })),
    api: () => [{ id: 1, at: '2024-07-01' }],
    asks: [['GET /a?since=2024-01-01&until=2024-07-01'], ['GET /a?since=2024-07-01&until=2024-07-01']],
  },
  {
    name: 'a day that has begun by an end with a time is asked for again',
    stream: stream(
      'items',
      '/a',
      times({
        end_time_option: inQuery('until'),
        end_datetime: {
          type: 'MinMaxDatetime',
          datetime: "{{ now_utc().strftime('%Y-%m-%dT%H:%M:%SZ') }}",
          datetime_format: '%Y-%m-%dT%H:%M:%SZ',
        },
      }),
    ),
    api: () => [{ id: 1, at: '2024-07-01' }],
    asks: [['GET /a?since=2024-01-01&until=2024-07-01'], ['GET /a?since=2024-07-01&until=2024-07-01']],
  },
  {
    name: 'an end that is given as a day is not asked for again',
    stream: stream(
      'items',
      '/a',
      times({ end_time_option: inQuery('until'), end_datetime: "{{ now_utc().strftime('%Y-%m-%d') }}" }),
    ),
    api: () => [{ id: 1, at: '2024-07-01' }],
    asks: [['GET /a?since=2024-01-01&until=2024-07-01'], []],
  },
  asking(
    'a list is its name repeated, also one in a text and one of the settings',
    {
      request_parameters: {
        'expand[]': ['x', 'y'],
        status: "['live', 'old']",
        of: "{{ config['of'] }}",
        none: "{{ config.get('none', []) }}",
      },
    },
    'GET /a?expand[]=x&expand[]=y&of=1&of=2&status=live&status=old',
    { settings: { of: ['1', '2'], none: [] } },
  ),
  asking(
    'a list of the settings is joined',
    { request_parameters: { of: "{{ ','.join(config['of']) }}" } },
    'GET /a?of=1,2',
    { settings: { of: ['1', '2'] } },
  ),
  asking(
    'a part of an address that is not given leaves no gap',
    { path: "/a/{{ config['part'] }}/b" },
    'GET /a/b',
  ),
  asking('an address that is put together', { path: "{{ '/a/' ~ config.part }}" }, 'GET /a/b', {
    settings: { part: 'b' },
  }),
  asking(
    'a setting that is not given is None where get takes it, and nothing else where it is named',
    {
      request_parameters: {
        a: "{{ config.get('a') }}",
        b: "{{ config['b'] }}",
        c: "{{ config.get('c', '') }}",
      },
    },
    'GET /a?a=None',
  ),
  asking(
    'a text of an object in a body is that object',
    { http_method: 'POST', request_body_json: { filter: '{"since": "{{ config[\'since\'] }}"}' } },
    'POST /a application/json {"filter":{"since":"2024-01-01"}}',
    { settings: { since: '2024-01-01' } },
  ),
  asking(
    'a setting without quotes around it in a text of an object is read as what it is',
    { http_method: 'POST', request_body_json: '{"a": "{{ config.n }}", "b": {{ config.n }} }' },
    'POST /a application/json {"a":"5","b":5}',
    { settings: { n: '5' } },
  ),
  {
    name: 'a field that is added with the text of a truth value',
    stream: stream('items', '/a', {
      transformations: [{ type: 'AddFields', fields: [{ path: ['id'], value: 'True' }] }],
    }),
    api: () => [{ id: 7 }],
    asks: twice('GET /a'),
    ids: [['1'], ['1']],
  },
  {
    name: 'a start that is written in milliseconds',
    stream: stream('items', '/a', {
      requester: { request_parameters: { ids: "{{ config['ids'] | join(',') }}" } },
      incremental_sync: {
        type: 'DatetimeBasedCursor',
        cursor_field: 'at',
        datetime_format: '%ms',
        start_datetime: {
          datetime: "{{ format_datetime(config['start'], '%ms') }}",
          datetime_format: '%ms',
        },
        start_time_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'since' },
      },
    }),
    settings: { start: '2024-06-01T00:00:00Z', ids: [] },
    api: () => [{ id: 1, at: 1_719_700_000_123 }],
    asks: [['GET /a?since=1717200000000'], ['GET /a?since=1719700000123']],
  },
  {
    name: 'a state whose field a transformation removes, which never moves',
    stream: stream('items', '/a', {
      ...times({ is_client_side_incremental: true }),
      transformations: [{ type: 'RemoveFields', field_pointers: [['at']] }],
    }),
    api: () => [
      { id: 1, at: '2024-06-01' },
      { id: 2, at: '2024-06-10' },
      { id: 3, at: '2023-06-10' },
    ],
    asks: twice('GET /a?since=2024-01-01'),
    ids: [
      ['1', '2', '3'],
      ['1', '2', '3'],
    ],
  },
  {
    name: 'a filter of rows that are transformed before old ones are left out',
    stream: stream('items', '/a', {
      ...times({ is_client_side_incremental: true }),
      selector: { record_filter: { type: 'RecordFilter', condition: "{{ record.kind == 'A' }}" } },
      transformations: [
        { type: 'AddFields', fields: [{ path: ['kind'], value: '{{ record.kind | upper }}' }] },
      ],
    }),
    api: () => [
      { id: 1, at: '2024-06-01', kind: 'a' },
      { id: 2, at: '2024-06-10', kind: 'b' },
    ],
    asks: [['GET /a?since=2024-01-01'], ['GET /a?since=2024-06-01']],
    ids: [['1'], ['1']],
  },
  {
    name: 'old rows that are told before a transformation makes the field of the state',
    stream: stream('items', '/a', {
      ...times({ is_client_side_incremental: true, start_time_option: undefined }),
      selector: { transform_before_filtering: false },
      transformations: [
        { type: 'AddFields', fields: [{ path: ['at'], value: "{{ record.get('at') or record['made'] }}" }] },
      ],
    }),
    api: () => [
      { id: 1, at: '2024-06-10' },
      { id: 2, made: '2023-06-01' },
      { id: 3, at: '2023-06-01' },
      { id: 4, at: '2024-06-01' },
    ],
    asks: twice('GET /a'),
    ids: [
      ['1', '2', '4'],
      ['1', '2'],
    ],
  },
  {
    name: 'rows older than the start, which the state is not',
    stream: stream('items', '/a', times()),
    api: () => [{ id: 1, at: '2023-06-10' }],
    asks: twice('GET /a?since=2024-01-01'),
  },
  {
    name: 'an answer without a field to one of the slices',
    stream: stream('items', '/shops/{{ stream_partition.shop }}', {
      retriever: {
        partition_router: { type: 'ListPartitionRouter', cursor_field: 'shop', values: ['a', 'b'] },
      },
    }),
    api: ({ pathname }) => (pathname === '/shops/a' ? {} : { id: 2 }),
    asks: [
      ['GET /shops/a', 'GET /shops/b'],
      ['GET /shops/a', 'GET /shops/b'],
    ],
    ids: [['2'], ['2']],
  },
  {
    name: 'windows of days that end where the next one begins',
    stream: stream('items', '/a', {
      ...times({
        start_datetime: '2024-05-01',
        step: 'P1M',
        cursor_granularity: 'P0D',
        end_time_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'until' },
      }),
    }),
    api: () => [{ id: 1, at: '2024-06-10' }],
    asks: [
      [
        'GET /a?since=2024-05-01&until=2024-06-01',
        'GET /a?since=2024-06-01&until=2024-07-01',
        'GET /a?since=2024-07-01&until=2024-07-01',
      ],
      ['GET /a?since=2024-06-10&until=2024-07-01'],
    ],
  },
  {
    name: 'a text of numbers with commas is a list in a body, and stays a text in a parameter',
    stream: stream('items', '/items', {
      requester: {
        http_method: 'POST',
        request_parameters: { of: '1,2' },
        request_body_json: { of: '1,2', text: 'a,b' },
      },
    }),
    api: () => [],
    asks: [
      ['POST /items?of=1,2 application/json {"of":[1,2],"text":"a,b"}'],
      ['POST /items?of=1,2 application/json {"of":[1,2],"text":"a,b"}'],
    ],
  },
];
