import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordError } from '../../../src/lib/errors.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  keysOf,
  parseExact,
  toJsonText,
  type AnyObject,
} from '../../../src/lib/json/index.ts';
import { createFilter } from '../../../src/engine/records/filter.ts';

const AT = 'parameters.config.jobs[0].responseFilter';

function filtered(row: string, paths: readonly string[], level: 1 | 2 | 3 = 3, delimiter = '.'): string {
  return encodeExact(
    createFilter(paths, delimiter, { compatLevel: level, jsonText: toJsonText }, AT)(parseExact(row)),
  );
}

describe('responseFilter', () => {
  test('turns a list or an object into JSON text', () => {
    expect(filtered('{"id":1,"tags":["a/b","č"],"o":{"x":{}}}', ['tags', 'o'])).toBe(
      String.raw`{"id":1,"tags":"[\"a\\/b\",\"\\u010d\"]","o":"{\"x\":{}}"}`,
    );
  });

  test.each([
    ['"green"', String.raw`"\"green\""`],
    ['true', '"true"'],
    ['false', '"false"'],
    ['null', '"null"'],
    ['0', '"0"'],
    ['1.50', '"1.5"'],
    ['12345678901234567890123', '"12345678901234567890123"'],
    ['[]', '"[]"'],
    ['{}', '"{}"'],
  ])('level 3 turns %s into JSON text too', (value, text) => {
    expect(filtered(`{"a":${value}}`, ['a'])).toBe(`{"a":${text}}`);
  });

  test.each([
    ['"green"', '"green"'],
    ['true', '"1"'],
    ['5', '"5"'],
    ['1.0', '"1"'],
    ['[1]', '"[1]"'],
    ['{}', '"{}"'],
    ['false', 'false'],
    ['0', '0'],
    ['"0"', '"0"'],
    ['""', '""'],
    ['null', 'null'],
    ['[]', '[]'],
  ])('levels 1 and 2 turn %s into plain text, and leave what is empty', (value, text) => {
    expect(filtered(`{"a":${value}}`, ['a'], 2)).toBe(`{"a":${text}}`);
    expect(filtered(`{"a":${value}}`, ['a'], 1)).toBe(`{"a":${text}}`);
  });

  test('goes down through objects, and not through lists', () => {
    expect(filtered('{"a":{"b":{"c":[1],"d":2}}}', ['a.b.c'])).toBe('{"a":{"b":{"c":"[1]","d":2}}}');
    expect(filtered('{"a":[{"b":[1]}]}', ['a.b'])).toBe('{"a":[{"b":[1]}]}');
  });

  test('“[]” goes through each item of a list', () => {
    expect(filtered('{"a":[{"b":[1]},{"c":2},{"b":"x"},7]}', ['a[].b'])).toBe(
      String.raw`{"a":[{"b":"[1]"},{"c":2},{"b":"\"x\""},7]}`,
    );
    expect(filtered('{"a":[{"b":1},[2],null]}', ['a[]'])).toBe(String.raw`{"a":["{\"b\":1}","[2]","null"]}`);
    expect(filtered('{"a":{"l":[{"m":[{"n":[]}]}]}}', ['a.l[].m[].n'])).toBe(
      '{"a":{"l":[{"m":[{"n":"[]"}]}]}}',
    );
  });

  test('“[]” in the older levels follows their rules for each item', () => {
    expect(filtered('{"a":[0,5,{"b":1},[]]}', ['a[]'], 2)).toBe(String.raw`{"a":[0,"5","{\"b\":1}",[]]}`);
    expect(filtered('{"a":null}', ['a[].b'], 2)).toBe('{"a":null}');
  });

  test.each(['{"a":{"b":1}}', '{"a":"x"}', '{"a":null}'])(
    '“[]” after something that is no list is an error: %s',
    (row) => {
      const act = (): string => filtered(row, ['a[].b']);
      expect(act).toThrow(RecordError);
      expect(act).toThrow('“a” in the response filter “a[].b” is not a list');
      try {
        act();
      } catch (error) {
        expect(error).toMatchObject({ code: 'records.invalid', where: { path: AT } });
      }
    },
  );

  test('what is not there stays as it is, and is the same object', () => {
    const row = parseExact('{"a":{"b":1},"l":[{"x":1}]}');
    const filter = createFilter(
      ['z', 'a.z', 'a.b.c', 'l[].z', 'z[].b'],
      '.',
      { compatLevel: 3, jsonText: toJsonText },
      AT,
    );
    expect(filter(row)).toBe(row);
    expect(filter('text')).toBe('text');
    expect(filter(null)).toBe(null);
  });

  test('several filters are applied one after the other', () => {
    expect(filtered('{"a":{"b":[1]},"c":[2]}', ['a.b', 'c', 'a'])).toBe(
      String.raw`{"a":"{\"b\":\"[1]\"}","c":"[2]"}`,
    );
    expect(filtered('{"a":{"b":[1]}}', ['a', 'a.b'])).toBe(String.raw`{"a":"{\"b\":[1]}"}`);
  });

  test('the delimiter may be another one, of any length', () => {
    expect(filtered('{"a.b":{"c":[1]}}', ['a.b/c'], 3, '/')).toBe('{"a.b":{"c":"[1]"}}');
    expect(filtered('{"a":{"b":[1]}}', ['a::b'], 3, '::')).toBe('{"a":{"b":"[1]"}}');
    expect(filtered('{"a.b":[1]}', ['a.b'], 3, '')).toBe('{"a.b":"[1]"}');
  });

  test('odd keys are keys like any other, in their places', () => {
    expect(filtered('{"b":1,"__proto__":[1],"c":2}', ['__proto__'])).toBe('{"b":1,"__proto__":"[1]","c":2}');
    expect(filtered('{"b":1,"10":[1],"2":{"3":[2]}}', ['10', '2.3'])).toBe(
      '{"b":1,"10":"[1]","2":{"3":"[2]"}}',
    );
    expect(filtered('{"b":1}', ['toString', 'constructor.name'])).toBe('{"b":1}');
  });

  test('never changes the row it is given, and touches nothing but the path', () => {
    const key = fc.constantFrom('a', 'b', '1', '__proto__');
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), key, (object, path) => {
        const text = JSON.stringify(object);
        const row = parseExact(text);
        const expected = parseExact(text);
        const after = createFilter([path], '.', { compatLevel: 3, jsonText: toJsonText }, AT)(row);
        expect(encodeExact(row)).toBe(encodeExact(expected));
        for (const [name, value] of entriesOf(expected as AnyObject)) {
          const filteredValue = getKey(after as AnyObject, name);
          if (name === path) expect(filteredValue).toBe(toJsonText(value));
          else expect(filteredValue).toEqual(value);
        }
        expect(keysOf(after as AnyObject)).toEqual(keysOf(expected as AnyObject));
      }),
    );
  });
});
