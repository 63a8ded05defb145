import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareMarks, markOf, type MarkKind } from '../../../../src/engine/jobs/incremental/mark.ts';
import { momentFrom, momentOf, msOf } from '../../../../src/engine/jobs/moment.ts';
import { JsonNumber, type Json } from '../../../../src/lib/json/index.ts';

function order(a: Json, b: Json, as?: MarkKind): number | undefined {
  const [x, y] = [markOf(a, as), markOf(b, as)];
  const found = x === undefined || y === undefined ? undefined : compareMarks(x, y);
  return found === undefined ? undefined : Math.sign(found) + 0; // equal ones may give -0
}

describe('numbers', () => {
  test('are compared exactly, whatever their length', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
        const wanted = a < b ? -1 : a > b ? 1 : 0;
        expect(order(String(a), new JsonNumber(String(b)))).toBe(wanted);
      }),
    );
  });

  test('with fractions, as the doubles are', () => {
    const decimals = fc.tuple(fc.integer({ min: -999, max: 999 }), fc.integer({ min: 0, max: 999 }));
    fc.assert(
      fc.property(decimals, decimals, ([a, b], [c, d]) => {
        const [x, y] = [`${a}.${b}`, `${c}.${d}`];
        expect(order(x, y)).toBe(Math.sign(Number(x) - Number(y)));
      }),
    );
  });

  test.each([
    ['1', '1.0', 0],
    ['-0', '0', 0],
    ['007', '7', 0],
    ['1e3', '1000', 0],
    ['1735689600.123456', '1735689600.1234561', -1],
    ['-5', '-40', 1],
  ] as const)('%s and %s', (a, b, wanted) => {
    expect(order(a, b)).toBe(wanted);
  });
});

describe('times', () => {
  test.each([
    ['2026-03-18T22:30:00Z', '2026-03-18T23:30:00+01:00', 0],
    ['2026-03-18T22:30:00.000001Z', '2026-03-18T22:30:00Z', 1],
    ['2026-03-18 22:30', '2026-03-18T22:30:00.000Z', 0],
    ['2026-03-18', '2026-03-18T00:00:01Z', -1],
    ['Wed, 18 Mar 2026 22:30:00 GMT', '2026-03-18T22:30:00Z', 0],
  ] as const)('%s and %s', (a, b, wanted) => {
    expect(order(a, b)).toBe(wanted);
  });

  test.each([
    [1773873000, '2026-03-18T22:30:00Z'],
    [1773873000123, '2026-03-18T22:30:00.123Z'],
    ['1773873000123456', '2026-03-18T22:30:00.123456Z'],
    ['1773873000.5', '2026-03-18T22:30:00.5Z'],
    ['20260318', '2026-03-18'],
    [20260318223000, '2026-03-18T22:30:00Z'],
    ['18 March 2026', '2026-03-18'],
  ])('%s is %s where it is said to be a time', (a, b) => {
    expect(order(a, b, 'time')).toBe(0);
  });

  test.each(['10:30', 'yesterday', 'soon', '', 'N/A', '2026-13-01'])('“%s” is none by itself', (text) => {
    expect(markOf(text, 'time')).toBeUndefined();
    expect(momentOf(text)).toBeUndefined();
  });
});

test('texts are compared by code points', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
      expect(order(a, b, 'text')).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});

test('what is of different kinds is not compared', () => {
  expect(order(5, '2026-01-01')).toBeUndefined();
  expect(order('abc', '2026-01-01')).toBeUndefined();
  expect(markOf('abc', 'number')).toBeUndefined();
  expect(markOf({ a: 1 })).toBeUndefined();
  expect(markOf(true)).toBeUndefined();
});

describe('moments that a configuration says', () => {
  const now = Date.parse('2026-03-18T22:30:00Z');
  test.each([
    ['2025', '2025-01-01T00:00:00.000Z'],
    ['2025-04', '2025-04-01T00:00:00.000Z'],
    ['2025-04-05', '2025-04-05T00:00:00.000Z'],
    ['-30 days', '2026-02-16T22:30:00.000Z'],
    ['today', '2026-03-18T00:00:00.000Z'],
    ['first day of this month midnight', '2026-03-01T00:00:00.000Z'],
    [1735689600, '2025-01-01T00:00:00.000Z'],
  ])('%s', (value, wanted) => {
    const ms = momentFrom(value, now);
    expect(ms === undefined ? undefined : new Date(ms).toISOString()).toBe(wanted);
  });

  test('are none where they are no time', () => {
    expect(momentFrom('some day', now)).toBeUndefined();
    expect(momentFrom(null, now)).toBeUndefined();
  });

  test('are cut to milliseconds', () => {
    const moment = momentOf('2026-03-18T22:30:00.1239Z');
    expect(moment === undefined ? undefined : msOf(moment) % 1000).toBe(123);
  });
});
