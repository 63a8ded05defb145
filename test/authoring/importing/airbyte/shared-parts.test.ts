import { afterAll, beforeAll, expect, test } from 'vitest';
import { importAirbyte } from '../../../../src/authoring/importing/airbyte/index.ts';
import {
  API,
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
const ROOT = { baseUrl: 'https://a.example/', name: 'shop' };

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
        reactions: [{ when: { status: [404] }, do: 'empty' }],
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
  expect(Object.keys(parameters.api).filter((key) => !Object.hasOwn(ROOT, key))).toEqual(shared);
});
