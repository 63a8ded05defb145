import { fireEvent, render, screen, within } from '@testing-library/preact';
import { useState } from 'preact/hooks';
import { describe, expect, test } from 'vitest';
import { pretty } from '../../../console/data/pretty.ts';
import { parsed } from '../../../console/views/sources/document.ts';
import type { Draft } from '../../../console/views/sources/draft.ts';
import { CommonForm } from '../../../console/views/sources/form.tsx';

const SECRET = 'KBC::ProjectSecure::c2VjcmV0';

/** Shows the form over a text, and returns what the text has become. */
function show(text: string, { isRow = false } = {}): () => unknown {
  let latest = text;
  function Form() {
    const [now, setNow] = useState(text);
    latest = now;
    const draft = { value: parsed(now), setValue: (value) => setNow(pretty(value)) } as Pick<
      Draft,
      'setValue' | 'value'
    >;
    return <CommonForm draft={draft as Draft} isRow={isRow} />; // the two that it looks at
  }
  render(<Form />);
  return (): unknown => JSON.parse(latest);
}

const withLogin = (password: string): string =>
  JSON.stringify({
    parameters: {
      api: { authentication: { type: 'basic' } },
      config: { username: 'ann', '#password': password },
    },
  });

const configOf = (document: unknown) =>
  (document as { parameters: { config: Record<string, unknown> } }).parameters.config;

const field = (label: string): HTMLInputElement => screen.getByLabelText<HTMLInputElement>(label);
const type = (label: string, value: string): boolean => fireEvent.input(field(label), { target: { value } });

const shown = (): string => document.body.innerHTML;

describe('a secret', () => {
  test('that is encrypted is not shown, and stays until another one is typed', () => {
    const document = show(withLogin(SECRET));
    const group = screen.getByRole('group', { name: 'Password' });
    expect(within(group).getByText('encrypted, set')).toBeTruthy();
    expect(shown()).not.toContain('KBC::');
    fireEvent.click(within(group).getByRole('button', { name: 'Replace' }));
    expect([field('Password').type, field('Password').value]).toEqual(['password', '']);
    expect(configOf(document())['#password']).toBe(SECRET);
    type('Password', 'new one');
    expect(configOf(document())['#password']).toBe('new one');
    expect(shown()).not.toContain('KBC::');
  });

  test('that was typed and taken back is the old one again', () => {
    const document = show(withLogin(SECRET));
    fireEvent.click(screen.getByRole('button', { name: 'Replace' }));
    type('Password', 'x');
    type('Password', '');
    expect(configOf(document())['#password']).toBe(SECRET);
    expect(screen.getByText('Type the new value; until then the old one stays.')).toBeTruthy();
    expect(shown()).not.toContain('KBC::');
  });

  test('is removed by a button', () => {
    const document = show(withLogin(SECRET));
    fireEvent.click(screen.getByRole('button', { name: 'Remove' }));
    expect(configOf(document())).toEqual({ username: 'ann' });
    expect(field('Password').value).toBe('');
  });

  test('that is typed is hidden, and one of the environment is named', () => {
    show(withLogin(''));
    type('Password', 'hidden');
    expect([field('Password').type, screen.queryByText('hidden')]).toEqual(['password', null]);
    type('Password', '$env:PASSWORD');
    expect([field('Password').type, field('Password').value]).toEqual(['text', '$env:PASSWORD']);
    expect(screen.getByText('Comes from the environment of the run.')).toBeTruthy();
  });
});

describe('the fields of a configuration', () => {
  test('follow the kind of login and the pages, and write what was chosen', () => {
    const document = show('{}');
    fireEvent.change(field('Kind of login'), { target: { value: 'apiKey' } });
    expect(field('Name of the header or parameter').placeholder).toBe('X-Api-Key');
    fireEvent.change(field('How pages follow'), { target: { value: 'offset' } });
    type('Page size', '100');
    expect(document()).toEqual({
      parameters: {
        api: { authentication: { type: 'apiKey' }, pagination: { method: 'offset', limit: 100 } },
      },
    });
    expect(screen.queryByLabelText('First page')).toBeNull();
  });

  test('keep a number that is none as a text, and every digit of one that is long', () => {
    const document = show(
      '{"parameters":{"api":{"pagination":{"method":"offset","limit":12345678901234567890}}}}',
    );
    expect(field('Page size').value).toBe('12345678901234567890');
    type('Page size', '{{size}}');
    expect(JSON.stringify(document())).toContain('"limit":"{{size}}"');
  });

  test('leave alone what is more than a field', () => {
    show('{"parameters":{"api":{"baseUrl":{"function":"concat"},"authentication":{"type":"oauth"}}}}');
    expect(screen.queryByLabelText('Base address')).toBeNull();
    expect(screen.getByText('set in the JSON')).toBeTruthy();
    expect(screen.getByText('The fields of this kind are in the JSON.')).toBeTruthy();
  });

  test('add and remove jobs', () => {
    const document = show('{"parameters":{"config":{"jobs":[{"endpoint":"users"}]}}}');
    fireEvent.click(screen.getByRole('button', { name: 'Add a job' }));
    expect(screen.getAllByRole('group', { name: /^Job \d$/ })).toHaveLength(2);
    fireEvent.click(screen.getByRole('button', { name: 'Remove job 1' }));
    expect(configOf(document())).toEqual({ jobs: [{ endpoint: '' }] });
  });

  test('of a row are without those of its source', () => {
    show('{}', { isRow: true });
    expect(screen.queryByRole('region', { name: 'Login' })).toBeNull();
    expect(screen.getByText(/are those of the source/)).toBeTruthy();
  });

  test('wait while the text is no JSON', () => {
    show('{"parameters":');
    expect(screen.getByRole('status').textContent).toMatch(/^The JSON cannot be read right now/);
    expect(screen.queryByRole('textbox')).toBeNull();
  });
});
