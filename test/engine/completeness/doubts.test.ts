import { expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import type { JobReport } from '../../../src/engine/completeness/index.ts';
import { configOf, dataFolder, json, startApi } from '../../cli/support.ts';

type Query = (name: string) => number;

/** Runs one job over an API whose answer depends on the query alone. */
async function reportOf(
  answer: (query: Query) => unknown,
  pagination: object | undefined,
  job: object = {},
): Promise<JobReport> {
  const api = await startApi(({ url }, response) =>
    json(
      response,
      answer((name) => Number(url.searchParams.get(name) ?? 0)),
    ),
  );
  const jobs = [{ endpoint: 'users', dataField: 'users', ...job }];
  const more = pagination === undefined ? {} : { api: { pagination } };
  const { rows } = await run({ dataFolder: dataFolder(configOf(api, jobs, more)), log: silentLog });
  const report = rows[0]?.jobs[0];
  if (report === undefined) throw new Error('There is a job.');
  return report;
}

/** Rows `from` to `to`, the last one not among them. */
const users = (from: number, to: number): object[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: from + i + 1, name: `user ${from + i}` }));
/** Rows without an id. */
const names = (from: number, to: number): object[] =>
  users(from, to).map((user) => ({ name: 'name' in user ? user.name : '' }));

const two = { method: 'offset', limit: 2 };
const byPage = { method: 'pagenum' };
const byToken = { method: 'response.param', responseParam: 'next', queryParam: 'after' };

/** Pages of two of five. */
const page = (query: Query): object[] => users(query('offset'), Math.min(5, query('offset') + 2));
const nth = (query: Query, count = 5): object[] =>
  users(query('page') * 2 - 2, Math.min(count, query('page') * 2));

interface Case {
  readonly code: string;
  readonly what: string;
  readonly doubtful: (query: Query) => unknown;
  /** Almost the same, and no reason to doubt. */
  readonly sound: (query: Query) => unknown;
  readonly pagination?: object;
  readonly job?: object;
  readonly facts?: object;
}

const cases: readonly Case[] = [
  {
    code: 'totalAbove',
    what: 'a total above the rows',
    pagination: two,
    doubtful: (query) => ({ users: page(query), total: 6 }),
    sound: (query) => ({ users: page(query), total: 5 }),
    facts: { path: 'total', total: 6, rows: 5 },
  },
  {
    code: 'pagesAbove',
    what: 'more pages than came',
    pagination: two,
    doubtful: (query) => ({ users: page(query), total_pages: 4 }),
    sound: (query) => ({ users: page(query), total_pages: 3 }),
    facts: { path: 'total_pages', total: 4, pages: 3 },
  },
  {
    code: 'moreFlag',
    what: 'a flag of more pages on the last one',
    pagination: two,
    doubtful: (query) => ({ users: page(query), has_more: true }),
    sound: (query) => ({ users: page(query), has_more: query('offset') < 4 }),
    facts: { path: 'has_more', page: 3 },
  },
  {
    code: 'nextPage',
    what: 'a link to a next page on the last one',
    pagination: two,
    doubtful: (query) => ({ users: page(query), next_url: `/users?offset=${query('offset') + 2}` }),
    sound: (query) => ({ users: page(query), next_url: query('offset') < 4 ? '/users' : null }),
    facts: { path: 'next_url', page: 3 },
  },
  {
    code: 'samePage',
    what: 'the rows of a page again, by another request',
    pagination: byPage,
    doubtful: (query) => ({ users: query('page') > 3 ? [] : users(0, 2), at: query('page') }),
    sound: (query) => ({ users: query('page') > 3 ? [] : nth(query, 99), at: query('page') }),
    facts: { page: 2, of: 1, how: 'rows' },
  },
  {
    code: 'samePage',
    what: 'the same ids in rows that differ',
    pagination: byPage,
    doubtful: (query) => ({
      users: query('page') > 3 ? [] : users(0, 2).map((user) => ({ ...user, seen: query('page') })),
    }),
    sound: (query) => ({ users: query('page') > 3 ? [] : nth(query, 99) }),
    facts: { page: 2, of: 1, how: 'ids' },
  },
  {
    code: 'samePage',
    what: 'the same values but for one that all rows share',
    pagination: byPage,
    doubtful: (query) => ({
      users: query('page') > 3 ? [] : names(0, 2).map((user) => ({ ...user, seen: query('page') })),
    }),
    sound: (query) => ({
      users: query('page') > 3 ? [] : names(query('page') * 2, query('page') * 2 + 2),
    }),
    facts: { page: 2, of: 1, how: 'values' },
  },
  {
    code: 'samePage',
    what: 'the first answer again',
    pagination: byPage,
    doubtful: () => ({ users: users(0, 2) }),
    sound: () => ({ users: users(0, 2), total: 2 }),
    facts: { page: 2, of: 1, how: 'answer' },
  },
  {
    code: 'onlyKnownRows',
    what: 'a page of rows of several earlier pages',
    pagination: byPage,
    doubtful: (query) => ({ users: [users(0, 2), users(2, 4), users(1, 3)][query('page') - 1] ?? [] }),
    sound: (query) => ({ users: [users(0, 2), users(2, 4), users(4, 6)][query('page') - 1] ?? [] }),
    facts: { page: 3 },
  },
  {
    code: 'rowsTwice',
    what: 'a row of the page before',
    pagination: byPage,
    doubtful: (query) => ({ users: [users(0, 2), users(1, 3)][query('page') - 1] ?? [] }),
    sound: (query) => ({ users: [users(0, 2), users(2, 4)][query('page') - 1] ?? [] }),
    facts: { page: 2, rows: 1, of: 1 },
  },
  {
    code: 'rowsTwice',
    what: 'a row of the page before, on two pages',
    pagination: byPage,
    doubtful: (query) => ({ users: [users(0, 2), users(1, 3), users(2, 4)][query('page') - 1] ?? [] }),
    sound: (query) => ({ users: [users(0, 2), users(2, 4), users(4, 6)][query('page') - 1] ?? [] }),
    facts: { page: 2, rows: 2, pages: 2 },
  },
  {
    code: 'totalShrank',
    what: 'a total that goes down',
    pagination: two,
    doubtful: (query) => ({ users: page(query), total: query('offset') === 0 ? 6 : 5 }),
    sound: (query) => ({ users: page(query), total: query('offset') === 0 ? 4 : 5 }),
    facts: { path: 'total', from: 6, to: 5 },
  },
  {
    code: 'notFirst',
    what: 'a first page that says it is the second',
    pagination: byPage,
    doubtful: (query) => ({ users: nth(query), current_page: query('page') + 1 }),
    sound: (query) => ({ users: nth(query), current_page: query('page') }),
    facts: { path: 'current_page', begins: 2 },
  },
  {
    code: 'gap',
    what: 'a page that begins behind what had come',
    pagination: two,
    doubtful: (query) => ({ users: page(query), skip: query('offset') === 0 ? 0 : query('offset') + 1 }),
    sound: (query) => ({ users: page(query), skip: query('offset') }),
    facts: { page: 2, path: 'skip', begins: 3, expected: 2 },
  },
  {
    code: 'overlap',
    what: 'a page that begins before the end of what had come, where rows have no ids',
    pagination: two,
    doubtful: (query) => ({ users: names(query('offset'), Math.min(5, query('offset') + 2)), skip: 0 }),
    sound: (query) => ({
      users: names(query('offset'), Math.min(5, query('offset') + 2)),
      skip: query('offset'),
    }),
    facts: { page: 2, path: 'skip', begins: 0, expected: 2 },
  },
  {
    code: 'tooManyRows',
    what: 'more rows than were asked for, where rows have no ids',
    pagination: two,
    doubtful: (query) => ({ users: query('offset') > 2 ? [] : names(query('offset'), query('offset') + 3) }),
    sound: (query) => ({ users: query('offset') > 2 ? [] : names(query('offset'), query('offset') + 2) }),
    facts: { asked: 2, rows: 3 },
  },
  {
    code: 'capped',
    what: 'a short page that is full by the size the API itself gives',
    pagination: { method: 'offset', limit: 10 },
    doubtful: () => ({ users: users(0, 2), per_page: 2 }),
    sound: () => ({ users: users(0, 2), per_page: 3 }),
    facts: { asked: 10, size: 2 },
  },
  {
    code: 'fullPage',
    what: 'a full page, and no pagination',
    doubtful: () => ({ users: users(0, 2), per_page: 2 }),
    sound: () => ({ users: users(0, 2), per_page: 3 }),
    facts: { path: 'per_page', size: 2 },
  },
  {
    code: 'notFound',
    what: 'a token that is under a much like name',
    pagination: { ...byToken, responseParam: 'meta.nextCursor' },
    doubtful: () => ({ users: users(0, 2), meta: { next_cursor: 'b7' } }),
    sound: () => ({ users: users(0, 2), meta: { next_cursor: null } }),
    facts: { looked: 'meta.nextCursor', near: 'meta.next_cursor' },
  },
  {
    code: 'notFound',
    what: 'a total that is nowhere',
    pagination: { ...byPage, limitStop: { field: 'sum' } },
    doubtful: () => ({ users: users(0, 2) }),
    sound: () => ({ users: users(0, 2), sum: 2 }),
    facts: { looked: 'sum' },
  },
  {
    code: 'notFound',
    what: 'rows in the items of an answer that is a list',
    doubtful: () => [{ users: users(0, 2) }, { users: users(2, 3) }],
    sound: () => [{ users: [] }],
    facts: { looked: 'users', near: '$[*].users[*]', key: 'dataField' },
  },
  {
    code: 'notFound',
    what: 'such an answer behind pages with rows',
    pagination: two,
    doubtful: (query) => (query('offset') > 2 ? [{ users: users(4, 5) }] : { users: page(query) }),
    sound: (query) => ({ users: page(query) }),
    facts: { looked: 'users', near: '$[*].users[*]', page: 3 },
  },
  {
    code: 'error',
    what: 'an error in an answer with status 200',
    pagination: two,
    doubtful: (query) => (query('offset') > 2 ? { users: [], error: 'boom' } : { users: page(query) }),
    sound: (query) => (query('offset') > 2 ? { users: [], error: '' } : { users: page(query) }),
    facts: { page: 3, path: 'error' },
  },
  {
    code: 'partial',
    what: 'an answer that is a part',
    pagination: two,
    doubtful: (query) => ({ users: page(query), timed_out: true }),
    sound: (query) => ({ users: page(query), timed_out: false }),
    facts: { page: 1, path: 'timed_out' },
  },
];

test.for(cases)('$code: $what', async ({ code, doubtful, sound, pagination, job, facts = {} }) => {
  const { verdict, doubtful: runs } = await reportOf(doubtful, pagination, job);
  expect(verdict).toBe('doubtful');
  expect(runs[0]?.doubts).toContainEqual(expect.objectContaining({ code, ...facts }));
  const other = await reportOf(sound, pagination, job);
  expect(other.doubtful).toEqual([]);
});
