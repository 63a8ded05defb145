import { fireEvent, render, screen } from '@testing-library/preact';
import { describe, expect, test, vi } from 'vitest';
import { StorageError } from '../../../console/data/client.ts';
import { Confirm, FormDialog } from '../../../console/ui/dialog.tsx';
import { Input } from '../../../console/ui/field.tsx';
import { ProblemList } from '../../../console/ui/problem-list.tsx';

const button = (name: string): HTMLButtonElement => screen.getByRole<HTMLButtonElement>('button', { name });

const type = (label: string, value: string): boolean =>
  fireEvent.input(screen.getByLabelText(label), { target: { value } });

/** The texts that a screen reader says behind the name of a field. */
const describedBy = (field: HTMLElement): (string | null | undefined)[] =>
  (field.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map((id) => document.getElementById(id)?.textContent);

describe('a field', () => {
  test('with a problem says so, beside its hint', () => {
    render(
      <Input
        label="Name"
        hint="Letters."
        problem="It has a space."
        value="a b"
        isRequired
        onInput={vi.fn()}
      />,
    );
    const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' });
    expect(screen.getByRole('alert').textContent).toBe('It has a space.');
    expect(describedBy(field)).toEqual(['Letters.', 'It has a space.']);
    expect([field.getAttribute('aria-invalid'), field.required]).toEqual(['true', true]);
  });

  test('without one has neither', () => {
    render(<Input label="Name" value="a" onInput={vi.fn()} />);
    const field = screen.getByRole('textbox', { name: 'Name' });
    expect([field.hasAttribute('aria-invalid'), field.hasAttribute('aria-describedby')]).toEqual([
      false,
      false,
    ]);
  });
});

function showForm(props: {
  readonly isReady?: boolean;
  readonly isBusy?: boolean;
  readonly error?: unknown;
}) {
  const onSubmit = vi.fn();
  render(
    <FormDialog title="New bucket" action="Make the bucket" onSubmit={onSubmit} onClose={vi.fn()} {...props}>
      <p>Name it.</p>
    </FormDialog>,
  );
  return onSubmit;
}

describe('a dialog with a form', () => {
  test('does its action when it is sent', () => {
    const onSubmit = showForm({});
    expect(screen.getByRole('dialog', { name: 'New bucket' })).toBeTruthy();
    fireEvent.click(button('Make the bucket'));
    expect(onSubmit).toHaveBeenCalledOnce();
  });

  test.each([{ isReady: false }, { isBusy: true }])('and %o does nothing, also by Enter', (props) => {
    const onSubmit = showForm(props);
    fireEvent.click(button('Make the bucket'));
    const form = button('Make the bucket').form;
    if (form !== null) fireEvent.submit(form);
    expect(onSubmit).not.toHaveBeenCalled();
  });

  test('tells of a failure what happened and what to do', () => {
    const details = { hint: 'Choose another name.', details: { exceptionId: 'abc-1' } };
    showForm({ error: new StorageError('storage.refused', 'The bucket is there.', details) });
    expect(screen.getByRole('alert').textContent).toBe('The bucket is there.Choose another name.abc-1');
  });
});

test('what is lost for good is confirmed by typing its name', () => {
  const onConfirm = vi.fn();
  render(
    <Confirm
      title="Delete it?"
      action="Delete the bucket"
      typed="in.c-shop"
      onConfirm={onConfirm}
      onClose={vi.fn()}
    >
      It goes.
    </Confirm>,
  );
  expect(button('Delete the bucket').disabled).toBe(true);
  type('Type in.c-shop to go on', 'in.c-sho');
  expect(button('Delete the bucket').disabled).toBe(true);
  type('Type in.c-shop to go on', 'in.c-shop');
  fireEvent.click(button('Delete the bucket'));
  expect(onConfirm).toHaveBeenCalledOnce();
});

describe('the problems of a configuration', () => {
  const error = {
    severity: 'error',
    path: 'api.baseUrl',
    message: 'It is missing.',
    line: 3,
    column: 5,
  } as const;
  const warning = {
    severity: 'warning',
    path: 'jobs[0]',
    message: 'It has no id.',
    hint: 'Name one.',
  } as const;

  test('are counted by kind, and lead to their places', () => {
    const onGo = vi.fn();
    render(<ProblemList check={{ problems: [error, warning, warning], isAsking: false }} onGo={onGo} />);
    expect(screen.getByRole('status').textContent).toBe('1 error, 2 warnings');
    fireEvent.click(button('error: 3:5 api.baseUrl It is missing.'));
    expect(onGo).toHaveBeenCalledExactlyOnceWith(error);
    expect(screen.getAllByRole('button', { name: 'warning: jobs[0] It has no id. Name one.' })).toHaveLength(
      2,
    );
  });

  test.each([
    [{ problems: [], isAsking: true }, 'Checking …'],
    [{ problems: [], isAsking: false }, 'No problem found.'],
    [{ problems: [], isAsking: false, failure: 'Nobody answers.' }, 'Nobody answers.'],
  ])('%o are spoken of as “%s”', (check, words) => {
    render(<ProblemList check={check} onGo={vi.fn()} />);
    expect(screen.getByRole('status').textContent).toBe(words);
  });
});
