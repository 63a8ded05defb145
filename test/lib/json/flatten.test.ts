import { expect, test } from 'vitest';
import { entriesOf, flattenContext, parseExact } from '../../../src/lib/json/index.ts';

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
