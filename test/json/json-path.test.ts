import { describe, expect, test } from 'vitest';
import { dig, digKeys, encodeExact, parseExact } from '../../src/json/index.ts';

const document = parseExact(
  '{"data":{"items":[{"id":1,"n":1.0},{"id":12345678901234567890,"n":2}],"10":{"b":1},"2":{"b":2}},"a.b":{"c":3},"$":{"x":4}}',
);
const found = (path: string): string | undefined => {
  const value = dig(path, document);
  return value === undefined ? undefined : encodeExact(value);
};

describe('a path that starts with $ is JSONPath', () => {
  test('one place gives the value there, exact', () => {
    expect(found('$.data.items[1].id')).toBe('12345678901234567890');
    expect(found("$['a.b'].c")).toBe('3');
    expect(found('$.data.items')).toBe('[{"id":1,"n":1.0},{"id":12345678901234567890,"n":2}]');
  });

  test('wildcards, slices and .. give the list of all values', () => {
    expect(found('$.data.items[*].n')).toBe('[1.0,2]');
    expect(JSON.parse(found('$..b') ?? '')).toEqual(expect.arrayContaining([1, 2]));
    expect(found('$.data.items[-1:].id')).toBe('[12345678901234567890]');
    expect(found('$.data.nothing[*]')).toBe('[]');
  });

  test('a miss is a miss', () => {
    expect(found('$.data.nothing')).toBeUndefined();
  });

  test('scripts and filters are refused, not run', () => {
    expect(() => found('$.data.items[?(@.id == 1)]')).toThrow(/filters and scripts|not JSONPath/);
  });

  test('a key that only begins with $ is an ordinary key', () => {
    expect(dig('$', parseExact('{"$":[]}'))).toEqual([]);
    expect(digKeys(['$.x'], parseExact('{"$.x":1}'))).toBe(1);
    expect(dig('$x', parseExact('{"$x":1}'))).toBe(1);
  });
});
