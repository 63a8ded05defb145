import { expect, test } from 'vitest';
import {
  encodeExact,
  entriesOf,
  flattenContext,
  parseExact,
  listInContext,
  objectInContext,
} from '../../../src/lib/json/index.ts';

test('nested keys and list indexes are joined by points, empty maps vanish, # stays', () => {
  const value = parseExact(
    '{"server":{"port":8080,"#key":"k"},"list":["a",{"b":null}],"none":{},"nor":[],"#token":1.50,"0":false}',
  );
  expect(entriesOf(flattenContext(value)).map(([key, item]) => [key, JSON.stringify(item)])).toEqual([
    ['server.port', '8080'],
    ['server.#key', '"k"'],
    ['list.0', '"a"'],
    ['list.1.b', 'null'],
    ['#token', '1.50'],
    ['0', 'false'],
  ]);
});

test('a list is flattened by its indexes, a scalar has no keys', () => {
  expect(entriesOf(flattenContext(['a', ['b']]))).toEqual([
    ['0', 'a'],
    ['1.0', 'b'],
  ]);
  expect(entriesOf(flattenContext('text'))).toEqual([]);
});

test('a list is found under its name again', () => {
  const context = flattenContext(parseExact('{"a":[1,"b"],"c":{"d":[true]},"e":[{"f":1}],"g":2,"h":[]}'));
  const found = ['a', 'c.d', 'e', 'g', 'h', 'a.1'].map((key) => JSON.stringify(listInContext(context, key)));
  expect(found).toEqual(['[1,"b"]', '[true]', '[{"f":1}]', undefined, undefined, undefined]);
});

test('an object is found under its name again, but for what is empty in it', () => {
  const context = flattenContext(
    parseExact('{"a":{"b":1.50,"c":{"d":null,"e":[{"f":"g"},2]},"h":{}},"i":[1],"j":2,"k":{"0":{"1":3}}}'),
  );
  const found = ['a', 'a.c', 'i', 'j', 'x', 'k'].map((key) => {
    const object = objectInContext(context, key);
    return object === undefined ? undefined : encodeExact(object);
  });
  expect(found).toEqual([
    '{"b":1.50,"c":{"d":null,"e":[{"f":"g"},2]}}',
    '{"d":null,"e":[{"f":"g"},2]}',
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
