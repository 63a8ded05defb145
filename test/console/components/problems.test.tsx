import { fireEvent, render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { PlaceContext, useFollowedPlace } from '../../../console/route/router.ts';
import Runs from '../../../console/views/runs/index.tsx';
import { answer, signIn } from './service.ts';

const NONE = {
  since: '2026-06-03T12:00:00+0000',
  until: '2026-06-04T12:00:00+0000',
  counts: { success: 3, doubtful: 0, error: 0, cancelled: 0 },
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
  const asked = answer({ 'GET runs/problems': NONE, 'GET components': [] });
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
