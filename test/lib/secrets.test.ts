import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toJsonText } from '../../src/lib/json/index.ts';
import { isSecretName, Secrets, secretsInAddress } from '../../src/lib/secrets.ts';

const value = 'p/ss w~rd&ž"1';

function secretsOf(...values: string[]): Secrets {
  const secrets = new Secrets();
  for (const one of values) secrets.add(one);
  return secrets;
}

const message = (text: string): string => new Secrets().redactMessage(text);

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
    ['URL-encoded twice', encodeURIComponent(encodeURIComponent(value))],
    ['URL-encoded in lower case', encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
    ['base64, URL-encoded', encodeURIComponent(Buffer.from(value).toString('base64'))],
    ['in JSON text in JSON', JSON.stringify(JSON.stringify(value)).slice(3, -3)],
    [
      'in JSON of ASCII',
      JSON.stringify(value)
        .slice(1, -1)
        .replace('ž', String.raw`\u017e`),
    ],
    [
      'in JSON of ASCII, upper case',
      JSON.stringify(value)
        .slice(1, -1)
        .replace('ž', String.raw`\u017E`),
    ],
    ['in HTML', value.replace('&', '&amp;').replace('"', '&quot;')],
    ['in JSON', JSON.stringify({ a: value }).slice(6, -2)],
    ['in JSON with escapes', toJsonText(value).slice(1, -1)],
  ])('hides a value: %s', (_form, text) => {
    const secrets = secretsOf(value, "a'secret!");
    expect(secrets.redact(`before ${text} after`)).toBe('before *** after');
    expect(secrets.holds(text)).toBe(true);
  });

  test('hides a value that is a part of what stands in base64, wherever it begins', () => {
    const secrets = secretsOf('s3cr3t?>~pässword');
    for (const before of ['', 'a', 'ab', 'abc', 'user:', 'a longer user:']) {
      for (const after of ['', '1', '12', '123', '\n']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(`${before}s3cr3t?>~pässword${after}`).toString(encoding);
          const shown = secrets.redact(`Basic ${text} and more`);
          const left = Buffer.from(shown.replace('Basic ', '').replace(/ and more$/, ''), 'base64').toString(
            'latin1',
          );
          expect(shown).toMatch(/^Basic .*\*\*\*.* and more$/);
          expect(left).not.toMatch(/s3|3c|ss|wo|rd/);
          expect(secrets.holds(text)).toBe(true);
        }
      }
    }
    const plain = 'Basic ' + Buffer.from('user:another one').toString('base64');
    expect(secrets.redact(plain)).toBe(plain);
  });

  test('hides in messages what stands in addresses, though nobody named it', () => {
    expect(message('see “http://me:p@ss,wo@h.example/x?a=1&api_key=abc123&page=2”, or http://h/y')).toBe(
      'see “http://***@h.example/x?a=1&api_key=***&page=2”, or http://h/y',
    );
    expect(message('{"self":"https://h/x?access_token=abc\\u0026b=1","n":"me@h"}')).toBe(
      '{"self":"https://h/x?access_token=***\\u0026b=1","n":"me@h"}',
    );
    expect(message('api%5Fkey=abc (token=abc) page_token=7 monkey=1 x=password')).toBe(
      'api%5Fkey=*** (token=***) page_token=7 monkey=1 x=password',
    );
    expect(message('// a comment, me@h.example')).toBe('// a comment, me@h.example');
    expect(new Secrets().redact('http://me:pw@h/?api_key=abc')).toBe('http://me:pw@h/?api_key=abc');
  });

  test.each([
    ['https://me:pass%20word@h.example/', ['pass%20word', 'pass word']],
    ['//me:passw@rd@h.example/?token=s3cr3t-v4lue#x', ['passw@rd', 's3cr3t-v4lue']],
    ['items?page=2&api_key=0123456789&key=short', ['0123456789']],
    ['items/{id}?token={1:token-of-it}', []],
    ['http://me:pw@h.example/', []],
    ['what? a text', []],
  ])('an address of the configuration gives its secrets: %s', (address, found) => {
    expect([...new Set(secretsInAddress(address))]).toEqual(found);
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
