import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  differenceDigest,
  differenceDigestOf,
  objectOf,
  scalarsDigest,
  scalarsDigestAt,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/index.ts';
import { times } from '../../support/sample.ts';

const strings = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ minLength: 490, maxLength: 1100 }),
);
const escaped = fc.constantFrom('"\\u00e9"', '"a\\/b"', '"\\ud83d\\ude00"', '"tab\\t"');
const numbers = fc.oneof(
  fc.integer().map(String),
  fc.tuple(fc.integer({ min: -999, max: 999 }), fc.nat(9999)).map(([whole, part]) => `${whole}.${part}`),
  fc.constantFrom(
    '0',
    '-0',
    '1.50',
    '0.00001',
    '-0.0',
    '-0.25',
    '0.1234567890123456789',
    '12345678901234567890',
    '1e3',
    '-1.5E-7',
    '123456789012345',
    '1234567890123456',
    '-7',
  ),
);
const literals = fc.oneof(
  strings.map((text) => JSON.stringify(text)),
  escaped,
  numbers,
  fc.constantFrom('true', 'false', 'null', '[]', '{}'),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
);
const names = strings.filter((name) => !/^\d/.test(name) && name !== '__proto__');
const spaces = fc.constantFrom('', ' ', '\n\t');

test('objects have the digest of their scalars, decoded or as bytes', () => {
  const members = fc.uniqueArray(fc.tuple(names, literals), { selector: ([name]) => name, maxLength: 6 });
  fc.assert(
    fc.property(members, spaces, (list, space) => {
      const written = list.map(([name, text]) => JSON.stringify(name) + space + ':' + space + text + space);
      const bytes = Buffer.from(`[1,{${space}${written.join(',' + space)}}, {"id":1}]`);
      const object = objectOf(list.map(([name, text]) => [name, JSON.parse(text) as Json]));
      expect(scalarsDigestAt(bytes, 3)).toBe(scalarsDigest(object));
    }),
    { numRuns: times(1000) },
  );
});

function digest(text: string): number {
  return scalarsDigestAt(Buffer.from(text), 0);
}

test('an object with another scalar has another digest, and one with another list has not', () => {
  const all = ['1', '2', '"a"', '"b"', 'null'].map((value) => digest(`{"id":1,"x":${value}}`));
  expect(new Set(all).size).toBe(all.length);
  expect(digest('{"id":1,"x":[1]}')).toBe(digest('{"id":1,"x":{"y":2}}'));
});

/** Names as rows have them that are looked at as bytes. */
const plainNames = names.filter((name) => JSON.stringify(name) === `"${name}"`);

function objectAndBytes(list: readonly (readonly [string, string])[], space: string): [AnyObject, Buffer] {
  const written = list.map(([name, text]) => `${JSON.stringify(name)}${space}:${text}${space}`);
  return [
    objectOf(list.map(([name, text]) => [name, JSON.parse(text) as Json])),
    Buffer.from(`{${space}${written.join(`,${space}`)}}`),
  ];
}

test('what tells two objects apart has one digest, decoded or as bytes', () => {
  const pairs = fc.oneof(
    fc.tuple(literals, literals),
    literals.map((text) => [text, text] as const),
  );
  const members = fc.uniqueArray(fc.tuple(plainNames, pairs), { selector: ([name]) => name, maxLength: 6 });
  fc.assert(
    fc.property(members, spaces, spaces, (list, space, other) => {
      const [one, first] = objectAndBytes(
        list.map(([name, [text]]) => [name, text]),
        space,
      );
      const [two, second] = objectAndBytes(
        list.map(([name, [, text]]) => [name, text]),
        other,
      );
      expect(differenceDigestOf(first, second)).toBe(differenceDigest(one, two));
    }),
    { numRuns: times(1000) },
  );
});

function difference(first: string, second: string): number | undefined | null {
  return differenceDigestOf(Buffer.from(first), Buffer.from(second));
}

test('values that two objects share, and lists, are no difference of them', () => {
  expect(difference('{"id":1,"at":5,"x":[1]}', '{"id":2,"at":5,"x":[2]}')).toBe(
    difference('{"id":1,"at":6,"x":[3]}', '{"id":2,"at":6,"x":[]}'),
  );
  expect(difference('{"id":1,"at":5}', '{"id":2,"at":5}')).not.toBe(
    difference('{"id":1,"at":5}', '{"id":2,"at":6}'),
  );
  expect(difference('{"id":1}', '{"id":1}')).toBeUndefined();
  expect(difference('{"id":1}', '{"id":1,"at":5}')).toBeNull();
  expect(difference('{"id":1,"at":5}', '{"at":5,"id":1}')).toBeNull();
});
