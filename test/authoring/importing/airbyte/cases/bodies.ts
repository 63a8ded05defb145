import { API, below, pages, stream, times, type Part, type TwoRuns } from '../../support/two-runs.ts';

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines.toSorted(), lines.toSorted()];
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

/** Sends by POST, with parts of a requester. */
const posted = (name: string, requester: Part, line: string, settings: Part = {}): TwoRuns => ({
  name,
  stream: stream('items', '/a', { requester: { http_method: 'POST', ...requester } }),
  settings,
  api: () => [],
  asks: both(`POST /a${line === '' ? '' : ` ${line}`}`),
});

const withKey = (into: Part, token = 'abc'): Part => ({
  authenticator: {
    type: 'ApiKeyAuthenticator',
    api_token: token,
    inject_into: { type: 'RequestOption', ...into },
  },
});

const lists = (group: Part, values: readonly unknown[]): Part => ({
  partition_router: {
    type: 'GroupingPartitionRouter',
    ...group,
    underlying_partition_router: { type: 'ListPartitionRouter', values, cursor_field: 'ids' },
  },
});

const option = (name: string): Part => ({
  request_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: name },
});

/** Answers an error as often as is said, then a row. */
function failing(status: number, times: number): TwoRuns['api'] {
  let count = 0;
  return () => (count++ < times ? { status, headers: {}, body: {} } : [{ id: 1 }]);
}

const handled = (handler: Part): Part => stream('items', '/a', { requester: { error_handler: handler } });
const again = (count: number): readonly string[] => Array.from({ length: count }, () => 'GET /a');

/** Bodies, what is sent of slices, logins and errors, as airbyte-cdk 7.39.1 has them. */
export const BODY_CASES: readonly TwoRuns[] = [
  posted(
    'a body of text that is an object is a form',
    { request_body_data: '{"a": "{{ config.x }}", \'b\': 2}' },
    `${FORM} a=1 2&b=2`,
    { x: '1 2' },
  ),
  posted('so is an object of a template', { request_body_data: "{{ {'a': config.x} }}" }, `${FORM} a=v`, {
    x: 'v',
  }),
  posted('a body of text that is a number is none', { request_body_data: '5' }, ''),
  posted('a setting may be the whole body', { request_body_json: '{{ config.x }}' }, `${JSON_TYPE} {"a":1}`, {
    x: '{"a": 1}',
  }),
  posted(
    'constants of a choice and texts of a setting are read in a body',
    { request_body_json: { a: "{{ '1' if config.x else '0' }}", b: '{{ config.x | lower }}' } },
    `${JSON_TYPE} {"a":1,"b":12}`,
    { x: '12' },
  ),
  posted(
    'JSON of a setting in an object is that setting, and a list is one',
    { request_body_json: { a: '{"k": {{ config.x | tojson }}}', b: "{{ config.l | default('d', true) }}" } },
    `${JSON_TYPE} {"a":{"k":"a,b"},"b":["p","q"]}`,
    { x: 'a,b', l: ['p', 'q'] },
  ),
  posted('a body of text without anything is none', { request_body_data: '' }, ''),
  {
    name: 'a size of pages that a setting has as a text is a number in a body',
    stream: stream('items', '/a', {
      requester: { http_method: 'POST' },
      retriever: pages(
        { type: 'PageIncrement', page_size: '{{ config.size }}' },
        { type: 'RequestOption', inject_into: 'body_json', field_name: 'page' },
        { page_size_option: { type: 'RequestOption', inject_into: 'body_json', field_name: 'size' } },
      ),
    }),
    settings: { size: '2' },
    api: (_url, body) => (body.includes('page') ? [{ id: 3 }] : [{ id: 1 }, { id: 2 }]),
    asks: both(`POST /a ${JSON_TYPE} {"size":2}`, `POST /a ${JSON_TYPE} {"size":2,"page":1}`),
  },
  posted(
    'a key goes into a body of its own',
    withKey({ inject_into: 'body_json', field_path: ['auth', 'key'] }),
    `${JSON_TYPE} {"auth":{"key":"abc"}}`,
  ),
  posted('also into a form', withKey({ inject_into: 'body_data', field_name: 'key' }), `${FORM} key=abc`),
  {
    name: 'a number of a cursor goes into a form',
    stream: stream('items', '/a', {
      requester: { http_method: 'POST' },
      incremental_sync: {
        type: 'IncrementingCountCursor',
        cursor_field: 'id',
        start_value: 1,
        start_value_option: { type: 'RequestOption', inject_into: 'body_data', field_name: 'from' },
      },
    }),
    api: () => [{ id: 7 }],
    asks: [[`POST /a ${FORM} from=1`], [`POST /a ${FORM} from=7`]],
  },
  {
    name: 'a group of values is a list, each of them once',
    stream: stream('items', '/a', {
      requester: { http_method: 'POST', request_body_json: { ids: '{{ stream_partition.ids }}' } },
      retriever: lists({ group_size: 2 }, [1, 1, 2, 3]),
    }),
    api: () => [],
    asks: both(`POST /a ${JSON_TYPE} {"ids":[1,2]}`, `POST /a ${JSON_TYPE} {"ids":[3]}`),
  },
  {
    name: 'a group is counted, and its values are several parameters',
    stream: stream('items', '/a', {
      requester: {
        request_parameters: { n: '{{ stream_partition.ids | length }}', id: '{{ stream_partition.ids }}' },
      },
      retriever: lists({ group_size: 2, deduplicate: false }, ['x', 'x', 'y']),
    }),
    api: () => [],
    asks: both('GET /a?id=x&id=x&n=2', 'GET /a?id=y&n=1'),
  },
  {
    name: 'an option of one of two parents with the same name is sent with the values of both',
    stream: stream('items', '/a', {
      requester: { request_parameters: { k: '{{ stream_partition.of }}' } },
      retriever: {
        partition_router: {
          type: 'SubstreamPartitionRouter',
          parent_stream_configs: [
            ...parentsOf(below(stream('shops', '/shops'), 'of', option('o'))),
            ...parentsOf(below(stream('kinds', '/kinds'), 'of')),
          ],
        },
      },
    }),
    api: ({ pathname }) => (pathname === '/a' ? [] : [{ id: pathname.slice(1, 2) }]),
    asks: both('GET /shops', 'GET /kinds', 'GET /a?k=s&o=s', 'GET /a?k=k&o=k'),
  },
  {
    name: 'a month that ends by a day is asked for',
    stream: stream('items', '/a', {
      ...times({
        datetime_format: '%Y-%m',
        start_datetime: { type: 'MinMaxDatetime', datetime: '2024-06-01', datetime_format: '%Y-%m-%d' },
        end_datetime: { type: 'MinMaxDatetime', datetime: '2024-06-30', datetime_format: '%Y-%m-%d' },
      }),
    }),
    api: () => [{ id: 1, at: '2024-06' }],
    asks: both('GET /a?since=2024-06'),
  },
  {
    name: 'the present hour is asked for',
    stream: stream('items', '/a', {
      ...times({
        datetime_format: '%Y-%m-%dT%H',
        start_datetime: '2024-06-01T00',
        end_time_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'until' },
      }),
    }),
    api: () => [],
    asks: both('GET /a?since=2024-06-01T00&until=2024-07-01T12'),
  },
  {
    name: 'seconds with a fraction have no zeros at their end',
    stream: stream('items', '/a', {
      ...times({ datetime_format: '%s_as_float', start_datetime: '1717200000.0' }),
    }),
    api: () => [],
    asks: both('GET /a?since=1717200000.0'),
  },
  {
    name: 'a token that get has nothing for is None',
    stream: stream('items', '/a', {
      requester: {
        authenticator: { type: 'BearerAuthenticator', api_token: "{{ config.get('key') }}" },
      },
    }),
    api: () => [],
    asks: both('GET /a Bearer None'),
  },
  {
    name: 'there is no login while its key is not given',
    stream: stream('items', '/a', {
      requester: { authenticator: { type: 'BearerAuthenticator', api_token: '{{ config.key }}' } },
    }),
    api: () => [],
    asks: both('GET /a'),
  },
  {
    name: 'no login is one of several, too',
    stream: stream('items', '/a', {
      requester: {
        authenticator: {
          type: 'SelectiveAuthenticator',
          authenticator_selection_path: ['how'],
          authenticators: {
            key: { type: 'BearerAuthenticator', api_token: 'abc' },
            none: { type: 'NoAuth' },
          },
        },
      },
    }),
    settings: { how: 'none' },
    api: () => [],
    asks: both('GET /a'),
  },
  {
    name: 'a secret of a client that is None is not sent',
    stream: stream('items', '/a', {
      requester: {
        authenticator: {
          type: 'OAuthAuthenticator',
          token_refresh_endpoint: `${API}/token`,
          client_id: 'c',
          client_secret: "{{ config.get('secret') }}",
          refresh_token: 'r',
        },
      },
    }),
    api: ({ pathname }) => (pathname === '/token' ? { access_token: 'T', expires_in: 3600 } : []),
    asks: both('GET /a Bearer T', `POST /token ${FORM} client_id=c&grant_type=refresh_token&refresh_token=r`),
  },
  {
    name: 'a login is without what is not given',
    stream: stream('items', '/a', {
      requester: {
        authenticator: {
          type: 'SessionTokenAuthenticator',
          login_requester: {
            type: 'HttpRequester',
            url_base: API,
            path: '/login',
            http_method: 'POST',
            request_headers: { Authorization: '{{ config.other }}' },
            request_body_json: { u: '{{ config.user }}', v: '{{ config.more }}' },
          },
          session_token_path: ['token'],
          request_authentication: { type: 'Bearer' },
        },
      },
    }),
    settings: { user: 'me' },
    api: ({ pathname }) => (pathname === '/login' ? { token: 'T' } : []),
    asks: both('GET /a Bearer T', `POST /login ${JSON_TYPE} {"u":"me"}`),
  },
  {
    name: 'an error that may pass is asked for again',
    stream: handled({ type: 'DefaultErrorHandler' }),
    api: failing(520, 2),
    asks: [again(3), again(1)],
    ids: [['1'], ['1']],
  },
  {
    name: 'attempts are those of the first of several handlers',
    stream: handled({
      type: 'CompositeErrorHandler',
      error_handlers: [
        { type: 'DefaultErrorHandler', max_retries: 4 },
        {
          type: 'DefaultErrorHandler',
          max_retries: 1,
          response_filters: [{ type: 'HttpResponseFilter', action: 'RETRY', http_codes: [406] }],
        },
      ],
    }),
    api: failing(406, 3),
    asks: [again(4), again(1)],
    ids: [['1'], ['1']],
  },
  {
    name: 'a boolean that is given stands before its default',
    stream: stream('items', '/a', {
      requester: {
        request_parameters: { f: "{{ config.get('flag', true) }}", x: "{{ config.get('flag', 'd') }}" },
      },
    }),
    more: {
      spec: {
        type: 'Spec',
        connection_specification: { type: 'object', properties: { flag: { type: 'boolean' } } },
      },
    },
    settings: { flag: false },
    api: () => [],
    asks: both('GET /a?f=False&x=False'),
  },
];

function parentsOf({ partition_router }: Part): readonly Part[] {
  return (partition_router as { readonly parent_stream_configs: readonly Part[] }).parent_stream_configs;
}
