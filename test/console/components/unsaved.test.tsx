import { fireEvent, render, screen } from '@testing-library/preact';
import { useState } from 'preact/hooks';
import { describe, expect, test, vi } from 'vitest';
import { Link } from '../../../console/route/link.tsx';
import { navigate, useFollowedPlace, useUnsaved } from '../../../console/route/router.ts';
import { Input } from '../../../console/ui/field.tsx';

function Pages() {
  const { path } = useFollowedPlace();
  return path === '/edit' ? <Edit /> : <h1>Elsewhere</h1>;
}

function Edit() {
  const [text, setText] = useState('');
  useUnsaved(text !== '');
  return (
    <>
      <Input label="Name" value={text} onInput={setText} />
      <Link to="/tables">Tables</Link>
    </>
  );
}

/** Shows the page with a field, behind another one in the history, and the answer to its question. */
function show({ typed, leaves = false }: { readonly typed: string; readonly leaves?: boolean }) {
  const confirm = vi.fn(() => leaves);
  vi.stubGlobal('confirm', confirm);
  navigate('/before');
  navigate('/edit');
  render(<Pages />);
  if (typed !== '') fireEvent.input(screen.getByLabelText('Name'), { target: { value: typed } });
  return confirm;
}

const place = (): string => window.location.pathname;
const field = (): HTMLInputElement => screen.getByLabelText<HTMLInputElement>('Name');
const follow = (): boolean => fireEvent.click(screen.getByRole('link', { name: 'Tables' }));

describe('a link', () => {
  test('asks before it leaves what was typed, and stays if it is told to', () => {
    const confirm = show({ typed: 'shop' });
    follow();
    expect(confirm).toHaveBeenCalledExactlyOnceWith('What you changed is not saved. Leave it?');
    expect([place(), field().value]).toEqual(['/edit', 'shop']);
  });

  test('leaves it if it is told to', () => {
    show({ typed: 'shop', leaves: true });
    follow();
    expect(screen.getByRole('heading', { name: 'Elsewhere' })).toBeTruthy();
    expect(place()).toBe('/tables');
  });

  test('asks nothing where nothing was typed, or all was taken away', () => {
    const confirm = show({ typed: 'shop' });
    fireEvent.input(field(), { target: { value: '' } });
    follow();
    expect(confirm).not.toHaveBeenCalled();
    expect(place()).toBe('/tables');
  });
});

describe('the way back of the browser', () => {
  test('asks, and comes back to what was typed', async () => {
    const confirm = show({ typed: 'shop' });
    history.back();
    await expect.poll(() => confirm.mock.calls.length).toBe(1);
    await expect.poll(() => place()).toBe('/edit');
    expect(field().value).toBe('shop');
    expect(confirm).toHaveBeenCalledOnce();
  });

  test('leaves it if it is told to, and is not asked again', async () => {
    const confirm = show({ typed: 'shop', leaves: true });
    history.back();
    await screen.findByRole('heading', { name: 'Elsewhere' });
    expect(place()).toBe('/before');
    history.forward();
    await screen.findByLabelText('Name');
    expect(confirm).toHaveBeenCalledOnce();
  });
});

test.each([
  ['shop', true],
  ['', false],
])('a page with “%s” in it is held when it is closed: %s', (typed, isHeld) => {
  show({ typed });
  const event = new Event('beforeunload', { cancelable: true });
  window.dispatchEvent(event);
  expect(event.defaultPrevented).toBe(isHeld);
});
