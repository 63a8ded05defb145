import { expect, test } from 'vitest';
import { rateFacts } from '../../../src/engine/http/rate-fields.ts';
import { workMs } from '../../support/work.ts';

const NOW = Date.UTC(2026, 10, 23, 12);
const quota = (left: number, seconds: number, of?: number, window?: number): object => ({
  left,
  resetMs: seconds * 1000,
  quota: of,
  windowMs: window === undefined ? undefined : window * 1000,
});

test.each<[string, Record<string, string>, readonly object[]]>([
  [
    'structured lists',
    { 'ratelimit-policy': '"min";q=60;w=60, "day";q=1000;w=86400', ratelimit: '"min";r=41;t=23' },
    [quota(41, 23, 60, 60)],
  ],
  [
    'names as tokens',
    { 'ratelimit-policy': 'min;q=60;w=60', ratelimit: 'min;r=41;t=23' },
    [quota(41, 23, 60, 60)],
  ],
  [
    'several',
    {
      'ratelimit-policy': '"a;b,c";q=5;w=1;pk=:cHNzdA==:,"d";q=9',
      ratelimit: '"a;b,c";r=1;t=1;pk=:cHNzdA==:, "d";r=2;t=3',
    },
    [quota(1, 1, 5, 1), quota(2, 3, 9)],
  ],
  ['not of requests', { 'ratelimit-policy': '"b";q=9;qu="content-bytes"', ratelimit: '"b";r=1;t=1' }, []],
  [
    'a dictionary',
    { 'ratelimit-policy': '100;w=60', ratelimit: 'limit=100, remaining=50, reset=30' },
    [quota(50, 30, 100, 60)],
  ],
  [
    'older',
    { 'ratelimit-limit': '10, 10;w=1', 'ratelimit-remaining': '3', 'ratelimit-reset': '7' },
    [quota(3, 7, 10)],
  ],
  ['seconds', { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '7' }, [quota(3, 7)]],
  ['Unix time', { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': String(NOW / 1000 + 7) }, [quota(3, 7)]],
  [
    'in milliseconds',
    { 'x-rate-limit-remaining': '3', 'x-rate-limit-reset': String(NOW + 7000) },
    [quota(3, 7)],
  ],
  [
    'a date',
    { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': new Date(NOW + 7000).toUTCString() },
    [quota(3, 7)],
  ],
  ['a day ahead', { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '80000' }, []],
  ['broken', { 'ratelimit-policy': '"min;q=60', ratelimit: '"min";r=41;t=23, =' }, []],
  ['no number', { 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '7' }, []],
  ['negative', { 'ratelimit-remaining': '5', 'ratelimit-reset': '-5' }, [quota(5, 0)]],
  [
    'a Unix time that has passed',
    { 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '1795435190' },
    [quota(5, 0)],
  ],
  [
    'an ISO date',
    { 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '2026-11-23T12:00:07Z' },
    [quota(3, 7)],
  ],
  [
    'by the clock of the API, which is an hour behind',
    {
      date: new Date(NOW - 3_600_000).toUTCString(),
      'x-ratelimit-remaining': '3',
      'x-ratelimit-reset': String(NOW / 1000 - 3600 + 7),
    },
    [quota(3, 7)],
  ],
  ['out of a cache', { age: '20', 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '7' }, []],
  ['no limit', { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' }, []],
  ['huge', { 'x-ratelimit-remaining': '9'.repeat(400), 'x-ratelimit-reset': '1e300' }, []],
  ['words', { 'x-ratelimit-remaining': 'plenty', 'x-ratelimit-reset': 'soon', ratelimit: 'none' }, []],
  ['nothing', {}, []],
])('quotas are read: %s', (_what, headers, quotas) => {
  expect(rateFacts(headers, NOW)).toEqual({ quotas });
});

test('a field that is made to be read for ever is not', () => {
  for (const part of [';b=:x:', ';b="\\\\"', ' ', ';;', ',"a"', ';b'])
    for (const end of ['"', '=', '\\']) {
      const field = `a${part.repeat(2000)}${end}`;
      expect(workMs(() => rateFacts({ ratelimit: field, 'ratelimit-policy': field }, NOW))).toBeLessThan(
        1000,
      );
    }
});

test('the least number at once is read', () => {
  const field = '"par";q=4;qu="concurrent-requests", "more";q=9;qu="concurrent-requests", "min";q=60;w=60';
  expect(rateFacts({ 'ratelimit-policy': field }, NOW)).toEqual({ quotas: [], atOnce: 4 });
});
