import {
  API,
  below,
  stream,
  times,
  type MockAnswer,
  type Part,
  type TwoRuns,
} from '../../support/two-runs.ts';

const by = (name: string, more: Part = {}): Part =>
  stream('items', '/a', {
    requester: {
      authenticator: { type: 'CustomAuthenticator', class_name: `source_shop.components.${name}`, ...more },
    },
  });

const rows: MockAnswer = ({ pathname }) =>
  pathname === '/login' ? { token: { key: 'T', kind: 'Token' }, lasts: 3600 } : [{ id: 1 }];
const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines, lines];

const account = (id: string, status: string, more: Part = {}): Part => ({ account: { id, status, ...more } });

/** Keys of a retriever that reads pieces of JSON, and tries again. */
const PIECES: Part = {
  type: 'CustomRetriever',
  class_name: 'source_shop.components.Again',
  decoder: { type: 'CustomDecoder', class_name: 'source_shop.components.Pieces' },
};

/** Components that are classes of Python. */
export const CODE_CASES: readonly TwoRuns[] = [
  {
    name: 'a header that is made of a setting',
    stream: by('Keyed'),
    code: `
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import DeclarativeAuthenticator

PREFIX = "Key"

class Keyed(DeclarativeAuthenticator):
    """Puts the key into the header."""
    config: Config

    @property
    def auth_header(self) -> str:
        return "Authorization"

    @property
    def token(self) -> str:
        return f"{PREFIX} {self.config['account']['key']}"
`,
    settings: { account: { key: 'k' } },
    api: rows,
    asks: both('GET /a Key k'),
  },
  {
    name: 'a login whose token is kept',
    stream: by('Session', { user: "{{ config['user'] }}", secret: "{{ config['pass'] }}" }),
    code: `
import time
import requests
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import NoAuth
from airbyte_cdk.sources.declarative.interpolation import InterpolatedString

@dataclass
class Session(NoAuth):
    config: Config
    user: Union[InterpolatedString, str]
    secret: Union[InterpolatedString, str]
    _token = None
    _kind = None
    _made = 0

    def __post_init__(self, parameters):
        self._user = InterpolatedString.create(self.user, parameters=parameters).eval(self.config)
        self._secret = InterpolatedString.create(self.secret, parameters=parameters).eval(self.config)

    def __call__(self, request):
        if not self._token or time.time() - self._made > 600:
            self._token, self._kind = self.login()
        request.headers.update({"Authorization": f"{self._kind} {self._token}"})
        return request

    def login(self):
        self._made = time.time()
        try:
            body = {"user": self._user, "pass": self._secret}
            answer = requests.post("${API}/login", json=body, headers={"Content-Type": "application/json"})
            if answer.status_code != 200:
                raise ValueError(answer.text)
        except Exception as error:
            raise ValueError(f"no login: {error}")
        found = answer.json()["token"]
        return found["key"], found.get("kind")
`,
    settings: { user: 'u', pass: 'p' },
    api: rows,
    asks: both('GET /a Token T', 'POST /login application/json {"user":"u","pass":"p"}'),
  },
  {
    name: 'one of several, by a setting',
    stream: by('Either', {
      key: { type: 'BearerAuthenticator', api_token: "{{ config['key'] }}" },
      basic: { type: 'BasicHttpAuthenticator', username: "{{ config['user'] }}", password: 'x' },
    }),
    code: `
from airbyte_cdk.sources.declarative.auth.declarative_authenticator import DeclarativeAuthenticator

class Either(DeclarativeAuthenticator):
    def __new__(cls, key, basic, config, *args, **kwargs):
        if config["how"] == "key":
            return key
        elif not config.get("user") and config.get("key"):
            raise Exception("no user")
        return basic
`,
    settings: { how: 'other', key: 'k', user: 'u' },
    api: rows,
    asks: both('GET /a Basic dTp4'),
  },
  {
    name: 'a transformation leaves the rows as many as they are',
    stream: stream('items', '/a', {
      transformations: [{ type: 'CustomTransformation', class_name: 'source_shop.components.Emptied' }],
    }),
    code: `
from airbyte_cdk.sources.declarative.transformations import RecordTransformation

class Emptied(RecordTransformation):
    def transform(self, record, config=None, stream_state=None, stream_slice=None):
        record["note"] = record.pop("remark", None)
        for key, value in record.items():
            if value == "-":
                record[key] = None
        return record
`,
    outcome: 'equal rows, other columns',
    api: rows,
    asks: both('GET /a'),
    ids: [['1'], ['1']],
  },
  {
    name: 'values of a setting in place of a parent',
    stream: stream('items', '/{{ stream_partition.shop }}', {
      retriever: {
        partition_router: {
          type: 'CustomPartitionRouter',
          class_name: 'source_shop.components.Shops',
          $parameters: { wanted: 'shops' },
          parent_stream_configs: [
            { parent_key: 'id', partition_field: 'shop', stream: stream('shops', '/shops') },
          ],
        },
      },
    }),
    code: `
from airbyte_cdk.sources.declarative.partition_routers import SubstreamPartitionRouter
from airbyte_cdk.sources.types import StreamSlice

class Chosen(SubstreamPartitionRouter):
    def chosen(self):
        return self.config.get(self._parameters["wanted"], [])

    def stream_slices(self):
        yield from super().stream_slices()

class Shops(Chosen):
    def stream_slices(self):
        if self.chosen():
            for shop in self.chosen():
                yield StreamSlice(partition={"shop": shop, "parent_slice": {}}, cursor_slice={})
        else:
            yield from super().stream_slices()
`,
    settings: { shops: ['a', 'b'] },
    api: ({ pathname }) => [{ id: pathname.slice(1) }],
    asks: both('GET /a', 'GET /b'),
  },
  {
    name: 'the rows of a parent, for want of a setting',
    stream: stream('items', '/{{ stream_partition.shop }}', {
      retriever: {
        partition_router: {
          type: 'CustomPartitionRouter',
          class_name: 'source_shop.components.Shops',
          parent_stream_configs: [
            { parent_key: 'id', partition_field: 'id', stream: stream('shops', '/shops') },
          ],
        },
      },
    }),
    code: `
from airbyte_cdk.sources.declarative.partition_routers import SubstreamPartitionRouter
from airbyte_cdk.sources.types import StreamSlice

class Shops(SubstreamPartitionRouter):
    def stream_slices(self):
        shops = self.config.get("shops")
        if not shops:
            for config in self.parent_stream_configs:
                for item in config.stream.read_records(sync_mode=SyncMode.full_refresh):
                    yield StreamSlice(partition={"shop": item["code"]}, cursor_slice={})
        else:
            yield from super().stream_slices()
`,
    settings: {},
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 1, code: 'x' }] : [{ id: 7 }]),
    asks: both('GET /shops', 'GET /x'),
  },
  {
    name: 'a requester, an error handler and a cursor that do what they extend',
    stream: stream('items', '/a', {
      requester: {
        type: 'CustomRequester',
        class_name: 'source_shop.components.Paced',
        http_method: 'GET',
        request_parameters: { kind: 'x' },
        error_handler: { type: 'CustomErrorHandler', class_name: 'source_shop.components.Patient' },
      },
      incremental_sync: {
        type: 'CustomIncrementalSync',
        class_name: 'source_shop.components.Sorted',
        cursor_field: 'day',
        datetime_format: '%Y-%m-%d',
        start_datetime: '2024-06-01',
        start_time_option: { type: 'RequestOption', inject_into: 'request_parameter', field_name: 'since' },
      },
    }),
    code: `
from functools import wraps
from time import sleep
import requests
from airbyte_cdk.sources.declarative.incremental import DatetimeBasedCursor
from airbyte_cdk.sources.declarative.requesters import HttpRequester
from airbyte_cdk.sources.declarative.requesters.error_handlers import DefaultErrorHandler
from airbyte_cdk.sources.declarative.requesters.request_options import InterpolatedRequestOptionsProvider

class Paced(HttpRequester):
    request_parameters: Optional[RequestInput] = None

    def __post_init__(self, parameters):
        pace = self.config.get("pace")
        self._budget = Budget(pace) if pace else None
        self.request_options_provider = InterpolatedRequestOptionsProvider(
            request_parameters=self.request_parameters, config=self.config, parameters=parameters
        )
        super().__post_init__(parameters)

    def _spend(self, cost):
        if self._budget:
            self._budget.spend(cost)

    def send_request(self, **kwargs):
        self._spend(kwargs.pop("cost", 1))
        return super().send_request(**kwargs)

class Pace:
    @staticmethod
    def seconds(*args, least: float = 0.001):
        for arg in args:
            if isinstance(arg, requests.Response):
                headers = arg.headers or {}
        return max(least, int(headers.get("X-Wait", 0)) if headers else 0)

    @staticmethod
    def paced(least: float = 0.001):
        """Waits before it calls."""

        def decorator(func):
            @wraps(func)
            def wrapper(*args, **kwargs):
                sleep(Pace.seconds(*args, least=least))
                return func(*args, **kwargs)

            return wrapper

        return decorator

class Patient(DefaultErrorHandler):
    @Pace.paced()
    def interpret_response(self, response_or_exception):
        if isinstance(response_or_exception, InvalidURL):
            return ErrorResolution(response_action=ResponseAction.RETRY)
        return super().interpret_response(response_or_exception)

class Sorted(DatetimeBasedCursor):
    def get_request_params(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        params = super().get_request_params(stream_state=stream_state, stream_slice=stream_slice)
        params["sort"] = "day"
        return params
`,
    settings: {},
    api: () => [{ id: 1, day: '2024-06-30' }],
    asks: [['GET /a?kind=x&since=2024-06-01&sort=day'], ['GET /a?kind=x&since=2024-06-30&sort=day']],
  },
  {
    name: 'a map of settings that is given tells which of two settings is read',
    stream: stream('items', '/a', {
      requester: {
        authenticator: {
          type: 'BearerAuthenticator',
          api_token: "{{ config['login']['key'] if config.get('login') else config['key'] }}",
        },
        request_parameters: {
          app: "{{ config.get('login', config.get('old', {})).get('app') }}",
          until: "{{ config['end'].split('T')[0] if config['end'] else 'now' }}",
        },
      },
    }),
    settings: { login: { key: 'k', app: '4' }, end: '2024-06-30T00:00' },
    api: rows,
    asks: both('GET /a?app=4&until=2024-06-30 Bearer k'),
  },
  {
    name: 'records that code keeps, by a setting and by their fields',
    stream: stream('items', '/a', {
      selector: {
        record_filter: { type: 'CustomRecordFilter', class_name: 'source_shop.components.Kept' },
      },
    }),
    code: `
from functools import cached_property
from airbyte_cdk.sources.declarative.extractors.record_filter import RecordFilter

class Kept(RecordFilter):
    def __post_init__(self, parameters):
        super().__post_init__(parameters)
        self._seen = set()

    @cached_property
    def _by_name(self):
        names = self.config.get("names")
        return bool(names and isinstance(names, list))

    def filter_records(self, records, stream_state, stream_slice=None, **kwargs):
        for record in records:
            if self._by_name:
                if record["name"] not in self._seen:
                    self._seen.add(record["name"])
                    yield record
            elif record.get("kind") != "old":
                if record["size"] >= 2 or record.get("always"):
                    yield record
`,
    settings: {},
    api: () => [
      { id: 1, size: 1 },
      { id: 2, size: 2 },
      { id: 3, size: 3, kind: 'old' },
      { id: 4, size: 1, always: true },
    ],
    asks: both('GET /a'),
    ids: [
      ['2', '4'],
      ['2', '4'],
    ],
  },
  {
    name: 'records that code keeps in a list',
    stream: stream('items', '/a', {
      selector: {
        record_filter: { type: 'CustomRecordFilter', class_name: 'source_shop.components.Kept' },
      },
    }),
    code: `
from airbyte_cdk.sources.declarative.extractors.record_filter import RecordFilter

class Kept(RecordFilter):
    def filter_records(self, records, stream_state, stream_slice=None, **kwargs):
        least = self.config.get("least")
        if not least:
            return records
        return [record for record in records if record["size"] >= least]
`,
    settings: { least: 2 },
    api: () => [
      { id: 1, size: 1 },
      { id: 2, size: 2 },
    ],
    asks: both('GET /a'),
    ids: [['2'], ['2']],
  },
  {
    name: 'records since a day that code works out, in a feed',
    stream: stream('items', '/a', {
      ...times({ is_data_feed: true, start_time_option: undefined, start_datetime: '2022-01-01' }),
      selector: {
        record_filter: { type: 'CustomRecordFilter', class_name: 'source_shop.components.Recent' },
      },
    }),
    code: `
from datetime import timedelta
from airbyte_cdk.sources.declarative.extractors.record_filter import RecordFilter
from airbyte_cdk.utils.datetime_helpers import ab_datetime_format, ab_datetime_now

class Recent(RecordFilter):
    def filter_records(self, records, stream_state, stream_slice=None, **kwargs):
        usual = ab_datetime_format(ab_datetime_now() - timedelta(days=730), "%Y-%m-%d")
        least = self._later(self.config.get("since", usual), stream_state.get("at", {}))
        if least:
            return [record for record in records if record["at"] >= least]
        return records

    def _later(self, start, state):
        start = start or None
        state = state or None
        if state:
            return max(filter(None, [start, state]), default=start)
        return start
`,
    api: () => [
      { id: 1, at: '2024-06-30' },
      { id: 2, at: '2023-01-01' },
      { id: 3, at: '2022-06-30' },
    ],
    asks: both('GET /a'),
    ids: [['1', '2'], ['1']],
  },
  {
    name: 'slices of a parent that are taken apart, and put together again',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      requester: { request_parameters: { owner: "{{ stream_slice.extra_fields['owner'] }}" } },
      retriever: {
        partition_router: {
          type: 'CustomPartitionRouter',
          class_name: 'source_shop.components.Light',
          parent_stream_configs: [
            {
              type: 'ParentStreamConfig',
              parent_key: 'id',
              partition_field: 'shop',
              stream: stream('shops', '/shops', { retriever: below(stream('users', '/users'), 'user') }),
              extra_fields: [['owner']],
            },
          ],
        },
      },
    }),
    code: `
from airbyte_cdk.sources.declarative.partition_routers.substream_partition_router import SubstreamPartitionRouter
from airbyte_cdk.sources.types import StreamSlice

ABOVE = "parent_slice"

class Light(SubstreamPartitionRouter):
    def stream_slices(self):
        for each in super().stream_slices():
            partition: Dict[str, Any] = dict(each.partition)
            keys = list(partition.keys())
            if ABOVE in keys:
                keys.remove(ABOVE)
                partition.pop(ABOVE, None)
            if len(keys) != 1:
                raise ValueError(f"several keys: {partition}")
            yield StreamSlice(partition=partition, cursor_slice=each.cursor_slice, extra_fields=each.extra_fields)
`,
    settings: {},
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 1, owner: 'o' }] : [{ id: 7 }]),
    asks: both('GET /items/1?owner=o', 'GET /shops', 'GET /users'),
  },
  {
    name: 'rows of one of several parents, that a setting chooses, in all of its slices',
    stream: stream('items', '/items/{{ stream_partition.id }}', {
      retriever: {
        partition_router: {
          type: 'CustomPartitionRouter',
          class_name: 'source_shop.components.Chosen',
          parent_stream_configs: ['small', 'large'].map((name) => ({
            type: 'ParentStreamConfig',
            parent_key: 'id',
            partition_field: 'id',
            stream: stream(name, `/${name}/{{ stream_partition.n }}`, {
              retriever: {
                partition_router: { type: 'ListPartitionRouter', values: ['1', '2'], cursor_field: 'n' },
              },
            }),
          })),
        },
      },
    }),
    code: `
from airbyte_cdk.models import SyncMode
from airbyte_cdk.sources.declarative.partition_routers.substream_partition_router import SubstreamPartitionRouter
from airbyte_cdk.sources.types import StreamSlice

class Chosen(SubstreamPartitionRouter):
    def stream_slices(self):
        streams = {config.stream.name: config.stream for config in self.parent_stream_configs}
        chosen = streams["large"] if self.config.get("size") == "l" else streams["small"]
        for part in chosen.stream_slices(sync_mode=SyncMode.full_refresh):
            for row in chosen.read_records(sync_mode=SyncMode.full_refresh, stream_slice=part):
                yield StreamSlice(partition={"id": row["id"]}, cursor_slice={})
`,
    settings: { size: 'l' },
    api: ({ pathname }) => (pathname.startsWith('/items') ? [{ id: 7 }] : [{ id: pathname.slice(-1) }]),
    asks: both('GET /items/1', 'GET /items/2', 'GET /large/1', 'GET /large/2'),
  },
  {
    name: 'rows of two lists in items of a list, with a field more',
    stream: stream('items', '/a', {
      selector: { extractor: { type: 'CustomRecordExtractor', class_name: 'source_shop.components.Rows' } },
    }),
    code: `
import requests
from airbyte_cdk.sources.declarative.extractors.record_extractor import RecordExtractor

class Rows(RecordExtractor):
    def extract_records(self, response):
        records = []
        try:
            for shop in response.json()["shops"]:
                for item in shop.get("old", []):
                    item["kind"] = "old"
                    records.append(item)
            for shop in response.json()["shops"]:
                for item in shop.get("new", []):
                    item["kind"] = "new"
                    records.append(item)
        except requests.exceptions.JSONDecodeError:
            records = []
        return records
`,
    settings: {},
    outcome: 'equal rows, other columns',
    api: () => ({
      shops: [
        { old: [{ id: 1 }, { id: 2 }], new: [{ id: 3 }] },
        { old: [], new: [{ id: 4 }] },
      ],
    }),
    asks: both('GET /a'),
    ids: [
      ['1', '2', '3', '4'],
      ['1', '2', '3', '4'],
    ],
  },
  {
    name: 'a list of rows, or one row for want of it',
    stream: stream('items', "/{{ stream_partition['kind'] }}", {
      selector: { extractor: { type: 'CustomRecordExtractor', class_name: 'source_shop.components.Rows' } },
      retriever: {
        partition_router: { type: 'ListPartitionRouter', values: ['many', 'one'], cursor_field: 'kind' },
      },
    }),
    code: `
from airbyte_cdk.sources.declarative.extractors.record_extractor import RecordExtractor

class Rows(RecordExtractor):
    def extract_records(self, response):
        data = response.json()
        if not data:
            return []
        if isinstance(data, dict) and "items" in data:
            return data["items"]
        if isinstance(data, dict):
            return [data]
        return []
`,
    settings: {},
    api: ({ pathname }) => (pathname === '/many' ? { items: [{ id: 1 }, { id: 2 }] } : { id: 3 }),
    asks: both('GET /many', 'GET /one'),
    ids: [
      ['1', '2', '3'],
      ['1', '2', '3'],
    ],
  },
  {
    name: 'rows that are made of the texts in a list',
    stream: stream('items', '/a', {
      selector: {
        extractor: {
          type: 'CustomRecordExtractor',
          class_name: 'source_shop.components.Labels',
          field_path: ['values'],
        },
      },
    }),
    code: `
from airbyte_cdk.sources.declarative.extractors import DpathExtractor

class Labels(DpathExtractor):
    def extract_records(self, response):
        records = super().extract_records(response)
        return [{"label": record} for record in records]
`,
    settings: {},
    outcome: 'equal rows, other columns',
    api: () => ({ values: ['a', 'b'] }),
    asks: both('GET /a'),
  },
  {
    name: 'rows that code makes of the items of a list in each record, with the record around them',
    stream: stream('items', '/items', {
      selector: {
        extractor: {
          type: 'CustomRecordExtractor',
          class_name: 'source_shop.components.Unpacked',
          field_path: ['orders'],
        },
      },
      ...times(),
    }),
    code: `
from airbyte_cdk.sources.declarative.extractors import DpathExtractor
from airbyte_cdk.sources.declarative.extractors.record_extractor import RecordExtractor

class Unpacked(DpathExtractor):
    def extract_records(self, response):
        orders = super().extract_records(response=response)
        yield from ({**order, **line} for order in orders for line in order.pop("lines", []))
`,
    outcome: 'equal rows, other columns',
    api: () => ({
      orders: [
        {
          id: 1,
          at: '2024-01-02',
          lines: [
            { id: 11, at: '2024-06-01' },
            { id: 12, at: '2024-06-30' },
          ],
        },
        { id: 2, at: '2024-06-29', lines: [] },
      ],
    }),
    asks: [['GET /items?since=2024-01-01'], ['GET /items?since=2024-06-30']],
    ids: [
      ['11', '12'],
      ['11', '12'],
    ],
  },
  {
    name: 'rows that code makes of fields of each record',
    stream: stream('items', '/items', {
      selector: {
        extractor: {
          type: 'CustomRecordExtractor',
          class_name: 'source_shop.components.Packed',
          field_path: [],
        },
      },
      ...times(),
    }),
    code: `
from airbyte_cdk.sources.declarative.extractors import DpathExtractor
from airbyte_cdk.sources.declarative.extractors.record_extractor import RecordExtractor

class Packed(DpathExtractor):
    usual = ("id", "at")

    def extract_records(self, response):
        for record in super().extract_records(response=response):
            made = {}
            for name in self.usual:
                made[name] = record.pop(name, None)
            yield {**made, "more": record}
`,
    outcome: 'equal rows, other columns',
    api: () => [{ id: 1, at: '2024-06-30', a: 1 }],
    asks: [['GET /items?since=2024-01-01'], ['GET /items?since=2024-06-30']],
    ids: [['1'], ['1']],
  },
  {
    name: 'rows of two lists that code sorts',
    stream: stream('items', '/items', {
      selector: { extractor: { type: 'CustomRecordExtractor', class_name: 'source_shop.components.Sorted' } },
    }),
    code: `
from airbyte_cdk.sources.declarative.extractors import DpathExtractor
from airbyte_cdk.sources.declarative.extractors.record_extractor import RecordExtractor

class Sorted(RecordExtractor):
    def extract_records(self, response):
        found = response.json()
        old: List[Mapping[str, Any]] = found.get("old", [])
        new: List[Mapping[str, Any]] = found.get("new", [])
        yield from sorted(old + new, key=lambda each: each["at"] if each["at"] else "")
`,
    api: () => ({
      old: [{ id: 2, at: '2' }],
      new: [
        { id: 1, at: '1' },
        { id: 3, at: null },
      ],
    }),
    asks: both('GET /items'),
    ids: [
      ['1', '2', '3'],
      ['1', '2', '3'],
    ],
  },
  {
    name: 'what a retriever, a decoder and a requester in Python make of lists of parts, below texts that come twice',
    stream: stream('items', '/items/{{ stream_partition.account }}', {
      requester: {
        type: 'CustomRequester',
        class_name: 'source_shop.components.Queries',
        name: 'any',
        schema_loader: {
          type: 'InlineSchemaLoader',
          schema: { items: { properties: { id: {}, 'metrics.clicks': {} } } },
        },
      },
      selector: { extractor: { type: 'DpathExtractor', field_path: ['results'] } },
      retriever: {
        ...PIECES,
        ...below(
          stream('accounts', '/accounts/{{ stream_partition.key }}', {
            selector: {
              extractor: { type: 'DpathExtractor', field_path: ['results', '*', 'account'] },
              record_filter: { type: 'CustomRecordFilter', class_name: 'source_shop.components.Once' },
            },
            retriever: {
              ...PIECES,
              ...below(
                stream('keys', '/keys', {
                  selector: {
                    extractor: { type: 'CustomRecordExtractor', class_name: 'source_shop.components.Last' },
                  },
                }),
                'key',
                { parent_key: 'key' },
              ),
            },
          }),
          'account',
          { extra_fields: [['manager']] },
        ),
      },
    }),
    code: `
import io
from dataclasses import dataclass
from typing import Any, ClassVar, Optional
import requests
from airbyte_cdk.sources.declarative.decoders.composite_raw_decoder import JsonParser
from airbyte_cdk.sources.declarative.decoders.decoder import Decoder
from airbyte_cdk.sources.declarative.extractors.dpath_extractor import (
    DpathExtractor,
)
from airbyte_cdk.sources.declarative.extractors.record_extractor import RecordExtractor
from airbyte_cdk.sources.declarative.extractors.record_filter import RecordFilter
from airbyte_cdk.sources.declarative.requesters.http_requester import HttpRequester
from airbyte_cdk.sources.declarative.retrievers.simple_retriever import SimpleRetriever
from airbyte_cdk.sources.declarative.schema.inline_schema_loader import InlineSchemaLoader

def _mount(requester: Any) -> None:
    client = getattr(requester, "_http_client", None)
    session = getattr(client, "_session", None) if client is not None else None
    if session is not None:
        session.mount("https://", requests.adapters.HTTPAdapter())

@dataclass
class Again(SimpleRetriever):
    TRIES: ClassVar[int] = 3
    decoder: Optional[Decoder] = None

    def __post_init__(self, parameters):
        super().__post_init__(parameters)
        if hasattr(self.requester, "name"):
            self.requester.name = self.name
        if self.decoder and isinstance(self.record_selector.extractor, DpathExtractor):
            self.record_selector.extractor.decoder = self.decoder
        _mount(self.requester)

    def _read_pages(self, records_generator_fn, stream_slice):
        yield from self._again(records_generator_fn, stream_slice, count=0)

    def _again(self, records_generator_fn, stream_slice, count):
        try:
            yield from super()._read_pages(records_generator_fn, stream_slice)
        except requests.exceptions.ChunkedEncodingError as error:
            if count < self.TRIES:
                yield from self._again(records_generator_fn, stream_slice, count + 1)
                return
            raise ValueError("it breaks off") from error

@dataclass
class Pieces(Decoder):
    most: int = 1000

    def __post_init__(self):
        self.parser = JsonParser()

    def is_stream_response(self):
        return True

    def decode(self, response):
        buffer = bytearray()
        chunks = response.iter_content(chunk_size=self.most)
        while chunk := next(chunks, None):
            buffer.extend(chunk)
        yield from self.parser.parse(io.BytesIO(bytes(buffer)))

class Last(RecordExtractor):
    def extract_records(self, response):
        names = response.json().get("names", [])
        if names:
            for name in names:
                yield {"key": name.split("/")[-1]}

@dataclass
class Once(RecordFilter):
    def __post_init__(self, parameters):
        super().__post_init__(parameters)
        self._seen = set()

    def filter_records(self, records, stream_state, stream_slice=None, **kwargs):
        for record in records:
            if record["status"] not in (self.config.get("states") or ["on", "new"]):
                continue
            key = record["id"]
            if key not in self._seen:
                self._seen.add(key)
                yield record

@dataclass
class Queries(HttpRequester):
    schema_loader: InlineSchemaLoader = None

    def get_request_params(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        schema = self.schema_loader.get_json_schema()[self.name]["properties"]
        manager = stream_slice.extra_fields.get("manager", False)
        other = stream_slice.extra_fields.get("other", "none")
        fields = [field for field in schema.keys() if not (manager and field.startswith("metrics."))]
        return {"q": f"{', '.join(fields)} {other}", "above": stream_slice["parent_slice"]["key"]}
`,
    outcome: 'more rows',
    api: ({ pathname }) => {
      if (pathname === '/keys') return { names: ['keys/1', 'keys/2'] };
      const [, list, key] = pathname.split('/');
      if (list === 'accounts')
        return [
          { results: [account(`${key}1`, 'on', { manager: true }), account('9', 'new')] },
          { results: [account(`${key}3`, 'off')] },
        ];
      return key === '9'
        ? { results: [{ id: 9 }] }
        : [{ results: [{ id: key }] }, { results: [{ id: `${key}0` }] }];
    },
    // the other tool asks once for the account that comes twice
    asks: both(
      'GET /accounts/1',
      'GET /accounts/2',
      'GET /items/11?above=1&q=id+none',
      'GET /items/21?above=2&q=id+none',
      'GET /items/9?above=1&q=id,+metrics.clicks+none',
      'GET /items/9?above=2&q=id,+metrics.clicks+none',
      'GET /keys',
    ),
    ids: [
      ['11', '110', '21', '210', '9', '9'],
      ['11', '110', '21', '210', '9', '9'],
    ],
  },
];
