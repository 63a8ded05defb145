import { render, screen } from '@testing-library/preact';
import { describe, expect, test } from 'vitest';
import type { RunRequest } from '../../../console/data/client.ts';
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
