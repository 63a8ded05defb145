import { describe, expect, test } from 'vitest';
import { played } from './played.ts';

const users = (from: number, count: number, more: (id: number) => object = () => ({})): object[] =>
  Array.from({ length: count }, (_, i) => ({ id: from + i, name: `n${from + i}`, ...more(from + i) }));
const nameless = (from: number, count: number): object[] =>
  users(from, count).map((user) => ({ ...user, id: undefined }));

const OFFSET = { method: 'offset', limit: 10 };
const NUMBERS = { method: 'pagenum', limit: 10 };
const TOKEN = { method: 'response.param', responseParam: 'next', queryParam: 'token' };
const LINK = { method: 'response.url', urlKey: 'next' };

interface Given {
  readonly job?: object;
  readonly config?: object;
  readonly api?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Status of the answers behind the first one. */
  readonly status?: number;
}

/** The verdict, and the codes of what speaks against it. */
async function verdictOf(
  pagination: object,
  bodies: readonly unknown[],
  { job = {}, config = {}, api = {}, headers = {}, status = 200 }: Given = {},
): Promise<string> {
  const configuration = {
    parameters: {
      api: { baseUrl: 'https://api.example.com/', pagination, ...api },
      config: {
        outputBucket: 'b',
        jobs: [{ endpoint: 'users', dataType: 'users', dataField: 'items', ...job }],
        ...config,
      },
    },
  };
  const answers = bodies.map((body, i) => ({
    headers,
    body: JSON.stringify(body),
    ...(i === 0 ? {} : { status }),
  }));
  const [report] = await played(JSON.stringify(configuration), answers);
  const codes = report?.doubtful.flatMap(({ doubts }) => doubts.map(({ code }) => code)) ?? [];
  return [report?.verdict, ...codes].join(' ');
}

const next = (page: number): string => `https://api.example.com/users?page=${page}`;

describe('totals', () => {
  test.each<[string, unknown, string]>([
    ['a number', { total: 131 }, 'doubtful totalAbove'],
    ['the rows', { total: 7 }, 'complete'],
    ['text', { total: '131' }, 'doubtful totalAbove'],
    ['text with separators', { total: '1,023' }, 'doubtful totalAbove'],
    ['text with separators that is a fraction', { total: '1,02' }, 'ended'],
    ['text with a dot may be a fraction', { total: '1.234' }, 'ended'],
    ['text with several separators', { total: "1'023,5" }, 'ended'],
    ['text with thin separators', { total: '1\u202f023\u202f000' }, 'doubtful totalAbove'],
    ['text with blanks', { total: ' 131 ' }, 'doubtful totalAbove'],
    ['text with a fraction of nothing', { total: '131.0' }, 'doubtful totalAbove'],
    ['of a vocabulary', { 'hydra:totalItems': 131, '@id': '/users' }, 'doubtful totalAbove'],
    ['of a vocabulary, the rows', { 'hydra:totalItems': 7, '@id': '/users' }, 'complete'],
    ['of DataTables', { iTotalRecords: 131 }, 'doubtful totalAbove'],
    ['null', { total: null }, 'ended'],
    ['below zero', { total: -1 }, 'ended'],
    ['beyond counting', { total: 1e30 }, 'ended'],
    ['a fraction', { total: 13.5 }, 'ended'],
    ['a list', { total: [131] }, 'ended'],
    ['three levels down', { meta: { paging: { info: { total: 131 } } } }, 'doubtful totalAbove'],
    ['an estimate beside it', { total: 131, total_is_estimate: true }, 'ended'],
    ['no estimate beside it', { total: 131, total_is_estimate: false }, 'doubtful totalAbove'],
    ['an approximation', { approximate_total: 131 }, 'ended'],
    ['exactly so many', { total: { value: 131, relation: 'eq' } }, 'doubtful totalAbove'],
    ['at least so many', { total: { value: 10_000, relation: 'gte' } }, 'doubtful totalAbove'],
    ['at least so many, which came', { total: { value: 7, relation: 'gte' } }, 'doubtful totalAbove'],
    ['at least so many, which came, and the end', { total: '7+', has_more: false }, 'complete'],
    ['at least so many, and more came', { total: { value: 6, relation: 'gte' } }, 'ended'],
    ['at least so many, as text', { total: '23+' }, 'doubtful totalAbove'],
    ['at least so many as came, as text', { total: '7+' }, 'doubtful totalAbove'],
    ['at least fewer than came, as text', { total: '5+' }, 'ended'],
    ['more than so many', { total: '>10,000' }, 'doubtful totalAbove'],
    ['at least nothing', { total: '0+' }, 'ended'],
    ['more than so many, and all of them', { total: '>10000', totalCount: 7 }, 'complete'],
    ['a count of the page', { count: 7 }, 'ended'],
    ['a count of all', { count: 131 }, 'doubtful totalAbove'],
    ['a count of the page beside a total', { count: 9, total: 7 }, 'complete'],
    ['a total that equals, beside another that does not', { total: 7, totalCount: 131 }, 'complete'],
    ['of something else', { total_price: 131, totals: { total_tax: 55 } }, 'ended'],
    ['in limits of use', { rate_limit: { total: 5000 } }, 'ended'],
    ['of another list', { other: { total: 131, list: [{ a: 1 }] } }, 'ended'],
    ['pages', { total_pages: 14 }, 'doubtful pagesAbove'],
    ['one page', { total_pages: 1 }, 'complete'],
    ['no pages', { total_pages: 0 }, 'ended'],
    ['rows that are left', { remaining_items: 124 }, 'doubtful totalAbove'],
    ['a size that is above the page size', { size: 131, pagelen: 10 }, 'doubtful totalAbove'],
    ['a size beside a page size', { size: 10, page_size: 10 }, 'ended'],
  ])('%s', async (_what, envelope, verdict) => {
    expect(await verdictOf(OFFSET, [{ items: users(1, 7), ...(envelope as object) }])).toBe(verdict);
  });

  test.each([
    ['a total of the rows so far', [3, 6, 9], 'ended'],
    ['a total of all rows', [9, 9, 9], 'complete'],
    ['rows that are left', [9, 6, 3], 'complete'],
  ])('%s, page by page', async (_what, totals, verdict) => {
    const bodies = totals.map((total, i) => ({ items: users(1 + i * 3, 3), total }));
    expect(await verdictOf({ method: 'pagenum' }, [...bodies, { items: [] }])).toBe(verdict);
  });

  test.each([
    [{ value: 4, relation: 'gte' }, 'doubtful totalAbove'],
    [{ value: 4, relation: 'eq' }, 'complete'],
  ])('pages that end at a total of %o', async (total, verdict) => {
    const pagination = { method: 'pagenum', limitStop: { field: 'total.value' } };
    const bodies = [1, 4].map((from) => ({ items: users(from, total.relation === 'eq' ? 2 : 3), total }));
    expect(await verdictOf(pagination, bodies)).toBe(verdict);
  });

  test.each<[string, unknown, string]>([
    ['in an answer of JSON-RPC', { jsonrpc: '2.0', id: 1, total: 131 }, 'doubtful totalAbove'],
    ['of a thing', { id: 1, total: 131 }, 'ended'],
  ])('%s', async (_what, envelope, verdict) => {
    expect(await verdictOf(OFFSET, [{ items: users(1, 7), ...(envelope as object) }])).toBe(verdict);
  });

  test('a total that becomes the rows of the last page has shrunk', async () => {
    const bodies = [10, 10, 2].map((count, i) => ({
      items: users(1 + i * 10, count),
      total: i === 2 ? 2 : 22,
    }));
    expect(await verdictOf(OFFSET, bodies)).toBe('doubtful totalShrank');
  });

  test('a page that came again is none of the pages that were counted', async () => {
    const bodies = [1, 2].map((at) => ({ items: users(1, 3), total_pages: 2, at }));
    expect(await verdictOf({ method: 'pagenum' }, [...bodies, { items: [] }])).toBe(
      'doubtful samePage pagesAbove',
    );
  });

  test.each([
    ['page', 2, 'doubtful totalShrank'],
    ['from', 1_700_000, 'complete'],
  ])('a total that shrinks to fewer than came, where `%s=%i` leads on', async (name, value, verdict) => {
    const bodies = [
      { items: nameless(1, 5), next: `https://api.example.com/users?${name}=${value}`, total: 9 },
      { items: nameless(6, 4), next: null, total: 8 },
    ];
    expect(await verdictOf(LINK, bodies)).toBe(verdict);
  });

  test('no pages on an empty page is no doubt', async () => {
    expect(await verdictOf(NUMBERS, [{ items: [], total_pages: 0, total: 0 }])).toBe('complete');
  });

  test.each([
    ['x-total-count', '131', 'doubtful totalAbove'],
    ['content-range', 'items 0-6/131', 'doubtful totalAbove'],
    ['content-range', 'items 0-6/*', 'ended'],
    ['content-range', 'bytes 0-6/131', 'ended'],
    ['x-wp-totalpages', '14', 'doubtful pagesAbove'],
    ['x-ratelimit-total', '131', 'ended'],
    ['x-total-count', '7', 'complete'],
    ['link', "</users?page=2>; rel='next'", 'doubtful nextPage'],
    ['link', '</users?page=2>; title="a, <b>; rel=prev"; rel="next"', 'doubtful nextPage'],
    ['link', '</help>; title="a, <b>; rel=next"; rel="help"', 'ended'],
  ])('header %s: %s', async (name, value, verdict) => {
    expect(await verdictOf(OFFSET, [{ items: users(1, 7) }], { headers: { [name]: value } })).toBe(verdict);
  });

  test.each([
    ['count', 37, 36, 'doubtful totalShrank'],
    ['total', 37, 36, 'doubtful totalShrank'],
    // of each page
    ['count', 10, 6, 'complete'],
  ])(
    '`%s` goes from %i to %i while links with page numbers are followed',
    async (name, from, to, verdict) => {
      const bodies = [
        { items: nameless(1, 10), next: next(2), [name]: from },
        { items: nameless(11, 10), next: next(3), [name]: from },
        { items: nameless(22, 10), next: next(4), [name]: from === 10 ? 10 : to },
        { items: nameless(32, 6), next: null, [name]: to },
      ];
      expect(await verdictOf(LINK, bodies)).toBe(verdict);
    },
  );
});

const same = (count: number): object[] => Array.from({ length: count }, () => ({ id: 1, name: 'n1' }));

describe('rows that come again, where an id comes twice in one page', () => {
  const days = (from: number, count: number): object[] =>
    users(from, count).map((user, i) => ({ ...user, id: 1 + (i % 5), day: from + i }));
  const twin = (from: number, count: number): object[] => [...users(from, count - 1), ...users(from, 1)];

  test.each<[string, readonly (readonly object[])[], string]>([
    [
      'by all values',
      [days(1, 10), days(11, 10), [...days(11, 3), ...days(21, 7)], []],
      'doubtful rowsTwice',
    ],
    ['no row by all values', [days(1, 10), days(11, 10), days(21, 10), []], 'ended'],
    [
      'at the border of pages',
      [twin(1, 10).toReversed(), users(20, 10), users(28, 10), []],
      'doubtful rowsTwice',
    ],
    ['no row at the border of pages', [twin(1, 10), users(20, 10), users(30, 10), []], 'ended'],
    [
      'rows at the border that one page has several times',
      [[...users(1, 2), ...users(20, 6), ...users(1, 2)], [...users(1, 2), ...users(30, 8)], []],
      'ended',
    ],
    [
      'numbers that things of another type have',
      [
        users(1, 10, () => ({ type: 'a' })),
        [...users(11, 4), ...users(5, 2, () => ({ type: 'b' })), ...users(15, 4)],
        [],
      ],
      'ended',
    ],
    ['one row at the border of pages', [twin(1, 10), users(20, 10), users(29, 10), []], 'ended'],
    ['rows that are alike in each page', [same(10), same(10).concat(users(5, 2)), same(9), []], 'ended'],
    [
      'rows that take turns',
      [1, 2, 3].map(() => [...users(1, 2), ...users(1, 2), ...users(1, 2)]),
      'doubtful samePage',
    ],
    [
      'rows that take turns, among others',
      [3, 4, 5]
        .map((id) => [...users(1, 2), ...users(1, 2), ...users(1, 2), ...users(id * 9, 1)])
        .concat([[]]),
      'ended',
    ],
  ])('%s', async (_what, pages, verdict) => {
    const bodies = pages.map((items) => ({ items }));
    expect(await verdictOf({ method: 'pagenum' }, bodies)).toBe(verdict);
  });
});

describe('sizes', () => {
  test.each<[string, object, unknown, string]>([
    [
      'a usual cap, and more was asked for',
      { ...OFFSET, limit: 1000 },
      { items: users(1, 100) },
      'doubtful capped',
    ],
    [
      'a usual cap, and a total says it is all',
      { ...OFFSET, limit: 1000 },
      { items: users(1, 100), total: 100 },
      'complete',
    ],
    ['a number of rows that is nobody’s cap', { ...OFFSET, limit: 1000 }, { items: users(1, 101) }, 'ended'],
    ['few rows', { ...OFFSET, limit: 1000 }, { items: users(1, 10) }, 'ended'],
    ['50 rows', { ...OFFSET, limit: 100 }, { items: users(1, 50) }, 'doubtful capped'],
    [
      '50 rows, and all by a total',
      { ...OFFSET, limit: 100 },
      { items: users(1, 50), total: 50 },
      'complete',
    ],
    ['50 rows of 60', { ...OFFSET, limit: 60 }, { items: users(1, 50) }, 'ended'],
    ['30 rows', { ...OFFSET, limit: 100 }, { items: users(1, 30) }, 'ended'],
    [
      'a size in the answer',
      { ...OFFSET, limit: 25 },
      { items: users(1, 10), per_page: 10 },
      'doubtful capped',
    ],
    ['a size that was not reached', { ...OFFSET, limit: 25 }, { items: users(1, 9), per_page: 10 }, 'ended'],
  ])('%s', async (_what, pagination, body, verdict) => {
    expect(await verdictOf(pagination, [body])).toBe(verdict);
  });

  test('a size that is the number of rows of each page is none', async () => {
    const pages = [10, 7].map((count, i) => ({ items: users(1 + i * 10, count), itemsPerPage: count }));
    expect(await verdictOf(OFFSET, pages)).toBe('ended');
  });
});

describe('paths that are nowhere', () => {
  const flag = { ...NUMBERS, nextPageFlag: { field: 'qqq', stopOn: false } };
  test('a flag on a full page', async () => {
    expect(await verdictOf(flag, [{ items: users(1, 10) }])).toBe('doubtful notFound');
  });
  test('a flag on a page that is not full', async () => {
    expect(await verdictOf(flag, [{ items: users(1, 6) }])).toBe('ended');
  });
  test('a token, where something else leads on', async () => {
    const body = { items: users(1, 10), pageInfo: { endCursor: 'abc' } };
    expect(await verdictOf(TOKEN, [body])).toBe('doubtful nextPage');
  });
  test('a token on a page with everything', async () => {
    expect(await verdictOf(TOKEN, [{ items: users(1, 10) }])).toBe('ended');
  });
});

const pages = (...lists: readonly object[][]): unknown[] =>
  lists.map((items, i) => ({ items, next: i + 1 < lists.length ? `t${i}` : null }));
const days = (day: string): object[] => users(1, 5, (id) => ({ day, clicks: id * Number(day.slice(-2)) }));
/** Three pages of a wiki, with what one part of a batch has of them. */
const batch = (from: number, name: string, of: number): object[] =>
  users(from, 3, (id) => (id === of ? { [name]: [{ title: `of ${id}` }] } : {}));
const key = (name: string): object => ({ mapping: { destination: name, primaryKey: true } });

describe('no doubt', () => {
  test.each<[string, object, unknown[]]>([
    [
      'an offset that is that of the next page',
      OFFSET,
      [
        { items: nameless(1, 10), offset: 10 },
        { items: nameless(11, 5), offset: 15 },
      ],
    ],
    [
      'a message among many other names, and no list',
      TOKEN,
      [
        { items: users(1, 3), next: 'b', a: 1, b: 2, c: 3, d: 4 },
        { message: 'hello', a: 1, b: 2, c: 3, d: 4 },
      ],
    ],
    [
      'cursors that are there on each page',
      LINK,
      [{ items: users(1, 3), paging: { cursors: { after: 'x', before: 'w' } } }],
    ],
  ])('%s', async (_what, pagination, bodies) => {
    expect(await verdictOf(pagination, bodies)).toBe('ended');
  });
});

test('an error below the top of an answer is one beside rows', async () => {
  expect(await verdictOf(OFFSET, [{ items: users(1, 3), meta: { error: 'shard gone' } }])).toBe(
    'doubtful error',
  );
});

describe('where a run begins', () => {
  test.each<[string, object, string]>([
    ['is the second page', { page: 2 }, 'doubtful notFirst'],
    ['is behind rows', { offset: 30 }, 'doubtful notFirst'],
    ['is the first page', { page: 1, total: 0 }, 'complete'],
    ['has no place', { offset: 0, previous: null }, 'complete'],
  ])('an empty first page that %s', async (_what, envelope, verdict) => {
    expect(await verdictOf(TOKEN, [{ items: [], next: null, ...envelope }])).toBe(verdict);
  });

  test.each<[string, object, Readonly<Record<string, string>>, string]>([
    ['a page number', { page: 2 }, {}, 'doubtful notFirst'],
    ['the first page', { page: 1 }, {}, 'complete'],
    ['rows before it', { offset: 30 }, {}, 'doubtful notFirst'],
    ['a link back', {}, { link: '<https://api.example.com/users>; rel="previous"' }, 'doubtful notFirst'],
    ['a token back, which some give with every page', { previous: 'abc' }, {}, 'complete'],
  ])('%s, where a token leads on', async (_what, envelope, headers, verdict) => {
    const bodies = [
      { items: users(1, 10), next: 't1', ...envelope },
      { items: users(11, 4), next: null },
    ];
    expect(await verdictOf(TOKEN, bodies, { headers })).toBe(verdict);
  });
});

describe('rows that come again', () => {
  test.each<[string, object, unknown[], object, string]>([
    [
      'at the border of pages, where a token leads on',
      TOKEN,
      pages(users(1, 10), users(10, 5)),
      {},
      'doubtful rowsTwice',
    ],
    [
      'at the border of pages, where a value of the last row leads on',
      { ...TOKEN, responseParam: '$.items[-1].next' },
      [
        { items: [...users(1, 9), { id: 10, name: 'n10', next: 'x' }] },
        {
          items: [
            { id: 10, name: 'n10', next: 'x' },
            { id: 11, name: 'n11' },
          ],
        },
      ],
      {},
      'doubtful rowsTwice',
    ],
    [
      'at the border of pages, where the last key leads on and is the primary key',
      { ...TOKEN, responseParam: { last: 'id' } },
      [{ items: users(1, 3) }, { items: users(3, 3) }, { items: users(5, 1) }, { items: users(5, 1) }],
      { mappings: { users: { id: key('id'), name: 'name' } } },
      'ended',
    ],
    [
      'at the border of pages, by a cursor without an increment',
      { method: 'cursor', idKey: 'id', param: 'from' },
      [{ items: users(1, 3) }, { items: users(3, 3) }, { items: users(5, 1) }, { items: [] }],
      {},
      'doubtful rowsTwice',
    ],
    [
      'at the border of pages, by a cursor, where they are a primary key',
      { method: 'cursor', idKey: 'id', param: 'from' },
      [{ items: users(1, 3) }, { items: users(3, 3) }, { items: users(5, 1) }, { items: [] }],
      { mappings: { users: { id: key('id'), name: 'name' } } },
      'ended',
    ],
    [
      'in parts of a batch that is not complete',
      { method: 'response.param', merge: { from: 'continue', to: { query: '*' } } },
      [
        { items: batch(1, 'links', 1), continue: { plcontinue: '2|0', continue: '||info' } },
        { items: batch(1, 'links', 2), continue: { plcontinue: '3|0', continue: '||info' } },
        {
          items: batch(1, 'links', 3),
          continue: { gapcontinue: 'D', continue: 'gapcontinue||' },
          batchcomplete: '',
        },
        { items: batch(4, 'links', 4), continue: { plcontinue: '5|0', continue: '||info' } },
        { items: batch(4, 'links', 5), batchcomplete: '' },
      ],
      {},
      'complete',
    ],
    [
      'in parts of a batch that have nothing else',
      { method: 'response.param', merge: { from: 'continue', to: { query: '*' } } },
      [
        { items: users(1, 3), continue: { plcontinue: '2|0', continue: '||info' } },
        { items: users(1, 3), batchcomplete: '' },
      ],
      {},
      'complete',
    ],
    [
      'behind a batch that is complete',
      { method: 'response.param', merge: { from: 'continue', to: { query: '*' } } },
      [
        {
          items: batch(1, 'links', 1),
          continue: { gapcontinue: 'D', continue: 'gapcontinue||' },
          batchcomplete: '',
        },
        { items: batch(1, 'links', 2), batchcomplete: '' },
      ],
      {},
      'doubtful samePage',
    ],
    [
      'with the same ids for another day',
      TOKEN,
      pages(days('2026-01-01'), days('2026-01-02')),
      {},
      'complete',
    ],
    [
      'with the same ids for another day, by number',
      { method: 'pagenum' },
      [{ items: days('2026-01-01') }, { items: days('2026-01-02') }, { items: [] }],
      {},
      'ended',
    ],
    [
      'with the same ids for another day, on very many pages',
      { method: 'pagenum' },
      [...Array.from({ length: 60 }, (_, i) => ({ items: days(`2026-01-${i + 10}`) })), { items: [] }],
      {},
      'ended',
    ],
    [
      'with another value in a row, and the same primary key',
      TOKEN,
      pages(
        users(1, 10),
        users(10, 5, () => ({ seen: 'later' })),
      ),
      { mappings: { users: { id: key('id'), name: 'name' } } },
      'doubtful rowsTwice',
    ],
    [
      'with one part of the primary key',
      TOKEN,
      pages(days('2026-01-01'), days('2026-01-02')),
      { mappings: { users: { id: key('id'), day: key('day') } } },
      'complete',
    ],
    [
      'under a primary key with another name than that of an id',
      TOKEN,
      pages([{ sku: 'a' }, { sku: 'b' }], [{ sku: 'b' }, { sku: 'c' }]),
      { mappings: { users: { sku: key('sku') } } },
      'doubtful rowsTwice',
    ],
    ['without an id', TOKEN, pages(nameless(1, 10), nameless(10, 5)), {}, 'complete'],
    [
      'with an id that is none',
      TOKEN,
      pages(
        [
          { id: 1, n: 1 },
          { id: 1, n: 2 },
        ],
        [
          { id: 1, n: 3 },
          { id: 1, n: 4 },
        ],
      ),
      {},
      'complete',
    ],
    ...['uuid', '_id', 'Id', 'ID', 'key', 'guid'].map((name): [string, object, unknown[], object, string] => [
      `with \`${name}\``,
      TOKEN,
      pages([{ [name]: 'a' }, { [name]: 'b' }], [{ [name]: 'b' }, { [name]: 'c' }]),
      {},
      'doubtful rowsTwice',
    ]),
  ])('%s', async (_what, pagination, bodies, config, verdict) => {
    expect(await verdictOf(pagination, bodies, { config })).toBe(verdict);
  });
});

/** A page of three that has a token always, and a flag. */
const flagged = (from: number, isMore: boolean, more: object): object => ({
  items: users(from, 3),
  meta: { has_more: isMore, after: `t${from}` },
  ...more,
});

describe('a last page that a flag of the configuration ends', () => {
  const pagination = {
    ...TOKEN,
    responseParam: 'meta.after',
    nextPageFlag: { field: 'meta.has_more', stopOn: false },
  };
  const link = { links: { next: next(2) } };
  test.each<[string, readonly object[], string]>([
    [
      'has the link that pages before it had, too',
      [flagged(1, true, link), flagged(4, false, link)],
      'complete',
    ],
    ['has a link of its own', [flagged(1, true, {}), flagged(4, false, link)], 'doubtful contradiction'],
    ['is the only one, and has a link', [flagged(1, false, link)], 'doubtful contradiction'],
  ])('%s', async (_name, bodies, verdict) => {
    expect(await verdictOf(pagination, bodies)).toBe(verdict);
  });
});

describe('one thing in the place of a list', () => {
  test.each<[string, object, string]>([
    ['with a state of its own', { id: 7, name: 'x', status: 'failed' }, 'complete'],
    ['with an id and a state', { id: 7, status: 'failed' }, 'complete'],
    ['with an id, a title and a state', { id: 7, title: 'x', status: 'failed' }, 'complete'],
    ['that is an error', { error: 'boom' }, 'doubtful error'],
    ['that is a code and a message', { code: 500, message: 'internal error' }, 'doubtful error'],
  ])('%s', async (_name, items, verdict) => {
    expect(
      await verdictOf(TOKEN, [
        { items: users(1, 2), next: 'b' },
        { items, next: '' },
      ]),
    ).toBe(verdict);
  });
});

describe('an error status that is to be ignored', () => {
  const pagination = {
    method: 'pagenum',
    stopWhen: { value: { answer: 'page' }, is: 'atLeast', than: 2 },
  };
  const api = { http: { ignoreErrors: [404] } };
  test.each<[string, number, object, string]>([
    ['is data in the place of the list', 404, { detail: 'Invalid page.' }, 'cut'],
    ['is data as the only row of a list', 404, [{ error: 'gone', status: 404 }], 'cut'],
    ['is none where it is that of a success', 200, { detail: 'Invalid page.' }, 'doubtful error'],
    ['is none as the only row of a success', 200, [{ error: 'gone', status: 404 }], 'doubtful error'],
  ])('%s', async (_name, status, body, verdict) => {
    const bodies = [users(1, 5), body];
    const given = { api, status, job: { dataField: '.' } };
    expect(await verdictOf(pagination, bodies, given)).toBe(verdict);
  });
});
