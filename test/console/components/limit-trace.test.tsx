import { render, screen, within } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { LimitTrace } from '../../../console/views/runs/limit-trace.tsx';

const change = (seconds: number, sent: number, from: number, to: number, why: string): object => ({
  at: `2026-06-03T12:00:${String(seconds).padStart(2, '0')}.000Z`,
  origin: 'https://api.example.com',
  sent,
  from,
  to,
  why,
});

test('the number of requests at once is a chart, with its changes and reasons in words', () => {
  const used = [change(1, 2, 2, 4, 'it was used'), change(2, 6, 4, 8, 'it was used')];
  // of another row, beside the first one
  const cut = [change(5, 14, 8, 4, '429, Retry-After 12 s'), change(30, 40, 4, 4, 'answers take 240 ms')];
  const recordings = [{ limits: cut }, { limits: used }, {}];
  const startMs = Date.parse('2026-06-03T12:00:00Z');
  // what is looked at of recordings
  render(<LimitTrace recordings={recordings as never} startMs={startMs} endMs={startMs + 60_000} />);
  const host = screen.getByRole('region', { name: 'Requests at once to https://api.example.com' });
  expect(
    within(host).getByRole('img', { name: 'Requests at once: from 2 to 4, 8 at most, lowered once' }),
  ).toBeTruthy();
  expect(host.querySelector('path')?.getAttribute('d')).toBe('M0 46H10V32H20V4H50V32H300V32H600');
  expect([...host.querySelectorAll('tbody tr')].map((row) => row.textContent)).toEqual([
    '1 s22 → 4it was used',
    '2 s64 → 8it was used',
    '5 s148 → 4429, Retry-After 12 s',
    '30 s40still 4answers take 240 ms',
  ]);
});
