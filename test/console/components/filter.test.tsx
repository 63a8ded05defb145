import { fireEvent, render, screen } from '@testing-library/preact';
import { describe, expect, test, vi } from 'vitest';
import { FilterForm, filterText } from '../../../console/views/tables/filter.tsx';

const add = (): HTMLButtonElement =>
  screen.getByRole<HTMLButtonElement>('button', { name: 'Add the filter' });

const type = (label: string, value: string): boolean =>
  fireEvent.input(screen.getByLabelText(label), { target: { value } });

const choose = (value: string): boolean =>
  fireEvent.change(screen.getByRole('combobox', { name: 'Condition' }), { target: { value } });

function show() {
  const onAdd = vi.fn();
  render(<FilterForm columns={['id', 'Name', 'city name']} onAdd={onAdd} onClose={vi.fn()} />);
  return onAdd;
}

describe('the filter of rows', () => {
  test('waits for a column that there is', () => {
    show();
    expect(add().disabled).toBe(true);
    type('Column', 'nam');
    expect(screen.getByText('No column has this name yet: go on typing.')).toBeTruthy();
    const offered = [...document.querySelectorAll('datalist option')].map((option) =>
      option.getAttribute('value'),
    );
    expect(offered).toEqual(['Name', 'city name']);
    type('Column', 'Name');
    expect(add().disabled).toBe(false);
    expect(screen.queryByText(/No column/)).toBeNull();
  });

  test('takes several values, one on each line', () => {
    const onAdd = show();
    type('Column', 'Name');
    type('Value', 'Ann\nBob');
    fireEvent.click(add());
    expect(onAdd).toHaveBeenCalledExactlyOnceWith([
      { column: 'Name', operator: 'eq', values: ['Ann', 'Bob'] },
    ]);
  });

  test('compares with one value, as numbers if that is wanted', () => {
    const onAdd = show();
    type('Column', 'id');
    choose('ge');
    type('Value', '10');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Compare as numbers' }));
    fireEvent.click(add());
    const filter = { column: 'id', operator: 'ge', values: ['10'], dataType: 'DOUBLE' } as const;
    expect(onAdd).toHaveBeenCalledExactlyOnceWith([filter]);
    expect(filterText(filter)).toBe('id is at least 10 (number)');
  });

  test('of several values keeps the first when one is wanted', () => {
    const onAdd = show();
    type('Column', 'id');
    type('Value', '10\n20');
    choose('lt');
    expect(screen.getByLabelText<HTMLInputElement>('Value').value).toBe('10');
    fireEvent.click(add());
    expect(onAdd).toHaveBeenCalledExactlyOnceWith([{ column: 'id', operator: 'lt', values: ['10'] }]);
  });
});

test.each([
  [{ column: 'a', values: [''] }, 'a is empty'],
  [{ column: 'a', operator: 'ne', values: ['x', 'y'] }, 'a is not x or y'],
  [{ column: 'a', values: ['1', '2', '3', '4'] }, 'a is 1 or 2 or 3 …'],
  [{ column: 'a', values: ['x'.repeat(61)] }, `a is ${'x'.repeat(60)}…`],
] as const)('a filter is told in words: %o', (filter, words) => {
  expect(filterText(filter)).toBe(words);
});
