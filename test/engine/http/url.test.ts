import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { objectOf } from '../../../src/lib/json/index.ts';
import { isHttpUrl, mergeIntoLink, mergeParams, originOf, resolveUrl } from '../../../src/engine/http/url.ts';

describe('resolveUrl', () => {
  test.each([
    ['http://h/v1/', 'users', 'http://h/v1/users'],
    ['http://h/v1/x', 'users', 'http://h/v1/users'],
    ['http://h/v1/x', '/abs', 'http://h/abs'],
    ['http://h/v1/x/', '../up', 'http://h/v1/up'],
    ['http://h/v1/x', '../../../up/.', 'http://h/up/'],
    ['http://h/v1/x', 'a/./b/../c', 'http://h/v1/a/c'],
    ['http://h/v1/x', '..', 'http://h/'],
    ['http://h/v1/x', '?q=1', 'http://h/v1/x?q=1'],
    ['http://h/v1/x?old=1', '#top', 'http://h/v1/x?old=1'],
    ['http://h/v1/x?old=1', 'y', 'http://h/v1/y'],
    ['https://h/v1/x', '//host/x', 'https://host/x'],
    ['http://h/v1/x', 'https://other:8443/y?z=1', 'https://other:8443/y?z=1'],
    ['http://h/v1/x', 'HTTPS://Other/Y', 'https://other/Y'],
    ['http://h', 'users', 'http://h/users'],
    ['http://h', '?a=1', 'http://h/?a=1'],
    ['http://h/v1/', 'http://other', 'http://other/'],
    ['http://user:p%40ss@h/v1/', 'users', 'http://user:p%40ss@h/v1/users'],
    ['http://mock_server:80/x/', 'users', 'http://mock_server:80/x/users'],
    ['http://[::1]:8080/x/', 'users', 'http://[::1]:8080/x/users'],
    ['http://h/v1/', 'items:search', 'http://h/v1/items:search'],
    ['http://h/v1/', 'items?at=12:30', 'http://h/v1/items?at=12:30'],
  ])('%s + %s → %s', (base, endpoint, url) => {
    expect(resolveUrl(base, endpoint)).toBe(url);
  });

  test.each([
    ['a b/č', 'http://h/a%20b/%C4%8D'],
    ['a%20b%c4', 'http://h/a%20b%c4'],
    ['{id}/x', 'http://h/%7Bid%7D/x'],
    ['100%', 'http://h/100%25'],
    ["a'(b)*!$&,;=:@~+", "http://h/a'(b)*!$&,;=:@~+"],
    ['x?q={a}&r=č d&s[]=1', 'http://h/x?q=%7Ba%7D&r=%C4%8D%20d&s%5B%5D=1'],
    ['x?q="<>`^|\\', 'http://h/x?q=%22%3C%3E%60%5E%7C%5C'],
    ['x?', 'http://h/x?'],
    ["x?q='", "http://h/x?q='"],
    ['x?a=/..?b', 'http://h/x?a=/..?b'],
    ['x#frag?a', 'http://h/x'],
    ['x\ny', 'http://h/x%0Ay'],
  ])('%s keeps its bytes', (endpoint, url) => {
    expect(resolveUrl('http://h/', endpoint)).toBe(url);
  });

  test('agrees with the platform on references without odd characters', () => {
    const segment = fc.constantFrom('a', 'b', '.', '..', '', 'c.d');
    const path = fc.array(segment, { maxLength: 5 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(path, path, fc.boolean(), (basePath, endpoint, hasQuery) => {
        fc.pre(!endpoint.startsWith('//'));
        const reference = endpoint + (hasQuery ? '?q=1' : '');
        const base = new URL(`http://h/${basePath}`).href;
        expect(resolveUrl(base, reference)).toBe(new URL(reference, base).href);
      }),
    );
  });

  test.each(['ftp://h/x', 'file:///etc/passwd', 'http:///x'])('%s is refused', (endpoint) => {
    expect(() => resolveUrl('http://h/', endpoint)).toThrow(/no http or https address/);
  });

  test('the message has no password in it', () => {
    expect(() => resolveUrl('http://h/', 'ftp://me:secret@h/x')).toThrow('ftp://h/x');
  });
});

describe('mergeIntoLink', () => {
  test.each([
    ['users?page%5Bafter%5D=2', { size: 2 }, 'users?page%5Bafter%5D=2&size=2'],
    ['users?page[after]=2', { size: 2 }, 'users?page%5Bafter%5D=2&size=2'],
    [
      'users?page%5Bsize%5D=9&page%5Bafter%5D=2',
      { page: { size: 3 } },
      'users?page%5Bsize%5D=3&page%5Bafter%5D=2',
    ],
    ['users?page%5Bsize%5D=9&a=1', { 'page[size]': 3 }, 'users?page%5Bsize%5D=3&a=1'],
    ['users?in=a&in=b&page=2', { size: 2 }, 'users?in=a&in=b&page=2&size=2'],
    ['users?in=a&page=2&in=b', { in: 'c' }, 'users?in=c&page=2'],
    ['users?in%5B%5D=a&in%5B%5D=b', { x: 1 }, 'users?in%5B%5D=a&in%5B%5D=b&x=1'],
    ['users?in%5B0%5D=a&in%5B1%5D=b&p=2', { in: ['a', 'b'] }, 'users?in%5B0%5D=a&in%5B1%5D=b&p=2'],
    ['users?a=1&page=2', { a: null }, 'users?page=2'],
    ['users?flag&a+b=c%20d', { x: 1 }, 'users?flag=&a+b=c+d&x=1'],
    ['users?%24skip=2', { $top: 2 }, 'users?%24skip=2&%24top=2'],
    ['users?c=%E9%2B%25', { x: 1 }, 'users?c=%E9%2B%25&x=1'],
    ['users#x?y', { x: 1 }, 'users?x=1'],
    ['users?page%5Bafter%5D=2#x', {}, 'users?page%5Bafter%5D=2#x'],
  ])('%s and %j: %s', (link, params, merged) => {
    expect(mergeIntoLink(link, params)).toBe(merged);
  });

  test('says the same as mergeParams of a query whose names need no encoding and stand there once', () => {
    const name = fc.stringMatching(/^[a-z]{1,2}$/);
    const value = fc.string({ maxLength: 5 });
    const params = fc.dictionary(name, fc.oneof(value, fc.integer(), fc.boolean(), fc.constant(null)));
    fc.assert(
      fc.property(fc.dictionary(name, value), params, (own, added) => {
        const link = `users?${new URLSearchParams(own).toString()}`;
        expect(mergeIntoLink(link, objectOf(Object.entries(added)))).toBe(
          mergeParams(link, objectOf(Object.entries(added))),
        );
      }),
    );
  });
});

describe('mergeParams', () => {
  test('without parameters the endpoint stays as it is', () => {
    expect(mergeParams('users?a=b c&d#x', {})).toBe('users?a=b c&d#x');
    expect(mergeParams('users', undefined)).toBe('users');
  });

  test('own parameters keep their place and are overridden there', () => {
    expect(mergeParams('users?static=1&b=x+y', { a: 1, static: 2 })).toBe('users?static=2&b=x+y&a=1');
  });

  test('values are decoded and encoded anew, names are not decoded', () => {
    expect(mergeParams('u?q=a%20b%2Bc&arr%5B0%5D=1', { n: 1 })).toBe('u?q=a+b%2Bc&arr%255B0%255D=1&n=1');
  });

  test('the later of two equal names wins, a bare name has an empty value', () => {
    expect(mergeParams('u?a=1&a=2&flag', { n: 1 })).toBe('u?a=2&flag=&n=1');
  });

  test('parameters with an empty key are dropped', () => {
    const params = objectOf([
      ['0', 'x'],
      ['', 'y'],
      ['1', 'z'],
    ]);
    expect(mergeParams('u', params)).toBe('u?1=z');
  });

  test('a query that becomes empty leaves no question mark', () => {
    expect(mergeParams('u', { a: null, b: [] })).toBe('u');
  });
});

describe('originOf', () => {
  test.each([
    ['http://H.example/x', 'http://h.example'],
    ['http://h:80/x', 'http://h'],
    ['https://h:443', 'https://h'],
    ['https://h:80/x', 'https://h:80'],
    ['https://user:p@h:8443?x', 'https://h:8443'],
    ['http://[::1]:80/', 'http://[::1]'],
    ['HTTP://h/', 'http://h'],
  ])('%s → %s', (url, origin) => {
    expect(originOf(url)).toBe(origin);
  });
});

describe('isHttpUrl', () => {
  test.each([
    'http://h',
    'https://api.example.com/v1/',
    'http://mock-server:80/001/',
    'http://under_score_/x',
    'http://10.0.0.1:8080',
    'http://[::1]/x',
    'http://user:pw@h/x?y=1#z',
    'http://h?q=1',
    'HTTPS://H/',
    'https://čeština.example/',
  ])('%s is one', (text) => expect(isHttpUrl(text)).toBe(true));

  test.each([
    '',
    'h',
    '/x',
    'ftp://h',
    'http://',
    'http:///x',
    'http://h h/',
    'http://h/a b',
    'http://-/',
    'http://h:port/',
    '{"function":"concat"}',
  ])('%s is none', (text) => expect(isHttpUrl(text)).toBe(false));
});
