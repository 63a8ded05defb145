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

const by = (name: string, more: Part = {}): Part => ({
  requester: {
    type: 'CustomRequester',
    class_name: `source_shop.components.${name}`,
    url_base: API,
    path: '/items',
    ...more,
  },
});

const HEAD = `
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Union
from airbyte_cdk.sources.declarative.requesters.http_requester import HttpRequester
from airbyte_cdk.sources.declarative.requesters.request_options.interpolated_request_input_provider import InterpolatedRequestInputProvider
from airbyte_cdk.sources.declarative.requesters.request_options.interpolated_request_options_provider import InterpolatedRequestOptionsProvider
from airbyte_cdk.sources.declarative.schema.inline_schema_loader import InlineSchemaLoader
`;

/** Requesters whose class makes parts of the request. */
export const REQUESTER_CASES: readonly TwoRuns[] = [
  {
    name: 'a parameter of the schema beside those of the manifest, with pages',
    stream: stream('items', '/items', {
      ...by('Wanting', {
        request_parameters: { kind: "{{ config['kind'] }}", shop: '{{ stream_slice.shop }}' },
        schema_loader: {
          type: 'InlineSchemaLoader',
          schema: { items: { properties: { id: { type: 'integer' }, owner: { type: ['null', 'object'] } } } },
        },
      }),
      retriever: {
        ...below(stream('shops', '/shops'), 'shop'),
        ...pages({ type: 'PageIncrement', page_size: 2, start_from_page: 1 }, inQuery('page')),
      },
    }),
    code: `${HEAD}
PREFIXES = {"object": "all"}

@dataclass
class Wanting(HttpRequester):
    request_parameters: Optional[Union[str, Mapping[str, str]]] = None
    schema_loader: InlineSchemaLoader = None

    def __post_init__(self, parameters):
        super().__post_init__(parameters)
        self.request_parameters = self.request_parameters or {}
        self._inputs = InterpolatedRequestInputProvider(
            config=self.config, request_inputs=self.request_parameters, parameters=parameters
        )

    def get_request_params(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        params = self._inputs.eval_request_inputs(stream_slice, next_page_token)
        if isinstance(params, dict):
            params.update(self._wanted())
            return params
        return {}

    def _wanted(self):
        names = []
        for name, field in self.schema_loader.get_json_schema()[self.name]["properties"].items():
            if "object" in field["type"]:
                names.append(f"{name}.{PREFIXES['object']}")
            else:
                names.append(name)
        return {"fields": ",".join(names)} if names else {}
`,
    settings: { kind: 'k' },
    api: ({ pathname, searchParams }) =>
      pathname === '/shops'
        ? [{ id: 1 }]
        : searchParams.get('page') === '2'
          ? [{ id: 3 }]
          : [{ id: 1 }, { id: 2 }],
    asks: both(
      'GET /shops',
      'GET /items?fields=id,owner.all&kind=k&shop=1',
      'GET /items?fields=id,owner.all&kind=k&page=2&shop=1',
    ),
    ids: [
      ['1', '2', '3'],
      ['1', '2', '3'],
    ],
  },
  {
    name: 'parameters of windows that the class puts together as what it extends, and another wait',
    stream: stream('items', '/items', {
      ...by('Together', {
        error_handler: { type: 'DefaultErrorHandler', max_retries: 1 },
      }),
      ...times(),
    }),
    code: `${HEAD}
from airbyte_cdk.sources.declarative.requesters.error_handlers.backoff_strategies import ExponentialBackoffStrategy

class Together(HttpRequester):
    def __post_init__(self, parameters):
        self.error_handler.backoff_strategies = ExponentialBackoffStrategy(factor=1, config=self.config, parameters=parameters)
        super().__post_init__(parameters)

    def get_request_headers(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        return {"Authorization": "Key k"}

    def get_request_params(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        shop = self.config.get("account", {}).get("shop")
        return {"shop": shop} if shop else {}

    def _request_params(self, stream_state, stream_slice, next_page_token, extra_params=None):
        next_page_token = None
        if extra_params:
            page = extra_params.pop("page", {})
            extra_params.update(page)
        return super()._request_params(stream_state, stream_slice, next_page_token, extra_params)
`,
    settings: { start: '2024-01-01', account: { shop: 's' } },
    api: () => [{ id: 1, at: '2024-06-29' }],
    asks: [['GET /items?shop=s&since=2024-01-01 Key k'], ['GET /items?shop=s&since=2024-06-29 Key k']],
    ids: [['1'], ['1']],
  },
  {
    name: 'parameters of the manifest that the class does not hand on',
    stream: stream('items', '/items', by('Plain', { request_parameters: { kind: 'k' } })),
    code: `${HEAD}
@dataclass
class Plain(HttpRequester):
    request_parameters: Optional[Union[str, Mapping[str, str]]] = None

    def get_request_headers(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        return {"Authorization": f"Key {self.config['key']}"}
`,
    settings: { key: 'x' },
    api: () => [{ id: 1 }],
    asks: both('GET /items Key x'),
  },
  {
    name: 'parameters of the class that it extends, and one more that a setting wants',
    stream: stream('items', '/items', by('More', { request_parameters: { kind: 'k' } })),
    code: `${HEAD}
@dataclass
class More(HttpRequester):
    request_parameters: Optional[Union[str, Mapping[str, str]]] = None

    def __post_init__(self, parameters):
        self.request_options_provider = InterpolatedRequestOptionsProvider(
            request_parameters=self.request_parameters, config=self.config, parameters=parameters or {}
        )
        super().__post_init__(parameters)

    def get_request_params(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        params = super().get_request_params(
            stream_state=stream_state, stream_slice=stream_slice, next_page_token=next_page_token
        )
        project = self.config.get("account", {}).get("project")
        return {**params, "project": project} if project else params
`,
    settings: { account: { project: 'p' } },
    api: () => [{ id: 1 }],
    asks: both('GET /items?kind=k&project=p'),
  },
  {
    name: 'a body that is another one for some rows of the parent, by windows',
    outcome: 'more rows',
    stream: stream('items', '/items', {
      ...by('Asking', { http_method: 'POST', path: '/items/{{ stream_partition.shop }}' }),
      retriever: below(stream('shops', '/shops'), 'shop', { extra_fields: [['closed']] }),
      ...times({
        end_datetime: '2024-06-01',
        step: 'P1Y',
        cursor_granularity: 'P1D',
        start_time_option: undefined,
      }),
    }),
    code: `${HEAD}
NAMES = ("id", "at", "sum.net")

@dataclass
class Asking(HttpRequester):
    def get_request_body_json(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        closed = stream_slice.extra_fields.get("closed", False)
        fields = [name for name in NAMES if not (closed and name.startswith("sum."))]
        if "start_time" in stream_slice and "end_time" in stream_slice:
            return {"query": f"{', '.join(fields)} FROM {stream_slice['start_time']} TO '{stream_slice['end_time']}'"}
        return {"query": ", ".join(fields)}
`,
    api: ({ pathname }, body) =>
      pathname === '/shops'
        ? [
            { id: 1, closed: true },
            { id: 2, closed: false },
          ]
        : [{ id: body.includes('net') ? 5 : 4, at: '2024-05-01' }],
    asks: [
      [
        'GET /shops',
        `POST /items/1 application/json {"query":"id, at FROM 2024-01-01 TO '2024-06-01'"}`,
        `POST /items/2 application/json {"query":"id, at, sum.net FROM 2024-01-01 TO '2024-06-01'"}`,
      ],
      [
        'GET /shops',
        `POST /items/1 application/json {"query":"id, at FROM 2024-05-01 TO '2024-06-01'"}`,
        `POST /items/2 application/json {"query":"id, at, sum.net FROM 2024-05-01 TO '2024-06-01'"}`,
      ],
    ],
    ids: [
      ['4', '5'],
      ['4', '5'],
    ],
  },
  {
    name: 'a parameter with the token of the next page in it',
    stream: stream('items', '/items', {
      ...by('Paging'),
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
    code: `${HEAD}
@dataclass
class Paging(HttpRequester):
    def get_request_params(self, *, stream_state=None, stream_slice=None, next_page_token=None):
        params = {"size": 2}
        if next_page_token:
            params["after"] = next_page_token["next_page_token"]
        return params
`,
    api: ({ searchParams }) =>
      searchParams.get('after') === 'b' ? { rows: [{ id: 2 }] } : { rows: [{ id: 1 }], next: 'b' },
    asks: both('GET /items?size=2', 'GET /items?after=b&size=2'),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
];
