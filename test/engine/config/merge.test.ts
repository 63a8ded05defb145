import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import { mergeConfigurations, mergeJson } from '../../../src/engine/config/merge.ts';
import {
  entriesOf,
  isList,
  isObject,
  objectOf,
  parseExact,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/index.ts';

/** JSON text of a value, in its own order of keys. */
function text(value: Json): string {
  if (isList(value)) return `[${value.map(text).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${entriesOf(value)
    .map(([key, item]) => `${JSON.stringify(key)}:${text(item)}`)
    .join()}}`;
}

function merged(root: string, row: string): string {
  return text(mergeJson(parseExact(root) as AnyObject, parseExact(row) as AnyObject));
}

describe('root and row', () => {
  test('the vector of the specification', () => {
    const root = '{"a":{"x":1,"y":[1,2]},"b":1,"c":[1,2,3],"d":{"k":1},"e":[1]}';
    const row = '{"a":{"y":[5]},"b":null,"c":[9],"d":{},"e":"s","f":[7]}';
    expect(merged(root, row)).toBe(
      '{"a":{"x":1,"y":[5,2]},"b":null,"c":[9,2,3],"d":{"k":1},"e":"s","f":[7]}',
    );
  });

  test.each([
    ['an empty object leaves a list', '{"a":[1]}', '{"a":{}}', '{"a":[1]}'],
    ['an empty list leaves an object', '{"a":{"k":1}}', '{"a":[]}', '{"a":{"k":1}}'],
    ['an empty list leaves a list', '{"a":[1]}', '{"a":[]}', '{"a":[1]}'],
    ['an empty object replaces a scalar', '{"a":1}', '{"a":{}}', '{"a":{}}'],
    ['an empty list replaces null', '{"a":null}', '{"a":[]}', '{"a":[]}'],
    ['an empty object is added', '{}', '{"a":{}}', '{"a":{}}'],
    ['a list replaces an object, in its place', '{"a":{"k":1},"z":1}', '{"a":[7]}', '{"a":[7],"z":1}'],
    ['an object replaces a list, in its place', '{"a":[1,2],"z":1}', '{"a":{"k":1}}', '{"a":{"k":1},"z":1}'],
    ['an object replaces a scalar', '{"a":"x"}', '{"a":{"k":[1]}}', '{"a":{"k":[1]}}'],
    ['a scalar replaces an object', '{"a":{"k":1}}', '{"a":0}', '{"a":0}'],
    [
      'empty text, 0 and false win',
      '{"a":1,"b":1,"c":1}',
      '{"a":"","b":0,"c":false}',
      '{"a":"","b":0,"c":false}',
    ],
    [
      'objects in lists merge by index',
      '{"a":[{"x":1},{"y":2}]}',
      '{"a":[{},{"z":3}]}',
      '{"a":[{"x":1},{"y":2,"z":3}]}',
    ],
    [
      'an object with the keys 0, 1 is a list where it meets one',
      '{"a":[1,2]}',
      '{"a":{"0":9}}',
      '{"a":[9,2]}',
    ],
    [
      'an empty object inside a list that replaces stays',
      '{"a":{"0":{"p":1},"k":1}}',
      '{"a":[{}]}',
      '{"a":[{}]}',
    ],
    [
      'integer-like keys keep their order',
      '{"b":1,"10":1,"2":{"x":1}}',
      '{"2":{"y":2},"1":3}',
      '{"b":1,"10":1,"2":{"x":1,"y":2},"1":3}',
    ],
    [
      '__proto__ is a key like any other',
      '{"__proto__":{"a":1}}',
      '{"__proto__":{"b":2}}',
      '{"__proto__":{"a":1,"b":2}}',
    ],
    [
      'constructor is a key like any other',
      '{"constructor":{"a":1}}',
      '{"constructor":{"b":2}}',
      '{"constructor":{"a":1,"b":2}}',
    ],
    [
      'exact numbers survive',
      '{"a":12345678901234567890,"b":1.0}',
      '{"b":{"c":1.50}}',
      '{"a":12345678901234567890,"b":{"c":1.50}}',
    ],
  ])('%s', (_name, root, row, expected) => {
    expect(merged(root, row)).toBe(expected);
  });

  test('neither side is changed', () => {
    const root = parseExact('{"a":{"b":[1,{"c":2}]}}') as AnyObject;
    const row = parseExact('{"a":{"b":[{"d":1},{"c":3}]}}') as AnyObject;
    mergeJson(root, row);
    expect([text(root), text(row)]).toEqual(['{"a":{"b":[1,{"c":2}]}}', '{"a":{"b":[{"d":1},{"c":3}]}}']);
  });

  test('any two objects merge as the plain model of the rules says', () => {
    const key = fc.oneof(
      fc.constantFrom('a', 'b', '0', '1', '10', '__proto__', 'constructor', 'length'),
      fc.string(),
    );
    const { json } = fc.letrec<{ json: Json }>((tie) => ({
      json: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom<Json[]>(null, true, false, 0, 1, '', 'x', '\uFFFD'),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie('json')), { maxLength: 4 }).map((entries) => objectOf(entries)),
      ),
    }));
    const object = fc.array(fc.tuple(key, json), { maxLength: 5 }).map((entries) => objectOf(entries));
    fc.assert(
      fc.property(object, object, (root, row) => {
        expect(text(mergeJson(root, row))).toBe(text(model(root, row)));
      }),
    );
  });
});

/** The rules, written down as plainly as can be: array_replace_recursive, but kinds replace each other. */
function model(under: Json | undefined, over: Json): Json {
  if (under === undefined || !isMap(under) || !isMap(over)) return over;
  if (entries(over).length === 0) return under;
  if (entries(under).length === 0) return over;
  if (isList(under) !== isList(over) && !(isIndexed(under) && isIndexed(over))) return over;
  const result = new Map(entries(under));
  for (const [key, item] of entries(over)) result.set(key, model(result.get(key), item));
  return isList(under) || isList(over) ? [...result.values()] : objectOf(result);
}

function isMap(value: Json | undefined): boolean {
  return isObject(value) || isList(value);
}

function isIndexed(value: Json): boolean {
  return entries(value).every(([key], index) => key === String(index));
}

function entries(value: Json): [string, Json][] {
  if (isList(value)) return value.map((item, index) => [String(index), item]);
  return isObject(value) ? entriesOf(value) : [];
}

describe('nodes for the platform', () => {
  test('processors and runtime never reach the component', () => {
    const root = parseExact(
      '{"parameters":{},"processors":{"after":[1]},"runtime":{"tag":"x"}}',
    ) as AnyObject;
    expect(text(mergeConfigurations(root, objectOf([])))).toBe('{"parameters":{}}');
  });

  test('processors in root and row are a mistake', () => {
    const both = parseExact('{"processors":{"after":[1]}}') as AnyObject;
    expect(() => mergeConfigurations(both, both, 'r1')).toThrow(ConfigError);
    expect(() => mergeConfigurations(both, both, 'r1')).toThrow(
      'Processors may be set either in configuration or in configuration row, but not in both places.',
    );
    expect(() => mergeConfigurations(both, parseExact('{"processors":[]}') as AnyObject)).not.toThrow();
  });
});
