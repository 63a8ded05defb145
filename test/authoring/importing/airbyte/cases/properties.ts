import { below, pages, inQuery, stream, times, type Part, type TwoRuns } from '../../support/two-runs.ts';

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines.toSorted(), lines.toSorted()];

const fromEndpoint = (more: Part = {}): Part => ({
  type: 'QueryProperties',
  property_list: {
    type: 'PropertiesFromEndpoint',
    property_field_path: ['name'],
    retriever: stream('x', '/properties')['retriever'],
  },
  ...more,
});

const asked = (properties: Part): Part => ({
  requester: { request_parameters: { of: 'x', properties } },
});

const ofProperties: TwoRuns['api'] = ({ pathname }) =>
  pathname === '/properties' ? [{ name: 'a' }, { name: 'b' }] : [{ id: pathname, at: '2024-05-01' }];

/** Streams that ask for a list of properties. */
export const PROPERTY_CASES: readonly TwoRuns[] = [
  {
    name: 'properties that another request gives, with a state',
    stream: stream('items', '/items', {
      ...asked(fromEndpoint({ always_include_properties: ['id'] })),
      ...times(),
    }),
    api: ofProperties,
    asks: [
      ['GET /items?of=x&properties=id,a,b&since=2024-01-01', 'GET /properties'],
      ['GET /items?of=x&properties=id,a,b&since=2024-05-01', 'GET /properties'],
    ],
    ids: [['/items'], ['/items']],
  },
  {
    name: 'properties up to a length, with pages',
    stream: stream('items', '/items', {
      ...asked(
        fromEndpoint({
          property_chunking: {
            type: 'PropertyChunking',
            property_limit_type: 'characters',
            property_limit: 15000,
          },
        }),
      ),
      selector: { extractor: { type: 'DpathExtractor', field_path: ['items'] } },
      retriever: pages(
        {
          type: 'CursorPagination',
          cursor_value: '{{ response.next }}',
        },
        inQuery('after'),
      ),
    }),
    outcome: 'equal rows, other columns',
    api: ({ pathname, searchParams }) =>
      pathname === '/properties'
        ? [{ name: 'a' }, { name: 'b' }]
        : searchParams.has('after')
          ? { items: [{ id: '2' }] }
          : { items: [{ id: '1' }], next: 'n' },
    asks: both('GET /items?of=x&properties=a,b', 'GET /items?after=n&of=x&properties=a,b', 'GET /properties'),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'properties that are written out, in one part',
    stream: stream('items', '/items', {
      ...asked({
        type: 'QueryProperties',
        property_list: ['a', 'b'],
        always_include_properties: ['id'],
        property_chunking: {
          type: 'PropertyChunking',
          property_limit_type: 'property_count',
          property_limit: 2,
        },
      }),
    }),
    api: ofProperties,
    asks: both('GET /items?of=x&properties=id,a,b'),
  },
  // airbyte-cdk asks for the properties once or twice, as its threads meet
  {
    name: 'properties of a child, with a state for each parent row',
    outcome: 'more rows',
    stream: stream('items', '/items/{{ stream_partition.shop }}', {
      ...asked(fromEndpoint()),
      retriever: below(stream('shops', '/shops'), 'shop'),
      ...times(),
    }),
    api: ({ pathname }) =>
      pathname === '/properties'
        ? [{ name: 'a' }, { name: 'b' }]
        : pathname === '/shops'
          ? [{ id: 1 }, { id: 2 }]
          : [{ id: pathname, at: pathname.endsWith('1') ? '2024-03-01' : '2024-05-01' }],
    asks: [
      [
        'GET /items/1?of=x&properties=a,b&since=2024-01-01',
        'GET /items/2?of=x&properties=a,b&since=2024-01-01',
        'GET /properties',
        'GET /shops',
      ],
      [
        'GET /items/1?of=x&properties=a,b&since=2024-03-01',
        'GET /items/2?of=x&properties=a,b&since=2024-05-01',
        'GET /properties',
        'GET /shops',
      ],
    ],
  },
];
