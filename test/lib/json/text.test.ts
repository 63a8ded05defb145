import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  entriesOf,
  floatJson,
  floatText,
  isList,
  md5,
  md5OfObject,
  md5OfRawObject,
  parseExact,
  serialize,
  serializeMap,
  significantDigits,
  toJsonText,
  toText,
  withKey,
  isObject,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/index.ts';
import { times } from '../../support/sample.ts';

/** Rows of: number, its text, its JSON text, its serialized text. */
const floats = parseExact(readFileSync(new URL('floats.json', import.meta.url), 'utf8'));

function texts(entry: Json): string[] {
  return isList(entry) ? entry.map(toText) : [];
}

function object(text: string): AnyObject {
  const value = parseExact(text);
  if (!isObject(value)) throw new Error('no object');
  return value;
}

/** Writes JSON with white space in all places that may have it. */
function spaced(value: Json, space: string): string {
  if (isList(value))
    return `[${space}${value.map((item) => spaced(item, space)).join(`${space},${space}`)}${space}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = entriesOf(value).map(
    ([name, item]) => `${JSON.stringify(name)}${space}:${space}${spaced(item, space)}`,
  );
  return `{${space}${entries.join(`${space},${space}`)}${space}}`;
}

describe('recorded numbers', () => {
  test.each(isList(floats) ? floats.map(texts) : [])(
    '%s',
    (literal = '', text = '', json = '', serialized = '') => {
      const value = parseExact(literal);
      expect(serialize(value)).toBe(serialized);
      if (/^-?\d+$/.test(literal)) {
        expect([toText(value), toJsonText(value)]).toEqual([text, json]);
      } else {
        expect([floatText(Number(literal)), floatJson(Number(literal))]).toEqual([text, json]);
      }
    },
  );
});

describe('scalars as text', () => {
  test.each<[Json | undefined, string]>([
    ['as is', 'as is'],
    [-5, '-5'],
    [true, '1'],
    [false, ''],
    [null, ''],
    [undefined, ''],
    [[1, 'a'], '[1,"a"]'],
    [{ a: null }, '{"a":null}'],
  ])('%j is “%s”', (value, text) => {
    expect(toText(value)).toBe(text);
  });

  test.each([
    ['1.5', '1.5'],
    ['100000.0', '100000'],
    ['1e14', '1.0E+14'],
    ['1e20', '1.0E+20'],
    ['0.0001', '0.0001'],
    ['0.00001', '1.0E-5'],
    ['-0.0', '-0'],
    ['-0', '0'],
  ])('the number %s is “%s”', (literal, text) => {
    expect(toText(parseExact(literal))).toBe(text);
  });

  test.each([
    ['0.30000000000000004', '0.3'],
    ['12345678901234567890', '1.2345678901235E+19'],
    ['3.14159265358979', '3.1415926535898'],
  ])('the float %s has 14 digits: “%s”', (literal, text) => {
    expect(floatText(Number(literal))).toBe(text);
  });

  test.each(['0.30000000000000004', '12345678901234567890', '3.14159265358979', '9223372036854775808'])(
    'a number that 14 digits would change, %s, keeps its literal',
    (literal) => {
      expect(toText(parseExact(literal))).toBe(literal);
    },
  );
});

describe('JSON text', () => {
  test.each([
    ['0.1', '0.10000000000000001'],
    ['1.5', '1.5'],
    ['100.0', '100'],
    ['1e17', '1.0e+17'],
    ['1e25', '1.0000000000000001e+25'],
    ['1e-7', '9.9999999999999995e-8'],
    ['9007199254740993', '9007199254740993'],
  ])('%s is %s', (literal, text) => {
    expect(toJsonText(parseExact(literal))).toBe(text);
  });

  test('slashes and all that is not ASCII are escaped', () => {
    expect(toJsonText({ 'a/b': 'ž "q" \\ 😀 \b\f\n\r\t\u0001\u001f', d: [true, null, {}, []] })).toBe(
      '{"a\\/b":"\\u017e \\"q\\" \\\\ \\ud83d\\ude00 \\b\\f\\n\\r\\t\\u0001\\u001f","d":[true,null,{},[]]}',
    );
  });

  test('texts read back to themselves', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(JSON.parse(toJsonText(text))).toBe(text);
        expect(parseExact(toJsonText(text))).toBe(text);
      }),
    );
  });
});

describe('floats', () => {
  test('17 digits read back to the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(floatJson(value))).toBe(value);
      }),
    );
  });

  test('half way goes to the even digit', () => {
    // 2^-25 has 18 digits, 29802322387695312|5
    expect(floatJson(2 ** -25)).toBe('2.9802322387695312e-8');
    expect(floatText(1_234_567_890_123.25)).toBe('1234567890123.2');
    expect(floatText(1_234_567_890_123.75)).toBe('1234567890123.8');
    expect(significantDigits(2.5, 1)).toEqual({ digits: '2', exponent: 0 });
    expect(significantDigits(9.5, 1)).toEqual({ digits: '1', exponent: 1 });
    expect(significantDigits(-0.00125, 2)).toEqual({ digits: '13', exponent: -3 });
  });
});

describe('serialized values and their MD5', () => {
  test('scalars, lists and objects', () => {
    const value = parseExact(
      '{"n":null,"t":true,"f":false,"i":-5,"d":0.1,"s":"žÿ","l":[1,[]],"o":{},"10":1e17,"z":-0.0}',
    );
    expect(serialize(value)).toBe(
      'O:8:"stdClass":10:{s:1:"n";N;s:1:"t";b:1;s:1:"f";b:0;s:1:"i";i:-5;s:1:"d";d:0.10000000000000001;' +
        's:1:"s";s:4:"žÿ";s:1:"l";a:2:{i:0;i:1;i:1;a:0:{}}s:1:"o";O:8:"stdClass":0:{}s:2:"10";d:1.0E+17;s:1:"z";d:-0;}',
    );
    expect(serialize(parseExact('100000.0'))).toBe('d:100000;');
  });

  test('a row', () => {
    const text = serialize(object('{"id":123,"name":"John Doe","tags":"active"}'));
    expect(text).toBe('O:8:"stdClass":3:{s:2:"id";i:123;s:4:"name";s:8:"John Doe";s:4:"tags";s:6:"active";}');
    expect(md5(text)).toBe('c6f3e32262682b6efd6c85ad97d2d503');
  });

  test('decimals from their bytes, of all sizes and with the digits that their doubles have more', () => {
    const nothing = { text: '', count: 0 };
    const digits = fc.array(fc.nat(9), { minLength: 1, maxLength: 18 }).map((list) => list.join(''));
    const zeros = fc.nat(5).map((count) => '0'.repeat(count));
    const decimal = fc
      .tuple(fc.constantFrom('', '-'), fc.oneof(fc.constant('0'), fc.nat(999_999)), zeros, digits)
      .map(([sign, whole, before, behind]) => `${sign}${whole}.${before}${behind}`);
    const md5OfRaw = (literal: string): string | undefined =>
      md5OfRawObject(Buffer.from(`{"n":${literal}}`), 0, nothing, '');
    fc.assert(
      fc.property(decimal, (literal) => {
        const value = Number(literal);
        fc.pre(!Number.isInteger(value));
        expect(md5OfRaw(literal)).toBe(md5OfObject({ n: value }, undefined, ''));
      }),
      {
        numRuns: times(3000),
        examples: [['0.1'], ['0.7'], ['1.1'], ['-7.31'], ['0.0001'], ['0.00001'], ['79.95']],
      },
    );
  });

  test('texts of all lengths from their bytes, and white space of all kinds around them', () => {
    const nothing = { text: '', count: 0 };
    const lengths = [0, 1, 9, 10, 11, 19, 90, 99, 100, 101, 255, 256, 999, 1000, 5000];
    for (const length of lengths) {
      for (const text of ['x'.repeat(length), `${'ž'.repeat(length)}\\`, `"${'\n'.repeat(length)}`]) {
        const value = { [text]: text, list: [text, { text }, []], none: {} };
        for (const space of ['', ' ', '\n', '\r\n\t'])
          expect(md5OfRawObject(Buffer.from(spaced(value, space)), 0, nothing, '')).toBe(
            md5OfObject(object(JSON.stringify(value)), undefined, ''),
          );
      }
    }
    const cut = '{"a":"b","c":[1,"d"],"e":{"f":1.5}}';
    for (let end = 1; end < cut.length; end++)
      expect(md5OfRawObject(Buffer.from(cut.slice(0, end)), 0, nothing, '')).toBeUndefined();
    for (const wrong of ['{"a" 1}', '{"a":1 "b":2}', '{a:1}', '{"a":1,}', '{"a":[1 2]}', '{"a":\u0001}'])
      expect(md5OfRawObject(Buffer.from(wrong), 0, nothing, '')).toBeUndefined();
  });

  test('a row with a column of its parent', () => {
    const text = serialize(withKey(object('{"k":[1]}'), 'parent_id', 7));
    expect(text).toBe('O:8:"stdClass":2:{s:1:"k";a:1:{i:0;i:1;}s:9:"parent_id";i:7;}');
    expect(md5(text)).toBe('4542129636f372358dfaabff65f09d28');
  });

  test('rows of nested tables', () => {
    const a = '{"b":[{"c":[{"d":1}]}]}';
    const root = `a_${md5(serialize(object(`{"id":1,"a":${a}}`)))}`;
    expect(root).toBe('a_62f5ed9ef9fe8018cafd094c390af60c');
    const nested = `a.a_${md5(serialize(object(a)) + root)}`;
    expect(nested).toBe('a.a_b464bb12084dc966973fd4bbbf427c2e');
    const item = withKey(object('{"c":[{"d":1}]}'), 'JSON_parentId', nested);
    expect(`a.a.b_${md5(serialize(item))}`).toBe('a.a.b_352b2a3cb4edbd3c82e763514673309b');
  });

  test('links of a mapping, with user data', () => {
    const row = object('{"a":1,"b":2,"n":[{"q":1,"m":[{"r":1}]}]}');
    expect(md5(serialize(row))).toBe('4176a2d2f8d59844de674129c34d486d');
    expect(md5(serialize(object('{"q":1,"m":[{"r":1}]}')))).toBe('30d5fdc23a96f90b968a43b2f43a9aac');
    const userData = serializeMap({ country: 'UK' });
    expect(userData).toBe('a:1:{s:7:"country";s:2:"UK";}');
    expect(md5(serialize(row) + userData)).toBe('3a6a325316e0d5b067adbd941dd1bfcd');
  });
});
