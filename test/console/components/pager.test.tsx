import { fireEvent, render, screen } from '@testing-library/preact';
import { beforeEach, describe, expect, test } from 'vitest';
import { navigate, PlaceContext, useFollowedPlace } from '../../../console/route/router.ts';
import { Pager } from '../../../console/ui/pager.tsx';
import { JobList } from '../../../console/views/jobs/list.tsx';
import { answer, signIn } from './service.ts';

const button = (name: string): HTMLButtonElement => screen.getByRole<HTMLButtonElement>('button', { name });

type Part = Omit<Parameters<typeof Pager>[0], 'noun' | 'size'>;

function Parts(part: Part) {
  return (
    <PlaceContext.Provider value={useFollowedPlace()}>
      <Pager noun="jobs" size={100} {...part} />
    </PlaceContext.Provider>
  );
}

beforeEach(() => navigate('/jobs'));

function show(offset: number, part: Part): void {
  navigate(offset === 0 ? '/jobs' : `/jobs?offset=${offset}`);
  render(<Parts {...part} />);
}

describe('the parts of a list', () => {
  test.each<Part>([{ shown: 99 }, { shown: 100, total: 100 }])('that is short are not spoken of', (part) => {
    show(0, part);
    expect(screen.queryByRole('navigation')).toBeNull();
  });

  test('lead to older ones, and from the first to no newer', () => {
    show(0, { shown: 100 });
    expect(screen.getByRole('navigation', { name: 'Parts of the jobs' })).toBeTruthy();
    expect(screen.getByText('1 to 100 of the jobs')).toBeTruthy();
    expect(button('Newer').disabled).toBe(true);
    fireEvent.click(button('Older'));
    expect(window.location.search).toBe('?offset=100');
  });

  test('end with one that is short or empty, and lead back to the first', () => {
    show(50, { shown: 0 });
    expect(screen.getByText('No more jobs')).toBeTruthy();
    expect(button('Older').disabled).toBe(true);
    fireEvent.click(button('Newer'));
    expect(window.location.search).toBe('');
  });

  test('end where the service has counted them, though the last one is full', () => {
    show(1900, { shown: 100, total: 2000 });
    expect(screen.getByText('1,901 to 2,000 of 2,000 jobs')).toBeTruthy();
    expect(button('Next').disabled).toBe(true);
    fireEvent.click(button('Back'));
    expect(window.location.search).toBe('?offset=1800');
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
  await expect.poll(() => asked.at(-1)?.query.get('offset')).toBe('100');
  expect(window.location.search).toBe('?offset=100');
  fireEvent.change(screen.getByRole('combobox', { name: 'Status' }), { target: { value: 'error' } });
  await expect.poll(() => asked.at(-1)?.query.get('offset')).toBe('0');
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
