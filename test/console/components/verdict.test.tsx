import { render, screen, within } from '@testing-library/preact';
import { describe, expect, test } from 'vitest';
import type { JobReport } from '../../../src/engine/completeness/report.ts';
import type { Run } from '../../../console/data/client.ts';
import { StatusBadge, VerdictBadge } from '../../../console/ui/run-badges.tsx';
import { Verdict } from '../../../console/ui/trial/verdict.tsx';
import { Overview } from '../../../console/views/runs/overview.tsx';

const JOB: JobReport = {
  job: 'users',
  at: 'parameters.config.jobs[0]',
  verdict: 'complete',
  runs: 1,
  pages: 3,
  rows: 1234,
  reasons: [
    { reason: { code: 'shortPage', rows: 34, size: 100 }, text: 'the page had `34` rows of `100`', runs: 1 },
  ],
  verdicts: { complete: 1 },
  proof: { code: 'totalEquals', path: 'meta.total', total: 1234 },
  doubtful: [],
  rowsTwice: 0,
};

/** Shows a run that is over, with one row of the configuration and one job. */
function show(job: JobReport, row: { readonly isHeld?: boolean } = {}): HTMLElement {
  const { verdict, rows } = job;
  const tables = [{ name: 'users', destination: 'in.c-shop.users', rows }];
  const run = { endTime: '2026-06-03T12:00:00Z', rows: [{ verdict, rows, tables, jobs: [job], ...row }] };
  render(<Overview run={run as unknown as Run} />); // what an overview looks at
  return screen.getByRole('region', { name: 'What came' });
}

describe('the report of a run', () => {
  test('that is complete gives the proof, and leads to the table', () => {
    const report = show(JOB);
    expect(within(report).getAllByText('complete')).toHaveLength(2);
    expect(within(report).getByText(/^Proof:/).textContent).toBe(
      'Proof: meta.total: 1234 is the number of rows',
    );
    expect(within(report).getByText('3 pages, 1,234 rows')).toBeTruthy();
    expect(within(report).getByRole('link', { name: 'in.c-shop.users' }).getAttribute('href')).toBe(
      '/tables/in.c-shop.users',
    );
  });

  test('that ended claims no proof', () => {
    const { proof: _, ...job } = JOB;
    const report = show({ ...job, verdict: 'ended', rows: 1, pages: 1 });
    expect(within(report).getAllByText('ended')).toHaveLength(2);
    expect(within(report).queryByText(/^Proof:/)).toBeNull();
    expect(within(report).getByText('1 page, 1 row')).toBeTruthy();
    expect(within(report).getByText(/^It ended:/).textContent).toBe('It ended: the page had 34 rows of 100');
  });

  test('that is doubtful tells the doubts, and that nothing of it was loaded', () => {
    const doubtful = [{ request: 'GET /users', doubts: [{ text: '`meta.total` says 2000' }] }];
    const report = show(
      { ...JOB, verdict: 'doubtful', doubtful: doubtful as unknown as JobReport['doubtful'], rowsTwice: 2 },
      { isHeld: true },
    );
    expect(within(report).getAllByText('doubtful')).toHaveLength(2);
    expect(within(report).getByText(/says 2000/)).toBeTruthy();
    expect(within(report).getByText('2 rows came more than once.')).toBeTruthy();
    expect(within(report).getByText(/Nothing of it was loaded/)).toBeTruthy();
    expect(within(report).queryByRole('link')).toBeNull();
  });
});

test.each([
  ['complete', 'The answers say that these are all rows.'],
  ['ended', 'The end was reached, and nothing speaks against it.'],
  ['doubtful', 'Something speaks against it.'],
])('a trial that is %s says so in a sentence', (verdict, sentence) => {
  const { container } = render(<Verdict verdict={verdict} />);
  expect(container.textContent).toBe(`${verdict}${sentence}`);
});

test('a run without a verdict has none, and one that was asked to end is ending', () => {
  const { container } = render(
    <>
      <VerdictBadge verdict={null} />
      <StatusBadge run={{ status: 'processing', cancelTime: '2026-06-03T12:00:00Z' }} />
    </>,
  );
  expect(container.textContent).toBe('–Ending');
});
