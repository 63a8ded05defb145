import { fireEvent, render, screen } from '@testing-library/preact';
import { describe, expect, test, vi } from 'vitest';
import type { Table } from '../../../console/data/client.ts';
import { PlaceContext, useFollowedPlace } from '../../../console/route/router.ts';
import { TableHistory } from '../../../console/views/tables/history.tsx';
import { answer, signIn } from './service.ts';

const CHANGE = {
  version: 17,
  created: '2026-06-03T12:00:00+0000',
  change: 'import',
  rowsCount: 3,
  importedRowsCount: 2,
  addedColumns: ['price'],
  droppedColumns: [],
  jobId: 4,
  runId: '42',
  component: 'api',
  configuration: 'shop',
  configurationRow: null,
  configurationVersion: 1,
};
const BEFORE = { ...CHANGE, version: 12, change: 'create', addedColumns: [], runId: null };

const DIFFERENCE = {
  from: 16,
  to: 17,
  columns: ['id', 'title'],
  primaryKey: ['id'],
  addedCount: 5,
  removedCount: 0,
  changedCount: 1,
  rows: [
    { change: 'changed', before: ['1', 'Emma'], after: ['1', 'Emma II'] },
    { change: 'added', before: null, after: ['2', 'Ulysses'] },
  ],
};

// The only fields that the part looks at.
const TABLE = { id: 'in.c-shop.books' } as Table;

function Followed() {
  return (
    <PlaceContext.Provider value={useFollowedPlace()}>
      <TableHistory table={TABLE} />
    </PlaceContext.Provider>
  );
}

describe('the history of a table', () => {
  test('lists changes with their runs, shows what one did, and sets the table back', async () => {
    signIn();
    const asked = answer({
      'GET tables/in.c-shop.books/versions': [CHANGE, BEFORE],
      'GET tables/in.c-shop.books/difference': DIFFERENCE,
      'POST tables/in.c-shop.books/restore': {
        id: 9,
        status: 'success',
        url: 'http://localhost/v2/storage/jobs/9',
        results: { version: 12, totalRowsCount: 1 },
      },
    });
    window.history.replaceState(null, '', '/tables/in.c-shop.books?tab=history&version=17');
    render(<Followed />);
    expect((await screen.findByRole('link', { name: '42' })).getAttribute('href')).toMatch(/\/runs\/42$/);
    expect(screen.getByText('+price')).toBeTruthy();
    expect(await screen.findByRole('cell', { name: 'changed' })).toBeTruthy();
    for (const header of screen.getAllByRole('columnheader')) expect(header.textContent).not.toBe('');
    // The newest is what is there.
    fireEvent.click(screen.getByRole('button', { name: 'Set back to it' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Set it back' }));
    await expect.poll(() => asked.find(({ what }) => what.startsWith('POST'))?.body).toEqual({ at: '12' });
  });

  test('of a storage that keeps none is told', async () => {
    signIn();
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () =>
      Promise.resolve(Response.json({ error: 'None.', code: 'storage.tables.noVersions' }, { status: 400 })),
    );
    render(<TableHistory table={TABLE} />);
    expect(await screen.findByText('No history is kept')).toBeTruthy();
  });
});
