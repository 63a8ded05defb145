import { existsSync, mkdirSync, copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importAirbyte } from '../../../../src/authoring/importing/airbyte/index.ts';
import { checked } from '../../../../src/authoring/importing/check.ts';
import { faultsOf } from '../../../../src/authoring/importing/faults.ts';
import type { Imported } from '../../../../src/authoring/importing/report.ts';
import { run, silentLog } from '../../../../src/index.ts';
import { systemEnv } from '../../../../src/lib/env.ts';

type Answer = (url: URL, body: string) => unknown;
type Part = Readonly<Record<string, unknown>>;

const FOLDER = mkdtempSync(path.join(os.tmpdir(), 'gex-imported-'));
const env = { ...systemEnv, now: () => Date.parse('2024-07-01T12:30:00.250Z'), sleep: async () => {} };

let asked: string[] = [];
let answer: Answer = () => [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const { authorization, 'content-type': type = '' } = request.headers;
    const line = [request.method, decodeURIComponent(request.url ?? ''), type, body, authorization ?? ''];
    asked.push(line.filter((part) => part !== '').join(' '));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer(new URL(request.url ?? '/', 'http://localhost'), body)));
  });
});
let base = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

function stream(name: string, route: string, parts: Part = {}): Part {
  const { requester = {}, retriever = {}, selector = {}, ...more } = parts;
  return {
    type: 'DeclarativeStream',
    name,
    primary_key: ['id'],
    retriever: {
      type: 'SimpleRetriever',
      requester: { type: 'HttpRequester', url_base: base, path: route, ...(requester as Part) },
      record_selector: { extractor: { type: 'DpathExtractor', field_path: [] }, ...(selector as Part) },
      ...(retriever as Part),
    },
    ...more,
  };
}

function below(parent: Part, field: string, more: Part = {}): Part {
  return {
    partition_router: {
      type: 'SubstreamPartitionRouter',
      parent_stream_configs: [{ parent_key: 'id', partition_field: field, stream: parent, ...more }],
    },
  };
}

const inQuery = (name: string): Part => ({
  type: 'RequestOption',
  inject_into: 'request_parameter',
  field_name: name,
});

function times(more: Part = {}): Part {
  return {
    incremental_sync: {
      type: 'DatetimeBasedCursor',
      cursor_field: 'at',
      datetime_format: '%Y-%m-%d',
      start_datetime: '2024-01-01',
      start_time_option: inQuery('since'),
      ...more,
    },
  };
}

function add(field: string, value: string): Part {
  return { transformations: [{ type: 'AddFields', fields: [{ path: [field], value }] }] };
}

async function imported(of: Part, settings: Part = {}): Promise<Imported> {
  const properties = Object.fromEntries(
    Object.entries({ text: '', list: [], missing: '', ...settings }).map(([key, value]) => [
      key,
      { type: Array.isArray(value) ? 'array' : 'string' },
    ]),
  );
  const manifest = {
    version: '6.0.0',
    type: 'DeclarativeSource',
    streams: [of],
    spec: { connection_specification: { type: 'object', properties } },
  };
  return await checked(
    importAirbyte(JSON.stringify(manifest), { file: 'shop.yaml', settings: settings as {} }),
  );
}

/** Imports a stream, runs it twice, and returns what each of the runs asked for, in the order of the text. */
async function asks(
  of: Part,
  api: Answer,
  settings: Part = {},
  outcome = 'exact',
): Promise<readonly (readonly string[])[]> {
  const { configuration, report } = await imported(of, settings);
  expect(report.streams.map(({ outcome, reasons }) => ({ outcome, reasons }))).toEqual([
    { outcome, reasons: [] },
  ]);
  answer = api;
  const dataFolder = mkdtempSync(path.join(FOLDER, 'run-'));
  writeFileSync(path.join(dataFolder, 'config.json'), JSON.stringify(configuration));
  const row = path.join(dataFolder, 'rows', report.streams[0]?.row ?? '');
  const runs: string[][] = [];
  for (let count = 0; count < 2; count++) {
    asked = [];
    await run({ dataFolder, log: silentLog, env });
    runs.push(asked.toSorted());
    mkdirSync(path.join(row, 'in'), { recursive: true });
    const state = path.join(row, 'out', 'state.json');
    if (existsSync(state)) copyFileSync(state, path.join(row, 'in', 'state.json'));
  }
  return runs;
}

const shops: Answer = ({ pathname }) =>
  pathname === '/shops'
    ? [
        { id: 1, a: 'x', b: 'y' },
        { id: 2, a: 'z', b: 'y' },
      ]
    : /1|x/.test(pathname)
      ? [{ id: 11, at: '2024-03-01' }]
      : [{ id: 21, at: '2024-05-01' }];

const inForm = (field_name: string): Part => ({
  type: 'RequestOption',
  inject_into: 'body_data',
  field_name,
});

const login = (more: Part): Part => ({
  authenticator: {
    type: 'SessionTokenAuthenticator',
    session_token_path: ['token'],
    login_requester: {
      type: 'HttpRequester',
      url_base: base,
      path: '/login',
      http_method: 'POST',
      request_parameters: { v: "{{ config['text'] }}" },
      ...more,
    },
    request_authentication: { type: 'Bearer' },
  },
});

const tokens: Answer = ({ pathname }) => (pathname === '/login' ? { token: 'T' } : []);

const cartsOf: Answer = ({ pathname }) =>
  pathname === '/shops'
    ? [{ id: 1 }, { id: 2 }]
    : pathname.startsWith('/shops/')
      ? [{ id: 5 }]
      : [{ id: 9, at: pathname.endsWith('1') ? '2024-03-01' : '2024-05-01' }];

/** Requests that airbyte-cdk 7.39.1 sends to the same API. */
describe('a child keeps a state for each parent', () => {
  test.each<[string, Part, Part, string, string, string]>([
    ['by its id', {}, {}, '/{{ stream_partition.shop }}', '/1', '/2'],
    [
      'by a computed id',
      add('id', "{{ record['id'] | string | upper }}"),
      {},
      '/{{ stream_partition.shop }}',
      '/1',
      '/2',
    ],
    [
      'by several fields',
      add('full', "{{ record['a'] }}-{{ record['b'] }}"),
      { parent_key: 'full' },
      '/{{ stream_partition.shop }}',
      '/x-y',
      '/z-y',
    ],
    [
      'by a further field',
      {},
      { extra_fields: [['a']] },
      "/{{ stream_slice.extra_fields['a'] }}",
      '/x',
      '/z',
    ],
  ])('%s', async (_, parent, config, route, first, second) => {
    const of = stream('items', route, {
      retriever: below(stream('shops', '/shops', parent), 'shop', config),
      ...times(),
    });
    expect(await asks(of, shops, {}, 'more rows')).toEqual([
      [`GET ${first}?since=2024-01-01`, `GET ${second}?since=2024-01-01`, 'GET /shops'].toSorted(),
      [`GET ${first}?since=2024-03-01`, `GET ${second}?since=2024-05-01`, 'GET /shops'].toSorted(),
    ]);
  });

  test('and a grandchild by what is computed from both above', async () => {
    const carts = stream('carts', '/shops/{{ stream_partition.shop }}', {
      retriever: below(stream('shops', '/shops'), 'shop'),
      ...add('key', '{{ stream_partition.shop }}-{{ record.id }}'),
    });
    const of = stream('items', '/c/{{ stream_partition.cart }}/{{ stream_slice.parent_slice.shop }}', {
      retriever: below(carts, 'cart', { parent_key: 'key' }),
      ...times(),
    });
    const [first, later] = await asks(of, cartsOf, {}, 'more rows');
    expect(first?.slice(0, 2)).toEqual(['GET /c/1-5/1?since=2024-01-01', 'GET /c/2-5/2?since=2024-01-01']);
    expect(later?.slice(0, 2)).toEqual(['GET /c/1-5/1?since=2024-03-01', 'GET /c/2-5/2?since=2024-05-01']);
  });
});

describe('windows end where the format of the cursor says', () => {
  const until = { end_time_option: inQuery('until') };
  const seconds = { datetime_format: '%Y-%m-%dT%H:%M:%SZ', start_datetime: '2024-01-01T00:00:00Z' };
  test.each<[string, Part, string]>([
    ['today, without an end', {}, '2024-07-01'],
    ['today, with the present time as the end', { end_datetime: '{{ now_utc() }}' }, '2024-07-01'],
    ['today, with a granularity', { step: 'P1Y', cursor_granularity: 'P1D' }, '2024-07-01'],
    [
      'today, with both',
      { end_datetime: '{{ now_utc() }}', step: 'P1Y', cursor_granularity: 'P1D' },
      '2024-07-01',
    ],
    [
      'now, with seconds',
      { ...seconds, end_datetime: '{{ now_utc() }}', step: 'P1Y', cursor_granularity: 'PT1S' },
      '2024-07-01T12:30:00Z',
    ],
    [
      'now, with its part of a second',
      {
        datetime_format: '%Y-%m-%d %H:%M:%S.%f+00:00',
        start_datetime: '2024-01-01 00:00:00.000000+00:00',
        end_datetime: '{{ now_utc() }}',
      },
      '2024-07-01 12:30:00.250000+00:00',
    ],
    [
      'now, written with its part of a second',
      {
        datetime_format: '%Y-%m-%dT%H:%M:%S.%f%z',
        start_datetime: '2024-01-01T00:00:00.000000+0000',
        end_datetime: "{{ now_utc().strftime('%Y-%m-%dT%H:%M:%S.%f%z') }}",
      },
      '2024-07-01T12:30:00.250000+0000',
    ],
    [
      'by a format that is not usual',
      {
        datetime_format: '%d/%m/%Y',
        start_datetime: '01/01/2024',
        end_datetime: '15/06/2024',
        step: 'P1Y',
        cursor_granularity: 'P1D',
      },
      '15/06/2024',
    ],
  ])('%s', async (_, cursor, end) => {
    const of = stream('items', '/items', times({ ...cursor, ...until }));
    const [first] = await asks(of, () => []);
    expect(first).toHaveLength(1);
    expect(first?.[0]?.split('until=')[1]?.replaceAll('+', ' ')).toBe(end.replaceAll('+', ' '));
  });

  test('and where an end inside of a day says, windows of days begin before it', async () => {
    const moment = { datetime: '2024-03-01T10:00:00Z', datetime_format: '%Y-%m-%dT%H:%M:%SZ' };
    const cursor = { start_datetime: moment, step: 'P1D', cursor_granularity: 'P1D', ...until };
    const end = (datetime: string): Part =>
      stream('items', '/items', times({ ...cursor, end_datetime: { ...moment, datetime } }));
    const [one, two] = ['01', '02'].map((day) => `GET /items?since=2024-03-${day}&until=2024-03-${day}`);
    expect((await asks(end('2024-03-01T10:00:00Z'), () => []))[0]).toEqual([one]);
    expect((await asks(end('2024-03-02T12:00:00Z'), () => []))[0]).toEqual([one, two]);
    expect((await asks(end('2024-03-02T09:00:00Z'), () => []))[0]).toEqual([
      'GET /items?since=2024-03-01&until=2024-03-02',
    ]);
  });

  // the other tool asks for nothing until then
  test('and a time after the present does not move the state', async () => {
    const of = stream('items', '/items', times());
    const rows = [
      { id: 1, at: '2024-06-20' },
      { id: 2, at: '2024-07-20' },
    ];
    expect(await asks(of, () => rows)).toEqual([
      ['GET /items?since=2024-01-01'],
      ['GET /items?since=2024-06-20'],
    ]);
  });

  test('and a lookback goes no further than the start', async () => {
    const of = stream('items', '/items', times({ lookback_window: 'P10D' }));
    expect(await asks(of, () => [{ id: 1, at: '2024-01-03' }])).toEqual([
      ['GET /items?since=2024-01-01'],
      ['GET /items?since=2024-01-01'],
    ]);
  });
});

describe('a rendered text is read as a literal', () => {
  test('quotes are no part of a parameter, an address or a token', async () => {
    const requester = {
      url_base: `'${base}/{{ config['text'] }}'`,
      request_parameters: { a: "'{{ config['text'] }}'", b: '"x"', c: "it's '{{ config['text'] }}'" },
      authenticator: { type: 'BearerAuthenticator', api_token: "'{{ config['text'] }}'" },
    };
    const [first] = await asks(stream('items', "'items'", { requester }), () => [], { text: 'abc' });
    expect(first).toEqual(["GET /abc/items?a=abc&b=x&c=it's+'abc' Bearer abc"]);
  });

  test.each<[string, string, string, string]>([
    ['1.50', 'POST /1.5?a=x+1.50&b=1.50', '{"n":1.5}', '1.5'],
    ['1_000', 'POST /1000?a=x+1_000&b=1_000', '{"n":1000}', '1000'],
    ["'q'", "POST /q?a=x+'q'&b=q", '{"n":"q"}', 'q'],
    ['None', 'POST /None?a=x+None&b=None', '', 'None'],
    ['true', 'POST /true?a=x+true&b=true', '{"n":"true"}', 'true'],
    ['007', 'POST /007?a=x+007&b=007', '{"n":"007"}', '007'],
  ])('the setting %s, where a template is nothing else', async (text, line, body, token) => {
    const requester = {
      http_method: 'POST',
      request_parameters: { a: "x {{ config['text'] }}", b: "{{ config['text'] }}" },
      request_body_json: { n: "{{ config['text'] }}" },
      authenticator: { type: 'BearerAuthenticator', api_token: "{{ config['text'] }}" },
    };
    const [first] = await asks(stream('items', "{{ config['text'] }}", { requester }), () => [], { text });
    const sent = body === '' ? [] : ['application/json', body];
    expect(first).toEqual([[line, ...sent, `Bearer ${token}`].join(' ')]);
  });

  test.each([
    ['None', 'GET /items'],
    ['1.50', 'GET /items 1.5'],
  ])('the setting %s, where a header is nothing else', async (text, line) => {
    const requester = { request_headers: { Authorization: "{{ config['text'] }}" } };
    const [first] = await asks(stream('items', '/items', { requester }), () => [], { text });
    expect(first).toEqual([line]);
  });

  test('of several slashes in a path one is sent, but in its query', async () => {
    const of = stream('items', "shops//{{ config['text'] }}//items?of=a//b");
    const [first] = await asks(of, () => [], { text: 'abc' });
    expect(first).toEqual(['GET /shops/abc/items?of=a//b']);
  });

  test('line breaks between the statements of an address are no part of it', async () => {
    const route =
      "{% set kind = 'items' %}\n{% if config['text'] %}\nof/{{ kind }}{% else %}x{% endif %}\n/all";
    const requester = { url_base: `{% set base = '${base}' %}\n{{ base }}` };
    const [first] = await asks(stream('items', route, { requester }), () => [], { text: 'abc' });
    expect(first).toEqual(['GET /of/items/all']);
  });

  test.each<[string, string, unknown, string]>([
    ['an object of the answer', "{{ response['next'] }}", { after: 7 }, '{"after":7}'],
    ['digits', "{{ response['next'] }}", '7', '7'],
    ['a text', "{{ response['next'] }}", '7a', '"7a"'],
    ['an object that is written', "{{ {'after': response['next']} }}", '7', '{"after":"7"}'],
    ['a text of an object', '{"after": "{{ response[\'next\'] }}"}', 'x', '{"after":"x"}'],
  ])('%s as the token of the next page', async (_, cursor_value, next, sent) => {
    const retriever = {
      paginator: {
        type: 'DefaultPaginator',
        page_token_option: { type: 'RequestOption', inject_into: 'body_json', field_name: 'page' },
        pagination_strategy: {
          type: 'CursorPagination',
          cursor_value,
          stop_condition: "{{ not response['next'] }}",
        },
      },
    };
    const of = stream('items', '/items', { requester: { http_method: 'POST' }, retriever, selector: ITEMS });
    const api: Answer = (_url, body) => ({ items: [{ id: body }], ...(body === '' ? { next } : {}) });
    const [first] = await asks(of, api);
    expect(first).toEqual(['POST /items', `POST /items application/json {"page":${sent}}`]);
  });
});

const ITEMS = { extractor: { type: 'DpathExtractor', field_path: ['items'] } };

describe('bodies and parameters', () => {
  test('pages that go into a form are sent as one, from the first page on', async () => {
    const retriever = {
      paginator: {
        type: 'DefaultPaginator',
        page_size_option: inForm('limit'),
        page_token_option: inForm('page'),
        pagination_strategy: { type: 'PageIncrement', page_size: 1, start_from_page: 1 },
      },
    };
    const of = stream('items', '/items', { requester: { http_method: 'POST' }, retriever, selector: ITEMS });
    const [first] = await asks(of, (_, body) => ({ items: body.includes('page=2') ? [] : [{ id: 1 }] }));
    expect(first).toEqual([
      'POST /items application/x-www-form-urlencoded limit=1',
      'POST /items application/x-www-form-urlencoded limit=1&page=2',
    ]);
  });

  test('a login by POST has its parameters in the address, and its body besides', async () => {
    const body = { request_body_json: { user: 'u' } };
    for (const [more, sent] of [
      [{}, 'POST /login?v=a+b'],
      [body, 'POST /login?v=a+b application/json {"user":"u"}'],
    ] as const) {
      const [first] = await asks(stream('items', '/items', { requester: login(more) }), tokens, {
        text: 'a b',
      });
      expect(first).toEqual(['GET /items Bearer T', sent]);
    }
  });

  test('isoformat takes a separator and a precision', async () => {
    const requester = {
      request_parameters: {
        a: "{{ now_utc().isoformat(timespec='milliseconds') }}",
        b: "{{ now_utc().isoformat(' ', 'minutes') }}",
      },
    };
    const [first] = await asks(stream('items', '/items', { requester }), () => []);
    expect(first?.map((line) => line.replaceAll('+', ' '))).toEqual([
      'GET /items?a=2024-07-01T12:30:00.000 00:00&b=2024-07-01 12:30 00:00',
    ]);
  });

  test('a POST without a body, or with an empty one, has none', async () => {
    for (const more of [{}, { request_body_json: { a: '' } }, { request_body_json: {} }]) {
      const requester = { http_method: 'POST', ...more };
      expect((await asks(stream('items', '/items', { requester }), () => []))[0]).toEqual(['POST /items']);
    }
  });

  test('empty values are left out, keys may be templates, and an empty list asks for nothing', async () => {
    const requester = {
      request_parameters: {
        "{{ config['text'] }}": 'v',
        a: "{{ config['missing'] if config.get('missing') else '' }}",
        b: "{{ ','.join(config.get('list', [])) }}",
        c: "{{ config.get('missing', '') | lower }}",
      },
    };
    const of = stream('items', '/items', { requester });
    expect((await asks(of, () => [], { text: 'key' }))[0]).toEqual(['GET /items?key=v']);
    const body = { http_method: 'POST', request_body_json: { "{{ config['text'] }}": 'v' } };
    expect(
      (await asks(stream('items', '/items', { requester: body }), () => [], { text: 'key' }))[0],
    ).toEqual(['POST /items application/json {"key":"v"}']);
    const partition_router = {
      type: 'ListPartitionRouter',
      cursor_field: 'one',
      request_option: inQuery('one'),
      values: "{{ config.get('list', []) }}",
    };
    expect((await asks(stream('items', '/items', { retriever: { partition_router } }), () => []))[0]).toEqual(
      [],
    );
  });
});

describe('rows and their state', () => {
  test('a data feed ends at the first page whose last row is old', async () => {
    const retriever = {
      paginator: {
        type: 'DefaultPaginator',
        page_token_option: inQuery('page'),
        pagination_strategy: { type: 'PageIncrement', page_size: 2, start_from_page: 1 },
      },
    };
    let newest = 9;
    const api: Answer = ({ searchParams }) => {
      const page = Number(searchParams.get('page') ?? 1);
      const days = page > 3 ? [] : [newest - 2 * page + 2, newest - 2 * page + 1];
      if (page === 3) newest = 10;
      return days.map((day) => ({ id: day, at: `2024-05-${String(day).padStart(2, '0')}` }));
    };
    const cursor = { is_data_feed: true, start_time_option: undefined };
    const [, later] = await asks(stream('items', '/items', { retriever, ...times(cursor) }), api);
    expect(later).toEqual(['GET /items', 'GET /items?page=2']);
  });

  test('rows that a filter leaves out do not move the state', async () => {
    const selector = { record_filter: { type: 'RecordFilter', condition: "{{ record['ok'] }}" } };
    const rows = [
      { id: 1, ok: true, at: '2024-03-01' },
      { id: 2, ok: false, at: '2024-06-01' },
    ];
    expect(await asks(stream('items', '/items', { selector, ...times() }), () => rows)).toEqual([
      ['GET /items?since=2024-01-01'],
      ['GET /items?since=2024-03-01'],
    ]);
  });

  test('a parent that is used twice is asked for once', async () => {
    const parent = stream('shops', '/shops');
    const config = (parent_key: string, name: string): Part => ({
      parent_key,
      partition_field: name,
      stream: parent,
      request_option: inQuery(name),
    });
    const partition_router = {
      type: 'SubstreamPartitionRouter',
      parent_stream_configs: [config('id', 'shop'), config('a', 'name')],
    };
    const [first] = await asks(stream('items', '/items', { retriever: { partition_router } }), shops);
    expect(first).toEqual([
      'GET /items?name=x',
      'GET /items?name=z',
      'GET /items?shop=1',
      'GET /items?shop=2',
      'GET /shops',
    ]);
  });
});

describe('an import is looked at before it is called exact', () => {
  const rowOf = (job: Part): Part => ({
    id: 'items',
    configuration: { parameters: { config: { jobs: [job] } } },
  });

  test.each<[string, Part, string]>([
    ['a template that is left', { params: { a: ['{{ x }}'] } }, 'A template is still there: {{ x }}'],
    ['a key that is a template', { body: { '{{ x }}': 1 } }, 'A key is a template still: {{ x }}'],
    [
      'a number that is read as a date',
      { windows: { to: { function: 'strtotime', args: [{ time: 'currentStart' }] } } },
      'A number is read as a date',
    ],
    [
      'a placeholder that nothing fills',
      { placeholders: { a: 'id' }, children: [{ params: { x: { placeholder: 'b' } } }] },
      'Nothing fills the placeholder “b”',
    ],
    [
      'a state that is kept by the time',
      {
        placeholders: { a: { function: 'date', args: ['Y', { time: 'currentStart' }] } },
        children: [{ incremental: { cursor: 'at' } }],
      },
      'The state is kept by the time of the run',
    ],
  ])('%s', async (_, job, message) => {
    expect(faultsOf(rowOf(job), 'rows[0]').map((fault) => fault.message)).toEqual([message]);
    const stream = {
      stream: 'items',
      outcome: 'exact',
      row: 'items',
      columns: [],
      reasons: [],
      notes: [],
    } as const;
    const whole = { id: 'items', endpoint: 'items', dataType: 'items', ...job };
    const { configuration, report } = await checked({
      configuration: {
        configuration: { parameters: { api: { baseUrl: 'https://a.example/' } } },
        rows: [rowOf(whole)],
      },
      report: { source: 'shop', streams: [stream], settings: [], notes: [] },
    });
    expect(report.streams[0]?.outcome).toBe('not');
    expect(report.streams[0]?.reasons.map((reason) => reason.message)).toContain(message);
    expect((configuration['rows'] as readonly Part[])[0]?.['isDisabled']).toBe(true);
  });

  test('what is about a column alone leaves the rows equal', async () => {
    const found = faultsOf(rowOf({ columns: { a: { value: '{{ x }}' } } }), 'rows[0]');
    expect(found.map(({ isColumn }) => isColumn)).toEqual([true]);
  });
});
