import { afterAll, beforeAll, expect, test } from 'vitest';
import { importAirbyte } from '../../../../src/authoring/importing/airbyte/index.ts';
import {
  API,
  below,
  inQuery,
  manifestOf,
  pages,
  runTwice,
  serve,
  stream,
  type MockAnswer,
  type Part,
} from '../support/two-runs.ts';

let server: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  server = await serve();
});
afterAll(() => server.close());

const handler = {
  type: 'DefaultErrorHandler',
  response_filters: [{ http_codes: [404], action: 'IGNORE' }],
};
const paged = (name: string, more: Part = {}): Part =>
  stream(name, `/${name}`, {
    requester: { error_handler: handler },
    retriever: pages({ type: 'PageIncrement', page_size: 2 }, inQuery('page')),
    ...more,
  });
/** Pages whose address has braces, which are the placeholders of a job. */
const marked = (name: string): Part =>
  paged(name, {
    retriever: pages(
      {
        type: 'CursorPagination',
        cursor_value: "{{ '{shop}' ~ response.next }}",
        stop_condition: '{{ not response.next }}',
      },
      inQuery('page'),
    ),
  });
const asks = (path: string): Part => ({ type: 'HttpRequester', url_base: API, path, http_method: 'GET' });
const report = stream('c', '/c', {
  retriever: {
    type: 'AsyncRetriever',
    status_mapping: { running: ['on'], completed: ['done'], failed: ['no'], timeout: ['late'] },
    status_extractor: { type: 'DpathExtractor', field_path: ['status'] },
    download_target_extractor: { type: 'DpathExtractor', field_path: ['url'] },
    creation_requester: { ...asks('/c'), error_handler: handler },
    polling_requester: asks("/c/{{ creation_response['id'] }}"),
    download_requester: { ...asks(''), url_base: '{{ download_target }}' },
  },
});
const plain = (requester: Part): Part => stream('c', '/c', { requester });
const api: MockAnswer = ({ pathname, searchParams }) =>
  pathname !== '/c' && searchParams.get('page') === null ? [{ id: 1 }, { id: 2 }] : [{ id: 3 }];
const imported = (streams: readonly Part[]): Part =>
  importAirbyte(manifestOf({ stream: {}, more: { streams } }, 'https://a.example'), { file: 'shop.yaml' })
    .configuration;
interface Row {
  readonly configuration: {
    readonly parameters: { readonly config: { readonly jobs: readonly { readonly headers: Part }[] } };
  };
}
const ROOT = { baseUrl: 'https://a.example/', name: 'shop' };
/** Stands in every import, behind what streams have alike. */
const PASSING = { when: { status: [409, 423, 425, '505-599'] }, do: 'retry', times: 5 };

test('what streams have alike stands once for all, and each reads as before', async () => {
  const streams = [paged('a'), paged('b'), plain({ error_handler: handler })];
  const { asks, ids } = await runTwice(
    { name: '', stream: {}, more: { streams }, api, asks: [[], []] },
    server,
  );
  expect(asks[0]).toEqual(['GET /a', 'GET /a?page=1', 'GET /b', 'GET /b?page=1', 'GET /c']);
  expect(ids[0]).toHaveLength(7);
  const { configuration, rows } = imported(streams);
  expect(configuration).toMatchObject({
    parameters: {
      api: {
        ...ROOT,
        pagination: { method: 'pagenum' },
        reactions: [{ when: { status: [404] }, do: 'empty' }, PASSING],
      },
    },
  });
  const jobs = JSON.stringify(rows);
  expect(jobs.match(/"pagination":/g)).toHaveLength(1);
  expect(jobs).toContain('"pagination":{"method":"none"}');
  expect(jobs).not.toContain('reactions');
});

test.each<[string, readonly Part[], readonly string[]]>([
  ['reactions that one of them has not', [paged('a'), paged('b'), plain({})], ['pagination']],
  ['a pagination of one of them', [paged('a'), plain({ error_handler: handler })], ['reactions']],
  ['those of one stream', [paged('a')], []],
  ['what requests of an export would get, too', [paged('a'), paged('b'), report], []],
  ['what speaks of the job', [marked('a'), marked('b')], ['reactions']],
])('what streams have alike stays where it is: %s', (_, streams, shared) => {
  const { configuration } = imported(streams);
  const { parameters } = configuration as { readonly parameters: { readonly api: Part } };
  const { reactions, ...others } = parameters.api as { readonly reactions: readonly Part[] };
  expect(reactions.at(-1)).toEqual(PASSING);
  const alike = { ...others, ...(reactions.length > 1 ? { reactions } : {}) };
  expect(Object.keys(alike).filter((key) => !Object.hasOwn(ROOT, key))).toEqual(shared);
});

test('errors that are passed over have no rows, and other answers are read', () => {
  const passedOver = { type: 'HttpResponseFilter', http_codes: [200, 404], action: 'IGNORE' };
  const jobs = imported([
    plain({ error_handler: { type: 'DefaultErrorHandler', response_filters: [passedOver] } }),
  ]);
  expect(jobs).toMatchObject({
    rows: [
      {
        configuration: {
          parameters: {
            config: {
              jobs: [
                {
                  reactions: [
                    { when: { status: [404] }, do: 'empty' },
                    { when: { status: [200] }, do: 'rows' },
                  ],
                },
              ],
            },
          },
        },
      },
    ],
  });
});

const belowCarts = (name: string, path: string, parent: Part): Part =>
  stream(name, path, { retriever: below(parent, 'cart') });
/** Returns what is said of each stream, without its place in the manifest, and its row. */
const read = (some: readonly Part[]): readonly unknown[] => {
  const { configuration, report } = importAirbyte(
    manifestOf({ stream: {}, more: { streams: some } }, 'https://a.example'),
    { file: 'shop.yaml' },
  );
  const { rows } = configuration as { readonly rows: readonly Part[] };
  const jobs = rows.map((row) => JSON.stringify(row));
  return report.streams.map((one, index) => [
    one.outcome,
    one.notes,
    one.reasons.map(({ path, ...reason }) => ({ ...reason, path: path.replace(/^streams\[\d+\]/, '') })),
    jobs[index],
  ]);
};

/** Streams below the same parents: parts of a value, what is no counterpart, and a parent of a parent. */
test('a parent that other streams have, too, is as it is for each of them alone', () => {
  const shops = stream('shops', '/shops', { extra: 'kept' });
  const carts = stream('carts', '/shops/{{ stream_partition.shop }}/carts', {
    retriever: below(shops, 'shop', { parent_key: 'place' }),
  });
  const odd = stream('odd', '/odd', { retriever: pages({ type: 'Strange' }, inQuery('page')) });
  const streams = [
    carts,
    belowCarts('items', '/items/{{ stream_partition.cart }}', carts),
    belowCarts('parts', '/{{ stream_partition.parent_slice.shop.id }}/{{ stream_partition.cart }}', carts),
    belowCarts('again', '/again/{{ stream_partition.parent_slice.shop.id }}', carts),
    belowCarts('last', '/last/{{ stream_partition.cart }}', carts),
    belowCarts('ones', '/ones/{{ stream_partition.cart }}', odd),
    belowCarts('twos', '/twos/{{ stream_partition.cart }}', odd),
  ];
  const together = read(streams);
  expect(together).toEqual(streams.flatMap((one) => read([one])));
  expect(JSON.stringify(together[2])).toContain('shop_id');
  expect(JSON.stringify(together[4])).not.toContain('shop_id');
});

const areas = stream('areas', '/{{ parameters.area }}');
const ofAreas = (name: string): Part =>
  stream(name, `/${name}/{{ stream_partition.area }}`, { retriever: below(areas, 'area') });

/** Places of parents that a parameter of their child has a say in. */
const PARAMETER_PLACES: readonly (readonly [string, (area: string) => Part, readonly Part[]])[] = [
  ['a template', (area) => ({ area }), [stream('shops', '/{{ parameters.area }}/shops')]],
  ['a name', (area) => ({ area }), [stream('shops', "/{{ parameters['ar' ~ 'ea'] }}/shops")]],
  ['a fallback', (area) => ({ area }), [stream('shops', "/{{ parameters.get('area', 'x') }}/shops")]],
  ['a condition', (area) => ({ area }), [stream('shops', "/{{ 'x' if 'area' in parameters else 'y' }}")]],
  ['a text', (area) => ({ path: `/${area}` }), [stream('shops', '')]],
  [
    'a list',
    (area) => ({ field_path: [area] }),
    [stream('shops', '/shops', { selector: { extractor: { type: 'DpathExtractor' } } })],
  ],
  [
    'a map',
    (area) => ({ request_parameters: { [area]: area } }),
    [stream('shops', '/shops', { requester: { request_parameters: undefined } })],
  ],
  [
    'a component',
    (area) => ({ extractor: { type: 'DpathExtractor', field_path: [area] } }),
    [stream('shops', '/shops', { selector: { extractor: undefined } })],
  ],
  [
    'headers with a type',
    (area) => ({ area }),
    [stream('shops', '/shops', { requester: { request_headers: { type: 'area', shop: '1' } } })],
  ],
  ['the parent of parents', (area) => ({ area }), [ofAreas('shops'), ofAreas('carts')]],
  [
    'beside a parameter of its own',
    (area) => ({ area }),
    [stream('shops', "/{{ parameters.own }}/{{ parameters['area'] }}/shops", { $parameters: { own: 'o' } })],
  ],
];

test.each(PARAMETER_PLACES)(
  'a parent is another one with other parameters around it: %s',
  (_, of, parents) => {
    const streams = [
      of('a'),
      of('b'),
      { ...of('b'), own: 'x' },
      {},
      of('a'),
      { ...of('a'), more: 1 },
    ].flatMap((parameters, index) =>
      parents.map((parent, at) =>
        stream(`items${index}-${at}`, '/items/{{ stream_partition.of }}', {
          retriever: below(parent, 'of'),
          $parameters: parameters,
        }),
      ),
    );
    const together = read(streams);
    expect(together).toEqual(streams.flatMap((one) => read([one])));
    expect(
      new Set(together.map((one) => JSON.stringify(one).replaceAll(/items\d-\d/g, ''))).size,
    ).toBeGreaterThan(parents.length);
  },
);

test('and the same one with parameters around it that it does not read', () => {
  const shops = stream('shops', '/shops', {
    requester: { request_headers: { shop: '{{ parameters.area }}' } },
  });
  const { rows } = imported(
    ['a', 'b'].map((word) =>
      stream(word, `/{{ parameters.word }}/{{ stream_partition.shop }}`, {
        retriever: below(shops, 'shop'),
        $parameters: { word, area: 'x', odd: [word] },
      }),
    ),
  ) as { readonly rows: readonly Row[] };
  const [one, other] = rows.map(({ configuration }) => configuration.parameters.config.jobs[0]);
  // what is read once is one object
  expect(one?.headers).toBe(other?.headers);
  expect(one?.headers).toEqual({ shop: 'x' });
});
