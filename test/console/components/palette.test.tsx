import { fireEvent, render, screen } from '@testing-library/preact';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import Palette from '../../../console/app/palette.tsx';
import { answer, signIn } from './service.ts';

const onClose = vi.fn();

beforeEach(async () => {
  onClose.mockClear();
  signIn();
  answer({
    'GET tables': [
      { id: 'in.c-shop.users', name: 'users' },
      { id: 'in.c-shop.orders', name: 'orders' },
    ],
    'GET configurations/names': [
      {
        component: 'ex-generic',
        componentName: 'Generic extractor',
        configurations: [{ configuration: '5', name: 'Shop users' }],
      },
    ],
    'GET runs': [{ id: '77', status: 'error', component: 'ex-generic', configuration: '5' }],
  });
  render(<Palette onClose={onClose} />);
  await screen.findByRole('option', { name: /^Run 77/ });
  await screen.findByRole('option', { name: /users Table$/ });
  await screen.findByRole('option', { name: /^Shop users/ });
});

const field = (): HTMLElement => screen.getByRole('combobox', { name: /^Table, source, run/ });
const type = (value: string): boolean => fireEvent.input(field(), { target: { value } });
const press = (...keys: readonly string[]): void =>
  keys.forEach((key) => fireEvent.keyDown(field(), { key }));
const names = (): (string | null)[] => screen.queryAllByRole('option').map(({ textContent }) => textContent);
const chosen = (): string | null => screen.getByRole('option', { selected: true }).textContent;

describe('the search for anything', () => {
  test('finds all kinds by a part of the name, whatever the case', () => {
    type('USERS');
    expect(names()).toEqual(['Shop usersGeneric extractor', 'in.c-shop.usersTable']);
  });

  test('wants every word, in any order, also of what it is', () => {
    type('table  shop');
    expect(names()).toEqual(['in.c-shop.usersTable', 'in.c-shop.ordersTable']);
    type('error run');
    expect(names()).toEqual(['Run 77 of 5error']);
  });

  test('goes round by the arrows, and to the chosen one by Enter', () => {
    type('users');
    expect(chosen()).toContain('Shop users');
    press('ArrowUp');
    expect(chosen()).toContain('in.c-shop.users');
    expect(document.getElementById(field().getAttribute('aria-activedescendant') ?? '')?.textContent).toBe(
      chosen(),
    );
    press('ArrowDown', 'Enter');
    expect(window.location.pathname).toBe('/sources/ex-generic/5');
    expect(onClose).toHaveBeenCalledOnce();
  });

  test('begins at the first again when something else is typed', () => {
    type('shop');
    press('ArrowDown', 'ArrowDown');
    type('shop o');
    expect(chosen()).toContain('Shop users');
  });

  test('that finds nothing says so, and Enter stays', () => {
    type('nothing like it');
    press('ArrowDown', 'Enter');
    expect(screen.getByRole('status').textContent).toBe('Nothing is called so.');
    expect(onClose).not.toHaveBeenCalled();
    expect(window.location.pathname).toBe('/');
  });
});
