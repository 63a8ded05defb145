import { pages, stream, times, type Part, type TwoRuns } from '../../support/two-runs.ts';

const CODE = `
from dataclasses import InitVar, dataclass
from typing import Any, Mapping, Union
from airbyte_cdk.sources.declarative.incremental import DeclarativeCursor
from airbyte_cdk.sources.declarative.interpolation.interpolated_string import InterpolatedString
from airbyte_cdk.sources.declarative.requesters.request_option import RequestOptionType
from airbyte_cdk.sources.declarative.types import Config, Record, StreamSlice, StreamState

@dataclass
class Whole(DeclarativeCursor):
    cursor_field: Union[InterpolatedString, str]
    config: Config
    parameters: InitVar[Mapping[str, Any]]

    def __post_init__(self, parameters):
        self._state = {}
        self._newest = None

    def get_request_params(self, stream_state=None, stream_slice=None, next_page_token=None):
        return self._none(RequestOptionType.request_parameter, stream_slice)

    def get_request_headers(self, stream_state=None, stream_slice=None, next_page_token=None):
        return {}

    def get_request_body_data(self, stream_state=None, stream_slice=None, next_page_token=None):
        return {}

    def get_request_body_json(self, stream_state=None, stream_slice=None, next_page_token=None):
        return {}

    def _none(self, kind, stream_slice):
        return {}

    def get_stream_state(self):
        return self._state

    def select_state(self, stream_slice=None):
        return self._state

    def set_initial_state(self, stream_state):
        if stream_state.get("at"):
            self._state["at"] = stream_state["at"]
            self._state["before"] = self._state.copy()
            self._newest = stream_state["at"]

    def observe(self, stream_slice, record):
        if record.get("at") and record["at"] > (self._newest or 0):
            self._newest = record["at"]

    def close_slice(self, stream_slice, *args):
        self._state["at"] = self._newest

    def stream_slices(self):
        yield StreamSlice(partition={}, cursor_slice={})

    def should_be_synced(self, record):
        return True

    def is_greater_than_or_equal(self, first, second):
        return first["at"] > second["at"]
`;

const whole: Part = {
  incremental_sync: {
    type: 'CustomIncrementalSync',
    class_name: 'source_shop.components.Whole',
    cursor_field: 'at',
  },
};

const search = (since: string, more = ''): string =>
  `POST /items/search application/json {"query":{"field":"at","value":[${since}]}${more}}`;

const dated = (more: Part = {}): Part =>
  stream('items', '/items', {
    ...times(more),
    transformations: [{ type: 'CustomTransformation', class_name: 'source_shop.components.Dates' }],
  });

/**
 * Streams whose state a class of Python keeps, which airbyte-cdk 4.6.2 still knows: these are its requests and rows of
 * the first run. In the second one it leaves out what its state says.
 */
export const OWN_STATE_CASES: readonly TwoRuns[] = [
  {
    name: 'a filter by a state of its own form',
    stream: stream('items', '/items', {
      selector: {
        record_filter: {
          condition:
            "{{ record['at'] >= ((stream_state.get('before', {}).get('at', 0) if stream_state else stream_slice.get('before', {}).get('at', 0)) - 10) }}",
        },
      },
      ...whole,
    }),
    code: CODE,
    api: () => [
      { id: 1, at: 100 },
      { id: 2, at: 300 },
      { id: 3, at: 200 },
    ],
    outcome: 'more rows',
    asks: [['GET /items'], ['GET /items']],
    ids: [
      ['1', '2', '3'],
      ['1', '2', '3'],
    ],
  },
  {
    name: 'a search since a state of its own form, with pages',
    stream: stream('items', '/items/search', {
      requester: {
        http_method: 'POST',
        request_body_json: {
          query:
            "{ 'field': 'at', 'value': [{{ stream_slice.get('before', stream_state.get('before', {})).get('at') or format_datetime(config['since'], '%s') }}] }",
          page: "{ 'size': 2, 'after': '{{ next_page_token.get('next_page_token').get('after') }}' }",
        },
      },
      selector: { extractor: { type: 'DpathExtractor', field_path: ['rows'] } },
      retriever: pages(
        {
          type: 'CursorPagination',
          cursor_value: "{{ response.get('pages', {}).get('next') }}",
          stop_condition: "{{ 'next' not in response.get('pages', {}) }}",
        },
        undefined,
      ),
      ...whole,
    }),
    code: CODE,
    settings: { since: '1970-01-01T00:01:40Z' },
    api: (_, body) =>
      body.includes('page')
        ? { rows: [{ id: 3, at: 300 }], pages: {} }
        : {
            rows: [
              { id: 1, at: 100 },
              { id: 2, at: 200 },
            ],
            pages: { next: { after: 'b' } },
          },
    outcome: 'more rows',
    asks: [
      [search('100'), search('100', ',"page":{"size":2,"after":"b"}')].toSorted(),
      [search('100'), search('100', ',"page":{"size":2,"after":"b"}')].toSorted(),
    ],
    ids: [
      ['1', '2', '3'],
      ['1', '2', '3'],
    ],
  },
  ...[
    { name: 'sent', more: {}, since: '?since=2024-01-01' },
    {
      name: 'used for a filter',
      more: { is_client_side_incremental: true, start_time_option: undefined },
      since: '',
    },
  ].map(({ name, more, since }): TwoRuns => ({
    // airbyte-cdk 7.39.1 has the same first run, and asks or filters since 2024-05-02 in the second one
    name: `a state that is ${name}, of a field that Python code writes in another form`,
    stream: dated(more),
    code: `
from dataclasses import dataclass
from datetime import datetime
from airbyte_cdk.sources.declarative.transformations import RecordTransformation

@dataclass
class Dates(RecordTransformation):
    def transform(self, record, config=None, stream_state=None, stream_slice=None):
        record["at"] = datetime.strptime(record["at"], "%m/%d/%Y").strftime("%Y-%m-%d")
`,
    api: () => [
      { id: 1, at: '05/01/2024' },
      { id: 2, at: '05/02/2024' },
    ],
    outcome: 'more rows',
    asks: [[`GET /items${since}`], [`GET /items${since}`]],
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  })),
  {
    name: 'a cursor whose code puts the state into the request in a form of its own',
    stream: stream('items', '/items', {
      incremental_sync: {
        type: 'CustomIncrementalSync',
        class_name: 'source_shop.components.Ranged',
        cursor_field: 'at',
        datetime_format: '%Y-%m-%d',
        start_datetime: '2024-01-01',
      },
    }),
    code: `
from airbyte_cdk.sources.declarative.incremental import DatetimeBasedCursor

class Ranged(DatetimeBasedCursor):
    def get_request_params(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        params = {"sort": "at"}
        if self.cursor_field in stream_state:
            params[f"filter[{self.cursor_field}]"] = stream_state[self.cursor_field] + "..inf"
        return params
`,
    outcome: 'more rows',
    api: () => [{ id: 1, at: '2024-06-20' }],
    asks: [['GET /items?sort=at'], ['GET /items?sort=at']],
    ids: [['1'], ['1']],
  },
  ...[
    {
      name: 'sends',
      request_parameters: {
        since: "{{ stream_state['at'] }}",
        after:
          "{{ format_datetime(config['start'] if stream_state['at'] is not defined else stream_state.at, '%Y') }}",
      },
      asked: '?after=2024',
      record_filter: undefined,
    },
    {
      name: 'leaves rows out by',
      request_parameters: {},
      asked: '',
      record_filter: { condition: "{{ record['at'] > stream_state.get('at', '2024-05-01') }}" },
    },
  ].map(({ name, request_parameters, asked, record_filter }): TwoRuns => ({
    name: `a stream that ${name} its state by a template, as older versions of the other tool do`,
    stream: stream('items', '/items', {
      requester: { request_parameters },
      selector: { record_filter },
      ...times({ start_time_option: undefined }),
    }),
    settings: { start: '2024-01-01' },
    outcome: 'more rows',
    api: () => [
      { id: 1, at: '2024-05-01' },
      { id: 2, at: '2024-06-20' },
    ],
    asks: [[`GET /items${asked}`], [`GET /items${asked}`]],
    ids:
      record_filter === undefined
        ? [
            ['1', '2'],
            ['1', '2'],
          ]
        : [['2'], ['2']],
  })),
  {
    // airbyte-cdk 4.6.2 has the same first run, and asks for the same moment with "+00:00" in the second one
    name: 'a cursor whose code reads times in any form, and writes them as ISO 8601',
    stream: stream('items', '/items', {
      incremental_sync: {
        type: 'CustomIncrementalSync',
        class_name: 'source_shop.components.AnyForm',
        cursor_field: 'at',
        datetime_format: '%Y-%m-%d',
        cursor_granularity: 'PT0.000001S',
        step: 'P365D',
        start_datetime: '2023-01-01',
        start_time_option: { field_name: 'from', inject_into: 'request_parameter' },
        end_time_option: { field_name: 'to', inject_into: 'request_parameter' },
      },
    }),
    code: `
import datetime
import pendulum
from airbyte_cdk.sources.declarative.incremental import DatetimeBasedCursor

class AnyForm(DatetimeBasedCursor):
    def _format_datetime(self, dt: datetime.datetime) -> str:
        return pendulum.datetime(
            year=dt.year, month=dt.month, day=dt.day,
            hour=dt.hour, minute=dt.minute, second=dt.second, microsecond=dt.microsecond,
            tz=dt.tzinfo or self._timezone,
        ).to_iso8601_string()

    def parse_date(self, date: str) -> datetime.datetime:
        return pendulum.parse(date, tz=self._timezone)
`,
    api: () => [
      { id: 1, at: '2024-06-20T10:00:00+00:00' },
      { id: 2, at: '2024-06-20T10:00:00.500000+00:00' },
    ],
    asks: [
      [
        'GET /items?from=2023-01-01T00:00:00Z&to=2023-12-31T23:59:59.999999Z',
        'GET /items?from=2024-01-01T00:00:00Z&to=2024-07-01T12:30:00Z',
      ],
      ['GET /items?from=2024-06-20T10:00:00.500000Z&to=2024-07-01T12:30:00Z'],
    ],
    ids: [
      ['1', '1', '2', '2'],
      ['1', '2'],
    ],
  },
];
