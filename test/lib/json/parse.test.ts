import { describe, expect, test } from 'vitest';
import {
  encodeExact,
  getKey,
  isInteger,
  isObject,
  JsonMap,
  JsonNumber,
  JsonSyntaxError,
  jsonFrom,
  keysOf,
  MAX_DEPTH,
  parseExact,
  type Json,
} from '../../../src/lib/json/index.ts';
import { Documents, withDecimals } from './documents.ts';
import { times } from '../../support/sample.ts';

describe('an exact parse', () => {
  test('keeps the order of keys, integer-like ones too', () => {
    const value = parseExact('{"10":1,"2":2,"b":3,"1":4}');
    expect(value).toBeInstanceOf(JsonMap);
    expect(isObject(value) && keysOf(value)).toEqual(['10', '2', 'b', '1']);
  });

  test('takes __proto__ and constructor for keys like any other', () => {
    const value = parseExact('{"__proto__":{"a":1},"constructor":2}');
    expect(isObject(value) && keysOf(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(isObject(value) && getKey(value, '__proto__')).toEqual({ a: 1 });
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  test('gives a key that comes twice its first place and its last value', () => {
    expect(encodeExact(parseExact('{"a":1,"b":2,"a":3}'))).toBe('{"a":3,"b":2}');
    expect(encodeExact(parseExact('{"1":1,"0":2,"1":3}'))).toBe('{"1":3,"0":2}');
  });

  test.each([
    '9007199254740993',
    '-9223372036854775808',
    '1.0',
    '1e3',
    '-0',
    '-0.0',
    '0.1234567890123456789',
    '1E+400',
    '123456789012345678901234567890',
  ])('keeps the literal %s', (literal) => {
    const value = parseExact(literal);
    expect(value).toBeInstanceOf(JsonNumber);
    expect(encodeExact(value)).toBe(literal);
  });

  test.each([
    ['7', true],
    ['-0', true],
    ['9223372036854775807', true],
    ['9223372036854775808', false],
    ['1.0', false],
    ['1e3', false],
  ])('%s is an integer: %s', (literal, expected) => {
    expect(isInteger(parseExact(literal))).toBe(expected);
  });

  test('replaces an unpaired surrogate escape and nothing else', () => {
    expect(parseExact(String.raw`"\ud83d\ude00 \ud83d \u010d"`)).toBe('😀 \ufffd č');
  });

  test.each([
    ['', 'ends too early', 1, 1],
    ['[1,]', 'A JSON value was expected', 1, 4],
    ['{"a":1,}', 'property name', 1, 8],
    ['{\n  "a" 1\n}', '“:” was expected', 2, 7],
    ['[1] 2', 'Unexpected text', 1, 5],
    ['["a\nb"]', 'control character', 1, 4],
    [String.raw`["\x"]`, 'unknown escape', 1, 3],
    [String.raw`["\u12g4"]`, 'Four hexadecimal digits', 1, 3],
    ['["a', 'ends inside a string', 1, 4],
    ['[01]', 'expected', 1, 3],
    ['\uFEFF[]', 'A JSON value was expected', 1, 1],
  ])('of %j fails with its place', (text, reason, line, column) => {
    try {
      parseExact(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(JsonSyntaxError);
      expect(error).toMatchObject({ message: expect.stringContaining(reason) as string, line, column });
    }
  });

  test('goes 512 levels deep and no deeper', () => {
    expect(() => parseExact('['.repeat(512) + ']'.repeat(512))).not.toThrow();
    expect(() => parseExact('['.repeat(513) + ']'.repeat(513))).toThrow('More than 512 levels');
  });
});

test('random documents: every literal, every key and their order come back', () => {
  const documents = new Documents(1);
  for (let i = 0; i < times(100_000); i++) {
    const text = documents.value();
    const again = encodeExact(parseExact(text));
    if (again !== text && withDecimals(again) !== withDecimals(text)) expect(again).toBe(text);
  }
});

test('what is accepted, and what it means, is what JSON.parse says', () => {
  const documents = new Documents(2);
  for (let i = 0; i < times(20_000); i++) {
    const text = documents.spaced(documents.value());
    const broken = documents.broken(text);
    for (const each of [text, broken]) {
      const expected = attempt(() => JSON.parse(each) as unknown);
      const got = attempt(() => plain(parseExact(each)));
      if (JSON.stringify(got) !== JSON.stringify(expected))
        expect({ each, got }).toEqual({ each, got: expected });
    }
  }
});

function attempt(parse: () => unknown): unknown {
  try {
    return { value: parse() };
  } catch {
    return 'refused';
  }
}

/** Values as JSON.parse gives them. */
function plain(value: Json): unknown {
  if (value instanceof JsonNumber) return value.value;
  if (Array.isArray(value)) return value.map((item: Json) => plain(item));
  if (!isObject(value)) return value;
  const object: Record<string, unknown> = {};
  for (const key of keysOf(value)) {
    const item = plain(getKey(value, key) ?? null);
    Object.defineProperty(object, key, { value: item, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

describe('a value of the runtime', () => {
  const odd = { a: undefined, b: [undefined, NaN, -0, 1e21, 1e14, 123456789012345680, 0.1 + 0.2, 1e-7, 1.5] };
  const keys = JSON.parse('{"b":1,"10":"\\ud800","2":2,"__proto__":{"\\ud800":1}}') as unknown;

  test.each([odd, keys, [], {}, null, true, 'a', 7])('is what its text is read as: %j', (value) => {
    expect(jsonFrom(value)).toStrictEqual(parseExact(JSON.stringify(value)));
  });

  test('is none where its text is nested too deep', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    expect(jsonFrom(nested(MAX_DEPTH))).toEqual(parseExact(JSON.stringify(nested(MAX_DEPTH))));
    expect(jsonFrom(nested(MAX_DEPTH + 1))).toBeUndefined();
  });
});
