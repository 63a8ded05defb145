import { describe, expect, test } from 'vitest';
import { createEvaluator } from '../../../../src/engine/jobs/functions/index.ts';
import { isList, parseExact, type Json } from '../../../../src/lib/json/index.ts';

const evaluate = createEvaluator({
  now: () => 1_490_000_000_999,
  randomBytes: (count) => new Uint8Array(count),
  sleep: () => Promise.resolve(),
});

/** Returns what an operation makes of a list of JSON values, as Python writes it in JSON. */
function python(operation: string, values: string): Json {
  const given = parseExact(values);
  const args = [operation, ...(isList(given) ? given : [given])];
  return evaluate({ function: 'python', args: ['json', { function: 'python', args }] }, {}, 'p');
}

/** Values of Python 3.13. */
describe('python', () => {
  test.each([
    ['+', '["a", "b"]', '"ab"'],
    ['+', '[[1], [2]]', '[1, 2]'],
    ['+', '[true, 1]', '2'],
    ['+', '["a", 1]', 'null'],
    ['+', '[9007199254740993, 1]', '9007199254740994'],
    ['-', '[1, 0.9]', '0.09999999999999998'],
    ['*', '[0.1, 3]', '0.30000000000000004'],
    ['*', '["ab", 2]', '"abab"'],
    ['/', '[7, 7]', '1.0'],
    ['/', '[1, 0]', 'null'],
    ['//', '[-7, 2]', '-4'],
    ['//', '[7.0, 2]', '3.0'],
    ['%', '[-7, 3]', '2'],
    ['%', '[-7.5, 2]', '0.5'],
    ['**', '[2, 100]', '1267650600228229401496703205376'],
    ['**', '[2, -1]', '0.5'],
    ['==', '[1, true]', 'true'],
    ['==', '[1, 1.0]', 'true'],
    ['==', '["1", 1]', 'false'],
    ['==', '["", 0]', 'false'],
    ['int', '["12 "]', '12'],
    ['int', '[-3.9]', '-3'],
    ['int', '["x"]', '0'],
    ['float', '["1e3"]', '1000.0'],
    ['or', '["0", 5]', '"0"'],
    ['or', '[0, 5]', '5'],
    ['slice', '["abcdef", null, null, 2]', '"ace"'],
    ['slice', '["abcdef", -2]', '"ef"'],
    ['slice', '[[1, 2, 3], 1]', '[2, 3]'],
    ['first', '[[1, 2]]', '1'],
    ['last', '["ab"]', '"b"'],
    ['join', '[[1, null, "a"], "-"]', '"1-None-a"'],
    ['in', '["1", ["1"]]', 'true'],
    ['in', '[1, ["1"]]', 'false'],
    ['json', '[{"a": [1.0, null]}]', String.raw`"{\"a\": [1.0, null]}"`],
    ['text', '[[true, "a"]]', String.raw`"[True, 'a']"`],
  ])('%s of %s is %s', (operation, values, expected) => {
    expect(python(operation, values)).toBe(expected);
  });

  // the digits of a row are no reason to reckon for minutes
  test('a power with more digits than a cell has is none', () => {
    expect(python('**', `[${'9'.repeat(2000)}, 1000]`)).toBe('null');
  });
});
