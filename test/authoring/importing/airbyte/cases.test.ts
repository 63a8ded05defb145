import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importAirbyte } from '../../../../src/authoring/importing/airbyte/index.ts';
import { checked } from '../../../../src/authoring/importing/check.ts';
import {
  API,
  below,
  inQuery,
  manifestOf,
  pages,
  runTwice,
  serve,
  stream,
  times,
  type MockAnswer,
  type Part,
  type TwoRuns,
} from '../support/two-runs.ts';
import { BODY_CASES } from './cases/bodies.ts';
import { CODE_LOGIN_CASES } from './cases/code-logins.ts';
import { CODE_CASES } from './cases/code.ts';
import { EXTRACTOR_CASES } from './cases/extractors.ts';
import { FILTER_CASES } from './cases/filters.ts';
import { LIST_CASES } from './cases/lists.ts';
import { LOGIN_CASES } from './cases/logins.ts';
import { DYNAMIC_CASES } from './cases/dynamic.ts';
import { NAME_CASES } from './cases/names.ts';
import { PROPERTY_CASES } from './cases/properties.ts';
import { OWN_STATE_CASES } from './cases/own-states.ts';
import { ROUTER_CASES } from './cases/routers.ts';
import { SLICE_CASES } from './cases/slices.ts';
import { SENT_CASES, VALUE_CASES } from './cases/values.ts';
import { TEMPLATE_CASES } from './cases/templates.ts';
import { REQUEST_CASES } from './cases/requests.ts';
import { REQUESTER_CASES } from './cases/requesters.ts';
import { TOKEN_CASES } from './cases/tokens.ts';

let server: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  server = await serve();
});
afterAll(() => server.close());

/** Requests and rows of airbyte-cdk 7.39.1 with the same API. */
describe.each<[string, readonly TwoRuns[]]>([
  ['the token of the next page', TOKEN_CASES],
  ['templates', TEMPLATE_CASES],
  ['slices', SLICE_CASES],
  ['routers', ROUTER_CASES],
  ['properties', PROPERTY_CASES],
  ['names and types of fields', NAME_CASES],
  ['dynamic streams', DYNAMIC_CASES],
  ['logins', LOGIN_CASES],
  ['windows, addresses, parameters and bodies', REQUEST_CASES],
  ['bodies, groups, logins and errors', BODY_CASES],
  ['lists', LIST_CASES],
  ['filters', FILTER_CASES],
  ['values of added fields', VALUE_CASES],
  ['values of settings', SENT_CASES],
  ['classes of Python', CODE_CASES],
  ['extractors of Python', EXTRACTOR_CASES],
  ['logins in Python', CODE_LOGIN_CASES],
  ['requesters of Python', REQUESTER_CASES],
  ['states of Python', OWN_STATE_CASES],
])('%s', (_, cases) => {
  test.each(cases)('$name', async (item) => {
    const { outcomes, asks, ids } = await runTwice(item, server);
    for (const { outcome, reasons } of outcomes)
      expect({ outcome, reasons }).toEqual({ outcome: item.outcome ?? 'exact', reasons: [] });
    expect(asks).toEqual(item.asks);
    if (item.ids !== undefined) expect(ids).toEqual(item.ids);
  });
});

// airbyte-cdk asks for events since the state then: all rows have what those would tell
test('a stream with another request for later runs reads all rows in each run', async () => {
  const more = {
    streams: [
      {
        type: 'StateDelegatingStream',
        name: 'items',
        full_refresh_stream: stream('items', '/a', times()),
        incremental_stream: stream('items', '/events', times()),
      },
    ],
  };
  const { outcomes, asks } = await runTwice(
    { name: '', stream: {}, more, api: () => [{ id: 1, at: '2024-05-01' }], asks: [[], []] },
    server,
  );
  expect(outcomes).toEqual([{ outcome: 'more rows', reasons: [] }]);
  expect(asks).toEqual([['GET /a?since=2024-01-01'], ['GET /a?since=2024-01-01']]);
});

// airbyte-cdk begins the new shop at the newest state of all, 2024-06-10, and asks for shop 1 once in each run
test('a parent row that is new is read from the start, and a value of several rows with each of them', async () => {
  const shops = stream('shops', '/shops', { primary_key: ['at'] });
  const items = stream('items', '/items/{{ stream_partition.shop }}', {
    retriever: below(shops, 'shop'),
    ...times(),
  });
  let runs = 0;
  const api: MockAnswer = ({ pathname }) => {
    if (pathname !== '/shops') return [{ id: pathname, at: '2024-06-10' }];
    runs++;
    return runs === 1
      ? [
          { id: 1, at: 'a' },
          { id: 1, at: 'b' },
        ]
      : [{ id: 1 }, { id: 2 }];
  };
  const { outcomes, asks } = await runTwice({ name: '', stream: items, api, asks: [[], []] }, server);
  expect(outcomes).toEqual([{ outcome: 'more rows', reasons: [] }]);
  expect(asks).toEqual([
    ['GET /items/1?since=2024-01-01', 'GET /items/1?since=2024-01-01', 'GET /shops'],
    ['GET /items/1?since=2024-06-10', 'GET /items/2?since=2024-01-01', 'GET /shops'],
  ]);
});

test.each([
  { key: ['id'], notes: 1 },
  { key: ['id', 'at'], notes: 2 },
  { key: ['at'], notes: 2 },
])('a parent with the key $key may have a value in several rows, or not', ({ key, notes }) => {
  const child = stream('items', '/items/{{ stream_partition.shop }}', {
    retriever: below(stream('shops', '/shops', { primary_key: key }), 'shop'),
    ...times(),
  });
  const { report } = importAirbyte(manifestOf({ stream: child }, API), { file: 'shop.yaml' });
  expect(report.streams.flatMap((each) => each.notes)).toHaveLength(notes);
});

// airbyte-cdk leaves out what is after the end, too
test.each([
  ['no end', undefined, 'exact'],
  ['the present time', '{{ now_utc() }}', 'exact'],
  ['a day', '2024-06-15', 'more rows'],
  ['yesterday', "{{ day_delta(-1, format='%Y-%m-%d') }}", 'more rows'],
  ['today, for days', '{{ today_utc() }}', 'exact'],
  ['today, for moments', '{{ today_utc() }}', 'more rows', '%Y-%m-%dT%H:%M:%SZ'],
  ['a setting', "{{ config.get('end', now_utc()) }}", 'more rows'],
])('rows that are left out here, with %s as the end', (_, end, outcome, datetime_format = '%Y-%m-%d') => {
  const sync = times({ is_client_side_incremental: true, end_datetime: end, datetime_format });
  const filtered = stream('items', '/a', sync);
  const manifest = manifestOf({ stream: filtered, settings: { end: '' } }, API);
  const { report } = importAirbyte(manifest, { file: 'shop.yaml' });
  expect(report.streams.map((each) => each.outcome)).toEqual([outcome]);
});

const threeRows: MockAnswer = ({ searchParams }) =>
  ({ 2: [{ id: 3 }] })[searchParams.get('after') ?? ''] ?? [{ id: 1 }, { id: 2 }];

describe('pages that end by their rows', () => {
  const counted = pages(
    {
      type: 'CursorPagination',
      page_size: 2,
      cursor_value: '{{ last_record.id }}',
      stop_condition: '{{ last_page_size < 2 }}',
    },
    inQuery('after'),
  );

  // airbyte-cdk counts one row of the first page, which asked for two, and ends there: it never reads row 3
  test('are read on behind a filter, which is said', async () => {
    const filtered = stream('items', '/a', {
      retriever: counted,
      selector: { record_filter: { type: 'RecordFilter', condition: '{{ record.id > 1 }}' } },
    });
    const { outcomes, asks, ids } = await runTwice(
      { name: '', stream: filtered, api: threeRows, asks: [[], []] },
      server,
    );
    expect(outcomes).toEqual([{ outcome: 'more rows', reasons: [] }]);
    expect(asks[0]).toEqual(['GET /a', 'GET /a?after=2']);
    expect(ids[0]).toEqual(['2', '3']);
  });

  test.each([
    ['without a filter', { retriever: counted }, 'exact'],
    [
      'with one that keeps all',
      { retriever: counted, selector: { record_filter: { condition: '{{ 1 == 1 }}' } } },
      'exact',
    ],
    [
      'with rows older than the state left out',
      { retriever: counted, ...times({ is_client_side_incremental: true }) },
      'more rows',
    ],
    // it leaves them out after its pages are counted
    [
      'of a feed',
      { retriever: counted, ...times({ is_client_side_incremental: true, is_data_feed: true }) },
      'exact',
    ],
    // numbers of pages and offsets count the rows that the API gave
    [
      'at a number of a page',
      {
        retriever: pages({ type: 'PageIncrement', page_size: 2 }, inQuery('page')),
        selector: { record_filter: { condition: '{{ record.id > 1 }}' } },
      },
      'exact',
    ],
    // the token is the id of the last row that the filter keeps
    [
      'after the last row, until a flag says so',
      {
        retriever: pages(
          {
            type: 'CursorPagination',
            cursor_value: '{{ last_record.id }}',
            stop_condition: '{{ not response.more }}',
          },
          inQuery('after'),
        ),
        selector: { record_filter: { condition: '{{ record.id > 1 }}' } },
      },
      'more rows',
    ],
    [
      'at a token that is missing',
      {
        retriever: pages({ type: 'CursorPagination', cursor_value: '{{ response.next }}' }, inQuery('page')),
        selector: { record_filter: { condition: '{{ record.id > 1 }}' } },
      },
      'exact',
    ],
  ])('%s', (_, parts, outcome) => {
    const { report } = importAirbyte(manifestOf({ stream: stream('items', '/a', parts) }, API), {
      file: 'shop.yaml',
    });
    expect(report.streams.map((each) => each.outcome)).toEqual([outcome]);
  });

  test('of a parent make more rows below it, too', () => {
    const parent = stream('shops', '/shops', {
      retriever: counted,
      selector: { record_filter: { condition: '{{ record.id > 1 }}' } },
    });
    const child = stream('items', '/{{ stream_partition.shop }}', { retriever: below(parent, 'shop') });
    const { report } = importAirbyte(manifestOf({ stream: child }, API), { file: 'shop.yaml' });
    expect(report.streams.map(({ outcome, notes }) => [outcome, notes])).toEqual([
      ['more rows', [expect.stringContaining('The other tool counts those that its filter keeps')]],
    ]);
  });

  test('of slices that come twice are merged by a key, and make more rows below it', () => {
    const union = {
      type: 'UnionPartitionRouter',
      partition_field: 'area',
      partition_routers: [
        ['a', 'b'],
        ['b', 'c'],
      ].map((values) => ({ type: 'ListPartitionRouter', cursor_field: 'area', values })),
    };
    const parent = stream('shops', '/areas/{{ stream_partition.area }}', {
      primary_key: ['id'],
      retriever: { partition_router: union },
    });
    const child = stream('items', '/{{ stream_partition.shop }}', { retriever: below(parent, 'shop') });
    const manifest = manifestOf({ stream: {}, more: { streams: [parent, child] } }, API);
    const { report } = importAirbyte(manifest, { file: 'shop.yaml' });
    const told: unknown = expect.stringContaining('a slice that comes several times is asked for each time');
    expect(report.streams.map(({ outcome, columns, notes }) => [outcome, columns, notes])).toEqual([
      ['equal rows, other columns', [told], []],
      ['more rows', [], [told]],
    ]);
  });
});

// airbyte-cdk asks for no window whose start is its end: an API may refuse it
test.each<[string, Part, string]>([
  ['days', { step: 'P1D', cursor_granularity: 'P1D' }, 'not'],
  ['seconds', { datetime_format: '%Y-%m-%dT%H:%M:%SZ', step: 'P1D', cursor_granularity: 'PT1S' }, 'exact'],
  ['days without a granularity', {}, 'exact'],
])('windows of %s that may have no length are left out', (_, cursor, outcome) => {
  const of = stream('items', '/a', times({ is_compare_strictly: true, ...cursor }));
  const { report } = importAirbyte(manifestOf({ stream: of }, API), { file: 'shop.yaml' });
  expect(report.streams.map((each) => each.outcome)).toEqual([outcome]);
});

// of windows that lie apart airbyte-cdk keeps the first one as the state
test.each<[string, string, string]>([
  ['%ms', 'PT0.000001S', 'equal rows, other columns'],
  ['%ms', 'PT0.001S', 'exact'],
  ['%s', 'PT0.001S', 'equal rows, other columns'],
  ['%s', 'PT1S', 'exact'],
  ['%Y-%m-%dT%H:%M:%S.%fZ', 'PT0.000001S', 'exact'],
  ['%Y-%m-%d', 'PT1S', 'equal rows, other columns'],
])('windows in %s, %s apart, are %s', (format, granularity, outcome) => {
  const cursor = {
    datetime_format: format,
    cursor_datetime_formats: [format],
    cursor_granularity: granularity,
  };
  const outcomes = ['P30D', undefined].map((step) => {
    const of = stream('items', '/a', times({ ...cursor, step }));
    return importAirbyte(manifestOf({ stream: of }, API), { file: 'shop.yaml' }).report.streams[0]?.outcome;
  });
  expect(outcomes).toEqual([outcome, 'exact']);
});

test('requests that may differ are told: windows of months late in the month, and links that name a parameter', () => {
  const next = { type: 'CursorPagination', cursor_value: '{{ response.next }}' };
  const of = stream('items', '/a', {
    requester: { request_parameters: { limit: '2' } },
    retriever: pages(next, { type: 'RequestPath' }),
    ...times({ step: 'P1M', cursor_granularity: 'P1D' }),
  });
  const { report } = importAirbyte(manifestOf({ stream: of }, API), { file: 'shop.yaml' });
  expect(report.streams.map(({ outcome, notes }) => [outcome, notes])).toEqual([
    ['exact', [expect.stringContaining('begin after the 28th'), expect.stringContaining('sends both')]],
  ]);
});

const mixedRows: MockAnswer = () => [
  { id: 1, flag: true, note: '{x', owner: { id: 7 } },
  { id: 2, flag: { if: [8] }, note: { a: 'b' }, owner: null },
];

test('a field that may be an object or another value is kept in one column, which is said', async () => {
  const properties = {
    flag: { type: ['null', 'boolean', 'object'] },
    note: { anyOf: [{ type: 'string' }, { type: 'object' }] },
    owner: { type: ['null', 'object'] },
  };
  const of = stream('items', '/a', {
    schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties } },
  });
  const { report, configuration } = importAirbyte(manifestOf({ stream: of }, API), { file: 'shop.yaml' });
  expect(report.streams.map(({ columns }) => columns)).toEqual([
    [expect.stringContaining('“flag” is JSON text'), expect.stringContaining('“note” is JSON text')],
  ]);
  expect(JSON.stringify(configuration)).not.toContain('"owner"');
  const { outcomes, ids } = await runTwice({ name: '', stream: of, api: mixedRows, asks: [[], []] }, server);
  expect(outcomes).toEqual([{ outcome: 'equal rows, other columns', reasons: [] }]);
  expect(ids[0]).toEqual(['1', '2']);
});

const mixedInside: MockAnswer = () => [
  { id: 1, plan: { tier: 'a', tags: ['x', 'y'] }, rules: [1, { of: 2 }], lines: [{ price: 1 }] },
  { id: 2, plan: { tier: { name: 'b' }, tags: null }, rules: 'none', lines: [{ price: { of: 3 } }] },
];

test('fields inside of others and items of lists that may be objects or other values are kept in one column', async () => {
  const either = { oneOf: [{ type: ['null', 'string', 'number'] }, { type: 'object' }] };
  const properties = {
    plan: {
      type: 'object',
      properties: { tier: either, tags: { type: 'array', items: { type: 'string' } } },
    },
    rules: { type: ['array', 'string'], items: { type: ['object', 'integer'] } },
    lines: { type: 'array', items: { type: 'object', properties: { price: either } } },
  };
  const of = stream('items', '/a', {
    schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties } },
  });
  const { report } = importAirbyte(manifestOf({ stream: of }, API), { file: 'shop.yaml' });
  expect(report.streams.map(({ columns }) => columns)).toEqual([
    [
      expect.stringContaining('“plan.tier” is JSON text where'),
      expect.stringContaining('“rules” is JSON text, and no table'),
      expect.stringContaining('“lines” is JSON text, and no table'),
    ],
  ]);
  const { outcomes, ids } = await runTwice(
    { name: '', stream: of, api: mixedInside, asks: [[], []] },
    server,
  );
  expect(outcomes).toEqual([{ outcome: 'equal rows, other columns', reasons: [] }]);
  expect(ids[0]).toEqual(['1', '2']);
});

test('the schema of a stream is read from the files beside the manifest, with what it refers to', () => {
  const files: Readonly<Record<string, unknown>> = {
    'schemas/items.json': { type: 'object', properties: { owner: { $ref: 'owner.json#/definitions/any' } } },
    'schemas/shared/owner.json': { definitions: { any: { type: ['integer', 'object'] } } },
  };
  const readBeside = (file: string): string | undefined =>
    file in files ? JSON.stringify(files[file]) : undefined;
  const loaders = [
    { schema_loader: undefined },
    { schema_loader: { type: 'JsonFileSchemaLoader', file_path: './source_shop/schemas/items.json' } },
    { schema_loader: { file_path: './source_shop/schemas/items.json' } },
    {
      schema_loader: {
        type: 'JsonFileSchemaLoader',
        file_path: "./source_shop/schemas/{{ parameters['name'] }}.json",
      },
    },
  ];
  for (const loader of loaders) {
    const manifest = manifestOf({ stream: stream('items', '/a', loader) }, API);
    const { report } = importAirbyte(manifest, { file: 'shop.yaml', readBeside });
    expect(report.streams[0]?.columns).toEqual([expect.stringContaining('“owner” is JSON text')]);
  }
  const other = { schema_loader: { type: 'JsonFileSchemaLoader', file_path: '../schemas/../../items.json' } };
  const { report } = importAirbyte(manifestOf({ stream: stream('items', '/a', other) }, API), {
    file: 'shop.yaml',
    readBeside,
  });
  expect(report.streams[0]?.outcome).toBe('exact');
});

// the other tool asks for the same rows in each window
test.each<[string, Part, number]>([
  ['windows that no request uses are told', { step: 'P10D' }, 1],
  ['windows in a request are not', { step: 'P10D', start_time_option: inQuery('since') }, 0],
  ['one window is not', {}, 0],
])('%s', (_, more, count) => {
  const granularity = 'step' in more ? { cursor_granularity: 'P1D' } : {};
  const sync = times({ start_time_option: undefined, ...granularity, ...more });
  const { report } = importAirbyte(manifestOf({ stream: stream('items', '/a', sync) }, API), {
    file: 'shop.yaml',
  });
  const notes = report.streams.flatMap((each) => each.notes);
  expect(notes.filter((note) => note.startsWith('Asked for once'))).toHaveLength(count);
});

// airbyte-cdk looks for the path in each item of a list, and leaves empty rows out where it is told to
test.each<[string, Part]>([
  ['a path that begins with all keys', { type: 'DpathExtractor', field_path: ['*', 'customer'] }],
  [
    'empty rows that are left out',
    {
      type: 'CombinedExtractor',
      skip_empty_records: true,
      extractors: [{ type: 'DpathExtractor', field_path: ['a'] }],
    },
  ],
])('%s may give more rows', (_, extractor) => {
  const of = stream('items', '/a', { selector: { extractor } });
  const { report } = importAirbyte(manifestOf({ stream: of }, API), { file: 'shop.yaml' });
  expect(report.streams.map(({ outcome }) => outcome)).toEqual(['more rows']);
});

test('a part that is referred to from thousands of places is read once', () => {
  const common = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`k${i}`, i]));
  const users: readonly (readonly [string, unknown])[] = Array.from({ length: 3000 }, (_, i) => [
    `d${i}`,
    { $ref: '#/definitions/common', own: i },
  ]);
  const requester = { type: 'HttpRequester', url_base: 'https://a.example', path: '/a' };
  const manifest = {
    version: '6.0.0',
    definitions: { common: { ...common, requester }, ...Object.fromEntries<unknown>(users) },
    streams: [
      {
        type: 'DeclarativeStream',
        name: 'a',
        retriever: { $ref: '#/definitions/d2999', type: 'SimpleRetriever' },
      },
    ],
  };
  const { report } = importAirbyte(JSON.stringify(manifest), { file: 'shop.yaml' });
  expect(report.streams.map(({ outcome }) => outcome)).toEqual(['exact']);
});

test('a setting that chooses the authentication is tried with one of its names', async () => {
  const authenticator = {
    type: 'SelectiveAuthenticator',
    authenticator_selection_path: ['credentials', 'kind'],
    authenticators: {
      token: { type: 'BearerAuthenticator', api_token: "{{ config['credentials']['token'] }}" },
      none: { type: 'NoAuth' },
    },
  };
  const of = stream('a', '/a', { requester: { authenticator } });
  const manifest = manifestOf({ stream: of }, 'https://a.example');
  const { report } = await checked(importAirbyte(manifest, { file: 'shop.yaml' }));
  expect(report.streams.map(({ outcome, reasons }) => ({ outcome, reasons }))).toEqual([
    { outcome: 'exact', reasons: [] },
  ]);
});

// airbyte-cdk makes nothing of these, or sends the template itself
test.each([
  ["stream_interval.start_time.strftime('%Y')", 'the method strftime of a text'],
  ['day_delta(-1).isoformat()', 'the method isoformat of a text'],
  ["now_utc().strftime('%Y').timestamp()", 'the method timestamp of a text'],
  ['today_utc().timestamp()', 'the method timestamp of a day'],
  ["now_utc().split('T')", 'the method split of a time'],
  ["format_datetime(today_utc(), '%Y')", 'a day where a time or a text is expected'],
  ['timestamp(now_utc())', 'timestamp of a time'],
  ['now_utc() | int', 'int of a time'],
  ['now_utc().weekday', 'a part of a time'],
  ['now_utc()[:4]', 'a slice of a time'],
  ["'new' if now_utc() > config['day'] else 'old'", 'a time compared with something else'],
  ['stream_interval.start_time - 1', '“-” of values whose types are not known'],
  ['stream_interval.start_time * 1000', '“*” of a text'],
])('“%s” is refused: %s', (template, message) => {
  const of = stream('a', '/a', {
    requester: { request_parameters: { q: `{{ ${template} }}` } },
    ...times(),
  });
  const manifest = manifestOf({ stream: of, settings: { day: '2024-01-01' } }, 'https://a.example');
  const { report } = importAirbyte(manifest, { file: 'shop.yaml' });
  expect(report.streams.flatMap(({ reasons }) => reasons.map((reason) => reason.message))).toEqual([
    `No counterpart: ${message}`,
  ]);
});

test('a field of the parent that could not be made is no key of its children', () => {
  const shops = stream('shops', '/shops', {
    transformations: [
      { type: 'AddFields', fields: [{ path: ['code'], value: '{{ record.name.title() }}' }] },
    ],
  });
  const of = stream('a', '/a/{{ stream_partition.code }}', {
    retriever: below(shops, 'code', { parent_key: 'code' }),
  });
  const { report } = importAirbyte(manifestOf({ stream: of }, 'https://a.example'), { file: 'shop.yaml' });
  expect(report.streams.flatMap(({ reasons }) => reasons.map(({ message }) => message))).toEqual([
    'The field of the parent has another name by then',
  ]);
});

// airbyte-cdk writes JSON and rounds in a way of its own
test.each([
  '[{{ record.a | round }}]',
  '{{ [record.a, record.b] }}',
  '{{ record.a | tojson }}',
  '{{ record.a | round(1) }}',
  "'{{ record.a }}'",
])('a field with the value %s is another column', (value) => {
  const of = stream('a', '/a', {
    transformations: [{ type: 'AddFields', fields: [{ path: ['made'], value }] }],
  });
  const { report } = importAirbyte(manifestOf({ stream: of }, 'https://a.example'), { file: 'shop.yaml' });
  expect(report.streams.map(({ outcome, columns }) => [outcome, columns.length])).toEqual([
    ['equal rows, other columns', 1],
  ]);
});

// these are an error in Python where a field is null, or missing: airbyte-cdk gives the text of the template then
test.each([
  ['{{ str_to_datetime(record.a) if record.a else none }}', 'equal rows, other columns'],
  ['{{ record.a + 1 }}', 'equal rows, other columns'],
  ['{{ record.n + 1 }}', 'equal rows, other columns'],
  ['{{ record.n + 1 if record.n else 0 }}', 'exact'],
  ['{{ 0 if record.n is none else record.n + 1 }}', 'exact'],
  ['{{ (record.n or 0) + 1 }}', 'exact'],
  ['{{ record.i + 1 }}', 'exact'],
  ["{{ record.get('i') + 1 }}", 'equal rows, other columns'],
  ["{{ record.get('i', 0) + 1 }}", 'exact'],
  ['{{ record.n | int + 1 }}', 'exact'],
  ['{{ record.n > 3 }}', 'equal rows, other columns'],
  ['{{ record.n > 3 if record.n is number else false }}', 'exact'],
  ['{{ record.a[1:] }}', 'equal rows, other columns'],
  ["{{ 'x' in record.a }}", 'equal rows, other columns'],
  ["{{ format_datetime(record.a, '%Y') }}", 'equal rows, other columns'],
  ["{{ format_datetime(record.a, '%Y') if record.a else none }}", 'exact'],
])('a field with the value %s, which may be an error, is %s', (value, outcome) => {
  const properties = {
    n: { type: ['null', 'number'] },
    i: { type: 'integer' },
    a: { type: ['null', 'string'] },
  };
  const of = stream('a', '/a', {
    schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties } },
    transformations: [{ type: 'AddFields', fields: [{ path: ['made'], value }] }],
  });
  const { report } = importAirbyte(manifestOf({ stream: of }, 'https://a.example'), { file: 'shop.yaml' });
  expect(report.streams.map((each) => each.outcome)).toEqual([outcome]);
});

test.each([
  ["{'path': one['name']}", 'another field'],
  ["{'path': one['path'] ~ '/'}", 'a value that is made'],
  ["{'id': one['id']}", 'no such field'],
])('items of a list that a template fills with %s are no keys of children: %s', (item) => {
  const value = `{% set all = [] %}{% for one in record.works %}{% set _ = all.append(${item}) %}{% endfor %}{{ all }}`;
  const shops = stream('shops', '/shops', {
    transformations: [{ type: 'AddFields', fields: [{ path: ['works'], value }] }],
  });
  const router = {
    type: 'CustomPartitionRouter',
    class_name: 'source_shop.components.Works',
    parent_stream_configs: [{ parent_key: 'id', partition_field: 'id', stream: shops }],
  };
  const code = `
from airbyte_cdk.sources.declarative.partition_routers.substream_partition_router import SubstreamPartitionRouter
class Works(SubstreamPartitionRouter):
    def stream_slices(self):
        for row in self.parent_stream_configs[0].stream.read_records():
            for work in row["works"]:
                yield StreamSlice(partition={"id": work["path"]}, cursor_slice={})
`;
  const of = stream('a', '/a/{{ stream_slice.id }}', { retriever: { partition_router: router } });
  const { report } = importAirbyte(manifestOf({ stream: of }, 'https://a.example'), {
    file: 'shop.yaml',
    readBeside: () => code,
  });
  expect(report.streams.flatMap(({ reasons }) => reasons.map(({ message }) => message))).toEqual([
    'The field of the parent has another name by then',
  ]);
});

// in the other tool a name of this form may have had another one, and which one can't be told
test.each([
  ['KeysToLower', 'changed'],
  ['FlattenFields', 'changed'],
])('a stream is read without a state by a field after %s', (type, field) => {
  const of = stream('a', '/a', { transformations: [{ type }], ...times({ cursor_field: field }) });
  const { report } = importAirbyte(manifestOf({ stream: of }, 'https://a.example'), { file: 'shop.yaml' });
  expect(report.streams).toMatchObject([
    {
      outcome: 'more rows',
      notes: [
        `Every run reads all rows, as the first one does: the field “${field}” of the state has another name by then.`,
      ],
    },
  ]);
});

test('a state that is sent by itself is refused where its field cannot be told', () => {
  const incremental_sync = {
    type: 'IncrementingCountCursor',
    cursor_field: 'n',
    start_value: 0,
    start_value_option: inQuery('after'),
  };
  const of = stream('a', '/a', { transformations: [{ type: 'KeysToLower' }], incremental_sync });
  const { report } = importAirbyte(manifestOf({ stream: of }, 'https://a.example'), { file: 'shop.yaml' });
  expect(report.streams.flatMap(({ reasons }) => reasons.map(({ message }) => message))).toEqual([
    'The field “n” of the state has another name by then',
  ]);
});

const normalizer = (...lines: readonly string[]): string =>
  [
    'from airbyte_cdk.sources.utils.transform import TypeTransformer',
    'class Dates(TypeTransformer):',
    '    def __init__(self, *args, **kwargs):',
    '        self.registerCustomTransform(self.made())',
    '    @staticmethod',
    '    def made():',
    '        def change(value, schema):',
    ...lines.map((line) => `            ${line}`),
    '            return value',
    '        return change',
  ].join('\n');

test.each([
  ['in any field', normalizer('return value.lower()')],
  [
    'where the format is another one',
    normalizer('if schema["format"] == "date":', '    pass', 'else:', '    return 1'),
  ],
  [
    'where the format is one of several',
    normalizer('if schema.get("format") == "date" or value:', '    return 1'),
  ],
  ['that it has put in place of the one it got', normalizer('value = 1')],
])('a normaliser that gives another value %s may change the key of a parent', (_, code) => {
  const shops = stream('shops', '/shops', {
    selector: {
      schema_normalization: {
        type: 'CustomSchemaNormalization',
        class_name: 'source_shop.components.Dates',
      },
    },
    schema_loader: {
      type: 'InlineSchemaLoader',
      schema: { type: 'object', properties: { id: { type: 'string' } } },
    },
  });
  const of = stream('a', '/a/{{ stream_partition.shop }}', { retriever: below(shops, 'shop') });
  const { report } = importAirbyte(manifestOf({ stream: of }, 'https://a.example'), {
    file: 'shop.yaml',
    readBeside: (file) => (file === 'components.py' ? code : undefined),
  });
  expect(report.streams.flatMap(({ reasons }) => reasons.map(({ message }) => message))).toEqual([
    'The field of the parent is changed by Python code',
  ]);
});

const dynamic = (mappings: readonly Part[], resolver: Part = {}): Part => ({
  dynamic_streams: [
    {
      type: 'DynamicDeclarativeStream',
      name: 'reports',
      stream_template: stream('x', '/x'),
      components_resolver: {
        type: 'ParametrizedComponentsResolver',
        stream_parameters: { list_of_parameters_for_stream: [{ name: 'yes' }] },
        components_mapping: mappings,
        ...resolver,
      },
    },
  ],
});
const put = (field_path: readonly string[], value: string): Part => ({
  type: 'ComponentMappingDefinition',
  field_path,
  value,
});

test.each<[string, Part, Part | undefined]>([
  [
    'a text that may be read as something else: yes',
    dynamic([put(['name'], '{{ components_values.name }}')]),
    {},
  ],
  ['a path of a template with a pattern in it', dynamic([put(['**', 'path'], '/y')]), {}],
  [
    'a value that is known only while it runs: {{ now_utc() }}',
    dynamic([put(['name'], '{{ now_utc() }}')]),
    {},
  ],
  [
    'streams that are found at run time (HttpComponentsResolver)',
    dynamic([], { type: 'HttpComponentsResolver' }),
    {},
  ],
  [
    'streams that the settings name; import it with --settings',
    {
      ...dynamic([], { type: 'ConfigComponentsResolver', stream_config: { configs_pointer: ['tables'] } }),
      spec: {
        type: 'Spec',
        connection_specification: { required: ['tables'], properties: { tables: { type: 'array' } } },
      },
    },
    undefined,
  ],
  [
    'more than 1000 streams',
    dynamic([], {
      type: 'ConfigComponentsResolver',
      stream_config: [1, 2].map(() => ({ configs_pointer: ['many'] })),
    }),
    { many: Array.from({ length: 40 }, (_, i) => ({ i })) },
  ],
])('dynamic streams are refused: %s', (message, more, settings) => {
  const manifest = manifestOf({ stream: {}, more, settings: {} }, 'https://a.example');
  const { report, configuration } = importAirbyte(manifest, {
    file: 'shop.yaml',
    ...(settings === undefined ? {} : { settings: JSON.parse(JSON.stringify(settings)) as {} }),
  });
  expect(
    report.streams.map(({ outcome, reasons }) => [outcome, ...reasons.map((each) => each.message)]),
  ).toEqual([['not', `No counterpart: ${message}`]]);
  expect(configuration.rows).toEqual([]);
});

test('streams that optional settings name are none without settings, and a note says so', () => {
  const more = dynamic([], {
    type: 'ConfigComponentsResolver',
    stream_config: { configs_pointer: ['tables'] },
  });
  const manifest = manifestOf({ stream: {}, more, settings: { tables: [] } }, 'https://a.example');
  const { report } = importAirbyte(manifest, { file: 'shop.yaml' });
  expect(report.streams).toEqual([]);
  expect(report.notes).toContain(
    '“reports” makes no streams with the settings as they are now. Import it with --settings that name some, if there are any.',
  );
});
