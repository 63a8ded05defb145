import { fireEvent, render, screen } from '@testing-library/preact';
import { useState } from 'preact/hooks';
import { describe, expect, test } from 'vitest';
import type { LoginSubject } from '../../../console/data/person-login.ts';
import { authOf, NO_LOGIN, type Login } from '../../../console/views/new-source/login.ts';
import { SourceForm } from '../../../console/views/new-source/source-form.tsx';

/** Shows the form, and returns what the login has become. */
function show(isLoggedIn = false, started: LoginSubject[] = []): () => Login {
  let latest = NO_LOGIN;
  function Form() {
    const [login, setLogin] = useState(NO_LOGIN);
    latest = login;
    return (
      <SourceForm
        source="https://api.example.com/v1/users"
        onSource={() => {}}
        login={login}
        onLogin={setLogin}
        isBusy={false}
        person={{ state: { kind: 'idle' }, start: (subject) => started.push(subject), cancel: () => {} }}
        isLoggedIn={isLoggedIn}
        onLook={() => {}}
      />
    );
  }
  render(<Form />);
  return () => latest;
}

const type = (label: string, value: string): boolean =>
  fireEvent.input(screen.getByLabelText(label), { target: { value } });
const choose = (value: string): boolean =>
  fireEvent.change(screen.getByLabelText('Login'), { target: { value } });
const loginButton = (): HTMLButtonElement =>
  screen.getByRole<HTMLButtonElement>('button', { name: 'Log in' });
const isReady = (): boolean =>
  !screen.getByRole<HTMLButtonElement>('button', { name: 'Look at it' }).disabled;

describe('the login of a new source', () => {
  test('a client with a secret, and where it fetches its tokens', () => {
    const login = show();
    choose('client');
    expect(screen.getByText('Give the id of the client.')).toBeTruthy();
    type('Client id', 'shop');
    type('Client secret', 's3cret');
    expect(screen.getByText(/^Give the address of the tokens/)).toBeTruthy();
    expect(isReady()).toBe(false);
    type('Address of the tokens', ' https://id.example.com/token ');
    expect(isReady()).toBe(true);
    expect(screen.getByLabelText<HTMLInputElement>('Client secret').type).toBe('password');
    expect(authOf(login())).toBe('client:shop:s3cret@https://id.example.com/token');
  });

  test('a person, who logs in before anything is looked at', () => {
    const started: LoginSubject[] = [];
    const login = show(false, started);
    choose('person');
    type('Client id', 'shop');
    type('Address of the login page', 'https://id.example.com/authorize');
    expect([loginButton().disabled, isReady()]).toEqual([true, false]);
    type('Address of the tokens', 'https://id.example.com/token');
    type('Scopes', 'read offline_access');
    expect([loginButton().disabled, isReady()]).toEqual([false, false]);
    expect(screen.getByText('Log in first.')).toBeTruthy();
    expect(screen.getByText(/\/console\/logins\/callback$/)).toBeTruthy();
    fireEvent.click(loginButton());
    expect(started).toMatchObject([
      {
        document: {
          parameters: {
            api: {
              authentication: {
                type: 'oauth20.refreshToken',
                clientId: 'shop',
                scope: 'read offline_access',
              },
            },
          },
        },
      },
    ]);
    expect(JSON.stringify(started)).not.toContain('clientSecret');
    expect(authOf(login())).toBe(
      'person:shop:@https://id.example.com/authorize,https://id.example.com/token,read offline_access',
    );
  });

  test.each([
    ['bearer', { Token: 'tok' }, 'bearer:tok'],
    ['basic', { User: 'ann', Password: 'pass' }, 'basic:ann:pass'],
    ['header', { Header: 'X-Api-Key', Key: 'key' }, 'header:X-Api-Key=key'],
    ['query', { Parameter: 'api_key', Key: 'key' }, 'query:api_key=key'],
  ])('%s', (kind, fields, auth) => {
    const login = show();
    choose(kind);
    for (const [label, value] of Object.entries(fields)) type(label, value);
    expect(isReady()).toBe(true);
    expect(authOf(login())).toBe(auth);
  });
});
