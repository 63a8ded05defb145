import { fireEvent, render, screen } from '@testing-library/preact';
import { describe, expect, test, vi } from 'vitest';
import { PlaceContext, useFollowedPlace } from '../../../console/route/router.ts';
import { Pager } from '../../../console/ui/pager.tsx';
import { JobList } from '../../../console/views/jobs/list.tsx';
import { answer, signIn } from './service.ts';

const button = (name: string): HTMLButtonElement => screen.getByRole<HTMLButtonElement>('button', { name });

function show(offset: number, shown: number) {
  const onMove = vi.fn();
  render(<Pager noun="jobs" size={100} offset={offset} shown={shown} onMove={onMove} />);
  return onMove;
}

describe('the parts of a list', () => {
  test('that is short are not spoken of', () => {
    show(0, 99);
    expect(screen.queryByRole('navigation')).toBeNull();
  });

  test('lead to older ones, and from the first to no newer', () => {
    const onMove = show(0, 100);
    expect(screen.getByRole('navigation', { name: 'Parts of the jobs' })).toBeTruthy();
    expect(screen.getByText('1 to 100 of the jobs')).toBeTruthy();
    expect(button('Newer').disabled).toBe(true);
    fireEvent.click(button('Older'));
    expect(onMove).toHaveBeenCalledExactlyOnceWith(100);
  });

  test('end with one that is short or empty, and lead back to the first', () => {
    const onMove = show(50, 0);
    expect(screen.getByText('No more jobs')).toBeTruthy();
    expect(button('Older').disabled).toBe(true);
    fireEvent.click(button('Newer'));
    expect(onMove).toHaveBeenCalledExactlyOnceWith(0);
  });
});

function Jobs() {
  return (
    <PlaceContext.Provider value={useFollowedPlace()}>
      <JobList />
    </PlaceContext.Provider>
  );
}

const JOBS = Array.from({ length: 100 }, (_, i) => ({
  id: 1000 - i,
  status: 'success',
  operationName: 'tableImport',
  operationParams: {},
  tableId: `in.c-main.t${i}`,
  createdTime: '2026-06-03T12:00:00+0000',
  startTime: null,
  endTime: '2026-06-03T12:00:01+0000',
  creatorToken: { id: '1', description: 'loader' },
}));

test('the jobs of a part and a filter are asked for by the address, and a filter begins with the newest', async () => {
  signIn();
  const asked = answer({ 'GET jobs': JOBS });
  render(<Jobs />);
  await screen.findByRole('link', { name: 'Load into in.c-main.t0' });
  fireEvent.click(button('Older'));
  await vi.waitFor(() => expect(asked.at(-1)?.query.get('offset')).toBe('100'));
  expect(window.location.search).toBe('?offset=100');
  fireEvent.change(screen.getByRole('combobox', { name: 'Status' }), { target: { value: 'error' } });
  await vi.waitFor(() => expect(asked.at(-1)?.query.get('offset')).toBe('0'));
  expect(window.location.search).toBe('?status=error');
});

test('a filter that no job fits is taken back by a button', async () => {
  signIn();
  answer({ 'GET jobs': [] });
  history.replaceState(null, '', '/jobs?table=in.c-main.none');
  render(<Jobs />);
  await screen.findByRole('heading', { name: 'No job is like that' });
  fireEvent.click(button('Show all jobs'));
  await screen.findByRole('heading', { name: 'There are no jobs yet' });
  expect(window.location.search).toBe('');
});
