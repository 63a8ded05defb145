import { expect, test } from 'vitest';
import { readYaml } from '../../../../src/authoring/importing/airbyte/read-yaml.ts';

test.each([
  ['a: 1\nb: [1, 2\nc: 3\n', 3, 1],
  ['a: 1\n\tb: 2\n', 2, 1],
  ['a:\n  b: "x\n', 3, 1],
  ['a: &x 1\nb: *x\nc: d: e\n', 3, 4],
])('an error of %j is told with its place', (text, line, column) => {
  expect(() => readYaml(text, 'manifest.yaml')).toThrow(
    expect.objectContaining({ code: 'import.invalid', where: { file: 'manifest.yaml', line, column } }),
  );
});

test('anchors, merges, tags and words mean the same by either parser', () => {
  const plain = 'a: {on: yes, b: 010, c: 0x1F, d: 1.5, e: 2024-01-01, f: ~, g: "1", h: n, b: 7}\n';
  const value = { true: true, b: 7, c: 31, d: 1.5, e: '2024-01-01', f: null, g: '1', h: 'n' };
  expect(readYaml(plain, 'a')).toEqual({ a: value });
  expect(readYaml(`${plain}t: !own x`, 'a')).toEqual({ a: value, t: 'x' });
  expect(readYaml('x: &x {p: 1, q: 2}\ny: {<<: *x, q: 3}\nz: [*x]', 'a')).toEqual({
    x: { p: 1, q: 2 },
    y: { p: 1, q: 3 },
    z: [{ p: 1, q: 2 }],
  });
  expect(readYaml('y: {<<: {p: 1, q: 2}, q: 3}', 'a')).toEqual({ y: { p: 1, q: 3 } });
});

test('aliases that multiply are refused', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`);
  expect(() => readYaml(`a0: &a0 [1]\n${lines.join('\n')}`, 'manifest.yaml')).toThrow(
    'Excessive alias count',
  );
});
