import { fireEvent, render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { PlaceContext, useFollowedPlace } from '../../../console/route/router.ts';
import Alerts from '../../../console/views/alerts/index.tsx';
import { answer, LIMITED, signIn } from './service.ts';

const STATES = {
  counts: { failed: 1, late: 0, doubtful: 0, neverRun: 0, fresh: 0 },
  paused: 1,
  total: 1,
  sources: [
    {
      component: 'ex-generic-v2',
      configuration: 'shop',
      name: 'Shop',
      state: 'failed',
      isPaused: true,
      lastRun: '12',
      lastRunTime: '2026-06-03T12:00:00+0000',
      lastLoadTime: null,
      nextTime: null,
      lateMinutes: 1560,
    },
  ],
};
const ALERT = {
  id: '7',
  name: 'operations',
  url: 'https://hooks.example.com/T1',
  kinds: ['failed', 'stale'],
  component: null,
  configuration: null,
  lateMinutes: null,
  lateErrorMinutes: null,
  columns: [{ table: 'in.c-shop.orders', column: 'at', warnMinutes: 90 }],
  endingDays: null,
  remindMinutes: null,
  mutedUntil: null,
  isEnabled: true,
  wrong: [],
  createdTime: '2026-06-03T12:00:00+0000',
  creatorToken: { id: '1', description: 'Master token' },
};

test('a limited token sees the state of its sources, and is offered no alerts', async () => {
  signIn({ ...LIMITED, components: ['ex-generic-v2'] });
  answer({ 'GET runs/sources': STATES, 'GET configurations/names': [] });
  render(<Alerts parts={[]} />);
  await screen.findByRole('link', { name: 'Shop' });
  expect(screen.getByRole('status').textContent).toContain('You see the state of your sources.');
  expect(screen.getByText('paused')).toBeTruthy();
  expect(screen.getByText('26 hours')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'New alert' })).toBeNull();
});

function Followed() {
  return (
    <PlaceContext.Provider value={useFollowedPlace()}>
      <Alerts parts={[]} />
    </PlaceContext.Provider>
  );
}

async function pressLastLoad(): Promise<void> {
  fireEvent.click(await screen.findByRole('button', { name: 'Last load' }));
}

test('the state of the sources is sorted by the service, one way, the other and not at all', async () => {
  signIn({ ...LIMITED, components: ['ex-generic-v2'] });
  const asked = answer({ 'GET runs/sources': STATES, 'GET configurations/names': [] });
  const orders = () =>
    asked
      .filter(({ what }) => what === 'GET runs/sources')
      .map(({ query }) => [query.get('sort'), query.get('isReversed')]);
  render(<Followed />);
  await screen.findByRole('link', { name: 'Shop' });
  expect(screen.queryByRole('button', { name: 'Late after' })).toBeNull();
  await pressLastLoad();
  await expect.poll(() => orders().at(-1)).toEqual(['lastLoad', '1']);
  expect(window.location.search).toBe('?sort=lastLoad');
  await pressLastLoad();
  await expect.poll(() => orders().at(-1)).toEqual(['lastLoad', '0']);
  await pressLastLoad();
  await expect.poll(() => window.location.search).toBe('');
});

test('alerts go page by page, as the service gives them', async () => {
  signIn();
  const part = Array.from({ length: 100 }, (_, i) => ({
    ...ALERT,
    id: String(i + 1),
    name: `team ${i + 1}`,
  }));
  const asked = answer({ 'GET alerts': part, 'GET configurations/names': [] });
  render(<Followed />);
  await screen.findByText('1 to 100 of the alerts');
  // The order of one page says nothing of all.
  expect(screen.queryByRole('button', { name: 'Wrong now' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Next' }));
  await screen.findByText('101 to 200 of the alerts');
  expect(window.location.search).toBe('?offset=100');
  expect(
    asked
      .filter(({ what }) => what === 'GET alerts')
      .map(({ query }) => [query.get('limit'), query.get('offset')]),
  ).toEqual([
    ['100', '0'],
    ['100', '100'],
  ]);
});

test('an alert is made with what is typed, and its key is shown once', async () => {
  signIn();
  const asked = answer({
    'GET alerts': [],
    'GET configurations/names': [],
    'POST alerts': { ...ALERT, secret: 'key-of-messages' },
  });
  render(<Alerts parts={[]} />);
  const [open] = await screen.findAllByRole('button', { name: 'New alert' });
  if (open !== undefined) fireEvent.click(open);
  fireEvent.input(screen.getByLabelText('Name'), { target: { value: ' operations ' } });
  fireEvent.input(screen.getByLabelText('Goes to'), { target: { value: ALERT.url } });
  fireEvent.click(screen.getByLabelText('A source with a schedule loaded nothing for long'));
  fireEvent.input(screen.getByLabelText('Late after (hours)'), { target: { value: '1.5' } });
  fireEvent.click(screen.getByLabelText('The newest time in a column is old'));
  fireEvent.input(screen.getByLabelText('Table'), { target: { value: 'in.c-shop.orders' } });
  fireEvent.input(screen.getByLabelText('Column'), { target: { value: 'at' } });
  fireEvent.click(screen.getByRole('button', { name: 'Make the alert' }));
  await screen.findByText('key-of-messages');
  const made = asked.find(({ what }) => what === 'POST alerts');
  expect(made?.body).toEqual({
    name: 'operations',
    url: ALERT.url,
    component: null,
    configuration: null,
    kinds: ['failed', 'doubtful', 'late', 'stale'],
    lateMinutes: 90,
    lateErrorMinutes: null,
    columns: [{ table: 'in.c-shop.orders', column: 'at', warnMinutes: 1560, errorMinutes: null }],
    endingDays: null,
    remindMinutes: null,
  });
});
