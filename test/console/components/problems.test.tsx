import { fireEvent, render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { PlaceContext, useFollowedPlace } from '../../../console/route/router.ts';
import Runs from '../../../console/views/runs/index.tsx';
import { answer, signIn } from './service.ts';

const NONE = {
  since: '2026-06-03T12:00:00+0000',
  until: '2026-06-04T12:00:00+0000',
  counts: { success: 3, doubtful: 0, error: 0, cancelled: 0, accepted: 0 },
  problems: [],
  missed: [],
  leftOut: 0,
};

const iso = (local: string): string => new Date(local).toISOString();

function Problems() {
  return (
    <PlaceContext.Provider value={useFollowedPlace()}>
      <Runs parts={['problems']} />
    </PlaceContext.Provider>
  );
}

test('a range of time of one’s own is asked for, and none that ends before it begins', async () => {
  signIn();
  const asked = answer({ 'GET runs/problems': NONE, 'GET configurations/names': [] });
  const ranges = (): (string | null)[][] =>
    asked
      .filter(({ what }) => what === 'GET runs/problems')
      .map(({ query }) => [query.get('since'), query.get('until')]);
  render(<Problems />);
  await screen.findByText('3 runs succeeded, 0 failed, 0 cancelled.');
  fireEvent.change(screen.getByLabelText('Range of time'), { target: { value: 'own' } });
  fireEvent.input(await screen.findByLabelText('From'), { target: { value: '2026-06-01T18:00' } });
  fireEvent.input(screen.getByLabelText('To'), { target: { value: '2026-06-02T06:30' } });
  await expect.poll(() => ranges().at(-1)).toEqual([iso('2026-06-01T18:00'), iso('2026-06-02T06:30')]);
  const before = ranges().length;
  fireEvent.input(screen.getByLabelText('To'), { target: { value: '2026-05-31T06:30' } });
  await screen.findByText('The range ends before it begins.');
  expect(ranges()).toHaveLength(before);
  fireEvent.change(screen.getByLabelText('Range of time'), { target: { value: 'week' } });
  await expect.poll(() => ranges().at(-1)?.[1]).toBeNull();
  expect(screen.queryByLabelText('From')).toBeNull();
});

test.each([
  ['night', 18],
  ['yesterday', 0],
])(
  'the range “%s” begins at an hour of the day before, by the clocks of the browser',
  async (range, hour) => {
    signIn();
    const asked = answer({ 'GET runs/problems': NONE, 'GET configurations/names': [] });
    render(<Problems />);
    fireEvent.change(await screen.findByLabelText('Range of time'), { target: { value: range } });
    const day = new Date();
    const since = new Date(day.getFullYear(), day.getMonth(), day.getDate() - 1, hour);
    await expect.poll(() => asked.at(-1)?.query.get('since')).toBe(since.toISOString());
  },
);

const source = (configuration: string, lastRun: string) => ({
  component: 'ex-generic-v2',
  configuration,
  runs: 1,
  lastRun,
  lastTime: '2026-06-04T02:00:00+0000',
  isSolved: false,
});
const problem = (id: string, sources: readonly object[]) => ({
  id,
  kind: 'failed',
  error: { code: 'http.status', message: `Cause ${id}`, audience: 'user' },
  runs: sources.length,
  firstTime: '2026-06-04T02:00:00+0000',
  lastTime: '2026-06-04T02:00:00+0000',
  runIds: ['11'],
  sources,
});

const run = (id: string, configuration: string) => ({
  id,
  component: 'ex-generic-v2',
  configuration,
  status: 'error',
  asked: {},
});

const waiting = (id: string) => ({
  id,
  component: 'ex-generic-v2',
  configuration: 'a',
  status: 'waiting',
  verdict: null,
  error: null,
  asked: {},
  schedule: null,
  createdTime: '2026-06-04T02:00:00+0000',
  startTime: null,
  endTime: null,
  cancelTime: null,
  creatorToken: { id: 1, description: 'Master token' },
  attempt: 0,
  rows: null,
});

test('all that is not solved is run again, and what was refused is told with its reason', async () => {
  signIn();
  const asked = answer({
    'GET configurations/names': [],
    'GET runs/problems': {
      ...NONE,
      problems: [problem('one', [source('a', '11'), source('b', '12')]), problem('two', [source('c', '13')])],
    },
    'GET runs/11': run('11', 'a'),
    'GET runs/13': run('13', 'c'),
    'POST runs': { ...run('20', 'a'), status: 'waiting' },
  });
  render(<Problems />);
  fireEvent.click(await screen.findByRole('button', { name: 'Run all 3 again' }));
  const refused = await screen.findByText('With these it was not done:');
  expect(refused.closest('.banner')?.textContent).toMatch(/Run 12: .+$/);
  const started = asked.filter(({ what }) => what === 'POST runs').map(({ body }) => body);
  expect(started).toEqual([
    expect.objectContaining({ configuration: 'a' }),
    expect.objectContaining({ configuration: 'c' }),
  ]);
  // One is left, of the first cause.
  expect(screen.getAllByRole('button', { name: 'Run again' })).toHaveLength(1);
});

test('doubts of a cause are accepted with a reason, and what was refused is told', async () => {
  signIn();
  const doubt = {
    ...problem('one', [source('a', '11'), source('b', '12')]),
    error: { code: 'run.doubtful', message: 'The table may not have everything.', audience: 'user' },
  };
  const asked = answer({
    'GET configurations/names': [],
    'GET runs/problems': {
      ...NONE,
      counts: { ...NONE.counts, accepted: 2 },
      problems: [doubt, problem('two', [source('c', '13')])],
    },
    'POST runs/11/accept': { ...run('20', 'a'), status: 'waiting' },
  });
  render(<Problems />);
  await screen.findByText(/0 cancelled, 2 in doubt and accepted\.$/);
  // A run that failed otherwise has no doubt.
  expect(screen.getAllByRole('button', { name: /^Accept/ })).toHaveLength(1);
  fireEvent.click(screen.getByRole('button', { name: 'Accept 2 doubts' }));
  const save = await screen.findByRole<HTMLButtonElement>('button', { name: 'Accept the doubts' });
  expect(save.disabled).toBe(true);
  fireEvent.input(screen.getByLabelText('Why the tables are good all the same'), {
    target: { value: ' deleted users are counted, too ' },
  });
  fireEvent.click(save);
  const refused = await screen.findByText('With these it was not done:');
  expect(refused.closest('.banner')?.textContent).toMatch(/Run 12: .+$/);
  const sent = asked.filter(({ what }) => what.endsWith('/accept'));
  expect(sent.map(({ what, body }) => [what, body])).toEqual([
    ['POST runs/11/accept', { because: 'deleted users are counted, too' }],
    ['POST runs/12/accept', { because: 'deleted users are counted, too' }],
  ]);
  await expect.poll(() => screen.queryByLabelText('Why the tables are good all the same')).toBeNull();
  // The one that is left may be tried again.
  expect(screen.getByRole('button', { name: 'Accept the doubt' })).toBeTruthy();
});

test('what waits is cancelled at once, after a question', async () => {
  signIn();
  history.replaceState(null, '', '/runs?status=waiting');
  const asked = answer({
    'GET configurations/names': [],
    'GET runs': [waiting('21'), waiting('22')],
    'POST runs/21/cancel': waiting('21'),
    'POST runs/22/cancel': waiting('22'),
  });
  render(
    <PlaceContext.Provider value={{ path: '/runs', query: new URLSearchParams('status=waiting') }}>
      <Runs parts={[]} />
    </PlaceContext.Provider>,
  );
  fireEvent.click(await screen.findByRole('button', { name: 'Cancel these 2 runs' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Cancel the runs' }));
  const cancelled = (): string[] => asked.flatMap(({ what }) => (what.endsWith('/cancel') ? [what] : []));
  await expect.poll(cancelled).toEqual(['POST runs/21/cancel', 'POST runs/22/cancel']);
});
