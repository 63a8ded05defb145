import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ceilTo, finer, floorTo, formatTime, grainOf } from '../../../../src/engine/jobs/windows/grain.ts';
import { addSpan, readSpan, spanText, type Span } from '../../../../src/engine/jobs/windows/span.ts';
import { fits, tile, type Stretch } from '../../../../src/engine/jobs/windows/tile.ts';

const span = (text: string): Span => {
  const read = readSpan(text);
  if (read === undefined) throw new Error(text);
  return read;
};
const at = (text: string): number => Date.parse(text);
const texts = (windows: readonly Stretch[]): string[] =>
  windows.map(({ from, to }) => `${iso(from)} – ${iso(to)}`);
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const STEPS = [
  '90 minutes',
  '6 hours',
  '1 day',
  '7 days',
  '1 week',
  '30 days',
  '1 month',
  '1 quarter',
  '1 year',
];
const FORMATS = [
  'Y-m-d\\TH:i:s\\Z',
  'epoch',
  'epochMs',
  'Y-m-d H:i',
  'Y-m-d H',
  'Y-m-d',
  'o-\\WW',
  'Y-m',
  'Y',
];
const moments = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  .map((date) => date.getTime());

describe('windows', () => {
  const periods = fc
    .record({
      from: moments,
      length: fc.integer({ min: 1, max: 400 * 86_400_000 }),
      step: fc.constantFrom(...STEPS).map(span),
      format: fc.constantFrom(...FORMATS),
      isBackward: fc.boolean(),
    })
    .filter(({ step, format }) => fits(step, grainOf(format) ?? step));

  test('cover the period exactly: no gap, no overlap, no end beyond a grain', () => {
    fc.assert(
      fc.property(periods, ({ from, length, step, format, isBackward }) => {
        const grain = grainOf(format) ?? step;
        const to = from + length;
        const windows = tile({ from, to, step, grain, isBackward }, 20_000);
        const forward = isBackward ? windows.toReversed() : windows;
        expect(forward[0]?.from).toBe(floorTo(grain, from));
        expect(forward.at(-1)?.to).toBe(ceilTo(grain, to));
        forward.forEach((window, i) => {
          expect(window.from).toBeLessThan(window.to);
          if (i > 0) expect(window.from).toBe(forward[i - 1]?.to);
        });
      }),
    );
  });

  test('are told apart by what is sent, and meet in it', () => {
    fc.assert(
      fc.property(periods, ({ from, length, step, format }) => {
        const windows = tile({ from, to: from + length, step, grain: grainOf(format) ?? step }, 20_000);
        const sent = windows.map((window) => [
          formatTime(format, window.from),
          formatTime(format, window.to),
        ]);
        sent.forEach(([begin, end], i) => {
          expect(begin).not.toEqual(end);
          if (i > 0) expect(begin).toEqual(sent[i - 1]?.[1]);
        });
      }),
    );
  });

  test.each([
    ['2026-01-01', '2026-01-07', ['2026-01-01 – 2026-01-04', '2026-01-04 – 2026-01-08']],
    [
      '2026-01-01',
      '2026-01-08',
      ['2026-01-01 – 2026-01-04', '2026-01-04 – 2026-01-07', '2026-01-07 – 2026-01-09'],
    ],
    ['2026-01-01', '2026-01-01', ['2026-01-01 – 2026-01-02']],
    ['2026-01-02', '2026-01-01', []],
  ])('through the end: from %s to %s', (from, to, expected) => {
    const period = { from: at(from), to: at(to), step: span('3 days'), grain: span('1 day') };
    expect(texts(tile({ ...period, isThrough: true }, 100))).toEqual(expected);
  });

  test('begin at the very moment, where they go through the end', () => {
    const [from, to] = [at('2026-01-01T08:36:00Z'), at('2026-01-02T10:00:00Z')];
    const windows = tile({ from, to, step: span('1 day'), grain: span('1 day'), isThrough: true }, 100);
    expect(windows).toEqual([
      { from, to: from + 86_400_000 },
      { from: from + 86_400_000, to: to + 86_400_000 },
    ]);
  });

  test('may be told apart by microseconds, and the last one still ends with the period', () => {
    const grain = span('PT0.000001S');
    const [from, to] = [at('2026-01-01T08:36:00.250Z'), at('2026-01-02T10:00:00Z')];
    const windows = tile({ from, to, step: span('1 day'), grain, isThrough: true }, 100);
    expect(fits(span('1 day'), grain)).toBe(true);
    expect(windows.map((window) => formatTime('H:i:s.u', addSpan(window.to, grain, -1)))).toEqual([
      '08:36:00.249999',
      '10:00:00.000000',
    ]);
    expect(spanText(grain)).toBe('1 microsecond');
    expect(readSpan('PT0.0000001S')).toBeUndefined();
  });

  test('begin at a microsecond, and end one before the next, where the format has them', () => {
    const format = 'H:i:s.u';
    const grain = grainOf(format) ?? span('1 day');
    const [from, to] = [at('2026-01-01T08:36:00.250Z') + 0.125, at('2026-01-02T10:00:00Z')];
    const windows = tile({ from, to, step: span('1 day'), grain }, 100);
    const sent = windows.map((each) => [each.from, addSpan(each.to, grain, -1)]);
    expect(sent.map((bounds) => bounds.map((ms) => formatTime(format, ms)))).toEqual([
      ['08:36:00.250125', '08:36:00.250124'],
      ['08:36:00.250125', '09:59:59.999999'],
    ]);
  });

  test('overlap by what is asked for, and never before the period', () => {
    const windows = tile(
      {
        from: at('2026-01-01'),
        to: at('2026-01-10'),
        step: span('3 days'),
        grain: span('1 day'),
        overlap: span('1 day'),
      },
      100,
    );
    expect(texts(windows)).toEqual([
      '2026-01-01 – 2026-01-04',
      '2026-01-03 – 2026-01-07',
      '2026-01-06 – 2026-01-10',
    ]);
    const deep = { from: at('2026-01-01'), to: at('2026-01-04'), step: span('1 day'), grain: span('1 day') };
    expect(texts(tile({ ...deep, overlap: span('2 days') }, 100))).toEqual([
      '2026-01-01 – 2026-01-02',
      '2026-01-01 – 2026-01-03',
      '2026-01-01 – 2026-01-04',
    ]);
  });

  test('of months begin at the same day, or the last one', () => {
    const windows = tile(
      { from: at('2026-01-31'), to: at('2026-05-01'), step: span('1 month'), grain: span('1 day') },
      100,
    );
    expect(texts(windows)).toEqual([
      '2026-01-31 – 2026-02-28',
      '2026-02-28 – 2026-03-31',
      '2026-03-31 – 2026-04-30',
      '2026-04-30 – 2026-05-01',
    ]);
  });

  test('are widened to what the API can say', () => {
    const windows = tile(
      { from: at('2026-01-15'), to: at('2026-03-10'), step: span('1 month'), grain: span('1 month') },
      100,
    );
    expect(texts(windows)).toEqual([
      '2026-01-01 – 2026-02-01',
      '2026-02-01 – 2026-03-01',
      '2026-03-01 – 2026-04-01',
    ]);
  });

  test('of an empty period, or one that runs backward, there are none; and not many more than allowed', () => {
    const grain = span('1 second');
    expect(tile({ from: 5000, to: 5000, grain }, 10)).toEqual([]);
    expect(tile({ from: 6000, to: 5000, grain }, 10)).toEqual([]);
    expect(tile({ from: 0, to: 1e12, grain, step: grain }, 10)).toHaveLength(11);
  });
});

describe('spans', () => {
  test.each([
    ['30 days', '30 days'],
    ['1 month', '1 month'],
    ['2 weeks', '2 weeks'],
    ['P1M', '1 month'],
    ['P30D', '30 days'],
    ['PT6H', '6 hours'],
    ['P1Y2M', '14 months'],
    ['1 day 12 hours', '36 hours'],
    ['1day', '1 day'],
    ['500 ms', '500 milliseconds'],
    ['24 months', '2 years'],
  ])('%s', (text, words) => {
    expect(spanText(span(text))).toBe(words);
  });

  test.each(['', '30', 'days', 'P', 'PT', 'P1H', '1 fortnight', '-1 day', '1 day ago', '1e3 days', 'P0.5M'])(
    '“%s” is none',
    (text) => {
      expect(readSpan(text)).toBeUndefined();
    },
  );

  test('months later and back again is the same moment, but for the last days of a month', () => {
    fc.assert(
      fc.property(moments, fc.integer({ min: 1, max: 500 }), (ms, months) => {
        const there = addSpan(ms, { months: 1, ms: 0 }, months);
        const back = addSpan(there, { months: 1, ms: 0 }, -months);
        expect(ms - back).toBeGreaterThanOrEqual(0);
        expect(ms - back).toBeLessThanOrEqual(3 * 86_400_000);
        if (new Date(ms).getUTCDate() <= 28) expect(back).toBe(ms);
      }),
    );
  });
});

describe('grains', () => {
  test.each([
    ['Y-m-d', '1 day'],
    ['Y-m-d\\TH:i:s\\Z', '1 second'],
    ['Y-m-d\\TH:i:s.v\\Z', '1 millisecond'],
    ['Y-m-d H', '1 hour'],
    ['Y-m', '1 month'],
    ['Y', '1 year'],
    ['epoch', '1 second'],
    ['epochMs', '1 millisecond'],
    ['\\d\\a\\y', undefined],
  ])('%s tells %s apart', (format, words) => {
    const grain = grainOf(format);
    expect(grain === undefined ? undefined : spanText(grain)).toBe(words);
  });

  test('a moment lies between the grains around it', () => {
    const grains = ['1 second', '1 hour', '1 day', '1 week', '1 month', '1 quarter', '1 year'].map(span);
    fc.assert(
      fc.property(moments, fc.constantFrom(...grains), (ms, grain) => {
        const [floor, ceil] = [floorTo(grain, ms), ceilTo(grain, ms)];
        expect(floor).toBeLessThanOrEqual(ms);
        expect(ceil).toBeGreaterThanOrEqual(ms);
        expect(ceil).toBe(floor === ms ? ms : addSpan(floor, grain, 1));
        expect(floorTo(grain, floor)).toBe(floor);
        expect(ceilTo(grain, ceil)).toBe(ceil);
      }),
    );
  });

  test('a week begins on Monday', () => {
    expect(iso(floorTo(span('1 week'), at('2026-01-17')))).toBe('2026-01-12');
  });

  test('the finer of two', () => {
    expect(finer(span('1 month'), span('1 year'))).toEqual(span('1 month'));
    expect(finer(span('1 month'), span('7 days'))).toEqual(span('7 days'));
    expect(finer(span('1 hour'), span('1 day'))).toEqual(span('1 hour'));
  });
});
