import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildQuery, encodeForm, parseQuery } from '../../../src/engine/http/encode.ts';
import { JsonNumber, objectOf, parseExact, type Json } from '../../../src/lib/json/index.ts';

// Made with the reference's own runtime.
const VECTORS: readonly [Json, string][] = [
  [{ a: 1 }, 'a=1'],
  [{ a: ['x', 'y'] }, 'a%5B0%5D=x&a%5B1%5D=y'],
  [{ a: { b: { c: 1 } } }, 'a%5Bb%5D%5Bc%5D=1'],
  [{ a: true, b: false }, 'a=1&b=0'],
  [{ a: null, b: 1 }, 'b=1'],
  [{ a: [] }, ''],
  [{ 'a b': 'c d' }, 'a+b=c+d'],
  [{ a: 1.5 }, 'a=1.5'],
  [{ č: 'ž~*' }, '%C4%8D=%C5%BE%7E%2A'],
  [{ a: { k: null, l: 'm' } }, 'a%5Bl%5D=m'],
  [['x', 'y'], '0=x&1=y'],
  [{ a: "it's" }, 'a=it%27s'],
];

describe('encoder A, form-style', () => {
  test.each(VECTORS)('%j → %s', (params, text) => {
    expect(encodeForm(params)).toBe(text);
  });

  test('lists repeat their name where that is wanted', () => {
    const params = { a: [1, 'x'], none: [], b: { c: [true, null] } };
    expect(encodeForm(params, 'repeated')).toBe('a=1&a=x&b%5Bc%5D=1');
    expect(encodeForm(params)).toBe('a%5B0%5D=1&a%5B1%5D=x&b%5Bc%5D%5B0%5D=1');
  });

  test('numbers keep their digits', () => {
    expect(
      encodeForm(parseExact('{"id":12345678901234567890,"x":1.0,"y":0.30000000000000004,"z":1e20}')),
    ).toBe('id=12345678901234567890&x=1&y=0.30000000000000004&z=1.0E%2B20');
    expect(encodeForm({ a: new JsonNumber('9007199254740993') })).toBe('a=9007199254740993');
  });

  test('keys that look like numbers keep their place', () => {
    expect(
      encodeForm(
        objectOf([
          ['b', 1],
          ['10', 2],
          ['2', 3],
        ]),
      ),
    ).toBe('b=1&10=2&2=3');
  });

  test('is read back by the platform', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })),
        (params) => {
          const read = [...new URLSearchParams(encodeForm(params))].filter(([name]) => name !== '');
          const given = Object.entries(params).filter(([name]) => name !== '');
          expect(new Map(read)).toEqual(new Map(given));
        },
      ),
    );
  });
});

describe('encoder B, as in RFC 3986', () => {
  test('reads names, values, bare names and repeated names', () => {
    expect(parseQuery('')).toEqual([]);
    expect(parseQuery('s=a+b&flag&e=&n=1&n=2&n=3&x%5B0%5D=%C4%8D&q=a=b')).toEqual([
      ['s', 'a b'],
      ['flag', null],
      ['e', ''],
      ['n', ['1', '2', '3']],
      ['x[0]', 'č'],
      ['q', 'a=b'],
    ]);
  });

  test('writes spaces as %20, null as a bare name, a list as the name repeated', () => {
    expect(buildQuery(parseQuery('s=a+b&flag&e=&n=1&x=2&n=3'))).toBe('s=a%20b&flag&e=&n=1&n=3&x=2');
    expect(
      buildQuery([
        ['t', true],
        ['f', false],
        ['n', [null, 1.5]],
        ['a[0]', "~!'()*"],
      ]),
    ).toBe('t=1&f=&n&n=1.5&a%5B0%5D=~%21%27%28%29%2A');
  });

  test('a query in another encoding, or with a stray percent sign, survives', () => {
    expect(buildQuery(parseQuery('name=caf%E9+%C4%8D%FF'))).toBe('name=caf%E9%20%C4%8D%FF');
    expect(buildQuery(parseQuery('a=100%&b=%zz%C4'))).toBe('a=100%25&b=%25zz%C4');
  });

  test('what was written is read as it was', () => {
    const text = fc.string({ unit: 'binary' }).map((one) => one.toWellFormed());
    const pairs = fc.uniqueArray(fc.tuple(text, fc.option(text)), { selector: ([name]) => name });
    fc.assert(
      fc.property(pairs, (given) => {
        // One empty bare name is nothing in text.
        fc.pre(!(given.length === 1 && given[0]?.[0] === '' && given[0][1] === null));
        expect(parseQuery(buildQuery(given))).toEqual(given);
      }),
    );
  });

  test('any bytes come back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        const hex = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
        expect(Buffer.from(decodeBytes(buildQuery(parseQuery(`a=${hex}`)).slice(2)))).toEqual(
          Buffer.from(bytes),
        );
      }),
    );
  });
});

function decodeBytes(text: string): number[] {
  return (text.match(/%..|./g) ?? []).map((part) =>
    part.length === 3 ? parseInt(part.slice(1), 16) : part.charCodeAt(0),
  );
}
