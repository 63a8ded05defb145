import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toJsonText } from '../src/json/index.ts';
import { isSecretName, Secrets } from '../src/secrets.ts';

const value = 'p/ss w~rd&ž"1';

function secretsOf(...values: string[]): Secrets {
  const secrets = new Secrets();
  for (const one of values) secrets.add(one);
  return secrets;
}

describe('Secrets', () => {
  test.each([
    ['plain', value],
    ['URL-encoded', encodeURIComponent(value)],
    [
      'URL-encoded strictly',
      encodeURIComponent("a'secret!").replace(/[!']/g, (c) => `%${c.charCodeAt(0).toString(16)}`),
    ],
    ['form-encoded', new URLSearchParams({ a: value }).toString().slice(2)],
    ['base64', Buffer.from(value).toString('base64')],
    ['base64url', Buffer.from(value).toString('base64url')],
    ['in JSON', JSON.stringify({ a: value }).slice(6, -2)],
    ['in JSON with escapes', toJsonText(value).slice(1, -1)],
  ])('hides a value: %s', (_form, text) => {
    const secrets = secretsOf(value, "a'secret!");
    expect(secrets.redact(`before ${text} after`)).toBe('before *** after');
    expect(secrets.holds(text)).toBe(true);
  });

  test('the longest secret goes first', () => {
    expect(secretsOf('abcd', 'abcdefgh').redact('x abcdefgh y abcd')).toBe('x *** y ***');
  });

  test('values shorter than four characters stay, for they are in every text', () => {
    const secrets = secretsOf('abc', '');
    expect(secrets.redact('abc abcd')).toBe('abc abcd');
    expect(secrets.holds('abc')).toBe(false);
  });

  test('a secret that is added later is hidden too', () => {
    const secrets = secretsOf('first-one');
    expect(secrets.redact('first-one second-one')).toBe('*** second-one');
    secrets.add('second-one');
    expect(secrets.redact('first-one second-one')).toBe('*** ***');
  });

  test('no secret of printable characters is left in any text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4 }), fc.string(), fc.string(), (secret, before, after) => {
        fc.pre(!'***'.includes(secret) && !secret.includes('*'));
        expect(secretsOf(secret).redact(before + secret + after)).not.toContain(secret);
      }),
    );
  });

  test('addresses lose user, password and the values of secret parameters', () => {
    const secrets = secretsOf('known-secret');
    expect(
      secrets.redactUrl('https://me:pw@h.example/p/known-secret?api_key=1&page=2&access%5Ftoken=3&b'),
    ).toBe('https://***@h.example/p/***?api_key=***&page=2&access%5Ftoken=***&b');
    expect(secrets.redactUrl('http://h/p')).toBe('http://h/p');
    expect(secrets.redactUrl('http://h/p?q=a@b&x=known-secret')).toBe('http://h/p?q=a@b&x=***');
    expect(secrets.redactUrl('http://h/p?q=%zz')).toBe('http://h/p?q=%zz');
  });

  test('headers lose what is secret by name or by value', () => {
    expect(
      secretsOf('known-secret').redactHeaders({
        Authorization: 'Basic abc',
        'X-Api-Key': '1',
        Cookie: 'a=b',
        Accept: 'text/known-secret',
        'X-Page': '2',
      }),
    ).toEqual({ Authorization: '***', 'X-Api-Key': '***', Cookie: '***', Accept: 'text/***', 'X-Page': '2' });
  });
});

describe('isSecretName', () => {
  test.each([
    'token',
    'access_token',
    'apikey',
    'api_key',
    'key',
    'X-Auth-Token',
    'client_secret',
    'password',
    'sig',
    'X-Amz-Signature',
  ])('%s is secret', (name) => expect(isSecretName(name)).toBe(true));
  test.each([
    'page',
    'pageToken',
    'next_page_token',
    'continuationToken',
    'keyword',
    'monkey',
    'design',
    'cursor',
  ])('%s is not', (name) => expect(isSecretName(name)).toBe(false));
});
