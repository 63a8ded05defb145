import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExact } from '../../../src/lib/json/index.ts';
import { bodyText, path, queryText } from '../../../src/storage/client/encode.ts';
import { parseQuery } from '../../../src/service/http/parsing/nest.ts';

describe('a body', () => {
  test('is read back as it was given', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        const value = parseExact(text);
        expect(parseExact(bodyText(value))).toEqual(value);
      }),
    );
  });

  test('has no fields that are undefined, and the literals of numbers', () => {
    const state = parseExact('{"n":1.0,"big":12345678901234567890,"10":[],"9":{}}');
    expect(bodyText({ name: 'n', tags: undefined, state, list: [1, undefined] })).toBe(
      '{"name":"n","state":{"n":1.0,"big":12345678901234567890,"10":[],"9":{}},"list":[1,null]}',
    );
  });

  test('refuses what is no JSON', () => {
    for (const value of [Number.NaN, 5n, () => 1])
      expect(() => bodyText({ value })).toThrow('cannot be sent as JSON');
  });
});

describe('a query', () => {
  test('is written with brackets, and read back by the service', () => {
    const query = {
      whereFilters: [{ column: 'a&b', values: ['1', 'ž='] }],
      force: true,
      no: false,
      limit: 5,
      gone: undefined,
      nothing: null,
    };
    expect(queryText(query)).toBe(
      '?whereFilters%5B0%5D%5Bcolumn%5D=a%26b&whereFilters%5B0%5D%5Bvalues%5D%5B0%5D=1' +
        '&whereFilters%5B0%5D%5Bvalues%5D%5B1%5D=%C5%BE%3D&force=1&no=0&limit=5',
    );
    expect(parseQuery(queryText(query).slice(1))).toEqual({
      whereFilters: [{ column: 'a&b', values: ['1', 'ž='] }],
      force: '1',
      no: '0',
      limit: '5',
    });
    expect(queryText({})).toBe('');
  });
});

describe('a path', () => {
  test('holds any id as one step', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
        fc.pre(id !== '.' && id !== '..');
        const { pathname } = new URL(path`tables/${id}/rows`, 'http://host/');
        expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'tables', id, 'rows']);
      }),
    );
  });

  test.each(['', '.', '..'])('refuses “%s”, which would be another path', (id) => {
    expect(() => path`tables/${id}/rows`).toThrow('cannot be an id');
  });
});
