import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { positionsOf, type Positions } from '../../../src/engine/config/positions.ts';
import { orderIn } from '../../../src/engine/config/value-order.ts';
import { keysOfPath, pathText } from '../../../src/engine/config/path.ts';
import { digKeys, parseExact, type Json } from '../../../src/lib/json/index.ts';

describe('positions', () => {
  const text = '{\n  "a": [1, {"b\\u0041": true}],\r\n\t"c": ""\n}';

  test('a value has line and column, a property also those of its name', () => {
    const positions = positionsOf(text);
    expect(positions.at([])).toEqual({ value: { line: 1, column: 1 } });
    expect(positions.at(['a'])).toEqual({ key: { line: 2, column: 3 }, value: { line: 2, column: 8 } });
    expect(positions.at(['a', '0'])).toEqual({ value: { line: 2, column: 9 } });
    expect(positions.at(['a', '1', 'bA'])).toEqual({
      key: { line: 2, column: 13 },
      value: { line: 2, column: 24 },
    });
    expect(positions.at(['c'])).toEqual({ key: { line: 3, column: 2 }, value: { line: 3, column: 7 } });
    expect(positions.at(['d'])).toBeUndefined();
  });

  test('what is not there is shown at what is around it', () => {
    const positions = positionsOf(text);
    expect(positions.nearest(['a', '1', 'x', 'y']).value).toEqual({ line: 2, column: 12 });
    expect(positions.nearest('a[1].bA').value).toEqual({ line: 2, column: 24 });
    expect(positions.nearest('a.1.bA').value).toEqual({ line: 2, column: 24 });
    expect(positions.nearest('').value).toEqual({ line: 1, column: 1 });
  });

  test('of a key that comes twice the last value counts, and nothing of the first stays', () => {
    const positions = positionsOf('{"a": {"x": 1}, "ab": 2, "a": {"y": 1}}');
    expect(positions.duplicates).toEqual([{ path: ['a'], position: { line: 1, column: 26 } }]);
    expect(positions.at(['a', 'x'])).toBeUndefined();
    expect(positions.at(['a', 'y'])?.value).toEqual({ line: 1, column: 37 });
    expect(positions.at(['ab'])?.value).toEqual({ line: 1, column: 23 });
  });

  test('the text at each place is the value that stands there', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const source = JSON.stringify(value, null, indent);
        const parsed = parseExact(source);
        const positions = positionsOf(source);
        const lines = source.split('\n');
        for (const keys of pathsOf(parsed)) {
          const at = positions.at(keys)?.value;
          expect(at).toBeDefined();
          const rest = [
            lines[(at?.line ?? 0) - 1]?.slice((at?.column ?? 0) - 1),
            ...lines.slice(at?.line),
          ].join('\n');
          expect(rest.startsWith(firstToken(digKeys(keys, parsed) ?? null))).toBe(true);
        }
      }),
    );
  });
});

describe('paths', () => {
  test('indexes and odd keys are in brackets', () => {
    expect(pathText(['jobs', '0', 'a.b', '#x'])).toBe('jobs[0]["a.b"].#x');
    expect(keysOfPath('jobs[0]["a.b"].#x')).toEqual(['jobs', '0', 'a.b', '#x']);
    expect(keysOfPath('jobs.0.endpoint')).toEqual(['jobs', '0', 'endpoint']);
  });

  test('a path text gives back its keys', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (keys) => {
        expect(keysOfPath(pathText(keys))).toEqual(keys);
      }),
    );
  });
});

test('a value without a text has its places in the order of the text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (made) => {
      const value = parseExact(JSON.stringify(made));
      const paths = pathsOf(value);
      const inOrder = (places: Positions): readonly string[] =>
        paths
          .flatMap((keys) => {
            const place = places.at(keys);
            expect(places.nearest([...keys, 'none', '0'])).toEqual(place);
            return (['key', 'value'] as const).flatMap((kind) => {
              const column = place?.[kind]?.column;
              return column === undefined ? [] : [{ column, name: JSON.stringify([kind, keys]) }];
            });
          })
          .toSorted((a, b) => a.column - b.column)
          .map(({ name }) => name);
      expect(inOrder(orderIn(value))).toEqual(inOrder(positionsOf(JSON.stringify(made))));
    }),
  );
  expect(orderIn({ a: [1] }).at(['b'])).toBeUndefined();
  expect(orderIn({ a: [1] }).nearest('a[0].x')).toEqual(orderIn({ a: [1] }).at(['a', '0']));
});

function pathsOf(value: Json, keys: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null || 'literal' in value) return [keys];
  const entries: [string, Json][] =
    value instanceof Map ? [...value] : Object.entries(value as Readonly<Record<string, Json>>);
  return [keys, ...entries.flatMap(([key, item]) => pathsOf(item, [...keys, key]))];
}

function firstToken(value: Json): string {
  if (value instanceof Map) return '{';
  const text = JSON.stringify(value);
  return text.startsWith('{') || text.startsWith('[') ? text.slice(0, 1) : text;
}
