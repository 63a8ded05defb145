import { describe, expect, test } from 'vitest';
import { problemsOfRows } from '../../../src/authoring/importing/row-problems.ts';
import { documentOf, validateConfig } from '../../../src/engine/config/index.ts';

type Job = Readonly<Record<string, unknown>>;

/** A configuration whose rows are named by their order. */
function configuration(
  rows: readonly (readonly Job[] | { readonly jobs: readonly Job[]; readonly storage: unknown })[],
): Readonly<Record<string, unknown>> {
  return {
    configuration: { parameters: { api: { baseUrl: 'https://api.example.com/' }, config: {} } },
    rows: rows.map((row, index) => {
      const { jobs, ...rest } = 'storage' in row ? row : { jobs: row };
      return { id: `row${index}`, configuration: { parameters: { config: { jobs } }, ...rest } };
    }),
  };
}

const below = (...children: readonly Job[]): Job => ({ endpoint: 'teams', table: false, children });
const members: Job = { endpoint: 'teams/{id}/members', placeholders: { id: 'id' } };
const events: Job = { endpoint: 'teams/{id}/events', placeholders: { id: 'id' } };
const unfilled: Job = { endpoint: 'teams/{team}/events', placeholders: { id: 'id' } };
const misread: Job = { ...events, columns: { name: { from: 'name' } } };
const misreadMembers: Job = { ...members, columns: { name: { from: 'name' } } };
const exported: Job = {
  ...events,
  export: { poll: { endpoint: 'exports/{name}', until: { value: 'state', is: 'equals', than: 'done' } } },
};

const reacting: Job = {
  ...members,
  reactions: [{ when: { value: { response: 'code', as: 'word' }, is: 'equals', than: 1 }, do: 'empty' }],
};

describe('the problems of rows that have parents in common', () => {
  test.each([
    ['nothing is wrong', [[below(members)], [below(events)]], []],
    ['a child of one row is wrong', [[below(members)], [below(unfilled)], [below(events)]], ['row1']],
    [
      'two rows are wrong, of which the first ends the look',
      [[below(misread)], [below(members)], [below(unfilled)]],
      ['row0', 'row2'],
    ],
    [
      'rows have one wrong column, and the first row is wrong besides',
      [[below({ ...misread, method: 'GOT' })], [below(misreadMembers)], [below(misreadMembers)]],
      ['row0', 'row1', 'row2'],
    ],
    [
      'rows have one wrong export',
      [[below(members)], [below({ ...exported, id: 'a' })], [below({ ...exported, id: 'b' })]],
      ['row1', 'row2'],
    ],
    [
      'rows below other parents have one wrong list of reactions',
      [
        [below(reacting)],
        [{ endpoint: 'clubs', table: false, children: [reacting] }],
        [below(members)],
        [{ ...reacting, endpoint: 'users', placeholders: {} }],
      ],
      ['row0', 'row1', 'row3'],
    ],
    [
      'a column of two rows has its window in one of them',
      [
        [
          below({
            ...events,
            params: { since: { window: 'from' } },
            columns: { day: { window: 'from' } },
            windows: { from: '2026-01-01', to: 'today', step: '1 day' },
          }),
        ],
        [below({ ...events, columns: { day: { window: 'from' } } })],
      ],
      ['row1'],
    ],
    [
      'the parent is wrong',
      [
        [{ ...below(members), method: 'GOT' }],
        [{ ...below(events), method: 'GOT' }],
        [{ endpoint: 'users' }],
      ],
      ['row0', 'row1'],
    ],
    ['a row has a job twice', [[{ endpoint: 'users' }, { endpoint: 'users' }], [below(members)]], ['row0']],
    [
      'rows have other jobs of one id',
      [[{ id: 'users', endpoint: 'users' }], [{ id: 'users', endpoint: 'people' }]],
      [],
    ],
    [
      'a row has two jobs of one id, which another one has once',
      [
        [{ id: 'users', endpoint: 'users' }],
        [
          { id: 'users', endpoint: 'people' },
          { id: 'users', endpoint: 'users' },
        ],
      ],
      ['row1'],
    ],
    [
      'rows write one table with two keys, each by itself',
      [
        [{ endpoint: 'users', primaryKey: ['id'] }],
        [{ endpoint: 'users', primaryKey: ['id', 'at'], params: { all: 1 } }],
      ],
      [],
    ],
    [
      'a row has something else than tables',
      [{ jobs: [{ endpoint: 'users' }], storage: 'none' }, [below(members)]],
      ['row0'],
    ],
    [
      'a row names the parent of another one',
      [[{ endpoint: 'teams' }], [{ ...members, parents: ['teams'] }]],
      ['row1'],
    ],
  ])('are those of each row where %s', async (_, rows, wrong) => {
    const made = configuration(rows);
    const ids = rows.map((__, index) => `row${index}`);
    const problems = await problemsOfRows(made, ids);
    expect(problems).toEqual(await validateConfig(documentOf(made)));
    expect([...new Set(problems.map(({ row }) => row))]).toEqual(wrong);
  });

  test('are not looked for in rows that are not asked for', async () => {
    expect(await problemsOfRows(configuration([[below(members)], [below(unfilled)]]), ['row0'])).toEqual([]);
  });
});
