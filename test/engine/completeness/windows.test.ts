import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, json, startApi } from '../../cli/support.ts';

const env = { ...systemEnv, now: () => Date.parse('2026-07-01T00:00:00Z'), sleep: async () => {} };
const DAY = 86_400_000;

interface Asked {
  readonly from: number;
  readonly to: number;
  /** From 0. */
  readonly nth: number;
}

interface Given {
  readonly windows?: object;
  readonly mappings?: object;
  readonly concurrency?: number;
}

/** The verdict on three windows of ten days, of an API that gives rows for the bounds that it is asked for. */
async function verdictOf(
  answer: (asked: Asked) => readonly object[],
  { windows = {}, mappings, concurrency = 1 }: Given = {},
): Promise<{ readonly verdict: string; readonly text: string }> {
  let nth = 0;
  const api = await startApi(({ url }, response) => {
    const [from, to] = ['from', 'to'].map((name) => Date.parse(url.searchParams.get(name) ?? ''));
    json(response, { data: answer({ from: from ?? 0, to: to ?? 0, nth: nth++ }) });
  });
  const job = {
    endpoint: 'visits',
    dataType: 'visits',
    dataField: 'data',
    params: { from: { window: 'from' }, to: { window: 'to' } },
    windows: { from: '2026-01-01', to: '2026-01-31', step: '10 days', format: 'Y-m-d', ...windows },
  };
  const config = configOf(api, [job], {
    api: { http: { concurrency } },
    ...(mappings === undefined ? {} : { config: { mappings } }),
  });
  const { rows } = await run({ dataFolder: dataFolder(config), log: silentLog, env });
  const report = rows[0]?.jobs[0];
  const doubts = report?.doubtful.flatMap((each) => each.doubts) ?? [];
  return {
    verdict: [report?.verdict, ...doubts.map(({ code }) => code)].join(' '),
    text: doubts.map(({ text }) => text).join(' '),
  };
}

const BEGIN = Date.parse('2026-01-01');
/** A row at noon of each day, and one at midnight of each. */
const events = Array.from({ length: 80 }, (_, i) => ({ at: BEGIN + (i * DAY) / 2, i }));
const iso = (ms: number): string => new Date(ms).toISOString();
const within = (isIn: (at: number) => boolean, row: (event: { at: number; i: number }) => object) =>
  events.filter(({ at }) => isIn(at)).map(row);

const withId = ({ at, i }: { at: number; i: number }): object => ({ id: i, name: `n${i}`, at: iso(at) });
const withoutTime = ({ i }: { i: number }): object => ({ id: i, name: `n${i}` });
const withoutId = ({ at, i }: { at: number; i: number }): object => ({ user: i % 3, at: iso(at) });

const things = (count: number): object[] => Array.from({ length: count }, (_, id) => ({ id }));

const inclusive = ({ from, to }: Asked): object[] => within((at) => at >= from && at <= to, withId);

const whole = ({ from, to }: Asked): object[] => within((at) => at >= from && at < to + DAY, withId);

describe('rows that two windows bring are told of', () => {
  test.each([
    ['with ids', withId],
    ['with ids alone', withoutTime],
    ['with times alone', withoutId],
    [
      'with days',
      ({ at, i }: { at: number; i: number }) => ({ user: i % 3, day: iso(at).slice(0, 10), hour: i % 2 }),
    ],
    ['with seconds', ({ at, i }: { at: number; i: number }) => ({ user: i % 3, at: at / 1000 })],
    ['with milliseconds', ({ at, i }: { at: number; i: number }) => ({ user: i % 3, at })],
    [
      'with times of their place',
      ({ at, i }: { at: number; i: number }) => ({ user: i % 3, at: iso(at).slice(0, 19) }),
    ],
  ])('where the API takes the end for a part of the window: %s', async (_what, row) => {
    for (const concurrency of [1, 3]) {
      const { verdict, text } = await verdictOf(
        ({ from, to }) => within((at) => at >= from && at <= to, row),
        { concurrency },
      );
      expect(verdict).toBe('doubtful windowsOverlap');
      expect(text).toContain(
        '2 rows came with a window of time and with the one before it, first with 2026-01-01 – 2026-01-11 and 2026-01-11 – 2026-01-21',
      );
    }
    const { verdict } = await verdictOf(({ from, to }) => within((at) => at >= from && at < to, row));
    expect(verdict).toBe('ended');
  });

  test.each([1, -1])('at the ends of windows with many rows, in the order %i', async (order) => {
    const many = Array.from({ length: 9000 }, (_, i) => ({ id: i, at: iso(BEGIN + (i * DAY) / 300) }));
    const answer = ({ from, to }: Asked): object[] => {
      const found = many.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to);
      return order < 0 ? found.toReversed() : found;
    };
    expect((await verdictOf(answer)).text).toContain('2 rows came');
  });

  test('where the API takes the whole day of the end', async () => {
    expect((await verdictOf(whole)).verdict).toBe('doubtful windowsOverlap');
    expect((await verdictOf(whole, { windows: { end: 'inclusive' } })).verdict).toBe('ended');
  });

  test.each<[string, (asked: Asked) => readonly object[], string]>([
    ['the beginning', ({ to }) => within((at) => at < to, withId), 'doubtful windowsOverlap'],
    ['the end', ({ from }) => within((at) => at >= from, withId), 'doubtful windowsOverlap'],
    ['both', () => within(() => true, withId), 'doubtful sameWindows'],
    [
      'the end, of rows without a time',
      ({ from }) => within((at) => at >= from, withoutTime),
      'doubtful windowsOverlap',
    ],
    [
      'the beginning, of many rows without a time',
      ({ to }) => things(((to - BEGIN) / DAY) * 300),
      'doubtful windowsOverlap',
    ],
    [
      'both, of things that last longer than a window',
      ({ nth }) => [{ id: 20 + nth }, { id: 17, begins: '2025-12-01' }, { id: 40 + nth }],
      'doubtful windowsOverlap',
    ],
    [
      'both, where each row has the time of the answer',
      ({ nth }) =>
        within(
          () => true,
          (event) => ({ ...withId(event), nth }),
        ),
      'ended',
    ],
  ])('where the API ignores %s', async (_what, answer, verdict) => {
    expect((await verdictOf(answer)).verdict).toBe(verdict);
  });
});

describe('no doubt', () => {
  test('where a storage has each row once', async () => {
    const mappings = { visits: { id: { mapping: { destination: 'id', primaryKey: true } }, at: 'at' } };
    expect((await verdictOf(inclusive, { mappings })).verdict).toBe('ended');
  });

  test('where windows overlap because the job says so', async () => {
    expect((await verdictOf(inclusive, { windows: { overlap: '1 day' } })).verdict).toBe('ended');
  });

  test.each<[string, (asked: Asked) => readonly object[]]>([
    [
      'things that have numbers for each window',
      ({ from }) => [1, 2, 3].map((id) => ({ id, visits: id === 3 ? 0 : from / DAY })),
    ],
    [
      'numbers without a time',
      ({ from }) => [
        { country: 'DE', visits: 0 },
        { country: 'CZ', visits: from },
      ],
    ],
    [
      'things of before',
      ({ from }) => [1, 2].map((id) => ({ id, since: '2020-01-01', visits: id === 1 ? 0 : from })),
    ],
    [
      'a row that moved on',
      ({ nth }) =>
        nth < 2 ? [{ id: 1, at: iso(BEGIN + (nth * 10 + 1) * DAY) }] : [{ id: 7, at: iso(BEGIN) }],
    ],
    ['no rows', () => []],
    ['one row of numbers that are 0', () => [{ visits: 0, orders: 0 }]],
    ['two things that nothing happens to', () => [1, 2].map((id) => ({ id, orders: 0 }))],
    [
      'a thing that was sold once in each window, among others',
      ({ nth }) => [20 + nth, 17, 40 + nth].map((id) => ({ id, sold: 1 })),
    ],
    ['the only thing that was sold', ({ nth }) => [{ id: nth < 2 ? 17 : 18, sold: 1 }]],
    [
      'the best of each window by their names',
      ({ nth }) => ['/home', `/p${nth}`, `/q${nth}`].map((key) => ({ key, visits: 3 })),
    ],
  ])('about %s', async (_what, answer) => {
    expect((await verdictOf(answer)).verdict).toBe('ended');
  });
});
