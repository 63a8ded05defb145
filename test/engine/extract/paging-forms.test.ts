import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../../src/lib/env.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';
import { sample } from '../../support/sample.ts';

const ROWS = 9;
const SIZE = 2;

interface Rows extends Api {
  /** Requests that were answered. */
  readonly answered: string[];
  /** Refuses all from the one of this number on. */
  failAt: number;
}

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An API of nine rows, two on a page, that takes the position anywhere and gives the next one everywhere. */
async function rowsApi(): Promise<Rows> {
  const state = { answered: [] as string[], failAt: Infinity };
  const api = await startApi(({ method, url, headers }, response) => {
    void textOf(response.req).then((body) => answer({ method, url, headers, body }, response));
  });
  const answer = ({ method, url, headers, body }: Asked, response: ServerResponse): unknown => {
    const line = `${method} ${url.pathname}${url.search} ${body} ${String(headers['x-at'] ?? '')}`;
    if (state.answered.length >= state.failAt) return response.writeHead(404).end('<html>');
    state.answered.push(line);
    const child = /^\/of\/(\d+)/.exec(url.pathname)?.[1];
    if (child !== undefined) return json(response, [{ of: Number(child) }]);
    const query = url.searchParams;
    const since = Number(query.get('since') ?? 1);
    const page = query.get('page') ?? /^\/page\/(\d+)/.exec(url.pathname)?.[1];
    const inText = /"at":"?(\d+)|AT (\d+)/.exec(body + (query.get('q') ?? ''));
    const position = query.get('at') ?? headers['x-at'] ?? inText?.[1] ?? inText?.[2] ?? 0;
    const at = page === undefined ? Number(position) : (Number(page) - 1) * SIZE;
    const all = Array.from({ length: ROWS }, (_, i) => i + 1).filter((id) => id >= since);
    const ids = all.slice(at, at + SIZE);
    const next = at + SIZE < all.length ? at + SIZE : undefined;
    if (next !== undefined) response.setHeader('x-next', `at=${next};`);
    return json(response, {
      // a column that comes late: pages are read a second time
      items: ids.map((id) => ({ id, n: id, ...(id > 7 ? { late: 'yes' } : {}) })),
      ...(next === undefined ? {} : { next, cont: { at: next, step: 'x' }, link: `/items?at=${next}` }),
      more: next !== undefined,
      page: Number(page ?? 1),
      pages: Math.ceil(all.length / SIZE),
    });
  };
  return Object.assign(state, { url: api.url, seen: api.seen });
}

const GET = { endpoint: 'items', dataType: 'items', dataField: 'items' };
const POST = { ...GET, method: 'POST' };
const byParam = (responseParam: unknown, queryParam: unknown): object => ({
  method: 'response.param',
  responseParam,
  queryParam,
});

type Form = readonly [name: string, pagination: object, job: object, hasChildren?: boolean];

const FORMS: readonly Form[] = [
  ['the last row', byParam({ last: 'n' }, 'at'), GET],
  ['a header into a header', byParam({ header: 'X-Next', match: 'at=(\\d+)' }, { header: 'X-At' }), GET],
  ['a part of a link into the body', byParam({ path: 'link', param: 'at' }, { body: 'deep.at' }), POST],
  [
    'a set',
    {
      method: 'response.param',
      set: [
        { from: 'next', to: 'at' },
        { from: 'page', to: 'of' },
      ],
    },
    GET,
  ],
  ['a merge', { method: 'response.param', merge: { from: 'cont', to: { query: '*' } } }, GET],
  [
    'an offset in a text',
    { method: 'offset', limit: SIZE, offsetParam: { template: 'at' }, limitParam: { template: 'size' } },
    { ...GET, params: { q: 'AT {at} MOST {size}' } },
  ],
  ['an offset by rows', { method: 'offset', advance: 'rows', offsetParam: 'at', limitParam: false }, GET],
  [
    'a page in the path',
    {
      method: 'pagenum',
      pageParam: { path: 'page' },
      stopWhen: { value: { answer: 'page' }, is: 'atLeast', than: { path: 'pages' } },
    },
    { ...GET, endpoint: 'page/{page}' },
  ],
  [
    'empty pages',
    { method: 'pagenum', emptyPage: 'goOn', nextPageFlag: { field: 'more', stopOn: false } },
    GET,
  ],
  ['a restart', restart({ value: { request: 'page' }, is: 'atLeast', than: 2 }), GET],
  [
    'a restart with children',
    restart({ value: { request: 'page' }, is: 'atLeast', than: 3 }),
    {
      ...GET,
      children: [{ endpoint: 'of/{id}', dataType: 'of', placeholders: { id: 'id' }, pagination: {} }],
    },
    true,
  ],
];

function restart(when: object): object {
  const set = [{ from: { last: 'n' }, to: 'since' }];
  return { method: 'pagenum', limit: SIZE, limitParam: false, restart: { when, set } };
}

const env: Env = {
  now: () => 1_772_366_400_000,
  randomBytes: (count) => systemEnv.randomBytes(count),
  sleep: async () => {},
};

function folderOf(api: Rows, pagination: object, job: object, concurrency: number): string {
  const http = { concurrency };
  return dataFolder(configOf(api, [job], { api: { pagination, http, retryConfig: { maxRetries: 0 } } }));
}

async function tablesOf(folder: string): Promise<Record<string, string>> {
  await run({ dataFolder: folder, log: silentLog, env });
  return filesOf(path.join(folder, 'out/tables'));
}

const CASES = FORMS.map(([name, pagination, job, hasChildren = false]) => ({
  name,
  pagination,
  job,
  hasChildren,
}));

describe.each(CASES)('$name', ({ pagination, job, hasChildren }) => {
  test.for([1, 4])('gives every row once, concurrency %i', async (concurrency) => {
    const api = await rowsApi();
    const tables = await tablesOf(folderOf(api, pagination, job, concurrency));
    const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(tables['library.items']).toBe(
      ['"id","n","late"', ...ids.map((id) => `"${id}","${id}","${id > 7 ? 'yes' : ''}"`), ''].join('\n'),
    );
    if (!hasChildren) return;
    expect(tables['library.of']).toBe(
      ['"of","parent_id"', ...ids.map((id) => `"${id}","${id}"`), ''].join('\n'),
    );
  });

  test('goes on where it was stopped, at every request', async () => {
    const api = await rowsApi();
    const whole = await tablesOf(folderOf(api, pagination, job, 1));
    const asked = [...api.answered];
    for (const failAt of sample(
      asked.slice(1).map((_, at) => at + 1),
      1,
    )) {
      api.answered.length = 0;
      const folder = folderOf(api, pagination, job, 1);
      api.failAt = failAt;
      await expect(tablesOf(folder)).rejects.toThrow('404');
      api.failAt = Infinity;
      expect(await tablesOf(folder)).toEqual(whole);
      expect(api.answered).toEqual(asked);
    }
  });
});

test('a restart whose first page is the last one before it goes on', async () => {
  const rows = [1, 1, 2, 2, 3].map((n, id) => ({ id, n }));
  const api = await startApi(({ url: { searchParams: query } }, response) => {
    const since = rows.filter(({ n }) => n >= Number(query.get('since') ?? 1));
    const from = (Number(query.get('page')) - 1) * SIZE;
    json(response, since.slice(from, from + SIZE));
  });
  const pagination = restart({ value: { request: 'page' }, is: 'atLeast', than: 2 });
  const folder = dataFolder(configOf(api, [{ endpoint: 'items' }], { api: { pagination } }));
  const tables = await tablesOf(folder);
  expect(tables['library.items']?.split('\n').length).toBe(5 + 2);
});

test('a restart that comes to the same value again is an error that says so', async () => {
  const api = await startApi((_asked, response) =>
    json(response, [
      { id: 1, n: 5 },
      { id: 2, n: 5 },
    ]),
  );
  const when = { value: { answer: 'rows' }, is: 'atLeast', than: 2 };
  const folder = dataFolder(configOf(api, [{ endpoint: 'items' }], { api: { pagination: restart(when) } }));
  await expect(run({ dataFolder: folder, log: silentLog, env })).rejects.toThrow(
    expect.objectContaining({
      code: 'pagination.loop',
      message: expect.stringContaining('n of the last row is 5 still') as string,
    }),
  );
});
