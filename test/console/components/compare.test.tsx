import { render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import type { Run } from '../../../console/data/client.ts';
import { Compare } from '../../../console/views/runs/compare.tsx';
import { answer, signIn } from './service.ts';

/** Run that took so many seconds. */
const run = (id: string, seconds: number, status = 'success') =>
  ({
    id,
    status,
    component: 'ex-generic-v2',
    configuration: 'shop',
    verdict: 'complete',
    cancelTime: null,
    createdTime: '2026-06-03T12:00:00+0000',
    startTime: '2026-06-03T12:00:00+0000',
    endTime: new Date(Date.UTC(2026, 5, 3, 12, 0, seconds)).toISOString(),
    rows: [{ rows: 4, verdict: 'complete', tables: [], jobs: [] }],
  }) as unknown as Run; // what is compared

test.each([
  ['faster', 60, 10, 'good'],
  ['slower', 10, 60, 'warn'],
] as const)(
  'a run that was %s than the one before is told so in the colour of it',
  async (word, a, b, tone) => {
    signIn();
    const [before, after] = [run('1', a), run('2', b)];
    answer({ 'GET runs': [after, before], 'GET runs/1': before });
    render(<Compare run={after} />);
    expect((await screen.findByText(word)).className).toContain(tone);
    expect(screen.getByText('Took').closest('tr')?.textContent).toContain(word);
  },
);

test('a run that took hardly longer is not called the same', async () => {
  signIn();
  const [before, after] = [run('1', 10), run('2', 11)];
  answer({ 'GET runs': [after, before], 'GET runs/1': before });
  render(<Compare run={after} />);
  const line = (await screen.findByText('Took')).closest('tr');
  expect(line?.textContent).toBe('Took10 s11 sabout the same');
  expect(line?.className).toBe('');
});

test('other runs are told apart by how they ended, in words', async () => {
  signIn();
  const [first, failed, last] = [run('1', 10), run('2', 10, 'error'), run('3', 10)];
  answer({ 'GET runs': [last, failed, first], 'GET runs/2': failed });
  render(<Compare run={last} />);
  const others = await screen.findByLabelText<HTMLSelectElement>('Compare with');
  expect([...others.options].map(({ text }) => text.replace(/ [^ ]+ [^ ]+ ago$/, ' … ago'))).toEqual([
    'Run 2, failed … ago',
    'Run 1, done … ago',
  ]);
});
