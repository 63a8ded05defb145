import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { substituteText, substituteValue, type Parameters } from '../../../src/engine/jobs/index.ts';
import { entriesOf, JsonMap, type Json } from '../../../src/lib/json/index.ts';

function parameters(values: Record<string, Json>): Parameters {
  return Object.entries(values).map(([name, value]) => ({ name, path: name, value }));
}

describe('placeholders in a text', () => {
  const values = parameters({ 'user-id': 7, '2:org': 'a/b c', on: true, off: false, none: null, part: 1.5 });

  test('become text, without URL encoding', () => {
    expect(substituteText('users/{user-id}/{2:org}', values)).toBe('users/7/a/b c');
    expect(substituteText('{on}|{off}|{none}|{part}', values)).toBe('1|||1.5');
  });

  test('are replaced wherever they stand', () => {
    expect(substituteText('{user-id}{user-id}?a={user-id}', values)).toBe('77?a=7');
  });

  test('that are not known stay', () => {
    expect(substituteText('{unknown}/{user-id/{}/{{user-id}}', values)).toBe('{unknown}/{user-id/{}/{7}');
    expect(substituteText('{user-id}', [])).toBe('{user-id}');
  });

  test('a value that looks like a placeholder, or like a pattern, is only text', () => {
    expect(substituteText('{a}/{b}', parameters({ a: '{b}', b: '$&$1' }))).toBe('{b}/$&$1');
  });

  test('any text between braces comes out as it went in', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, value, after) => {
        fc.pre(!/[{}]/.test(before + after));
        expect(substituteText(`${before}{x}${after}`, parameters({ x: value }))).toBe(before + value + after);
      }),
    );
  });
});

describe('placeholders in a value', () => {
  const values = parameters({ id: 7, name: 'Ann' });

  test('are replaced at any depth, in values only', () => {
    expect(substituteValue({ a: ['{name}!', { '{id}': 'x{id}' }], b: 1, c: null }, values)).toEqual({
      a: ['Ann!', { '{id}': 'x7' }],
      b: 1,
      c: null,
    });
  });

  test('keep their type where they are the whole text', () => {
    expect(substituteValue({ id: '{id}', text: ' {id}' }, values)).toEqual({ id: 7, text: ' 7' });
    expect(substituteValue('{none}', parameters({ none: null }))).toBe(null);
  });

  test('keep the order of keys that look like numbers', () => {
    const map = new JsonMap([
      ['b', '{id}'],
      ['1', 2],
    ]);
    const result = substituteValue(map, values);
    expect(result instanceof JsonMap ? entriesOf(result) : []).toEqual([
      ['b', 7],
      ['1', 2],
    ]);
  });
});
