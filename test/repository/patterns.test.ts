import { describe, expect, test } from 'vitest';
import { oneLine } from '../../src/lib/shown-text.ts';
import { columnName, webalize, webalizeDisplayName } from '../../src/lib/names.ts';
import { parseExact, toText } from '../../src/lib/json/index.ts';
import { readInstant, instantOfSeconds } from '../../src/engine/language/instant.ts';
import { momentOf } from '../../src/engine/jobs/moment.ts';
import { strtotime } from '../../src/engine/jobs/functions/index.ts';
import { NameScope } from '../../src/engine/records/names.ts';
import { snakeCase } from '../../src/engine/records/steps/snake-case.ts';
import { Secrets } from '../../src/lib/secrets.ts';
import { readTime } from '../../src/storage/protocol/read-time.ts';
import { readRange } from '../../src/service/stores/objects/s3/range.ts';
import { trimBoth, trimEnd } from '../../src/lib/trim.ts';
import { inThousands } from '../../src/lib/thousands.ts';

/** Texts that a pattern with two ways to read a run of signs takes the square of their length for. */
const hostile: readonly (readonly [name: string, read: (count: number) => unknown])[] = [
  ['a column that is all underscores', (n) => columnName(`${'_'.repeat(n)}a${'_'.repeat(n)}b`)],
  ['a name to be made safe', (n) => webalize(`a${'_'.repeat(n)}b`)],
  ['a display name', (n) => webalizeDisplayName(`a${'-'.repeat(n)}b`)],
  ['a decimal with zeros inside', (n) => toText(parseExact(`0.1${'0'.repeat(n)}1`))],
  ['a decimal with an exponent', (n) => toText(parseExact(`1${'0'.repeat(n)}1e-9`))],
  ['a long integer', (n) => toText(parseExact(`1${'0'.repeat(n)}1`))],
  ['the fraction of a second', (n) => readInstant(`2024-01-01T00:00:00.1${'0'.repeat(n)}1Z`)],
  ['a number of seconds', (n) => instantOfSeconds(`1.1${'0'.repeat(n)}1`)],
  ['a moment', (n) => momentOf(`${'0'.repeat(n)}x`)],
  ['a time in words', (n) => strtotime(' '.repeat(n) + 'x', 0)],
  ['a field in snake case', (n) => snakeCase(`a${'_'.repeat(n)}b`)],
  ['a message of many blanks', (n) => oneLine(`${' '.repeat(n)}x`)],
  ['a body of escaped quotes', (n) => new Secrets().redactBody(`{"${'\\"'.repeat(n)}`)],
  ['a time of a filter', (n) => readTime(`${' '.repeat(n)}x`.repeat(2), 0)],
  ['a range of bytes', (n) => readRange(`bytes=${' '.repeat(n)}x`, 10)],
  ['digits in groups', (n) => inThousands('1'.repeat(n), ',')],
];

function msOf(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const from = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

describe('a text of a stranger costs time that grows with its length alone', () => {
  test.each(hostile)('%s', (_, read) => {
    const [small, large] = [50_000, 400_000];
    const few = msOf(() => read(small));
    // eight times the length; the square of it would take 64 times as long, seconds instead of milliseconds
    expect(msOf(() => read(large))).toBeLessThan(Math.max(5, few) * 24);
  });
});

test('names that are all the same are counted on from the last', () => {
  const scope = new NameScope();
  const names = Array.from({ length: 50_000 }, () => scope.take('a'));
  expect(new Set(names).size).toBe(50_000);
  expect(names.slice(0, 3)).toEqual(['a', 'a_u0', 'a_u1']);
  const mixed = new NameScope();
  expect(['a', 'a_u1', 'a', 'a', 'a_u1'].map((name) => mixed.take(name))).toEqual([
    'a',
    'a_u1',
    'a_u0',
    'a_u2',
    'a_u1_u0',
  ]);
});

test('what is cut off at the ends is what the patterns of before cut off', () => {
  for (const text of ['', '_', '__', 'a', '_a', 'a_', '__a_b__', '_a_\n_']) {
    expect(trimEnd(text, '_')).toBe(text.replace(/_+$/, ''));
    expect(trimBoth(text, '_')).toBe(text.replace(/^_+|_+$/g, ''));
  }
  for (const text of ['a\nb', ' a \n\n  b ', '\n\na', 'a\n', 'a\r\n \r\n b', ' \n ', '\n'])
    expect(oneLine(text)).toBe(text.replace(/\s*[\r\n]+\s*/g, ' '));
  for (const digits of ['', '0', '12', '123', '1234', '123456', '1234567', '-1', '-123', '-1234', '-123456'])
    expect(inThousands(digits, ',')).toBe(digits.replace(/\B(?=(?:\d{3})+$)/g, ','));
});
