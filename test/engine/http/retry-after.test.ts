import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryAfterMs } from '../../../src/engine/http/retry-after.ts';

// Sat, 21 Nov 2026 12:00:00 GMT, and 250 ms.
const NOW = Date.UTC(2026, 10, 21, 12) + 250;
const EPOCH = Math.floor(NOW / 1000);

describe('retryAfterMs', () => {
  test.each([
    ['3', 3000],
    [' 120 ', 120_000],
    ['1.5', 1500],
    ['-5', 0],
    ['1e2', 100_000],
    // Yesterday's clock and later is a time.
    [String(EPOCH + 90), 89_750],
    [String(EPOCH - 90), 0],
    [String(EPOCH - 86_400 - 10), (EPOCH - 86_400 - 10) * 1000],
    // A clock in milliseconds.
    [String(NOW + 4000), 4000],
  ])('number %s → %d ms', (value, waitMs) => {
    expect(retryAfterMs(value, NOW)).toBe(waitMs);
  });

  test.each([
    ['IMF-fixdate', 'Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['with an offset', 'Sat, 21 Nov 2026 13:00:30 +0100', 30_000],
    ['with an offset to the west', 'Sat, 21 Nov 2026 07:00:30 -05:00', 30_000],
    ['RFC 850', 'Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
    ['asctime', 'Sat Nov 21 12:00:30 2026', 30_000],
    ['asctime with a day of one digit', 'Tue Dec  1 12:00:00 2026', 864_000_000],
    ['in the past', 'Sat, 21 Nov 2026 11:59:30 GMT', 0],
    ['two digits, long ago', 'Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ])('date: %s', (_form, value, waitMs) => {
    expect(retryAfterMs(value, NOW)).toBe(waitMs);
  });

  test.each([
    undefined,
    '',
    '0',
    '-0',
    '0.0',
    'soon',
    '1 minute',
    '12:00',
    'Sat, 21 Foo 2026 12:00:30 GMT',
    'Sat, 21 Nov 2026 12:00:00 GMT',
    'NaN',
    'Infinity',
    '0x10',
  ])('%s says nothing', (value) => expect(retryAfterMs(value, NOW)).toBeUndefined());

  test('any date of the platform is read as the platform means it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4e8 }), (seconds) => {
        const now = EPOCH * 1000;
        expect(retryAfterMs(new Date(now + seconds * 1000).toUTCString(), now)).toBe(seconds * 1000);
      }),
    );
  });
});
