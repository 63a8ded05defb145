import { describe, expect, test } from 'vitest';
import { entriesOf, objectOf, toJsonText } from '../../src/lib/json/index.ts';
import { deepen, mergeOver } from '../../src/engine/shared/merge-request.ts';

describe('mergeOver', () => {
  test('the winner’s values win, in the place of the base’s', () => {
    const merged = mergeOver({ b: 2, c: 3 }, { a: 1, b: 1 });
    expect(entriesOf(merged)).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
  });

  test('an object inside is atomic', () => {
    expect(mergeOver({ x: { z: 1 } }, { x: { y: 2 } })).toEqual({ x: { z: 1 } });
    expect(mergeOver({}, { x: { y: 2 } })).toEqual({ x: { y: 2 } });
    expect(mergeOver({ x: {} }, { x: { y: 2 } })).toEqual({ x: {} });
  });

  test('lists are merged by index, at any depth', () => {
    expect(mergeOver({ l: [9] }, { l: [1, 2] })).toEqual({ l: [9, 2] });
    expect(mergeOver({ l: [1, 2, 3] }, { l: [9] })).toEqual({ l: [1, 2, 3] });
    expect(mergeOver({ l: [[7], { a: 1 }] }, { l: [[1, 2], { b: 2 }] })).toEqual({ l: [[7, 2], { a: 1 }] });
    expect(mergeOver({ l: [] }, { l: [1] })).toEqual({ l: [1] });
  });

  test('a value of another kind replaces', () => {
    expect(mergeOver({ x: null, y: 'a', z: {} }, { x: 1, y: [1], z: [1] })).toEqual({
      x: null,
      y: 'a',
      z: {},
    });
  });

  test('a list and a map of the configuration are merged by key', () => {
    const byDefaults = mergeOver({ x: [], y: [5] }, { x: { a: 1 }, y: { a: 1, 0: 2 } });
    expect(toJsonText(byDefaults)).toBe('{"x":{"a":1},"y":{"0":5,"a":1}}');
    const byScroll = mergeOver({ x: [5], y: { a: 1 } }, { x: { a: 1 }, y: [5] }, 'winner');
    expect(toJsonText(byScroll)).toBe('{"x":[5],"y":{"0":5,"a":1}}');
  });

  test('keys like numbers and like __proto__ are keys', () => {
    const base = objectOf([
      ['b', 1],
      ['10', 2],
    ]);
    const merged = mergeOver(objectOf([['__proto__', 'x']]), base);
    expect(entriesOf(merged)).toEqual([
      ['b', 1],
      ['10', 2],
      ['__proto__', 'x'],
    ]);
  });
});

describe('deepen', () => {
  test('objects take in those of the base, keys of the base alone stay out', () => {
    const merged = deepen(
      { x: { a: { b: 1 } }, l: [{ q: 1 }] },
      { x: { a: { c: 2 } }, y: 1, l: [{ r: 2 }, 5] },
    );
    expect(merged).toEqual({ x: { a: { c: 2, b: 1 } }, l: [{ r: 2, q: 1 }] });
  });

  test('values of another kind stay', () => {
    expect(deepen({ x: 1, y: { a: 1 }, z: null }, { x: { a: 1 }, y: 2, z: [1] })).toEqual({
      x: 1,
      y: { a: 1 },
      z: null,
    });
  });
});
