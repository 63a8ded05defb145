import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDate } from '../../../../src/engine/jobs/functions/index.ts';
import { toText } from '../../../../src/lib/json/index.ts';
import { casesOf } from './vectors.ts';

test('every recorded format gives the recorded text', () => {
  const wrong = casesOf('date').filter(
    ([format, time, wanted]) => formatDate(toText(format), Number(time)) !== wanted,
  );
  expect(wrong).toEqual([]);
});

test('the calendar is that of the platform', () => {
  const dates = fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(dates, (date) => {
      const seconds = Math.floor(date.getTime() / 1000);
      expect(formatDate('U', seconds)).toBe(String(seconds));
      expect(formatDate('Y-m-d\\TH:i:s', seconds)).toBe(date.toISOString().slice(0, 19));
      expect(formatDate('w', seconds)).toBe(String(date.getUTCDay()));
      expect(formatDate('D, d M Y H:i:s \\G\\M\\T', seconds)).toBe(date.toUTCString());
    }),
  );
});

test('years before 0 and after 9999 are written out', () => {
  expect(formatDate('Y-m-d', -62_167_219_201)).toBe('-0001-12-31');
  expect(formatDate('Y-m-d', -62_167_219_200)).toBe('0000-01-01');
  expect(formatDate('Y-m-d', 253_402_300_800)).toBe('10000-01-01');
});

test('a backslash keeps a letter, other characters stay', () => {
  expect(formatDate('\\d\\\\d – p, \\', 0)).toBe('d\\01 – p, \\');
});
