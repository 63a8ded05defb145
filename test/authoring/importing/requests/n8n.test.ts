import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ImportReport, StreamReport } from '../../../../src/authoring/importing/report.ts';
import { run, silentLog } from '../../../../src/index.ts';
import { dataFolder, filesOf, gexHere, type Api } from '../../../cli/support.ts';
import { startShop } from './shop.ts';

let api: Api;
beforeAll(async () => {
  api = await startShop();
});

interface Ran {
  readonly stream: StreamReport;
  readonly ids: readonly string[];
  readonly asked: readonly string[];
  readonly stdout: string;
}

const link = (to: string): object => ({ main: [[{ node: to, type: 'main', index: 0 }]] });

/** Imports a workflow with one request, whose rows a second node may split, and runs it. */
async function imported(parameters: object, split?: string, node: object = {}): Promise<Ran> {
  const folder = dataFolder();
  const file = path.join(folder, 'flow.json');
  const login = {
    sendHeaders: true,
    headerParameters: { parameters: [{ name: 'Authorization', value: 'Bearer t-1' }] },
  };
  const nodes = [
    { name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
    {
      name: 'rows',
      type: 'n8n-nodes-base.httpRequest',
      typeVersion: 4.2,
      parameters: { ...login, ...parameters },
      ...node,
    },
    ...(split === undefined
      ? []
      : [
          {
            name: 'Split',
            type: 'n8n-nodes-base.splitOut',
            typeVersion: 1,
            parameters: { fieldToSplitOut: split },
          },
        ]),
  ];
  const connections = { Start: link('rows'), ...(split === undefined ? {} : { rows: link('Split') }) };
  writeFileSync(file, JSON.stringify({ nodes, connections }));
  const out = path.join(folder, 'data');
  const { stdout, stderr } = await gexHere('import', 'n8n', file, '--out', out, '--json');
  if (stdout === '') throw new Error(stderr);
  const { streams } = JSON.parse(stdout) as ImportReport;
  const [stream] = streams;
  if (stream === undefined) throw new Error('a stream is imported');
  if (stream.outcome === 'not') return { stream, ids: [], asked: [], stdout };
  const before = api.seen.length;
  await run({ dataFolder: out, log: silentLog });
  const table = Object.entries(filesOf(out)).find(([name]) => name.endsWith('tables/flow.rows'))?.[1] ?? '';
  const ids = table
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(',')[0]?.replaceAll('"', '') ?? '');
  return { stream, ids, asked: api.seen.slice(before), stdout };
}

function paged(pagination: object): object {
  return { options: { pagination: { pagination } } };
}

function changing(name: string, value: string, more: object = {}): object {
  return paged({ parameters: { parameters: [{ name, value }] }, ...more });
}

const ALL = ['1', '2', '3', '4', '5', '6', '7'];

describe('the HTTP Request node of n8n', () => {
  test.each([
    [
      'page numbers until nothing comes',
      { url: 'links', ...changing('page', '={{ $pageCount + 1 }}') },
      undefined,
      ['GET /links?page=1', 'GET /links?page=2', 'GET /links?page=3', 'GET /links?page=4'],
    ],
    [
      'a token until there is none',
      {
        url: 'token',
        ...changing('page', '={{ $response.body.next_page }}', {
          paginationCompleteWhen: 'other',
          completeExpression: '={{ !$response.body.next_page }}',
        }),
      },
      'items',
      ['GET /token', 'GET /token?page=2', 'GET /token?page=3'],
    ],
    [
      'an address in the answer',
      {
        url: 'hateoas',
        ...paged({
          paginationMode: 'responseContainsNextURL',
          nextURL: '={{ $response.body.next }}',
          paginationCompleteWhen: 'other',
          completeExpression: '={{ $response.body.next === null }}',
        }),
      },
      'items',
      ['GET /hateoas', 'GET /hateoas?page=2', 'GET /hateoas?page=3'],
    ],
    [
      'an offset, and parameters of the query',
      {
        url: 'offset',
        sendQuery: true,
        queryParameters: { parameters: [{ name: 'limit', value: '3' }] },
        ...changing('offset', '={{ $pageCount * 3 }}'),
      },
      undefined,
      ['GET /offset?offset=0&limit=3', 'GET /offset?offset=3&limit=3', 'GET /offset?offset=6&limit=3'],
    ],
    [
      'pages with a flag',
      {
        url: 'pages',
        ...changing('page', '={{ $pageCount + 1 }}', {
          paginationCompleteWhen: 'other',
          completeExpression: '={{ $response.body.hasMore === false }}',
        }),
      },
      'items',
      ['GET /pages?page=1', 'GET /pages?page=2', 'GET /pages?page=3'],
    ],
  ])('is taken over: %s', async (_what, parameters: { url: string }, split, requests) => {
    const { stream, ids, asked, stdout } = await imported(
      { ...parameters, url: `${api.url}${parameters.url}` },
      split,
    );
    expect(stream).toMatchObject({ outcome: 'exact', reasons: [] });
    expect(asked).toEqual(requests);
    expect(ids).toEqual(ALL);
    expect(stdout).not.toContain('t-1');
  });

  test.each([
    [{ url: '=https://api.example.com/{{ $json.id }}' }, {}, 'nodes[1].parameters.url'],
    [
      {
        url: 'https://api.example.com/x',
        sendQuery: true,
        queryParameters: { parameters: [{ name: 'q', value: '={{ $now }}' }] },
      },
      {},
      'nodes[1].parameters.queryParameters.parameters[0].value',
    ],
    [
      {
        url: 'https://api.example.com/x',
        authentication: 'predefinedCredentialType',
        nodeCredentialType: 'hubspotApi',
      },
      {},
      'nodes[1].parameters.nodeCredentialType',
    ],
    [
      {
        url: 'https://api.example.com/x',
        ...changing('page', '={{ $request.qs.page + 1 }}'),
      },
      {},
      'nodes[1].parameters.options.pagination.pagination.parameters.parameters[0].value',
    ],
    [{ url: 'https://api.example.com/x' }, { typeVersion: 1 }, 'nodes[1].typeVersion'],
  ])('is `not` where it needs what is not in it: %j', async (parameters, node, place) => {
    const { stream } = await imported(parameters, undefined, node);
    expect(stream.outcome).toBe('not');
    expect(stream.reasons[0]?.path).toBe(place);
  });
});
