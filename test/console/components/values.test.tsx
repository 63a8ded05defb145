import { act, render, screen } from '@testing-library/preact';
import { describe, expect, test, vi } from 'vitest';
import { Bytes, durationText, RelativeTime } from '../../../console/ui/values.tsx';
import { cronText } from '../../../console/ui/cron-words.ts';
import { zoned } from '../../../console/ui/zoned.ts';

test.each([
  [0, '0 ms'],
  [999.7, '1 s'],
  [1000, '1 s'],
  [3440, '3.4 s'],
  [59_960, '1 min'],
  [61_000, '1 min 1 s'],
  [3_599_900, '59 min 59 s'],
  [3_599_999, '1 h'],
  [3_725_000, '1 h 2 min'],
  [90_000_000, '25 h'],
])('%d milliseconds are %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1500, '1.5 kB'],
  [999_949, '999.9 kB'],
  [999_960, '1 MB'],
  [12_345_678, '12.3 MB'],
  [5e15, '5,000 TB'],
])('%d bytes are shown as %s, with all of them beside', (value, text) => {
  render(<Bytes value={value} />);
  expect(screen.getByText(text).title).toBe(`${value.toLocaleString('en')} bytes`);
});

describe('a time', () => {
  const NOW = '2026-06-03T12:00:00Z';

  test.each([
    ['2026-06-03T12:00:02+0000', 'now'],
    ['2026-06-03T14:00:00+0200', 'now'],
    ['2026-06-03T11:59:01+0000', '59 seconds ago'],
    ['2026-06-03T11:00:01+0000', '59 minutes ago'],
    ['2026-06-02T11:00:00+0000', '1 day ago'],
    ['2026-06-03T14:00:00+0000', 'in 2 hours'],
    ['2026-06-03T12:59:31+0000', 'in 1 hour'],
    ['2026-06-03T12:59:29+0000', 'in 59 minutes'],
    ['2026-06-04T11:45:00+0000', 'in 1 day'],
    ['2026-06-06T06:30:00+0000', 'in 3 days'],
    ['2026-06-05T10:00:00+0000', 'in 2 days'],
    ['2024-01-01T00:00:00+0000', '2 years ago'],
  ])('of %s is %s', (value, text) => {
    vi.useFakeTimers({ now: new Date(NOW) });
    render(<RelativeTime value={value} />);
    expect(screen.getByText(text).getAttribute('datetime')).toBe(
      new Date(value.replace(/00$/, ':00')).toISOString(),
    );
  });

  test('grows older while it is looked at', () => {
    vi.useFakeTimers({ now: new Date(NOW) });
    render(<RelativeTime value={NOW} />);
    void act(() => void vi.advanceTimersByTime(120_000));
    expect(screen.getByRole('time').textContent).toBe('2 minutes ago');
  });

  test('that is none is a dash', () => {
    const { container } = render(<RelativeTime value={null} />);
    expect(container.textContent).toBe('–');
  });

  test('is that of the clocks of its zone', () => {
    expect(zoned('2026-06-03T22:30:00+0000', 'Europe/Prague')).toBe('Thu 4 Jun, 00:30');
  });
});

test.each([
  ['30 6 * * *', 'Every day at 06:30'],
  ['@daily', 'Every day at 00:00'],
  ['0 7 * * 1-5', 'Monday to Friday at 07:00'],
  ['5 22 * * 7', 'Every Sunday at 22:05'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['* * * * *', 'Every minute'],
  ['*/7 * * * *', 'Every 7 minutes (*/7 * * * *)'],
  ['0 */5 * * *', 'On the hour, every 5 hours (0 */5 * * *)'],
  ['0 */2 * * *', 'On the hour, every 2 hours'],
  ['0 6,18 * * *', 'At 06:00 and 18:00'],
  ['0 0 13 * 5', 'At 00:00, on day 13 of the month, and on Friday'],
  ['0 0 L * *', 'At 00:00, on the last day of the month'],
  ['every night', 'By the cron expression every night'],
])('the schedule %s is “%s”', (cron, text) => {
  expect(cronText(cron)).toBe(text);
});
