import { describe, expect, test } from 'vitest';
import { PaginationError } from '../../../src/lib/errors.ts';
import type { Json } from '../../../src/lib/json/index.ts';
import { createGuard, type GuardOptions, type GuardVerdict } from '../../../src/engine/pagination/index.ts';
import { deepFreeze } from './helpers.ts';

interface Page {
  readonly request: string;
  readonly rows: string;
  /** Every body differs unless it is given. */
  readonly body?: string;
  readonly count?: number;
}

/** Runs pages through a guard, its state saved and read again after each one, until it stops. */
function guarded(pages: Iterable<Page>, options: GuardOptions = {}): GuardVerdict[] {
  const guard = createGuard(options);
  let state = deepFreeze(guard.initial);
  const verdicts: GuardVerdict[] = [];
  let page = 0;
  for (const { request, rows, body, count } of pages) {
    page++;
    const verdict = guard.check(
      {
        page,
        requestDigest: request,
        bodyDigest: body ?? `body ${page}`,
        rowsDigest: rows,
        rows: count ?? 1,
        describeRequest: () => `GET /users?token=${request}`,
      },
      state,
    );
    verdicts.push(verdict);
    if (verdict.verdict === 'stop') break;
    state = deepFreeze(JSON.parse(JSON.stringify(verdict.state)) as Json);
  }
  return verdicts;
}

const page = (request: string, rows: string, more: Partial<Page> = {}): Page => ({ request, rows, ...more });

const decided = (pages: Page[]): string[] =>
  guarded(pages, { firstMayRepeat: true }).map(({ verdict }) => verdict);

const circle = (before: number, length: number): Page[] =>
  Array.from({ length: 4 * (before + length) }, (_, i) => {
    const at = i < before ? i : before + ((i - before) % length);
    return page(`token ${at}`, `rows ${at}`);
  });

const empty = (count: number): Page[] => [
  page('first', '1'),
  ...Array.from({ length: count }, (_, i) => page(`t${i}`, '', { count: 0 })),
];

describe('the guard', () => {
  test('keeps pages that differ', () => {
    const verdicts = guarded([page('a', '1'), page('b', '2'), page('c', '3')]);
    expect(verdicts.map(({ verdict, warning }) => verdict + (warning ?? ''))).toEqual([
      'keep',
      'keep',
      'keep',
    ]);
  });

  test('stops at a response equal to the one before, whatever was asked', () => {
    const last = guarded([page('a', '1', { body: 'x' }), page('b', '1', { body: 'x' })]).at(-1);
    expect(last).toMatchObject({ verdict: 'stop', reason: { code: 'sameResponse', page: 1 } });
  });

  test('passes over a second page that is the first one again, where that may come, and no third one', () => {
    const same = { body: 'x' };
    const pages = [page('0', '1', same), page('1', '1', same), page('2', '2')];
    expect(decided(pages)).toEqual(['keep', 'pass', 'keep']);
    expect(decided([...pages.slice(0, 2), page('2', '1', same)])).toEqual(['keep', 'pass', 'stop']);
    expect(decided([page('0', '1', same), page('0', '1', same)])).toEqual(['keep', 'stop']);
    expect(decided([page('0', '', { body: 'x', count: 0 }), page('1', '', { body: 'x', count: 0 })])).toEqual(
      ['keep', 'stop'],
    );
  });

  test('a response equal to an earlier one than that does not stop by itself', () => {
    const pages = [page('a', '1', { body: 'x' }), page('b', '2'), page('c', '1', { body: 'x' })];
    const last = guarded(pages).at(-1);
    expect(last?.verdict).toBe('keep');
    expect(last?.warning).toContain('page 1');
  });

  test('a repeated request that brings ever new rows is kept', () => {
    const pages = Array.from({ length: 5 }, (_, i) => page('scroll', String(i)));
    expect(guarded(pages).map(({ verdict, warning }) => verdict + (warning ?? ''))).toEqual(
      Array(5).fill('keep'),
    );
  });

  test('a repeated request without rows ends the job', () => {
    const last = guarded([page('a', '1'), page('s', '2'), page('s', '', { count: 0 })]).at(-1);
    expect(last).toMatchObject({
      verdict: 'stop',
      reason: { code: 'repeatedRequest', page: 2 },
    });
  });

  test('pages without rows from different requests are kept without a warning', () => {
    const verdicts = guarded([page('a', '', { count: 0 }), page('b', '', { count: 0 }), page('c', '1')]);
    expect(verdicts.map(({ verdict, warning }) => verdict + (warning ?? ''))).toEqual([
      'keep',
      'keep',
      'keep',
    ]);
  });

  test('a repeated request with the rows of the page before stops, although the body differs', () => {
    const last = guarded([page('a', '1'), page('a', '1')]).at(-1);
    expect(last).toMatchObject({
      verdict: 'stop',
      reason: { code: 'repeatedRows', page: 1 },
    });
  });

  test('a repeated request with the rows of an earlier page is a circle, named by request and pages', () => {
    const pages = [page('first', '1'), page('A', '2'), page('B', '3'), page('A', '2')];
    expect(() => guarded(pages)).toThrow(PaginationError);
    expect(() => guarded(pages)).toThrow(
      expect.objectContaining({
        code: 'pagination.loop',
        message:
          'The API answers in a circle: page 4 repeats the request of page 2 (GET /users?token=A) and brings the rows of page 2 again.',
        where: { page: 4 },
        details: { page: 4, earlierPage: 2, sameRequestAsPage: 2 },
      }),
    );
  });

  test('a circle of one request over ever the same pages is found', () => {
    const pages = ['1', '2', '3', '1'].map((rows) => page('scroll', rows));
    expect(() => guarded(pages)).toThrow('brings the rows of page 1 again');
  });

  test('a circle of requests whose rows change is left to the budget', () => {
    const pages = Array.from({ length: 10 }, (_, i) => page(`t${i % 2}`, String(i)));
    expect(guarded(pages).at(-1)?.verdict).toBe('keep');
    expect(() => guarded(pages, { maxPages: 9 })).toThrow('The job asked for more than 9 pages.');
  });

  test('different requests with equal rows are kept, with one warning', () => {
    const verdicts = guarded([page('p1', '1'), page('p2', '1'), page('p3', '1'), page('p4', '2')]);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['keep', 'keep', 'keep', 'keep']);
    expect(verdicts.map(({ warning }) => warning !== undefined)).toEqual([false, true, false, false]);
    expect(verdicts[1]?.warning).toContain('Page 2 brings the same rows as page 1');
  });

  test('different requests with the same rows again and again are an error after 25 pages', () => {
    const pages = Array.from({ length: 30 }, (_, i) => page(`p${i + 1}`, i < 3 ? String(i) : '2'));
    expect(() => guarded(pages)).toThrow(
      expect.objectContaining({
        code: 'pagination.loop',
        message:
          'Pages 4 to 28 bring only rows of pages before them, although something else is asked for each time: page 28 (GET /users?token=p28) has those of page 27.',
        where: { page: 28 },
        details: { page: 28, earlierPage: 27, pages: 25 },
      }),
    );
    expect(guarded(pages.slice(0, 27))).toHaveLength(27);
  });

  test('a circle of rows by ever new requests is an error after 25 pages', () => {
    const pages = Array.from({ length: 40 }, (_, i) => page(`p${i + 1}`, String(i % 4)));
    expect(() => guarded(pages)).toThrow(
      'Pages 5 to 29 bring only rows of pages before them, although something else is asked for each time: page 29 (GET /users?token=p29) has those of page 25.',
    );
  });

  test('new rows between those that came before begin the count anew', () => {
    const pages = Array.from({ length: 90 }, (_, i) => page(`p${i}`, i % 20 === 0 ? `new ${i}` : '0'));
    expect(guarded(pages)).toHaveLength(90);
  });

  test('a thousand pages without rows are an error, unless they are no end', () => {
    expect(guarded(empty(999))).toHaveLength(1000);
    expect(() => guarded(empty(1000))).toThrow(
      expect.objectContaining({ code: 'pagination.loop', where: { page: 1001 } }),
    );
    expect(guarded(empty(1100), { emptyGoesOn: true })).toHaveLength(1101);
  });

  test('the budget ends what nothing else does', () => {
    const pages = [page('a', '1'), page('b', '2'), page('c', '3')];
    expect(guarded(pages, { maxPages: 3 })).toHaveLength(3);
    expect(() => guarded(pages, { maxPages: 2 })).toThrow(
      expect.objectContaining({ code: 'pagination.budget', where: { page: 3 }, audience: 'user' }),
    );
  });

  test.each([
    [0, 2],
    [5, 900],
    [3, 1500],
    [1100, 1200],
  ])('a circle after %i pages, of %i pages, is found', (before, length) => {
    const guard = createGuard();
    let state = guard.initial;
    const walk = (): void => {
      for (const [i, { request, rows }] of circle(before, length).entries()) {
        state = guard.check(
          {
            page: i + 1,
            requestDigest: request,
            bodyDigest: `${i}`,
            rowsDigest: rows,
            rows: 1,
            describeRequest: () => request,
          },
          state,
        ).state;
      }
    };
    expect(walk).toThrow('The API answers in a circle');
  });

  test('remembers no more than a thousand pages', () => {
    const guard = createGuard();
    let state = guard.initial;
    const sizeAfter = new Map<number, number>();
    for (let i = 1; i <= 3000; i++) {
      const digest = String(i).padStart(40, '0');
      state = guard.check(
        {
          page: i,
          requestDigest: digest,
          bodyDigest: digest,
          rowsDigest: digest,
          rows: 1,
          describeRequest: () => '',
        },
        state,
      ).state;
      if (i % 1000 === 0) sizeAfter.set(i, JSON.stringify(state).length);
    }
    expect(sizeAfter.get(3000)).toBeLessThan(1.01 * (sizeAfter.get(1000) ?? 0));
  });
});
