import { render, screen } from '@testing-library/preact';
import { describe, expect, test } from 'vitest';
import type { Run, RunRequest } from '../../../console/data/client.ts';
import { StatusChart, statusBars } from '../../../console/views/runs/status-chart.tsx';
import { attemptsOf, SpanBar, spansOf } from '../../../console/views/runs/spans.tsx';

const START = Date.parse('2026-06-03T12:00:00Z');
const URL = 'https://api.example.com/users?page=2';

/** Attempt that ended so many milliseconds after the start of the run. */
const sent = (number: number, end: number, ms: number, status: number | undefined): RunRequest => ({
  number,
  request: `GET ${URL}`,
  at: new Date(START + end).toISOString(),
  ms,
  ...(status === undefined ? {} : { status }),
});

const answered = (end: number, ms: number, retries: number) => ({
  request: { method: 'GET', url: URL },
  at: new Date(START + end).toISOString(),
  ms,
  retries,
});

describe('the time of a request', () => {
  test('is its attempts and the waits between them', () => {
    const attempts = [sent(2, 1000, 200, 500), sent(3, 2400, 400, undefined), sent(4, 5000, 600, 200)];
    expect(spansOf(answered(5000, 4200, 2), attempts)).toEqual([
      { kind: 'failed', startMs: START + 800, ms: 200 },
      { kind: 'wait', startMs: START + 1000, ms: 1000 },
      { kind: 'failed', startMs: START + 2000, ms: 400 },
      { kind: 'wait', startMs: START + 2400, ms: 2000 },
      { kind: 'answered', startMs: START + 4400, ms: 600 },
    ]);
  });

  test('is one span where nothing is known of attempts, and those of another time or address are not its own', () => {
    const others = [
      sent(1, 500, 200, 500),
      { ...sent(5, 1900, 100, 500), request: 'GET https://api.example.com/users?page=3' },
    ];
    expect(spansOf(answered(2000, 300, 0), others)).toEqual([
      { kind: 'answered', startMs: START + 1700, ms: 300 },
    ]);
  });

  test('is drawn in the time of the run, with words for what it is', () => {
    const spans = spansOf(answered(5000, 5000, 1), [sent(1, 1000, 1000, 500), sent(2, 5000, 1000, 200)]);
    render(<SpanBar spans={spans} startMs={START} spanMs={10_000} />);
    const bar = screen.getByTitle('failed after 1 s, waited 3 s, answered in 1 s');
    expect([...bar.children].map((part) => part.getAttribute('style')?.replaceAll(/\s/g, ''))).toEqual([
      'left:0%;width:10%;',
      'left:10%;width:30%;',
      'left:40%;width:10%;',
    ]);
  });
});

test('a request that was sent again is another attempt, also when processes count anew', () => {
  const all = [
    sent(1, 1000, 200, 500),
    sent(2, 3000, 200, 503),
    sent(1, 9000, 300, 200),
    sent(2, 12_000, 300, 200),
  ];
  const attempts = attemptsOf(all);
  expect(all.map((each) => attempts.get(each))).toEqual([
    undefined,
    { number: 2, waitedMs: 1800 },
    { number: 3, waitedMs: 5700 },
    // The one before was answered: it is asked anew.
    undefined,
  ]);
});

describe('requests by status', () => {
  const all = [
    sent(1, 100, 50, 200),
    sent(2, 200, 50, 304),
    sent(3, 5000, 50, 429),
    sent(4, 6000, 50, 503),
    sent(5, 7000, 50, undefined),
    // Behind the end, by another clock.
    sent(6, 10_400, 50, 200),
  ];

  test('are counted in parts of the time of the run, and none is lost', () => {
    const bars = statusBars(all, { startMs: START, endMs: START + 10_000 });
    expect(bars).toHaveLength(40);
    expect(bars[0]).toMatchObject({ name: '+0 ms', values: [2, 0, 0, 0] });
    const sums = [0, 1, 2, 3].map((i) => bars.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
    expect(sums).toEqual([3, 1, 1, 1]);
    expect(bars.at(-1)?.values).toEqual([1, 0, 0, 0]);
  });

  test('are a chart with its numbers in a table, which says when it has not all', () => {
    // The only fields that it looks at.
    const run = { startTime: '2026-06-03T12:00:00+0000', endTime: '2026-06-03T12:00:10+0000' } as Run;
    render(<StatusChart run={run} requests={all} total={2000} />);
    expect(screen.getByText('Requests by status, the first 6')).toBeTruthy();
    expect(screen.getByRole('img').getAttribute('aria-label')).toMatch(/^40 bars, from 0 to 2;/);
    expect(screen.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual([
      'After',
      'Answered',
      'Refused (4xx)',
      'Failed (5xx)',
      'No answer',
    ]);
    // Most parts of the time have no request: the table leaves them out.
    const rows = screen.getAllByRole('row').slice(1);
    expect(rows.map(({ textContent }) => textContent)).toEqual([
      '+10.1 s1000',
      '+6.8 s0001',
      '+6 s0010',
      '+4.9 s0100',
      '+0 ms2000',
    ]);
  });
});
