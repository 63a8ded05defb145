import { expect, test } from 'vitest';
import { importAirbyte } from '../../../../src/authoring/importing/airbyte/index.ts';
import { manifestOf, stream, type Part } from '../support/two-runs.ts';

const IMPORTS = `
import time
import requests
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import DeclarativeAuthenticator, NoAuth
from airbyte_cdk.sources.declarative.transformations import RecordTransformation
`;

function reasonsOf(
  of: Part,
  code: string | undefined,
  beside: Readonly<Record<string, string>> = {},
  more: Part = {},
): readonly string[] {
  const { report } = importAirbyte(manifestOf({ stream: of, more }, 'https://a.example'), {
    file: 'shop.yaml',
    readBeside: (file) => (file === 'components.py' && code !== undefined ? IMPORTS + code : beside[file]),
  });
  return report.streams.flatMap(({ reasons }) => reasons.map(({ message }) => message));
}

const outcomeOf = (of: Part, python: string): string | undefined =>
  importAirbyte(manifestOf({ stream: of }, 'https://a.example'), {
    file: 'shop.yaml',
    readBeside: (file) => (file === 'components.py' ? IMPORTS + python : undefined),
  }).report.streams[0]?.outcome;

const CLASS = 'source_shop.components.Shop';
const login = stream('items', '/a', {
  requester: { authenticator: { type: 'CustomAuthenticator', class_name: CLASS } },
});
const changes = { type: 'CustomTransformation', class_name: CLASS };

const withToken = (token: string): string => `
class Shop(NoAuth):
    @property
    def auth_header(self):
        return "Authorization"

    @property
    def token(self):
${token.replaceAll(/^/gm, '        ')}
`;

// parts of the class that it extends are other ones in other versions, or keep the token in another way
test.each([
  [
    'the token without a request',
    'def _get_refresh_access_token_response(self):\n        return {}',
    'components.py: a token that is no part of an answer',
  ],
  [
    'when the token has ended',
    'def token_has_expired(self):\n        return True',
    'Shop: token_has_expired',
  ],
  [
    'a form with the type of JSON',
    'def get_refresh_request_headers(self):\n        return {"Content-Type": "application/json"}',
    'components.py: a form that is sent as JSON',
  ],
  [
    'a token without its time',
    'def refresh_access_token(self):\n        return "T"',
    'a loop over what is known only while it runs',
  ],
])('OAuth whose code says %s is refused', (_, method, why) => {
  const code = `
from airbyte_cdk.sources.declarative.auth import DeclarativeOauth2Authenticator

class Shop(DeclarativeOauth2Authenticator):
    ${method}
`;
  const keys = { token_refresh_endpoint: '/t', client_id: 'a', client_secret: 'b', refresh_token: 'c' };
  const of = (more: Part): Part =>
    stream('items', '/a', {
      requester: { authenticator: { type: 'CustomAuthenticator', class_name: CLASS, ...keys, ...more } },
    });
  expect(reasonsOf(of({}), code)).toEqual([expect.stringContaining(why.replace('Shop: ', 'Shop.'))]);
  // a version that asks in the usual way, whatever the class has, and one that is not known
  if (method.includes('_get_refresh')) {
    expect(reasonsOf(of({}), code, {}, { version: '6.33.0' })).toEqual([]);
    expect(reasonsOf(of({}), code, {}, { version: '6.25.0' })).toEqual([
      expect.stringContaining('Shop._get_refresh_access_token_response'),
    ]);
  }
  expect(reasonsOf(of({ scopes: ['a'] }), code.replace(method, 'pass'))).toEqual([
    expect.stringContaining('components.py: Shop.scopes'),
  ]);
});

test.each([
  ['has no end', '{"iss": "a"}', 'HS256', 'a signed token without an end'],
  [
    'ends at a time that is given',
    '{"exp": self.config["end"]}',
    'HS256',
    'a signed token whose end is not some seconds away',
  ],
])('a token that the code signs and that %s is refused', (_, claims, algorithm, why) => {
  const code = `
import jwt

${withToken(`form = {"grant_type": "client_credentials", "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}
form["client_assertion"] = jwt.encode(${claims}, "k", algorithm="${algorithm}")
return requests.post("https://a.example/t", data=form).json()["access_token"]`)}`;
  expect(reasonsOf(login, code)).toEqual([expect.stringContaining(why)]);
});

test('a claim that is another one each time, and an algorithm with a private key', () => {
  const code = `
import jwt
import uuid

${withToken(`now = int(time.time())
form = {"grant_type": "client_credentials", "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}
form["client_assertion"] = jwt.encode({"jti": str(uuid.uuid4()), "exp": now + 60}, "k", algorithm="RS256")
return requests.post("https://a.example/t", data=form).json()["access_token"]`)}`;
  const { configuration, report } = importAirbyte(manifestOf({ stream: login }, 'https://a.example'), {
    file: 'shop.yaml',
    readBeside: (file) => (file === 'components.py' ? IMPORTS + code : undefined),
  });
  expect(report.streams.map(({ outcome, reasons }) => [outcome, reasons])).toEqual([['exact', []]]);
  expect(configuration).toMatchObject({
    configuration: {
      parameters: {
        api: {
          authentication: {
            type: 'jwt',
            algorithm: 'RS256',
            '#privateKey': 'k',
            claims: { iat: null, jti: { jwt: 'id' } },
            lifetime: 60,
            prefix: '',
          },
        },
      },
    },
  });
});

test('a choice of logins none of which is understood is refused', () => {
  const authenticator = {
    type: 'SelectiveAuthenticator',
    authenticator_selection_path: ['how'],
    authenticators: { code: { type: 'CustomAuthenticator', class_name: CLASS } },
  };
  const { report } = importAirbyte(
    manifestOf({ stream: stream('items', '/a', { requester: { authenticator } }) }, 'https://a.example'),
    { file: 'shop.yaml', settings: { how: 'other' } },
  );
  expect(report.streams.map(({ outcome }) => outcome)).toEqual(['not']);
});

test.each([
  ['token', ['exact']],
  ['code', ['not']],
  // another one can still be chosen
  [undefined, ['exact']],
])('a login that is not understood, where the settings choose %s', (how, outcomes) => {
  const authenticator = {
    type: 'SelectiveAuthenticator',
    authenticator_selection_path: ['how'],
    authenticators: {
      code: { type: 'CustomAuthenticator', class_name: CLASS },
      token: { type: 'BearerAuthenticator', api_token: 't' },
    },
  };
  const { configuration, report } = importAirbyte(
    manifestOf(
      { stream: stream('items', '/a', { requester: { authenticator } }), settings: { how: '' } },
      'https://a.example',
    ),
    { file: 'shop.yaml', ...(how === undefined ? {} : { settings: { how } }) },
  );
  expect(report.streams.map(({ outcome }) => outcome)).toEqual(outcomes);
  if (how === 'code') return;
  expect(report.streams[0]?.notes).toEqual([
    expect.stringMatching(
      how === undefined
        ? /^The login “code” is left out: the settings are to choose another one\. Python code: /
        : /^The login “code”, which the settings do not choose, is left out\. Python code: /,
    ),
  ]);
  expect(configuration).toHaveProperty('configuration.parameters.api.authentication', {
    type: 'choice',
    choose: { attr: 'settings.how' },
    from: { token: { type: 'bearer', '#token': 't' } },
  });
});

test.each([
  ['there is no file', undefined, ' (no file beside the manifest has this class)'],
  [
    'the file has no such class',
    'class Other(NoAuth):\n    pass\n',
    ' (no file beside the manifest has this class)',
  ],
  ['another base', 'class Shop(Base):\n    pass\n', ' (components.py: a class that extends Base)'],
  [
    'a function that is not known',
    withToken('return signed(self.config["key"])'),
    ' (components.py, line 14: “signed(self.config["key"])”)',
  ],
  [
    'other requests later',
    withToken('return f"{requests.get("https://a.example/x").json()["a"]} {int(time.time())}"'),
    ' (components.py, line 14: “int(time.time())”)',
  ],
  [
    'conditions in an order that the parser does not keep',
    withToken('return "a" if self.config["x"] and not self.config["y"] or self.config["z"] else "b"'),
    ' (components.py, line 14: conditions whose order is not clear without brackets)',
  ],
  [
    'an error that is passed over',
    withToken('try:\n    return self.config["a"]\nexcept KeyError:\n    return "none"'),
    ' (components.py, line 14: an error that is passed over)',
  ],
  ['no Python', 'class Shop(NoAuth:\n  $', ' (“$” is no sign of Python.)'],
])('a login whose code is not understood is refused: %s', (_, code, why) => {
  const [reason, ...more] = reasonsOf(login, code);
  expect([reason?.startsWith(`Python code: ${CLASS}`), more]).toEqual([true, []]);
  expect(reason).toBe(`Python code: ${CLASS}${why}`);
});

test.each([
  [
    'asks the API',
    'requests.get("https://a.example")',
    ' (components.py, line 9: “requests”, which may do more than compute)',
  ],
  [
    'reads a file',
    'record["a"] = open("/a").read()',
    ' (components.py, line 9: “open”, which may do more than compute)',
  ],
])('a transformation that %s is refused', (_, line, why) => {
  const code = `\nclass Shop(RecordTransformation):\n    def transform(self, record, **kwargs):\n        ${line}\n`;
  expect(reasonsOf(stream('items', '/a', { transformations: [changes] }), code)).toEqual([
    `Python code: ${CLASS}${why}`,
  ]);
});

test.each([
  [
    'a function that asks the API',
    'def more(record):\n    return other(record)\n\ndef other(record):\n    return requests.get(record["url"]).json()',
    'more(record)',
    ' (components.py, line 10: “requests”, which may do more than compute)',
  ],
  [
    'a value of the file that may ask the API',
    'SESSION = requests.Session()',
    'SESSION.get(record["url"])',
    ' (components.py, line 6: “requests”, which may do more than compute)',
  ],
])('a transformation by %s is refused', (_, above, line, why) => {
  const code = `${above}\n\nclass Shop(RecordTransformation):\n    def transform(self, record, **kwargs):\n        record["b"] = ${line}\n`;
  expect(reasonsOf(stream('items', '/a', { transformations: [changes] }), code)).toEqual([
    `Python code: ${CLASS}${why}`,
  ]);
});

const byFunction = (body: string): string => `
from .words import shortened

def cleaned(row):
    ${body}

class Shop(RecordTransformation):
    def transform(self, record, **kwargs):
        record["b"] = shortened(cleaned(record))
`;

test('values and functions of a file that name each other are looked at once', () => {
  const count = 30;
  const names = Array.from({ length: count }, (_, index) => `C${index}`);
  const calls = names.map((_, index) => `f${index}(r)`).join(' + ');
  const code = [
    ...names.map((name) => `${name} = [${names.join(', ')}]`),
    ...names.map((_, index) => `\ndef f${index}(r):\n    return ${calls}\n`),
    'class Shop(RecordTransformation):',
    '    def transform(self, record, **kwargs):',
    '        record["b"] = f0(C0)',
    '',
  ].join('\n');
  expect(reasonsOf(stream('items', '/a', { transformations: [changes] }), code)).toEqual([]);
});

test('a transformation by a function that writes may change whatever is read', () => {
  const child = stream('items', '/a', {
    retriever: {
      partition_router: {
        type: 'SubstreamPartitionRouter',
        parent_stream_configs: [
          {
            parent_key: 'id',
            partition_field: 'parent',
            stream: stream('parents', '/parents', { transformations: [changes] }),
          },
        ],
      },
    },
  });
  const beside = { 'words.py': 'import re\n\ndef shortened(row):\n    return re.sub("a", "b", row["c"])\n' };
  expect(
    [
      'made = {}; made["id"] = 1; made.update({"id": 2}); return made',
      'row["id"] = 1',
      'row.update({"id": 1})',
      'made = {"row": row}; made["row"]["id"] = 1',
      'made = {}; made = row; made["id"] = 1',
    ].map((body) => reasonsOf(child, byFunction(body), beside)),
  ).toEqual([
    [],
    ['The field of the parent is changed by Python code'],
    ['The field of the parent is changed by Python code'],
    ['The field of the parent is changed by Python code'],
    ['The field of the parent is changed by Python code'],
  ]);
});

test('a transformation that changes what something else reads makes that impossible, or more rows', () => {
  const code = `
class Shop(RecordTransformation):
    def transform(self, record, **kwargs):
        record["id"] = str(record["id"])
        record.pop("updated")
`;
  const changed = stream('parents', '/parents', { transformations: [changes] });
  const child = stream('items', '/a', {
    retriever: {
      partition_router: {
        type: 'SubstreamPartitionRouter',
        parent_stream_configs: [{ parent_key: 'id', partition_field: 'parent', stream: changed }],
      },
    },
  });
  const filtered = (field: string): Part =>
    stream('items', '/a', {
      transformations: [changes],
      selector: {
        record_filter: { condition: `{{ record.${field} > 1 }}` },
        transform_before_filtering: true,
      },
    });
  expect(reasonsOf(child, code)).toEqual(['The field of the parent is changed by Python code']);
  // a filter that can't be taken over leaves no row out
  expect([filtered('id'), filtered('a')].map((of) => outcomeOf(of, code))).toEqual([
    'more rows',
    'equal rows, other columns',
  ]);
  // a field that is known only while it runs may be any of them
  expect(outcomeOf(filtered('a'), code.replace('"updated"', 'str(kwargs)'))).toBe('more rows');
});

test.each([
  [
    'requester',
    { requester: { type: 'CustomRequester', class_name: CLASS } },
    `
class Shop(a.HttpRequester):
    def send_request(self, **kwargs):
        kwargs["path"] = "/other"
        return super().send_request(**kwargs)
`,
    'line 8: another request',
  ],
  [
    'requester with a method for parameters',
    {
      requester: { type: 'CustomRequester', class_name: CLASS },
      incremental_sync: {
        type: 'DatetimeBasedCursor',
        cursor_field: 'at',
        datetime_format: '%Y-%m-%d',
        start_datetime: '2024-01-01',
        start_time_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'since' },
      },
    },
    `
class Shop(a.HttpRequester):
    def _request_params(self, stream_state, stream_slice, next_page_token, extra_params=None):
        extra_params.pop("since", None)
        return super()._request_params(stream_state, stream_slice, next_page_token, extra_params)
`,
    'line 8: other parameters',
  ],
  [
    'error handler',
    { requester: { error_handler: { type: 'CustomErrorHandler', class_name: CLASS } } },
    `
class Shop(a.DefaultErrorHandler):
    def interpret_response(self, response_or_exception):
        if isinstance(response_or_exception, requests.Response):
            return RETRY
        return super().interpret_response(response_or_exception)
`,
    'line 8: a judgement of its own',
  ],
  [
    'cursor',
    { incremental_sync: { type: 'CustomIncrementalSync', class_name: CLASS } },
    `
class Shop(a.DatetimeBasedCursor):
    @cached
    def get_request_params(self, **kwargs):
        return super().get_request_params(**kwargs)
`,
    'line 9: the decorator “cached”',
  ],
  [
    'cursor with a state of its own that has several slices',
    { incremental_sync: { type: 'CustomIncrementalSync', class_name: CLASS } },
    `
class Shop(a.DeclarativeCursor):
    def stream_slices(self):
        yield StreamSlice(partition={}, cursor_slice={})
        yield StreamSlice(partition={}, cursor_slice={"since": 1})
`,
    'line 8: slices of its own',
  ],
  [
    'cursor with a state of its own that it sends',
    { incremental_sync: { type: 'CustomIncrementalSync', class_name: CLASS } },
    `
class Shop(a.DeclarativeCursor):
    def get_request_headers(self, **kwargs):
        return {"since": "1"}
`,
    'line 8: parts of the request',
  ],
  ...[
    ['changes the answer', 'args[1].status_code = 200', 'func(*args, **kwargs)'],
    ['calls what is not known', 'note(args)', 'func(*args, **kwargs)'],
    ['judges by itself', 'sleep(1)', 'func(*args, **kwargs) or RETRY'],
  ].map(([what, before, given]): [string, Part, string, string] => [
    `error handler with a decorator that ${what}`,
    { requester: { error_handler: { type: 'CustomErrorHandler', class_name: CLASS } } },
    `
def around(func):
    def wrapper(*args, **kwargs):
        ${before}
        return ${given}
    return wrapper

class Shop(a.DefaultErrorHandler):
    @around
    def interpret_response(self, response_or_exception):
        return super().interpret_response(response_or_exception)
`,
    'line 15: the decorator “around”',
  ]),
  [
    'partition router',
    { retriever: { partition_router: { type: 'CustomPartitionRouter', class_name: CLASS } } },
    `
class Shop(a.SubstreamPartitionRouter):
    def stream_slices(self):
        for shop in self.config["shops"]:
            yield StreamSlice(partition={"shop": shop, "day": 1}, cursor_slice={})
`,
    ': a slice of several values',
  ],
  [
    'partition router with a slice where a parent has no rows',
    {
      retriever: {
        partition_router: {
          type: 'CustomPartitionRouter',
          class_name: CLASS,
          parent_stream_configs: [
            { parent_key: 'id', partition_field: 'shop', stream: stream('shops', '/shops') },
          ],
        },
      },
    },
    `
class Shop(a.SubstreamPartitionRouter):
    def stream_slices(self):
        names = [row["name"] for row in self.parent_stream_configs[0].stream.read_records(sync_mode=1)]
        if names:
            for name in names:
                yield StreamSlice(partition={"shop": name}, cursor_slice={})
        else:
            yield StreamSlice(partition={"shop": "all"}, cursor_slice={})
`,
    'line 8: slices for want of rows of a parent',
  ],
  [
    'extractor that chooses by a field of what is around',
    { selector: { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } } },
    `
class Shop(a.RecordExtractor):
    def extract_records(self, response):
        for shop in response.json()["shops"]:
            if shop["open"]:
                yield from shop["items"]
`,
    ': Shop chooses rows by what is around them',
  ],
  [
    'extractor that chooses by a field that it changes',
    { selector: { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } } },
    `
class Shop(a.RecordExtractor):
    def extract_records(self, response):
        for item in response.json()["items"]:
            item["kind"] = item.get("kind") or "book"
            if item["kind"] == "book":
                yield item
`,
    ': Shop chooses rows by fields that it changes',
  ],
  [
    'extractor that chooses by other rows',
    { selector: { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } } },
    `
class Shop(a.RecordExtractor):
    def extract_records(self, response):
        found = False
        for item in response.json()["items"]:
            if item["last"]:
                found = True
        for item in response.json()["items"]:
            if found:
                yield item
`,
    ': what a loop leaves',
  ],
  [
    'extractor that gives the last row',
    { selector: { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } } },
    `
class Shop(a.RecordExtractor):
    def extract_records(self, response):
        for item in response.json()["items"]:
            last = item
        yield last
`,
    'line 8: rows that are not understood',
  ],
  [
    'extractor whose method keeps what it has read',
    { selector: { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } } },
    `
class Shop(a.RecordExtractor):
    def is_new(self, item):
        self.last = item
        return item

    def extract_records(self, response):
        for item in response.json()["items"]:
            yield self.is_new(item)
`,
    'line 8: what it has read is kept',
  ],
  [
    'extractor that takes rows from several objects of an item',
    { selector: { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } } },
    `
class Shop(a.RecordExtractor):
    def extract_records(self, response):
        for item in response.json()["items"]:
            yield item["inner"] or item["outer"]
`,
    ': Shop takes rows from several objects of an item',
  ],
  [
    'extractor with rows of several places',
    { selector: { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } } },
    `
class Shop(a.RecordExtractor):
    def extract_records(self, response):
        data = response.json()
        return data["new"] if "new" in data else data["old"]
`,
    ': Shop finds rows in several ways',
  ],
  [
    'retriever that reads twice',
    { retriever: { type: 'CustomRetriever', class_name: CLASS } },
    `
class Shop(a.SimpleRetriever):
    def _read_pages(self, records_generator_fn, stream_slice):
        yield from super()._read_pages(records_generator_fn, stream_slice)
        yield from super()._read_pages(records_generator_fn, stream_slice)
`,
    'line 8: other pages',
  ],
  [
    'decoder without the parser of JSON',
    { retriever: { decoder: { type: 'CustomDecoder', class_name: CLASS } } },
    `
class Shop(a.Decoder):
    def decode(self, response):
        yield from csv.reader(response.text)
`,
    'line 8: answers that are not handed to the parser of JSON',
  ],
  [
    'requester with another path',
    { requester: { type: 'CustomRequester', class_name: CLASS } },
    `
class Shop(a.HttpRequester):
    def __post_init__(self, parameters):
        super().__post_init__(parameters)
        self._path = "other"
`,
    'line 8: another address',
  ],
  [
    'filter that remembers',
    { selector: { record_filter: { type: 'CustomRecordFilter', class_name: CLASS } } },
    `
class Shop(a.RecordFilter):
    def filter_records(self, records, stream_state, stream_slice=None, **kwargs):
        seen = set()
        for record in records:
            if record["id"] not in seen:
                seen.add(record["id"])
                yield record
`,
    'line 11: “record["id"] not in seen”',
  ],
  [
    'filter that gives a record twice',
    { selector: { record_filter: { type: 'CustomRecordFilter', class_name: CLASS } } },
    `
class Shop(a.RecordFilter):
    def filter_records(self, records, stream_state, stream_slice=None, **kwargs):
        for record in records:
            yield record
            yield record
`,
    'line 8: other records than those that it is given',
  ],
])('a %s that does more than what it extends is refused', (_, parts, code, why) => {
  expect(reasonsOf(stream('items', '/a', parts), code)).toEqual([
    `Python code: ${CLASS} (components.py${why.startsWith(':') ? '' : ', '}${why})`,
  ]);
});

test('an extractor with more conditions than can be followed is refused', () => {
  const conditions = 'a b c d e f g h i'
    .split(' ')
    .map((name) => `            if item["${name}"]: continue\n`)
    .join('');
  const code = `
class Shop(a.RecordExtractor):
    def extract_records(self, response):
        for item in response.json()["items"]:
${conditions}            yield item
`;
  const selector = { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } };
  expect(reasonsOf(stream('items', '/a', { selector }), code)).toEqual([
    `Python code: ${CLASS} (too many conditions that are known only while it runs)`,
  ]);
});

const router = `
from airbyte_cdk.sources.declarative.partition_routers import SubstreamPartitionRouter
from airbyte_cdk.sources.types import StreamSlice

class Shop(SubstreamPartitionRouter):
    def stream_slices(self):
        shop = self.config.get("shop")
        if shop:
            yield StreamSlice(partition={"id": shop}, cursor_slice={})
        else:
            yield from super().stream_slices()
`;

// a secret is known by whether it is there, and its value is that of the run
test.each([
  ['there', { shop: 's' }, { over: { id: { function: 'split', args: [{ attr: 'settings.#shop' }, '\n'] } } }],
  ['left out', {}, { endpoint: 'shops' }],
  ['not given yet', undefined, { endpoint: 'shops' }],
])(
  'a router that asks for a secret which is %s, in a specification beside the manifest',
  (_, settings, job) => {
    const items = stream('items', '/{{ stream_partition.id }}', {
      retriever: {
        partition_router: {
          type: 'CustomPartitionRouter',
          class_name: CLASS,
          parent_stream_configs: [
            { parent_key: 'id', partition_field: 'id', stream: stream('shops', '/shops') },
          ],
        },
      },
    });
    const specification = {
      connectionSpecification: { properties: { shop: { type: 'string', airbyte_secret: true } } },
    };
    const { configuration, report } = importAirbyte(
      manifestOf({ stream: items, more: { spec: undefined } }, 'https://a.example'),
      {
        file: 'shop.yaml',
        settings,
        readBeside: (file) =>
          ({ 'components.py': router, 'spec.json': JSON.stringify(specification) })[file] ?? undefined,
      },
    );
    expect(report.streams).toMatchObject([{ outcome: 'exact', reasons: [] }]);
    expect(configuration).toMatchObject({
      rows: [{ configuration: { parameters: { config: { jobs: [job] } } } }],
    });
  },
);

test('a requester that makes a parameter of the schema in a file, and compares itself with others', () => {
  const code = `
from airbyte_cdk.sources.declarative.requesters.http_requester import HttpRequester
from airbyte_cdk.sources.declarative.schema.json_file_schema_loader import JsonFileSchemaLoader

class Shop(HttpRequester):
    def get_request_params(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        loader = JsonFileSchemaLoader(config=self.config, parameters={"name": self.name})
        return {"fields": ",".join(loader.get_json_schema()["properties"].keys())}

    def __hash__(self):
        return hash(tuple(self.__dict__))
`;
  const items = stream('items', '/a', { requester: { type: 'CustomRequester', class_name: CLASS } });
  const { configuration, report } = importAirbyte(manifestOf({ stream: items }, 'https://a.example'), {
    file: 'shop.yaml',
    readBeside: (file) =>
      ({
        'components.py': code,
        'schemas/items.json': '{"properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}',
      })[file],
  });
  expect(report.streams).toMatchObject([{ outcome: 'exact', reasons: [] }]);
  expect(JSON.stringify(configuration)).toContain('"params":{"fields":"id,name"}');
});

test('without settings the first kind of login that is understood is the one that is filled in', () => {
  const authenticator = {
    type: 'SelectiveAuthenticator',
    authenticator_selection_path: ['login', 'how'],
    authenticators: {
      code: { type: 'CustomAuthenticator', class_name: CLASS },
      token: { type: 'BearerAuthenticator', api_token: "{{ config['login']['token'] }}" },
    },
  };
  const kinds = ['code', 'token'].map((how) => ({
    properties: { how: { type: 'string', const: how }, token: {} },
  }));
  const specification = { properties: { login: { oneOf: kinds } } };
  const { configuration } = importAirbyte(
    manifestOf(
      {
        stream: stream('items', '/a', { requester: { authenticator } }),
        more: { spec: { type: 'Spec', connection_specification: specification } },
      },
      'https://a.example',
    ),
    { file: 'shop.yaml' },
  );
  expect(configuration).toHaveProperty('configuration.parameters.config.settings.login.how', 'token');
});

test('a choice of logins none of which is understood says why', () => {
  const authenticator = {
    type: 'SelectiveAuthenticator',
    authenticator_selection_path: ['how'],
    authenticators: { code: { type: 'CustomAuthenticator', class_name: CLASS } },
  };
  expect(reasonsOf(stream('items', '/a', { requester: { authenticator } }), undefined)).toEqual([
    `Python code: ${CLASS} (no file beside the manifest has this class)`,
    'No counterpart: a choice of logins none of which is understood',
  ]);
});

const withShops = stream('items', '/a', {
  retriever: {
    partition_router: {
      type: 'ListPartitionRouter',
      cursor_field: 'shop',
      values: "{{ config['shops'] | unique | list }}",
    },
  },
});

test('a list that has to be given is taken for its examples where its value must be known now', () => {
  const shops = { type: 'array', examples: ['a/b', 'a/*', 'a/b'] };
  const specification = { properties: { shops }, required: ['shops'] };
  const { configuration, report } = importAirbyte(
    manifestOf(
      { stream: withShops, more: { spec: { type: 'Spec', connection_specification: specification } } },
      'https://a.example',
    ),
    { file: 'shop.yaml' },
  );
  expect(report.streams).toMatchObject([{ outcome: 'exact' }]);
  expect(report.streams[0]?.notes).toContain(
    '“shops” is taken for the examples of the specification, as no settings are given: import it with --settings that have your own.',
  );
  expect(report.settings.map(({ key }) => key)).toEqual(['settings.shops']);
  expect(JSON.stringify(configuration)).toContain('"over":{"shop":["a/b","a/*"]}');
});

test('a template that settings alone would work out names them', () => {
  const items = withShops;
  const specification = { properties: { shops: { type: 'array' } }, required: ['shops'] };
  const more = { spec: { type: 'Spec', connection_specification: specification } };
  const reasons = reasonsOf(items, undefined, {}, more);
  expect(reasons).toEqual(['No counterpart: the filter unique; import it with --settings that have “shops”']);
});

test('a basic login that joins a list is that of the client, for refresh tokens of one use', () => {
  const credentials = "{{ [config['id'], config['secret']] | join(':') | base64encode }}";
  const items = stream('items', '/a', {
    requester: {
      authenticator: {
        type: 'OAuthAuthenticator',
        token_refresh_endpoint: 'https://a.example/t',
        client_id: "{{ config['id'] }}",
        client_secret: "{{ config['secret'] }}",
        refresh_token: "{{ config['token'] }}",
        refresh_request_headers: { Authorization: `Basic ${credentials}` },
        refresh_token_updater: {},
      },
    },
  });
  expect(reasonsOf(items, undefined)).toEqual([]);
});

// the answer is read by other functions than those of the tool
test.each([
  [
    'XML',
    'xmltodict.parse(response.text)["shops"].get("shop") or []',
    { format: 'xml', dataField: 'shops.shop' },
  ],
  [
    'XML whose names have dashes',
    'self._listed(XmlUtil.dict_from_xml(response.text)["all_shops"], "one_shop")',
    { format: 'xml', dataField: 'all-shops.one-shop' },
  ],
  ['JSON', 'json.loads(response.content)["shops"]', { dataField: 'shops' }],
])('an extractor that reads %s by itself, and makes objects of the items', (_, rows, job) => {
  const code = `
import json
import xmltodict
from braintree.util.xml_util import XmlUtil
from shop import Shop as Model
from airbyte_cdk.sources.declarative.extractors.record_extractor import RecordExtractor

class Shop(RecordExtractor):
    @staticmethod
    def _listed(found, name):
        if name not in found:
            return []
        value = found[name]
        if not isinstance(value, list):
            value = [value]
        return value

    def _plain(self, model):
        if isinstance(model, list):
            return [self._plain(one) if isinstance(one, Model) else one for one in model]
        return {name: self._plain(value) for name, value in model.__dict__.items()}

    def extract_records(self, response):
        return [Model(**self._plain(Model(None, shop))).dict() for shop in ${rows}]
`;
  const items = stream('items', '/a', {
    selector: { extractor: { type: 'CustomRecordExtractor', class_name: CLASS } },
  });
  const { configuration, report } = importAirbyte(manifestOf({ stream: items }, 'https://a.example'), {
    file: 'shop.yaml',
    readBeside: (file) => (file === 'components.py' ? code : undefined),
  });
  expect(report.streams).toMatchObject([{ outcome: 'equal rows, other columns', reasons: [] }]);
  expect(configuration).toMatchObject({
    rows: [{ configuration: { parameters: { config: { jobs: [job] } } } }],
  });
  expect(reasonsOf(items, code.replace(rows, 'xmltodict.parse(response.text)["shops"]'))).toEqual([
    expect.stringContaining('Shop takes the outermost element for rows'),
  ]);
});

test('a cursor whose code writes times in a form that is not read is refused', () => {
  const incremental_sync = {
    type: 'CustomIncrementalSync',
    class_name: CLASS,
    cursor_field: 'at',
    datetime_format: '%Y-%m-%d',
    start_datetime: '2024-01-01',
  };
  const code = `
from airbyte_cdk.sources.declarative.incremental import DatetimeBasedCursor

class Shop(DatetimeBasedCursor):
    def _format_datetime(self, dt):
        return pendulum.datetime(year=dt.year, month=dt.day, day=dt.month, tz=dt.tzinfo).to_iso8601_string()
`;
  expect(reasonsOf(stream('items', '/a', { incremental_sync }), code)).toEqual([
    expect.stringMatching(/^Python code: source_shop\.components\.Shop \(components\.py, line \d+/),
  ]);
});
