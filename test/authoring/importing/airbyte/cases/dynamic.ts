import { below, stream, type Part, type TwoRuns } from '../../support/two-runs.ts';

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines.toSorted(), lines.toSorted()];

const mapping = (path: readonly string[], value: string, more: Part = {}): Part => ({
  type: 'ComponentMappingDefinition',
  field_path: path,
  value,
  ...more,
});

const made = (resolver: Part, template: Part): Part => ({
  dynamic_streams: [
    {
      type: 'DynamicDeclarativeStream',
      name: 'reports',
      stream_template: template,
      components_resolver: resolver,
    },
  ],
});

/** Streams that a template and some values make. */
export const DYNAMIC_CASES: readonly TwoRuns[] = [
  {
    name: 'a stream for each of several values in the manifest',
    stream: {},
    more: made(
      {
        type: 'ParametrizedComponentsResolver',
        stream_parameters: {
          type: 'StreamParametersDefinition',
          list_of_parameters_for_stream: [
            { name: 'sales', route: '/sales', fields: ['a', 'b'] },
            { name: 'costs', route: '/costs', fields: ['c'] },
          ],
        },
        components_mapping: [
          mapping(['name'], "{{ components_values['name'] }}"),
          mapping(['retriever', 'requester', 'path'], "{{ components_values['route'] }}"),
          mapping(['retriever', 'requester', '$parameters', 'fields'], "{{ components_values['fields'] }}", {
            create_or_update: true,
          }),
          mapping(['nowhere', 'at_all'], "{{ components_values['name'] }}"),
        ],
      },
      stream('x', '/x', {
        requester: { request_parameters: { fields: "{{ parameters['fields'] | join(';') }}" } },
      }),
    ),
    api: ({ pathname }) => [{ id: pathname }],
    asks: both('GET /sales?fields=a;b', 'GET /costs?fields=c'),
    ids: [
      ['/costs', '/sales'],
      ['/costs', '/sales'],
    ],
  },
  {
    name: 'a stream for each object in the settings',
    stream: {},
    more: made(
      {
        type: 'ConfigComponentsResolver',
        stream_config: {
          type: 'StreamConfig',
          configs_pointer: ['reports'],
          default_values: [{ name: 'Always', kind: 'daily' }],
        },
        components_mapping: [
          mapping(['name'], "{{ camel_case_to_snake_case(components_values['name']) }}"),
          mapping(['retriever', 'requester', 'path'], '/of/{{ components_values.kind }}'),
          mapping(['retriever', 'requester', 'request_parameters', 'q'], "{{ components_values['q'] }}", {
            create_or_update: true,
            condition: "{{ 'q' in components_values }}",
            value_type: 'string',
          }),
          mapping(['retriever', 'record_selector', 'extractor', 'field_path', '0'], 'rows'),
        ],
      },
      stream('x', '/x', {
        requester: { request_parameters: { key: "{{ config['key'] }}" } },
        selector: { extractor: { type: 'DpathExtractor', field_path: ['data'] } },
      }),
    ),
    settings: { key: 'k', reports: [{ name: 'BigSales', kind: 'weekly', q: 'a: b' }] },
    api: ({ pathname }) => ({ rows: [{ id: pathname }] }),
    asks: both('GET /of/weekly?key=k&q=a:+b', 'GET /of/daily?key=k'),
    ids: [
      ['/of/daily', '/of/weekly'],
      ['/of/daily', '/of/weekly'],
    ],
  },
  {
    name: 'streams that the API is asked for, as one',
    stream: {},
    more: made(
      {
        type: 'HttpComponentsResolver',
        retriever: stream('sheets', '/books/{{ stream_partition.book }}/sheets', {
          retriever: below(stream('books', '/books'), 'book'),
        })['retriever'],
        components_mapping: [
          mapping(['name'], '{{ components_values.title.lower() }}'),
          mapping(['retriever', 'requester', 'path'], '{{ stream_slice.book }}/{{ components_values.id }}'),
          mapping(
            ['retriever', 'requester', 'request_parameters', 'of'],
            "{{ components_values['title'] }}",
            { create_or_update: true },
          ),
        ],
      },
      stream('x', '/x', { requester: { request_parameters: { of: '' } } }),
    ),
    outcome: 'equal rows, other columns',
    api: ({ pathname }) =>
      pathname === '/books'
        ? [{ id: 'b' }, { id: 'c' }]
        : pathname.endsWith('/sheets')
          ? [
              { id: 1, title: `One-${pathname.split('/')[2]}` },
              { id: 2, title: 'Two' },
            ]
          : [{ id: pathname }],
    asks: both(
      'GET /books',
      'GET /books/b/sheets',
      'GET /books/c/sheets',
      'GET /b/1?of=One-b',
      'GET /b/2?of=Two',
      'GET /c/1?of=One-c',
      'GET /c/2?of=Two',
    ),
    ids: [
      ['/b/1', '/b/2', '/c/1', '/c/2'],
      ['/b/1', '/b/2', '/c/1', '/c/2'],
    ],
  },
];
