import { API, below, inQuery, stream, times, type Part, type TwoRuns } from '../../support/two-runs.ts';

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines.toSorted(), lines.toSorted()];

const code = (kind: string, name: string, more: Part = {}): Part => ({
  type: kind,
  class_name: `source_shop.components.${name}`,
  ...more,
});

const SENT = {
  a: '{{ stream_slice.extra_fields.a }}',
  b: "{{ stream_slice.extra_fields['b'] }}",
  c: "{{ stream_slice.extra_fields['c']['d'] }}",
};

const SAME = { path: ['id'], value: '{{ record.id }}' };
const ADDED = { type: 'AddFields', fields: [{ path: ['id'], value: '{{ record.other }}' }] };
const NEVER = {
  type: 'AddFields',
  condition: "{{ record.other == 'none' }}",
  fields: [{ path: ['id'], value: 'z' }],
};
const REMOVED = { type: 'RemoveFields', field_pointers: [['id']] };

/** Fields that get other names, or are changed, and values whose type decides. */
export const NAME_CASES: readonly TwoRuns[] = [
  {
    name: 'the state is a field that was put beside the others',
    stream: stream('items', '/a', {
      transformations: [{ type: 'DpathFlattenFields', field_path: ['fields'] }],
      ...times(),
    }),
    outcome: 'equal rows, other columns',
    api: () => [
      { id: 1, fields: { at: '2024-02-01' } },
      { id: 2, fields: { at: '2024-03-05' } },
      // a name that is there already keeps its value
      { id: 3, at: '2024-01-15', fields: { at: '2024-06-01' } },
    ],
    asks: [['GET /a?since=2024-01-01'], ['GET /a?since=2024-03-05']],
    ids: [
      ['1', '2', '3'],
      ['1', '2', '3'],
    ],
  },
  {
    name: 'fields that are put beside the others with a word in front, and one of the same name stays',
    stream: stream('items', '/a', {
      transformations: [
        {
          type: 'DpathFlattenFields',
          field_path: ['fields'],
          key_transformation: { type: 'KeyTransformation', prefix: 'f_' },
        },
      ],
      ...times({ cursor_field: 'f_at' }),
    }),
    outcome: 'equal rows, other columns',
    api: () => [{ id: 1, at: '2024-06-01', fields: { at: '2024-02-01' } }],
    asks: [['GET /a?since=2024-01-01'], ['GET /a?since=2024-02-01']],
  },
  {
    name: 'the state is a field whose name was in camel case',
    stream: stream('items', '/a', {
      transformations: [{ type: 'KeysToSnakeCase' }],
      ...times({ cursor_field: 'changed_at' }),
    }),
    outcome: 'equal rows, other columns',
    api: () => [{ id: 1, changedAt: '2024-02-01' }],
    asks: [['GET /a?since=2024-01-01'], ['GET /a?since=2024-02-01']],
    ids: [['1'], ['1']],
  },
  {
    name: 'the state is a field whose name had blanks, and a filter reads another one',
    stream: stream('items', '/a', {
      selector: {
        record_filter: { type: 'RecordFilter', condition: "{{ record['is_open'] }}" },
        transform_before_filtering: true,
      },
      transformations: [{ type: 'KeysReplace', old: ' ', new: '_' }],
      ...times({ cursor_field: 'changed_at' }),
    }),
    outcome: 'equal rows, other columns',
    api: () => [
      { id: 1, 'changed at': '2024-02-01', 'is open': true },
      { id: 2, 'changed at': '2024-03-01', 'is open': false },
    ],
    asks: [['GET /a?since=2024-01-01'], ['GET /a?since=2024-02-01']],
    ids: [['1'], ['1']],
  },
  {
    name: 'the parent row has its key in an object that was put beside the others',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(
        stream('shops', '/shops', {
          transformations: [{ type: 'DpathFlattenFields', field_path: ['attributes'] }],
        }),
        'shop',
        { parent_key: 'slug' },
      ),
    }),
    api: ({ pathname }) =>
      pathname === '/shops'
        ? [
            { id: 1, attributes: { slug: 'x' } },
            { id: 2, attributes: {} },
            { id: 3, slug: 'y' },
          ]
        : [{ id: 7 }],
    asks: both('GET /shops', 'GET /items/x', 'GET /items/y'),
    ids: [
      ['7', '7'],
      ['7', '7'],
    ],
  },
  {
    name: 'a part of a further field of the parent row',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(stream('shops', '/shops'), 'shop', { extra_fields: [['owner']] }),
      requester: { request_parameters: { owner: "{{ stream_slice.extra_fields['owner']['name'] }}" } },
    }),
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 1, owner: { name: 'o' } }] : [{ id: 7 }]),
    asks: both('GET /shops', 'GET /items/1?owner=o'),
    ids: [['7'], ['7']],
  },
  ...(
    [
      ['parameters', { request_parameters: SENT }, ['?a=n&b=x&c=p', '?b=None']],
      ['headers', { request_headers: { Authorization: SENT.b } }, [' x', '']],
      [
        'a form',
        { http_method: 'POST', request_body_data: SENT },
        [' application/x-www-form-urlencoded a=n&b=x&c=p', ' application/x-www-form-urlencoded b=None'],
      ],
      [
        'a JSON body',
        { http_method: 'POST', request_body_json: { ...SENT, d: [SENT.b], e: { f: SENT.a } } },
        [
          ' application/json {"a":"n","b":"x","c":"p","d":["x"],"e":{"f":"n"}}',
          ' application/json {"d":[null],"e":{}}',
        ],
      ],
    ] as const
  ).map(([where, requester, [first, second]]): TwoRuns => ({
    name: `fields that a row of the parent does not have, in ${where}`,
    stream: stream('items', '/items', {
      retriever: below(stream('shops', '/shops'), 'shop', { extra_fields: [['a'], ['b'], ['c']] }),
      requester,
    }),
    api: ({ pathname }) =>
      pathname === '/shops'
        ? [
            { id: 1, a: 'n', b: 'x', c: { d: 'p' } },
            { id: 2, a: '' },
          ]
        : [],
    asks: both(
      'GET /shops',
      ...[first, second].map((sent) => `${'http_method' in requester ? 'POST' : 'GET'} /items${sent}`),
    ),
  })),
  {
    name: 'a key that no slice has takes the place of the field of a row',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(stream('shops', '/shops'), 'shop'),
      transformations: [
        {
          type: 'AddFields',
          fields: [
            { path: ['id'], value: '{{ stream_slice.other }}' },
            { path: ['other'], value: "{{ stream_partition.get('other') }}" },
          ],
        },
      ],
    }),
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 1 }] : [{ id: 7, other: 'own' }]),
    asks: both('GET /shops', 'GET /items/1'),
    ids: [[''], ['']],
  },
  ...(
    [
      ['a field that is added and removed again', [ADDED, REMOVED], []],
      ['a field that is removed before a template reads it', [REMOVED, { ...ADDED, fields: [SAME] }], ['']],
      ['a field that is removed and added again', [REMOVED, ADDED, { ...ADDED, fields: [SAME] }], ['x']],
      ['a field that is added, and under a condition once more', [ADDED, NEVER], ['x']],
      ['a field that is removed, and added under a condition', [REMOVED, NEVER], ['']],
      ['a field that is added under a condition alone', [NEVER], ['own']],
    ] as const
  ).map(([name, transformations, ids]): TwoRuns => ({
    name,
    stream: stream('items', '/a', { transformations }),
    api: () => [{ id: 'own', other: 'x' }],
    asks: both('GET /a'),
    ids: [ids, ids],
  })),
  {
    name: 'a field of the state in one of several forms',
    stream: stream(
      'items',
      '/a',
      times({ cursor_datetime_formats: ['%d/%m/%Y', '%Y-%m-%d %H:%M:%S', '%Y-%m-%d'] }),
    ),
    api: () => [
      { id: 1, at: '04/03/2024' },
      { id: 2, at: '2024-02-01 10:00:00' },
      { id: 3, at: '2024-01-20' },
    ],
    asks: [['GET /a?since=2024-01-01'], ['GET /a?since=2024-03-04']],
  },
  {
    name: 'a value whose type decides',
    stream: stream('items', '/a', {
      transformations: [{ type: 'RemoveFields', field_pointers: [['of'], ['n']] }],
      selector: {
        record_filter: {
          type: 'RecordFilter',
          condition: '{{ record.of is mapping or record.of is string and record.n is number }}',
        },
      },
      requester: {
        error_handler: {
          type: 'DefaultErrorHandler',
          response_filters: [
            {
              type: 'HttpResponseFilter',
              action: 'IGNORE',
              predicate: "{{ response is mapping and response.get('message') is not none }}",
            },
          ],
        },
      },
    }),
    api: () => [
      { id: 1, of: { a: 1 } },
      { id: 2, of: ['a'] },
      { id: 3, of: '{', n: 1 },
      { id: 4, of: '{', n: '1' },
      { id: 5 },
      { id: 6, of: 'x', n: 1.5 },
    ],
    asks: both('GET /a'),
    ids: [
      ['1', '3', '6'],
      ['1', '3', '6'],
    ],
  },
  {
    name: 'lists that are worked out with the settings',
    stream: stream('items', '/a', {
      requester: {
        request_parameters: {
          names: "{{ config['shops'] | map(attribute='name') | unique | sort | join(',') }}",
          open: "{{ config['shops'] | selectattr('open') | map(attribute='id') | list | length }}",
          parts: "{{ config['names'] | map('regex_search', '^(.*)/[*]$') | select | list | join(';') }}",
          upper: "{{ config['names'] | map('upper') | first }}",
          most: '{{ [3, 10, 2] | max }}',
        },
      },
      retriever: {
        partition_router: {
          type: 'ListPartitionRouter',
          values: "{{ config['shops'] | map(attribute='id') | reject('eq', 2) | list }}",
          cursor_field: 'part',
          request_option: inQuery('part'),
        },
      },
    }),
    settings: {
      shops: [
        { id: 1, name: 'b', open: true },
        { id: 2, name: 'a', open: false },
        { id: 3, name: 'b', open: true },
      ],
      names: ['x/*', 'y/z'],
    },
    api: () => [{ id: 1 }],
    asks: both(
      'GET /a?most=10&names=a,b&open=2&part=1&parts=x&upper=X/*',
      'GET /a?most=10&names=a,b&open=2&part=3&parts=x&upper=X/*',
    ),
  },
  {
    name: 'a host, and a path that the parent row has',
    stream: stream('items', '', {
      requester: { url_base: `${API}{{ stream_partition.links.list }}` },
      retriever: below(stream('shops', '/shops'), 'links', { parent_key: 'links' }),
    }),
    api: ({ pathname }) =>
      pathname === '/shops'
        ? [
            { id: 1, links: { list: '/shops/1/items.json' } },
            { id: 2, links: { list: '/shops/2/items.json' } },
          ]
        : [{ id: pathname }],
    asks: both('GET /shops', 'GET /shops/1/items.json', 'GET /shops/2/items.json'),
    ids: [
      ['/shops/1/items.json', '/shops/2/items.json'],
      ['/shops/1/items.json', '/shops/2/items.json'],
    ],
  },
  {
    name: 'a key that no slice has',
    stream: stream('items', '/a', {
      requester: {
        request_parameters: {
          shop: "{{ ('s' ~ stream_slice.shop) if stream_slice.shop else 'all' }}",
          of: "{{ stream_partition.get('shop', 'none') }}",
        },
      },
      retriever: {
        partition_router: code('CustomPartitionRouter', 'Some', {
          parent_stream_configs: [
            {
              type: 'ParentStreamConfig',
              parent_key: 'id',
              partition_field: 'shop',
              stream: stream('shops', '/shops'),
            },
          ],
        }),
      },
    }),
    code: `
from airbyte_cdk.sources.declarative.partition_routers.substream_partition_router import SubstreamPartitionRouter
from airbyte_cdk.sources.declarative.types import StreamSlice

class Some(SubstreamPartitionRouter):
    def stream_slices(self):
        if self.config.get("shops"):
            yield from super().stream_slices()
        else:
            yield from [StreamSlice(partition={}, cursor_slice={})]
`,
    settings: { shops: [] },
    api: () => [{ id: 1 }],
    asks: both('GET /a?of=none&shop=all'),
    ids: [['1'], ['1']],
  },
  {
    name: 'times that Python writes in another way are no keys of a parent',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(
        stream('shops', '/shops', {
          selector: { schema_normalization: code('CustomSchemaNormalization', 'Dates') },
          schema_loader: {
            type: 'InlineSchemaLoader',
            schema: {
              type: 'object',
              properties: { id: { type: 'string' }, made: { type: 'string', format: 'date-time' } },
            },
          },
        }),
        'shop',
      ),
    }),
    code: `
from datetime import datetime
from airbyte_cdk.sources.utils.transform import TransformConfig, TypeTransformer

class Dates(TypeTransformer):
    def __init__(self, *args, **kwargs):
        super().__init__(TransformConfig.DefaultSchemaNormalization | TransformConfig.CustomSchemaNormalization)
        self.registerCustomTransform(self.get_transform_function())

    @staticmethod
    def get_transform_function():
        def transform_function(original_value, field_schema):
            if original_value and field_schema.get("format") == "date-time":
                return datetime.strptime(original_value, "%d.%m.%Y").strftime("%Y-%m-%dT%H:%M:%SZ")
            return original_value

        return transform_function
`,
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 's', made: '01.02.2024' }] : [{ id: 7 }]),
    asks: both('GET /shops', 'GET /items/s'),
    ids: [['7'], ['7']],
  },
  {
    name: 'fields whose names the manifest has are changed, and others are keys of a parent',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(
        stream('shops', '/shops', {
          transformations: [code('CustomTransformation', 'Tidy', { field_names: ['tags', 'notes'] })],
        }),
        'shop',
      ),
    }),
    code: `
from dataclasses import dataclass
from typing import Any, List
from airbyte_cdk.sources.declarative.transformations import RecordTransformation

@dataclass
class Tidy(RecordTransformation):
    field_names: List[str]
    parameters: Any = None

    def transform(self, record, config=None, stream_state=None, stream_slice=None):
        for name in self.field_names:
            if name in record:
                record[name] = {k: v for k, v in record[name].items() if v is not None}
        return record
`,
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 's', tags: { a: null } }] : [{ id: 7 }]),
    asks: both('GET /shops', 'GET /items/s'),
    ids: [['7'], ['7']],
  },
  {
    name: 'a parent with a state, and a child that has none',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(stream('shops', '/shops', times()), 'shop', { incremental_dependency: true }),
    }),
    api: ({ pathname }) => (pathname === '/shops' ? [{ id: 's', at: '2024-03-01' }] : [{ id: 7 }]),
    asks: both('GET /shops?since=2024-01-01', 'GET /items/s'),
    ids: [['7'], ['7']],
  },
  {
    name: 'a parent with a state, and a child that keeps it and asks for all rows',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      retriever: below(stream('shops', '/shops', times()), 'shop', { incremental_dependency: true }),
      ...times({ start_time_option: undefined, global_substream_cursor: true }),
    }),
    api: ({ pathname, searchParams }) =>
      pathname !== '/shops'
        ? [{ id: pathname, at: '2024-02-01' }]
        : [
            { id: 's', at: '2024-03-01' },
            { id: 't', at: '2024-04-01' },
          ].filter(({ at }) => at >= (searchParams.get('since') ?? '')),
    asks: [
      ['GET /items/s', 'GET /items/t', 'GET /shops?since=2024-01-01'],
      ['GET /items/t', 'GET /shops?since=2024-04-01'],
    ],
    ids: [['/items/s', '/items/t'], ['/items/t']],
  },
];
