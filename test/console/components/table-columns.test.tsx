import { fireEvent, render, screen } from '@testing-library/preact';
import { expect, test } from 'vitest';
import type { Table } from '../../../console/data/client.ts';
import { ColumnList } from '../../../console/views/tables/columns.tsx';
import { answer, signIn } from './service.ts';

const profiled = (name: string, values: readonly (readonly [value: string, count: number])[]) => ({
  name,
  rowsCount: 3,
  emptyCount: 0,
  distinctCount: values.length,
  minLength: 1,
  maxLength: 3,
  minValue: values[0]?.[0] ?? '',
  maxValue: values.at(-1)?.[0] ?? '',
  mostFrequent: values.map(([value, count]) => ({ value, count })),
});

// The only fields that the part looks at.
const TABLE = {
  id: 'in.c-shop.books',
  columns: ['id', 'kind'],
  primaryKey: ['id'],
  isTyped: false,
  columnMetadata: {},
  rowsCount: 3,
} as unknown as Table;

test('a column whose values all differ has no most frequent one', async () => {
  signIn();
  answer({
    'GET tables/in.c-shop.books/profile/latest': {
      tableId: TABLE.id,
      created: '2026-06-03T12:00:00+0000',
      isCurrent: true,
      columns: [
        profiled('id', [
          ['1', 1],
          ['2', 1],
          ['3', 1],
        ]),
        profiled('kind', [
          ['new', 2],
          ['old', 1],
        ]),
      ],
    },
  });
  render(<ColumnList table={TABLE} />);
  const all = await screen.findByText('all differ');
  expect(all.closest('[role=row]')?.textContent).toContain('id');
  expect(screen.getByText('kind').closest('[role=row]')?.textContent).toContain('new');
  fireEvent.click(screen.getByText('id'));
  expect(await screen.findByText('No value comes twice.')).toBeTruthy();
  expect(screen.queryByRole('heading', { name: 'Most frequent' })).toBeNull();
});
