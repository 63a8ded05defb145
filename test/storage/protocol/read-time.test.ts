import { expect, test } from 'vitest';
import { readTime } from '../../../src/storage/protocol/read-time.ts';

const NOW = Date.parse('2026-03-31T12:30:00Z');

test.each([
  ['1700000000', '2023-11-14T22:13:20.000Z'],
  ['@0', '1970-01-01T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['20240229', '2024-02-29T00:00:00.000Z'],
  ['2024-02-29 10:20:30', '2024-02-29T10:20:30.000Z'],
  ['2024-02-29T10:20:30+0200', '2024-02-29T08:20:30.000Z'],
  ['2024-02-29T10:20Z', '2024-02-29T10:20:00.000Z'],
  ['now', '2026-03-31T12:30:00.000Z'],
  ['yesterday', '2026-03-30T00:00:00.000Z'],
  ['-2 days', '2026-03-29T12:30:00.000Z'],
  ['-15 second', '2026-03-31T12:29:45.000Z'],
  ['1 hour ago', '2026-03-31T11:30:00.000Z'],
  ['+1 week -1 day', '2026-04-06T12:30:00.000Z'],
  ['-1 year', '2025-03-31T12:30:00.000Z'],
])('%s', (text, expected) => {
  expect(readTime(text, NOW)?.toISOString()).toBe(expected);
});

test.each([
  '',
  'soon',
  '2 parsecs',
  '2024-13-01',
  '1 day and more',
  // Beyond the years that a database knows.
  '8000000000000',
  '-200000 years',
])('“%s” is no time', (text) => {
  expect(readTime(text, NOW)).toBeUndefined();
});
