import { fireEvent, render, screen, within } from '@testing-library/preact';
import { describe, expect, test, vi } from 'vitest';
import { DataTable, type Column, type DataTableProps } from '../../../console/ui/data-table.tsx';
import { Count } from '../../../console/ui/values.tsx';

interface Fruit {
  readonly name: string;
  readonly sold: number;
  readonly note?: string | null;
}

const COLUMNS: readonly Column<Fruit>[] = [
  { id: 'name', title: 'Name', text: ({ name }) => name, sortBy: ({ name }) => name },
  { id: 'sold', title: 'Sold', show: ({ sold }) => <Count value={sold} />, sortBy: ({ sold }) => sold },
  { id: 'note', title: 'Note', text: ({ note = '' }) => note },
];

const ROWS: readonly Fruit[] = [
  { name: 'pear 10', sold: 9 },
  { name: 'Pear 9', sold: 1000, note: null },
  { name: 'apple', sold: -5, note: 'sour\u202e' },
  { name: 'äpfel', sold: 20.5 },
];

function show(props: Partial<DataTableProps<Fruit>> = {}): void {
  render(<DataTable label="Fruits" columns={COLUMNS} rows={ROWS} rowKey={({ name }) => name} {...props} />);
}

const grid = (): HTMLElement => screen.getByRole('grid', { name: 'Fruits' });

const column = (index: number): (string | null)[] =>
  within(grid())
    .getAllByRole('row')
    .slice(1)
    .map((row) => within(row).getAllByRole('gridcell')[index]?.textContent ?? null);

const press = (title: string): boolean => fireEvent.click(screen.getByRole('button', { name: title }));

const sortOf = (title: string): string | null =>
  screen.getByRole('columnheader', { name: title }).getAttribute('aria-sort');

describe('a table that sorts', () => {
  test('numbers goes by their size, up, down and back', () => {
    show();
    press('Sold');
    expect(column(1)).toEqual(['-5', '9', '20.5', '1,000']);
    expect(sortOf('Sold')).toBe('ascending');
    press('Sold');
    expect(column(1)).toEqual(['1,000', '20.5', '9', '-5']);
    expect(sortOf('Sold')).toBe('descending');
    press('Sold');
    expect(column(0)).toEqual(ROWS.map(({ name }) => name));
    expect(sortOf('Sold')).toBeNull();
  });

  test('texts goes by letters, and by the numbers in them', () => {
    show();
    press('Name');
    expect(column(0)).toEqual(['äpfel', 'apple', 'Pear 9', 'pear 10']);
    expect(screen.queryByRole('button', { name: 'Note' })).toBeNull();
  });

  test('another column begins upwards again', () => {
    show();
    press('Sold');
    press('Sold');
    press('Name');
    expect([sortOf('Name'), sortOf('Sold')]).toEqual(['ascending', null]);
  });

  test('by the service leaves the rows as they came', () => {
    const onSort = vi.fn();
    show({ onSort, sort: { column: 'name', isDown: true } });
    press('Sold');
    expect(onSort).toHaveBeenCalledWith('sold');
    expect(column(0)).toEqual(ROWS.map(({ name }) => name));
    expect(sortOf('Name')).toBe('descending');
  });
});

describe('a cell', () => {
  test('shows null as a word, nothing as nothing, and signs that turn a text escaped', () => {
    show();
    expect(column(2)).toEqual(['', 'null', 'sour\\u202e', '']);
  });

  test('is opened by the arrows and Enter, also where the rows are sorted', () => {
    const onOpen = vi.fn();
    show({ onOpen });
    press('Sold');
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) fireEvent.keyDown(grid(), { key });
    expect(onOpen).toHaveBeenCalledExactlyOnceWith(ROWS[0]);
  });

  test('that is cut is shown whole', () => {
    const name = 'long '.repeat(100);
    show({ rows: [{ name, sold: 1 }] });
    expect(column(0)).toEqual([`${name.slice(0, 300)}…`]);
    for (const key of ['ArrowDown', 'Enter']) fireEvent.keyDown(grid(), { key });
    expect(within(screen.getByRole('dialog', { name: 'Name' })).getByText(name.trim())).toBeTruthy();
  });
});

test('of a thousand rows those are drawn that are seen, and all are counted', () => {
  show({ rows: Array.from({ length: 1000 }, (_, i) => ({ name: `row ${i}`, sold: i })) });
  expect(grid().getAttribute('aria-rowcount')).toBe('1001');
  expect(within(grid()).getAllByRole('row').length).toBeLessThan(50);
});
