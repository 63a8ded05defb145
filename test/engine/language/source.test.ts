import { describe, expect, test } from 'vitest';
import { parseExact, type Json } from '../../../src/lib/json/index.ts';
import { compileSource } from '../../../src/engine/language/index.ts';
import { call, viewOf, type Exchange } from './support.ts';

const EXCHANGE: Exchange = {
  body: {
    items: [
      { id: 'a', n: 3 },
      { id: 'b', n: 9 },
    ],
    links: [{ rel: 'self' }, { rel: 'next', href: '/items?page=4' }],
    meta: { next: 'https://api.test/items?after=b%2F1&page=2', page: 2, none: null, text: '{"k":[7]}' },
  },
  headers: {
    'x-next': 'b7',
    link: '<https://api.test/items?page=3>; rel="next"; results="true", </items?page=1>; rel="prev"',
  },
  request: { method: 'POST', params: { offset: 40, filter: { state: 'open' } }, headers: { 'X-Page': '3' } },
  contexts: { attr: { account: 'acme' }, state: { cursor: '2026-01-02' } },
};

function read(source: Json): Json | undefined {
  return compileSource(source, { at: 'here', call }).read(viewOf(EXCHANGE));
}

describe('a source is', () => {
  test.each<[string, Json, Json | undefined]>([
    ['a path', 'meta.page', 2],
    ['a path that leads nowhere', 'meta.pages', undefined],
    ['a path into the rows', '$.items[-1:].id', 'b'],
    ['a path with a delimiter of its own', { path: 'meta/page', delimiter: '/' }, 2],
    ['a field of the last row', { last: 'id' }, 'b'],
    ['a field of the first row', { first: 'n' }, 3],
    ['a header', { header: 'X-Next' }, 'b7'],
    ['a link', { link: 'next' }, 'https://api.test/items?page=3'],
    ['a relative link', { link: 'prev' }, 'https://api.test/items?page=1'],
    ['an attribute of a link', { link: 'next', attribute: 'results' }, 'true'],
    ['a parameter that was sent', { request: 'offset' }, 40],
    ['a nested parameter that was sent', { request: { body: 'filter.state' } }, 'open'],
    ['a header that was sent', { request: { header: 'x-page' } }, '3'],
    ['the status', { answer: 'status' }, 200],
    ['the number of rows', { answer: 'rows' }, 2],
    ['a constant', { value: [1] }, [1]],
    ['an attribute', { attr: 'account' }, 'acme'],
    ['a value of the state', { state: 'cursor' }, '2026-01-02'],
    ['the first that is there', { firstOf: ['meta.none', 'meta.other', { header: 'X-Next' }] }, 'b7'],
    ['a parameter of an address', { path: 'meta.next', param: 'after' }, 'b/1'],
    ['a parameter that an address does not have', { path: 'meta.next', param: 'x' }, undefined],
    ['a part of a text', { path: 'meta.next', match: 'page=(\\d+)', as: 'number' }, 2],
    [
      'a long number in a text',
      { value: '12345678901234567890', as: 'number' },
      parseExact('12345678901234567890'),
    ],
    ['a part of an item of a list', { path: 'links', where: { rel: 'next' }, take: 'href' }, '/items?page=4'],
    ['an item that is not there', { path: 'links', where: { rel: 'last' }, take: 'href' }, undefined],
    ['a text that is JSON', { path: 'meta.text', as: 'json' }, { k: [7] }],
    ['a value in place of none', { path: 'meta.pages', default: 1 }, 1],
    ['a value in place of null', { path: 'meta.none', default: 'x' }, 'x'],
    ['a function', { function: 'concat', args: [{ last: 'id' }, '-', { attr: 'account' }] }, 'b-acme'],
    [
      'a function in a function',
      { function: 'md5', args: [{ function: 'concat', args: ['', { last: 'id' }] }] },
      '92eb5ffee6ae2fec3ad71c777531578f',
    ],
    [
      'nothing, where no source of a function finds anything',
      { function: 'concat', args: ['x', { path: 'no' }] },
      undefined,
    ],
  ])('%s', (_, source, expected) => {
    expect(read(source)).toEqual(expected);
  });

  test('never a call that an answer brings', () => {
    const body = { items: [], evil: { function: 'md5', args: ['x'] } };
    const source = compileSource(
      { function: 'implode', args: ['-', { path: 'list' }] },
      { at: 'here', call },
    );
    expect(() => source.read(viewOf({ body: { ...body, list: [body.evil] } }))).toThrow(/implode/);
  });

  test('asks for the headers and rows that it looks at', () => {
    const source = compileSource(
      { firstOf: [{ header: 'X-Next' }, { link: 'next' }, { last: 'id' }] },
      { at: 'here' },
    );
    expect(source.needs).toEqual({ headers: ['x-next', 'link'], rows: true, origins: ['response', 'rows'] });
    expect(source.text).toBe('the header X-Next or the link “next” or id of the last row');
  });
});

describe('what is no source is refused:', () => {
  test.each<[string, Json, string]>([
    ['a list', [], 'here: A source is a path or an object, and here is an empty list.'],
    ['a misspelled key', { heder: 'X' }, 'Did you mean “header”?'],
    ['two places', { header: 'X', last: 'id' }, 'here are header and last'],
    ['a key that is not known beside it', { header: 'X', matches: 'x' }, 'Did you mean “match”?'],
    ['a broken expression', { path: 'x', match: '(' }, 'The regular expression “(” cannot be read'],
    ['two groups', { path: 'x', match: '(a)(b)' }, 'has 2 groups'],
    ['a look-ahead', { path: 'x', match: 'a(?=b)' }, 'Look-ahead'],
    ['an unknown function', { function: 'konkat', args: [] }, 'concat'],
    ['what was put into a text', { request: { template: 'offset' } }, 'cannot be read again'],
    ['a part of no item', { path: 'links', take: 'href' }, '“take” is of the item that “where” finds'],
    ['an unknown fact', { answer: 'row' }, 'Did you mean “rows”?'],
    ['an unknown type', { path: 'x', as: 'date' }, 'Known are text, number, boolean, json.'],
  ])('%s', (_, source, message) => {
    const error = (() => {
      try {
        compileSource(source, { at: 'here', call });
        return undefined;
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(Error);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + String(error)).toContain(
      message.replace(/^here: /, ''),
    );
  });

  test('an attribute that is not there, when it is read', () => {
    expect(() => read({ attr: 'acount' })).toThrow('There is no attribute “acount”.');
  });

  test('a source of another place', () => {
    expect(() => compileSource({ row: 'id' }, { at: 'here', kinds: ['path', 'header'] })).toThrow(
      'There is no “row” here.',
    );
  });
});

test('an expression takes time in proportion to the text', () => {
  const source = compileSource({ path: 'text', match: '^(a+)+$' }, { at: 'here' });
  const view = viewOf({ body: { text: `${'a'.repeat(50_000)}b` } });
  expect(source.read(view)).toBeUndefined();
});

test('a function that says what takes the place of nothing is called although nothing is there', () => {
  expect(readNothing({ function: 'coalesce', args: [{ path: 'nowhere' }, 'none'] })).toBe('none');
  expect(readNothing({ function: 'ifempty', args: [{ path: 'nowhere' }, 'none'] })).toBe('none');
  expect(readNothing({ function: 'if', args: [{ path: 'nowhere' }, 'a', 'b'] })).toBe('b');
  expect(readNothing({ function: 'lower', args: [{ path: 'nowhere' }] })).toBe(undefined);
});

function readNothing(source: Json): Json | undefined {
  return compileSource(source, { at: 'here', call }).read(viewOf({ ...EXCHANGE, body: {} }));
}
