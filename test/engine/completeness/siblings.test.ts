import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, json, startApi } from '../../cli/support.ts';

const things = (count: number, from = 0): object[] =>
  Array.from({ length: count }, (_, i) => ({ id: from + i, name: `n${from + i}` }));

interface Given {
  /** Answer of the API for the value of a parent row. */
  readonly answer: (value: string) => readonly object[] | object;
  readonly parents?: readonly unknown[];
  readonly child?: object;
  readonly mappings?: object;
  /** Jobs in place of a parent and its child. */
  readonly jobs?: readonly object[];
}

interface Told {
  readonly verdict: string;
  readonly text: string;
  readonly warnings: readonly string[];
}

/** The verdict on a job that asks once for each value of others. */
async function told({ answer, parents = [1, 2, 3, 4], child, mappings, jobs }: Given): Promise<Told> {
  const api = await startApi(({ url }, response) =>
    json(
      response,
      url.pathname === '/users'
        ? parents.map((value) => ({ id: value, key: String(value) }))
        : answer(url.searchParams.get('user') ?? url.pathname),
    ),
  );
  const visits = { endpoint: 'visits', dataType: 'visits', dataField: '.', params: { user: '{user}' } };
  const nested = { ...visits, placeholders: { user: 'id' }, ...child };
  const config = configOf(
    api,
    jobs?.map((job) => ({ ...visits, ...job })) ?? [
      { endpoint: 'users', dataType: 'users', dataField: '.', children: [nested] },
    ],
    mappings === undefined ? {} : { config: { mappings } },
  );
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const { rows } = await run({ dataFolder: dataFolder(config), log });
  const report = rows[0]?.jobs.find(({ job }) => job === 'visits');
  const doubts = report?.doubtful.flatMap((each) => each.doubts) ?? [];
  return {
    verdict: [report?.verdict, ...doubts.map(({ code }) => code)].join(' '),
    text: doubts.map(({ text }) => text).join(' '),
    warnings,
  };
}

describe('no list, where others have an empty one,', () => {
  const listed = { dataField: 'items' };

  test.each<[string, unknown, object, string]>([
    ['is null', { items: null }, listed, 'doubtful error'],
    ['is not there', { total: 0 }, listed, 'doubtful error'],
    ['is nowhere in an empty object', {}, listed, 'doubtful error'],
    ['is none: the list is empty', { items: [] }, listed, 'ended'],
    ['is none: a thing may lack it', { id: 7, items: null }, listed, 'ended'],
    ['is none: a word says so', { items: null, hint: 'no results' }, listed, 'ended'],
  ])('%s', async (_what, body, child, verdict) => {
    const given = (user: string): object =>
      user === '2' ? { items: [] } : user === '3' ? (body as object) : { items: things(Number(user)) };
    expect((await told({ answer: given, child })).verdict).toBe(verdict);
    // nobody knows how this API says that there is nothing
    const unknown = (user: string): object => (user === '2' ? { items: things(2) } : given(user));
    expect((await told({ answer: unknown, child })).verdict).not.toBe('doubtful error');
  });
});

describe('a parameter that the API ignores', () => {
  test('is told of with its name, and with the first request', async () => {
    const { verdict, text, warnings } = await told({ answer: () => things(3) });
    expect(verdict).toBe('doubtful sameRuns');
    expect(text).toContain('All 4 runs brought the same rows, although each asked for another `user`');
    expect(text).toContain('if all of them have the same, accept the doubt by `completeness` of the job');
    expect(warnings.join()).toMatch(
      /“visits” may not have everything in 4 of 4 runs, first for GET \S*\?user=1/,
    );
  });

  test.each<[string, Given, string]>([
    [
      'of an own list',
      { answer: () => things(3), jobs: [{ over: { user: ['a', 'b', 'c'] } }] },
      'doubtful sameRuns',
    ],
    [
      'of two values, with many rows',
      { answer: () => things(20), jobs: [{ over: { user: ['a', 'b'] } }] },
      'doubtful sameRuns',
    ],
    [
      'of two values, with few rows',
      { answer: () => things(19), jobs: [{ over: { user: ['a', 'b'] } }] },
      'ended',
    ],
    ['of many values', { answer: () => things(2), parents: [1, 2, 3, 4, 5] }, 'doubtful sameRuns'],
    [
      'in a body',
      { answer: () => things(3), child: { method: 'POST', params: { of: '{user}' } } },
      'doubtful sameRuns',
    ],
    [
      'although a storage has each row once',
      {
        answer: () => things(3),
        mappings: { visits: { id: { mapping: { destination: 'id', primaryKey: true } } } },
      },
      'doubtful sameRuns',
    ],
    ['is none: one of them has others', { answer: (user) => things(3, user === '4' ? 1 : 0) }, 'ended'],
    ['is none: one of them has nothing', { answer: (user) => (user === '3' ? [] : things(3)) }, 'ended'],
    ['is none: no rows', { answer: () => [] }, 'ended'],
    ['is none: one row', { answer: () => things(1), parents: things(20).map((_, i) => i) }, 'ended'],
    ['is none: a few states', { answer: () => things(2), parents: [1, 2, 3, 4] }, 'ended'],
    [
      'is none: a place of its own',
      { answer: () => things(9), child: { endpoint: 'users/{user}/roles', params: {} } },
      'ended',
    ],
    ['is none: the same value', { answer: () => things(9), parents: [1, 1, 1] }, 'ended'],
    ['is none: one object', { answer: () => ({ a: 1, b: 2, c: 3 }) }, 'ended'],
  ])('%s', async (_what, given, verdict) => {
    expect((await told(given)).verdict).toBe(verdict);
  });
});

const answer = (user: string): object[] => things(3, Number(user) * 10);

describe('what is asked for twice', () => {
  const warningsOf = async (given: Partial<Given>): Promise<readonly string[]> =>
    (await told({ answer, parents: [1, 2, 1, 3, 1], ...given })).warnings.filter((text) =>
      text.includes('again'),
    );

  test('is told of once', async () => {
    expect(await warningsOf({})).toEqual([
      '“visits” asked 2 times for what it had asked for before, as values of user come more than once: 6 rows are there again. Give its table a primary key, or leave such values out',
    ]);
    expect(await warningsOf({ parents: [1, 2, 1], answer: () => things(1) })).toEqual([
      '“visits” asked once for what it had asked for before, as values of user come more than once: 1 row is there again. Give its table a primary key, or leave such values out',
    ]);
  });

  test.each<[string, Partial<Given>]>([
    ['the values are different', { parents: [1, 2, 3] }],
    ['there are no rows', { answer: () => [] }],
    [
      'a storage has each row once',
      { mappings: { visits: { id: { mapping: { destination: 'id', primaryKey: true } } } } },
    ],
    ['rows have values of their parents', { child: { columns: { at: { parent: 'key' } } } }],
  ])('is not where %s', async (_what, given) => {
    expect(await warningsOf(given)).toEqual([]);
  });
});
