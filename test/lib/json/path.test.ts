import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compilePath,
  digKeys,
  encodeExact,
  isList,
  isObject,
  keysOf,
  objectOf,
  parseExact,
  type Json,
} from '../../../src/lib/json/index.ts';
import { times } from '../../support/sample.ts';

const document = parseExact(
  '{"data":{"items":[{"id":1,"n":1.0},{"id":12345678901234567890,"n":2}],"10":{"b":1},"2":{"b":2}},"a.b":{"c":3},"$":{"x":4},"d":{"@odata.next":{"link.to":5},"e.f":6}}',
);
const found = (path: string): string | undefined => {
  const value = compilePath(path).find(document);
  return value === undefined ? undefined : encodeExact(value);
};

describe('a path that starts with $ is JSONPath', () => {
  test('one place gives the value there, exact', () => {
    expect(found('$.data.items[1].id')).toBe('12345678901234567890');
    expect(found("$['a.b'].c")).toBe('3');
    expect(found('$["\\u0061.b"]["c"]')).toBe('3');
    expect(found('$.data.items')).toBe('[{"id":1,"n":1.0},{"id":12345678901234567890,"n":2}]');
  });

  test('an index from the end, and a slice that can hold one item, are one place', () => {
    expect(found('$.data.items[-1].id')).toBe('12345678901234567890');
    expect(found('$.data.items[-1:].id')).toBe('12345678901234567890');
    expect(found('$.data.items[:1].id')).toBe('1');
    expect(found('$.data.items[-2:-1].id')).toBe('1');
    expect(found('$.data.items[1:2].id')).toBe('12345678901234567890');
    expect(found('$.data.items[-3].id')).toBeUndefined();
  });

  test('wildcards, slices, unions and .. give the list of all values', () => {
    expect(found('$.data.items[*].n')).toBe('[1.0,2]');
    expect(found('$.data.items[0:2].n')).toBe('[1.0,2]');
    expect(found('$.data.items[-2:].n')).toBe('[1.0,2]');
    expect(found('$.data.items[0,-1].n')).toBe('[1.0,2]');
    expect(found("$.data.items[*]['id','n']")).toBe('[1,1.0,12345678901234567890,2]');
    expect(JSON.parse(found('$..b') ?? '')).toEqual(expect.arrayContaining([1, 2]));
    expect(found('$.data.nothing[*]')).toBe('[]');
    expect(found('$.a[*]')).toBe('[]');
  });

  test('names behind a wildcard are names, whatever they look like', () => {
    const rows = parseExact('{"r":[{"@odata.id":1,"*":2,"-1":3,"a.b":4,"..":5}]}');
    for (const [name, value] of [
      ['@odata.id', 1],
      ['*', 2],
      ['-1', 3],
      ['a.b', 4],
      ['..', 5],
    ]) {
      expect(compilePath(`$.r[*]['${name}']`).find(rows)).toEqual([value]);
    }
  });

  test('a miss is a miss', () => {
    expect(found('$.data.nothing')).toBeUndefined();
  });

  test.each([
    '$.data.items[?(@.id == 1)]',
    '$.items[(@.length-1)]',
    '$.a[',
    '$.',
    '$.a..',
    "$['a",
    '$.a b',
    '$[*]["a\'b"]',
  ])('%s is refused when it is read', (path) => {
    expect(() => compilePath(path, { at: 'here' })).toThrow(
      expect.objectContaining({ code: 'config.invalid', where: { path: 'here' } }),
    );
  });

  test('a key that only begins with $ is an ordinary key', () => {
    expect(compilePath('$').find(parseExact('{"$":[]}'))).toEqual([]);
    expect(compilePath('$x').find(parseExact('{"$x":1}'))).toBe(1);
  });
});

describe('a key that has the delimiter in its name', () => {
  test('is found as it stands where the keys lead to nothing', () => {
    expect(found('a.b.c')).toBe('3');
    expect(found('d.e.f')).toBe('6');
    expect(found('d.@odata.next.link.to')).toBe('5');
    expect(found('d.e.g')).toBeUndefined();
  });

  test('comes behind the keys, unless it is to come first', () => {
    const both = { a: { b: 1 }, 'a.b': 2 };
    expect(compilePath('a.b').find(both)).toBe(1);
    expect(compilePath('a.b', { isKeyFirst: true }).find(both)).toBe(2);
    expect(compilePath('a.b', { isKeyFirst: true }).find({ a: { b: 1 } })).toBe(1);
  });
});

describe('for every document and every path into it', () => {
  const key = fc.constantFrom('a', 'b', 'a.b', 'b.a', '0', '1', "it's", '*');
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc
        .uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name, maxLength: 4 })
        .map((entries) => objectOf(entries)),
    ),
  }));
  const keys = fc.array(key, { minLength: 1, maxLength: 4 });

  /** Every way to cut a text at some of its dots. */
  const waysOf = (parts: readonly string[]): readonly (readonly string[])[] =>
    parts.length < 2
      ? [parts]
      : waysOf(parts.slice(1)).flatMap((way) => [
          [parts[0] ?? '', ...way],
          [`${parts[0]}.${way[0]}`, ...way.slice(1)],
        ]);

  test('a path finds what one of its ways leads to, and the keys themselves come first', () => {
    fc.assert(
      fc.property(value, keys, (json, wanted) => {
        const path = compilePath(wanted.join('.'));
        const parts = wanted.join('.').split('.');
        const results = waysOf(parts).map((way) => digKeys(way, json));
        const got = path.find(json);
        const plain = digKeys(parts, json);
        if (plain === undefined) expect(results).toContain(got);
        else expect(got).toBe(plain);
        if (got === undefined) expect(results.every((result) => result === undefined)).toBe(true);
      }),
      { numRuns: times(2000) },
    );
  });

  test('the same place is found by keys and by JSONPath, and the place leads to the value', () => {
    fc.assert(
      fc.property(value, keys, (json, wanted) => {
        const quoted = wanted.map((name) => `['${name.replaceAll("'", String.raw`\'`)}']`).join('');
        const path = compilePath(`$${quoted}`);
        expect(path.find(json)).toBe(digKeys(wanted, json));
        for (const each of [path, compilePath(wanted.join('.'))]) {
          const place = each.placeIn(json);
          expect(place === undefined ? undefined : digKeys(place, json)).toBe(each.find(json));
        }
      }),
      { numRuns: times(2000) },
    );
  });

  test('where a path says that it needs nothing of a place, it finds the same without it', () => {
    const placesIn = (json: Json): readonly (readonly string[])[] => {
      const inner = isList(json) ? json.map((_, i) => String(i)) : isObject(json) ? keysOf(json) : [];
      return [
        [],
        ...inner.flatMap((name) => placesIn(digKeys([name], json) ?? null).map((at) => [name, ...at])),
      ];
    };
    const emptied = (json: Json, [name, ...rest]: readonly string[]): Json => {
      if (name === undefined) return [];
      if (isList(json)) return json.map((item, i) => (String(i) === name ? emptied(item, rest) : item));
      if (!isObject(json)) return json;
      return objectOf(
        keysOf(json).map((at) => [
          at,
          at === name ? emptied(digKeys([at], json) ?? null, rest) : (digKeys([at], json) ?? null),
        ]),
      );
    };
    const paths = keys.chain((wanted) =>
      fc.constantFrom(
        wanted.join('.'),
        `$${wanted.map((name) => (name === '0' ? '[-1]' : `["${name}"]`)).join('')}`,
        `$["${wanted[0]}"][*]`,
        '$..a',
      ),
    );
    fc.assert(
      fc.property(value, paths, fc.nat(), (json, text, nth) => {
        const path = compilePath(text);
        const places = placesIn(json);
        const place = places[nth % places.length] ?? [];
        if (path.needs(place)) return;
        expect(path.find(emptied(json, place))).toEqual(path.find(json));
      }),
      { numRuns: times(3000) },
    );
  });
});
