import { describe, expect, test } from 'vitest';
import { json, startApi, configOf, dataFolder } from '../../cli/support.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';

const things = (count: number): object[] => Array.from({ length: count }, (_, i) => ({ id: i + 1 }));

interface Given {
  readonly job?: object;
  readonly pagination?: object;
  readonly api?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
}

/** The verdict on a job whose API has one answer for everything, and the codes of what speaks against it. */
async function verdictOf(
  body: unknown,
  { job, pagination, api, headers = {}, status }: Given,
): Promise<string> {
  const { url } = await startApi((_request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    json(response, body, status);
  });
  const config = configOf(url, [{ endpoint: 'things', dataField: 'items', ...job }], {
    api: { ...(pagination === undefined ? {} : { pagination }), ...api },
  });
  const { rows } = await run({ dataFolder: dataFolder(config), log: silentLog });
  const report = rows[0]?.jobs[0];
  const codes = report?.doubtful.flatMap(({ doubts }) => doubts.map(({ code }) => code)) ?? [];
  return [report?.verdict, ...codes].join(' ');
}

const graphql = (query: string, variables: object = {}): Given => ({
  job: { method: 'POST', dataField: 'data.users.nodes', body: { query, variables } },
});

describe('a page as long as its request asks for', () => {
  test.each<[string, number, Given]>([
    ['limit', 40, { job: { params: { limit: 40 } } }],
    ['limit as text', 20, { job: { params: { limit: '20' } } }],
    ['limit in the endpoint', 20, { job: { endpoint: 'things?limit=20' } }],
    ['limit of all requests', 20, { api: { http: { defaultOptions: { params: { limit: 20 } } } } }],
    ...[
      'size',
      'count',
      'per_page',
      'page_size',
      'pageSize',
      'first',
      'top',
      '$top',
      'max',
      'n',
      'rows',
      '_limit',
    ]
      .concat([
        'page[size]',
        'page[limit]',
        'maxResults',
        'num',
        'take',
        'hitsPerPage',
        'max-keys',
        'pagesize',
      ])
      .map((name): [string, number, Given] => [`\`${name}\``, 7, { job: { params: { [name]: 7 } } }]),
    ['100', 100, { job: { params: { limit: 100 } } }],
    ['120', 120, { job: { params: { limit: 120 } } }],
    ['in a body', 20, { job: { method: 'POST', params: { size: 20 } } }],
    ['below the top of a body', 20, { job: { method: 'POST', body: { page: { size: 20 } } } }],
    ['in a form', 20, { job: { method: 'FORM', params: { limit: 20 } } }],
    ['in a header', 20, { job: { headers: { 'X-Page-Size': '20' } } }],
    ['in a preference', 20, { job: { headers: { Prefer: 'odata.maxpagesize=20' } } }],
    ['in a statement', 20, { job: { params: { q: 'SELECT Id FROM Account ORDER BY Id LIMIT 20' } } }],
    ['in GraphQL', 20, graphql('{ users(first: 20) { nodes { id } } }')],
    [
      'in GraphQL, by a variable',
      20,
      graphql('query($n: Int!) { users(first: $n) { nodes { id } } }', { n: 20 }),
    ],
    ['in GraphQL, by default', 20, graphql('query($n: Int = 20) { users(first: $n) { nodes { id } } }')],
  ])('%s', async (_name, count, given) => {
    const answer = (rows: object[]): unknown =>
      'data' in given || given.job === undefined || !('dataField' in given.job)
        ? { items: rows }
        : { data: { users: { nodes: rows } } };
    expect(await verdictOf(answer(things(count)), given)).toBe('doubtful fullPage');
    expect(await verdictOf(answer(things(count - 1)), given)).toBe('ended');
  });

  test.each<[string, unknown, Given, string]>([
    [
      'is more than what the request asks for',
      { items: things(30) },
      { job: { params: { limit: 20 } } },
      'ended',
    ],
    ['is one row', { items: things(1) }, { job: { params: { limit: 1 } } }, 'ended'],
    [
      'says that it is all',
      { items: things(20), has_more: false },
      { job: { params: { limit: 20 } } },
      'complete',
    ],
    ['has no next link', { items: things(20), next: null }, { job: { params: { limit: 20 } } }, 'complete'],
    [
      'is as long as another number',
      { items: things(20) },
      { job: { params: { since: 20, year: 20, page: 20 } } },
      'ended',
    ],
    [
      'is as long as a number of a filter',
      { items: things(20) },
      { job: { method: 'POST', body: { filter: { count: 20 }, aggs: { a: { terms: { size: 20 } } } } } },
      'ended',
    ],
    [
      'is as long as that of another list in GraphQL',
      { data: { users: { nodes: things(5) } } },
      graphql('{ users(first: 20) { nodes { id posts(first: 5) { id } } } }'),
      'ended',
    ],
    [
      'is a usual cap below it',
      { items: things(100) },
      { job: { params: { limit: 1000 } } },
      'doubtful capped',
    ],
    ['is 50 below it', { items: things(50) }, { job: { params: { limit: 100 } } }, 'doubtful capped'],
    ['is 25 below it', { items: things(25) }, { job: { params: { limit: 100 } } }, 'ended'],
    ['is no usual cap below it', { items: things(101) }, { job: { params: { limit: 1000 } } }, 'ended'],
    [
      'leads nowhere, where a token was to lead on',
      { items: things(20), cursor_mark: '' },
      {
        job: { params: { limit: 20 } },
        pagination: { method: 'response.param', responseParam: 'paging.next', queryParam: 'after' },
      },
      'doubtful fullPage',
    ],
    [
      'leads nowhere, where a link was to lead on',
      { items: things(20) },
      { job: { params: { limit: 20 } }, pagination: { method: 'link' } },
      'doubtful fullPage',
    ],
    [
      'is shorter, where a link was to lead on',
      { items: things(19) },
      { job: { params: { limit: 20 } }, pagination: { method: 'link' } },
      'ended',
    ],
  ])('%s', async (_name, body, given, verdict) => {
    expect(await verdictOf(body, given)).toBe(verdict);
  });

  test('is no doubt of a child, whose other runs lead on', async () => {
    const { url } = await startApi(({ url: asked }, response) => {
      if (asked.pathname === '/lists') return json(response, { items: things(2) });
      const isMore = asked.pathname === '/lists/2' && !asked.searchParams.has('page');
      if (isMore) response.setHeader('Link', `<${asked.pathname}?limit=5&page=2>; rel="next"`);
      const from = asked.searchParams.has('page') ? 5 : 0;
      json(response, { items: things(from + 5).slice(from) });
    });
    const child = {
      endpoint: 'lists/{id}',
      dataField: 'items',
      dataType: 'entries',
      params: { limit: 5 },
      placeholders: { id: 'id' },
    };
    const jobs = [{ endpoint: 'lists', dataField: 'items', children: [child] }];
    const config = configOf(url, jobs, { api: { pagination: { method: 'link' } } });
    const { rows } = await run({ dataFolder: dataFolder(config), log: silentLog });
    expect(rows[0]?.jobs.map(({ job, verdict }) => `${job} ${verdict}`)).not.toContainEqual(
      expect.stringContaining('doubtful'),
    );
  });
});

test('a full page is no doubt of a job with several values, whose other runs lead on', async () => {
  const { url } = await startApi(({ url: asked }, response) => {
    const list = asked.searchParams.get('list') ?? '';
    const isSecond = asked.searchParams.has('page');
    if (list === 'b' && !isSecond) response.setHeader('Link', '</things?list=b&page=2>; rel="next"');
    json(response, {
      items: things(isSecond ? 7 : 5)
        .map((thing) => ({ ...thing, list }))
        .slice(isSecond ? 5 : 0),
    });
  });
  const job = {
    endpoint: 'things',
    dataField: 'items',
    params: { list: '{list}', limit: 5 },
    over: { list: ['a', 'b', 'c'] },
  };
  const config = configOf(url, [job], { api: { pagination: { method: 'link' } } });
  const { rows } = await run({ dataFolder: dataFolder(config), log: silentLog });
  expect(rows[0]?.jobs.map(({ verdict, rows: came }) => `${verdict} ${came}`)).toEqual(['ended 17']);
});

test('a total that equals the page size is no doubt of a child', async () => {
  const { url } = await startApi(({ url: asked }, response) => {
    if (asked.pathname === '/lists') return json(response, { items: things(2), total: 2 });
    const total = asked.pathname === '/lists/2' ? 7 : 5;
    const from = Number(asked.searchParams.get('offset') ?? 0);
    json(response, { items: things(Math.min(total, from + 5)).slice(from), total });
  });
  const child = { endpoint: 'lists/{id}', dataField: 'items', placeholders: { id: 'id' } };
  const jobs = [{ endpoint: 'lists', dataField: 'items', children: [child] }];
  const pagination = { method: 'offset', limit: 5, limitStop: { field: 'total' } };
  const { rows } = await run({
    dataFolder: dataFolder(configOf(url, jobs, { api: { pagination } })),
    log: silentLog,
  });
  expect(rows[0]?.jobs.map(({ verdict, rows: came }) => `${verdict} ${came}`)).toEqual([
    'complete 2',
    'complete 12',
  ]);
});

describe('a total that equals the rows of the only page', () => {
  const offset = { method: 'offset', limit: 10, limitStop: { field: 'total' } };
  test.each<[string, unknown, Given, string]>([
    [
      'and the size that was asked for',
      { items: things(10), total: 10 },
      { job: { params: { size: 10 } } },
      'doubtful fullPage',
    ],
    ['and the size of the answer', { items: things(10), total: 10, per_page: 10 }, {}, 'doubtful fullPage'],
    [
      'and the size of the pagination',
      { items: things(10), total: 10 },
      { pagination: offset },
      'doubtful fullPage',
    ],
    [
      'below the size that was asked for',
      { items: things(9), total: 9 },
      { job: { params: { size: 10 } } },
      'complete',
    ],
    ['below the size of the pagination', { items: things(9), total: 9 }, { pagination: offset }, 'complete'],
    ['and no size', { items: things(11), total: 11 }, {}, 'complete'],
    ['and no size, as long as pages commonly are', { items: things(10), total: 10 }, {}, 'ended'],
    [
      'and the size, and a number of pages',
      { items: things(10), total: 10, total_pages: 1 },
      { job: { params: { size: 10 } } },
      'complete',
    ],
    [
      'and a number that some standards give for the rows of the page',
      { items: things(7), totalResults: 7, itemsPerPage: 7, startIndex: 1 },
      {},
      'complete',
    ],
  ])('%s', async (_name, body, given, verdict) => {
    expect(await verdictOf(body, given)).toBe(verdict);
  });
});

describe('signs that contradict each other', () => {
  const flag = { method: 'pagenum', nextPageFlag: { field: 'has_more', stopOn: false } };
  const link = '<https://api.example.com/things?page=2>; rel="next"';
  test.each<[string, object, Given, string]>([
    [
      'a flag of the end, and all of the others',
      { truncated: false, next: '50', next_url: '/things?_next=50', filtered_table_rows_count: 237 },
      { job: { params: { _size: 50 } }, headers: { link } },
      'doubtful totalAbove contradiction',
    ],
    ['a flag of the end, and a link', { truncated: false }, { headers: { link } }, 'doubtful contradiction'],
    ['a flag of the end, and a token', { done: true, next_page_token: 'b' }, {}, 'doubtful contradiction'],
    [
      'a flag of the end, and another of more',
      { is_last: true, has_more: true },
      {},
      'doubtful contradiction',
    ],
    ['a number of pages, and a link', { total_pages: 1 }, { headers: { link } }, 'doubtful nextPage'],
    ['a total, and a flag of more', { total: 50, has_more: true }, {}, 'doubtful moreFlag'],
    ['no link, and a token', { links: { next: null }, next_token: 'b' }, {}, 'doubtful nextPage'],
    [
      'a flag that the configuration ends by, and a link',
      { has_more: false, next_url: '/things?page=2' },
      { pagination: flag },
      'doubtful contradiction',
    ],
    [
      'a flag that the configuration ends by, and the token that it follows',
      { has_more: false, next: 'b' },
      {
        pagination: {
          ...flag,
          method: 'response.param',
          responseParam: 'next',
          queryParam: 'after',
        },
      },
      'complete',
    ],
    [
      'a flag of the end, and a token that some give always',
      { has_more: false, end_cursor: 'b' },
      {},
      'complete',
    ],
    ['a flag of the end, and no token', { has_more: false, next_token: null }, {}, 'complete'],
  ])('%s', async (_name, envelope, given, verdict) => {
    expect(await verdictOf({ items: things(50), ...envelope }, given)).toBe(verdict);
  });
});

describe('errors and parts', () => {
  const whole: Given = { job: { dataField: '.' } };
  test.each<[string, unknown, Given, string]>([
    ['an error is the only row', { error: 'quota exceeded' }, whole, 'doubtful error'],
    [
      'an error with its facts is the only row',
      { ok: false, error: 'x', status: 429, request_id: 'r' },
      whole,
      'doubtful error',
    ],
    [
      'errors beside nothing are the only row',
      { data: null, errors: [{ message: 'x' }] },
      whole,
      'doubtful error',
    ],
    ['a thing that failed is a row', { id: 7, name: 'import', status: 'failed', error: 'x' }, whole, 'ended'],
    ['a thing without an id that failed is a row', { name: 'import', error: 'disk is full' }, whole, 'ended'],
    ['a number of errors is a row', { date: '2024-01-01', errors: 120 }, whole, 'ended'],
    ['a number of errors as text is a row', { date: '2024-01-01', errors: '120' }, whole, 'ended'],
    ['numbers of both are a row', { date: '2024-01-01', success: 0, failed: 1 }, whole, 'ended'],
    [
      'a call that failed is a row',
      { type: 'webhook', url: 'https://example.com/', error: 'timeout', timestamp: 1 },
      whole,
      'ended',
    ],
    [
      'an error with a type and an address is the only row',
      { type: 'webhook', url: 'https://example.com/', error: 'timeout', status: 504 },
      whole,
      'doubtful error',
    ],
    ['a code is the only row', { error_code: 120, time: 1 }, whole, 'doubtful error'],
    [
      'numbers with a bad status are the only row',
      { error: 7, success: 0, status: 401 },
      whole,
      'doubtful error',
    ],
    ['a status is the only row', { error: 503 }, whole, 'doubtful error'],
    ['no success, with a message', { success: 0, message: 'no such key' }, whole, 'doubtful error'],
    ['no error is a row', { error: null, status: 200, data: { a: 1 } }, whole, 'ended'],
    ['rows that are no success', { success: false, items: things(3) }, {}, 'doubtful error'],
    ['rows that are a success', { success: true, items: things(3) }, {}, 'ended'],
    [
      'some of the bytes',
      { items: things(3) },
      { status: 206, headers: { 'content-range': 'bytes 0-9/999' } },
      'doubtful partial',
    ],
    [
      'bytes of unknown length',
      { items: things(3) },
      { status: 206, headers: { 'content-range': 'bytes 0-9/*' } },
      'doubtful partial',
    ],
    [
      'all of the bytes',
      { items: things(3) },
      { status: 206, headers: { 'content-range': 'bytes 0-8/9' } },
      'ended',
    ],
    [
      'a range that was asked for',
      { items: things(3) },
      {
        job: { headers: { Range: 'bytes=0-9' } },
        status: 206,
        headers: { 'content-range': 'bytes 0-9/999' },
      },
      'ended',
    ],
    [
      'all rows of a range',
      { items: things(3) },
      { status: 206, headers: { 'content-range': 'items 0-2/3' } },
      'complete',
    ],
    ['no rows yet', {}, { status: 202 }, 'doubtful error'],
    [
      'no rows yet, which is no sign',
      {},
      { status: 202, job: { completeness: { notSigns: ['status 202'] } } },
      'ended',
    ],
    [
      'no rows yet, which is taken as empty',
      {},
      { status: 202, job: { reactions: [{ when: { status: 202 }, do: 'empty' }] } },
      'ended',
    ],
    [
      'a part that is taken as empty',
      {},
      { status: 206, job: { reactions: [{ when: { status: 206 }, do: 'empty' }] } },
      'ended',
    ],
    [
      'a part without a range, which is no sign',
      { items: things(3) },
      { status: 206, job: { completeness: { notSigns: ['status 206'] } } },
      'ended',
    ],
    ['nothing new, and nobody asked', {}, { status: 304 }, 'doubtful error'],
    ['nothing new, as was asked', {}, { status: 304, job: { headers: { 'If-None-Match': '"a"' } } }, 'ended'],
    ['rows that were accepted', { items: things(3) }, { status: 202 }, 'ended'],
    ['an order that was accepted', {}, { status: 202, job: { method: 'POST', params: { a: 1 } } }, 'ended'],
    ['a part without a range', { items: things(3) }, { status: 206 }, 'doubtful moreFlag'],
    ['a search that ended early', { items: things(3), terminated_early: true }, {}, 'doubtful partial'],
    [
      'a search that ended early with all rows',
      { items: things(3), total: 3, terminated_early: true },
      {},
      'complete',
    ],
    [
      'a search that ran out of time with all rows',
      { items: things(3), total: 3, timed_out: true },
      {},
      'doubtful partial',
    ],
  ])('%s', async (_name, body, given, verdict) => {
    expect(await verdictOf(body, given)).toBe(verdict);
  });
});

describe('an empty list', () => {
  test.each<[string, object]>([
    ['with a total', { total: 0 }],
    ['with a total and a last page of 1', { total: 0, current_page: 1, last_page: 1, per_page: 15 }],
    ['with a total and a number of pages of 1', { total: 0, total_pages: 1 }],
    ['with a total and no pages', { total: 0, total_pages: 0 }],
    ['with a total and a link that is always there', { total: 0, links: { next: '/things?page=2' } }],
    ['with a total and a page of 0', { total: 0, page: 0, pages: 1 }],
  ])('%s is complete', async (_name, envelope) => {
    for (const pagination of [
      {},
      { method: 'offset', limit: 5 },
      { method: 'pagenum' },
      { method: 'link' },
      { method: 'response.url', urlKey: 'next' },
    ])
      expect(await verdictOf({ items: [], ...envelope }, { pagination })).toBe('complete');
  });

  test('with a number of two pages is none', async () => {
    expect(await verdictOf({ items: [], total_pages: 2 }, {})).toBe('doubtful pagesAbove');
  });
});

/** The verdict on children of the rows 1, 2 and 3, of which the second has another answer. */
const childrenOf = async (second: unknown, job: object = {}): Promise<string> => {
  const { url } = await startApi(({ url: asked }, response) => {
    const [, , id] = asked.pathname.split('/');
    if (id === undefined) return json(response, { items: things(3) });
    return json(response, id === '2' ? second : { items: [{ id: `${id}a` }, { id: `${id}b` }] });
  });
  const child = { endpoint: 'things/{id}/parts', placeholders: { id: 'id' }, dataField: 'items', ...job };
  const config = configOf(url, [{ endpoint: 'things', dataField: 'items', children: [child] }]);
  const { rows } = await run({ dataFolder: dataFolder(config), log: silentLog });
  const report = rows[0]?.jobs[1];
  const codes = report?.doubtful.flatMap(({ doubts }) => doubts.map(({ code }) => code)) ?? [];
  return [report?.verdict, ...codes].join(' ');
};

describe('runs of one job', () => {
  test.each<[string, unknown, string]>([
    ['nothing', { items: [] }, 'ended'],
    ['no list', {}, 'ended'],
    ['one thing in the place of the list', { items: { id: '2a' } }, 'ended'],
    ['a thing that failed', { items: { id: '2a', name: 'x', error: 'no paper' } }, 'ended'],
    ['an error in the place of the list', { items: { error: 'shard gone' } }, 'doubtful error'],
    ['an error that is the answer', { error: 'shard gone' }, 'doubtful error'],
    ['a message in the place of the list', { items: { message: 'shard gone' } }, 'doubtful error'],
  ])('one of them has %s', async (_what, second, verdict) => {
    expect(await childrenOf(second)).toBe(verdict);
  });
});
