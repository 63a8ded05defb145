import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { describeError, FunctionError } from '../../../../src/lib/errors.ts';
import { createEvaluator } from '../../../../src/engine/jobs/functions/index.ts';
import { encodeExact, parseExact, toText, type Json } from '../../../../src/lib/json/index.ts';

const evaluate = createEvaluator(systemEnv);

function call(name: string, ...args: Json[]): Json {
  return evaluate({ function: name, args }, {}, 'here');
}

function failure(name: string, ...args: Json[]): string {
  try {
    call(name, ...args);
  } catch (error) {
    if (error instanceof FunctionError) return describeError(error);
    throw error;
  }
  throw new Error('it did not fail');
}

/** Arguments as JSON, and what is given as JSON. */
const CASES: Readonly<Record<string, readonly (readonly [args: string, gives: string])[]>> = {
  add: [
    ['[0.1, 0.2]', '0.3'],
    ['[[1, 2, "3.50"]]', '6.5'],
    ['[9007199254740993, 1]', '9007199254740994'],
    ['[1, null]', 'null'],
    ['[1, ""]', 'null'],
  ],
  subtract: [['[1, 0.9]', '0.1']],
  multiply: [
    ['["19.99", 3]', '59.97'],
    ['[1e3, 2]', '2000'],
  ],
  divide: [
    ['[10, 4]', '2.5'],
    ['[1, 3]', '0.333333333333333'],
    ['[-2, 3]', '-0.666666666666667'],
    ['["9007199254740993000", 1000]', '9007199254740993'],
    ['[1, 0]', 'null'],
  ],
  mod: [
    ['[7, 3]', '1'],
    ['[-7, 3]', '-1'],
    ['[7, 0]', 'null'],
  ],
  round: [
    ['[2.5]', '3'],
    ['[-2.5]', '-3'],
    ['[1.005, 2]', '1.01'],
    ['[1250, -2]', '1300'],
    ['[null]', 'null'],
  ],
  floor: [
    ['[-1.2]', '-2'],
    ['[1.9]', '1'],
  ],
  ceil: [
    ['[-1.2]', '-1'],
    ['[1.1]', '2'],
  ],
  abs: [['[-3.5]', '3.5']],
  number: [
    ['["1.234,56", null, ","]', '1234.56'],
    ['["1 234.5", null, "."]', '1234.5'],
    ['["n/a", null]', 'null'],
    ['["n/a", 0]', '0'],
    ['[""]', 'null'],
    ['["12345678901234567890"]', '12345678901234567890'],
  ],
  number_format: [
    ['[1234567.891, 2]', '"1,234,567.89"'],
    ['[1234.5, 1, ",", " "]', '"1 234,5"'],
    ['[-12, 2]', '"-12.00"'],
    ['[999.999, 2]', '"1,000.00"'],
  ],
  lower: [['["ÀB"]', '"àb"']],
  upper: [
    ['["straße"]', '"STRASSE"'],
    ['[null]', 'null'],
  ],
  trim: [
    ['[" a "]', '"a"'],
    ['["--a-b--", "-"]', '"a-b"'],
  ],
  substr: [
    ['["žluťoučký", 1, 3]', '"luť"'],
    ['["abc", -2]', '"bc"'],
    ['["abc", 0, -1]', '"ab"'],
    ['["😀x", 1]', '"x"'],
    ['["abc", 5]', '""'],
  ],
  split: [
    ['["a/b/c", "/", -1]', '"c"'],
    ['["a,b", ","]', '["a","b"]'],
    ['["a", ",", 3]', 'null'],
  ],
  max: [
    ['[2, "10", null]', '"10"'],
    ['[["2026-01-02", "2026-01-01T23:00:00Z"]]', '"2026-01-02"'],
    ['[null, ""]', 'null'],
  ],
  min: [['[2, 10, 1.5]', '1.5']],
  replace: [
    ['["a.b.c", ".", "$&"]', '"a$&b$&c"'],
    ['["abc", "", "x"]', '"abc"'],
  ],
  match: [
    ['["id=42;", "id=(\\\\d+)"]', '"42"'],
    ['["abc", "b."]', '"bc"'],
    ['["x", "(\\\\d)"]', 'null'],
  ],
  length: [
    ['["žž"]', '2'],
    ['[[1, 2]]', '2'],
    ['[null]', 'null'],
  ],
  base64_decode: [['["xb4="]', '"ž"']],
  coalesce: [
    ['[null, "", 0, "x"]', '0'],
    ['[null]', 'null'],
  ],
  optional: [
    ['[""]', 'null'],
    ['[0]', '0'],
    ['[null]', 'null'],
    ['[["a"]]', '["a"]'],
  ],
  if: [
    ['[true, "a", "b"]', '"a"'],
    ['[0, "a"]', 'null'],
  ],
  is: [
    ['[5, "atLeast", 3]', 'true'],
    ['["abc", "matches", "^a"]', 'true'],
    ['[null, "absent"]', 'true'],
    ['[2, "in", [1, 2]]', 'true'],
    ['["2026-01-02T00:00:00Z", "below", "2026-01-02T00:00:00-01:00"]', 'true'],
    ['["2026-01-02T00:00:00Z", "below", "2026-01-02T00:00:00-01:00", "text"]', 'false'],
  ],
  not: [['[""]', 'true']],
  all: [['[1, 0]', 'false']],
  any: [['[0, 2]', 'true']],
  map: [
    ['[2, [["1", "one"], ["2", "two"]]]', '"two"'],
    ['["x", {"a": "b", "c": "d"}]', '"x"'],
    ['["x", {"a": "b", "c": "d"}, null]', 'null'],
    ['[true, {"true": "yes", "false": "no"}]', '"yes"'],
    ['[null, {"null": "none", "a": "b"}]', '"none"'],
    ['[{"a": 1}, {"a": "b", "c": "d"}, "?"]', '"?"'],
  ],
  get: [
    ['[{"a": [{"b": 1}]}, "a.0.b"]', '1'],
    ['[[1, 2], "$[-1]"]', '2'],
    ['[null, "a", "none"]', '"none"'],
  ],
  keys: [['[{"a": 1, "b": 2}]', '["a","b"]']],
  values: [['[{"a": 1, "b": 2}]', '[1,2]']],
  json_encode: [['[{"a": [1.10, "ž/"]}]', '"{\\"a\\":[1.10,\\"ž/\\"]}"']],
  json_decode: [
    ['["{\\"a\\": 1.0}"]', '{"a":1.0}'],
    ['["no", null]', 'null'],
  ],
  literal: [
    ['["12"]', '12'],
    ['["x"]', '"x"'],
    ['["[1, true]"]', '[1,true]'],
    ['["{\\"a\\": 1}"]', '{"a":1}'],
    ['[""]', 'null'],
    ['[5]', '5'],
  ],
  parse_date: [
    ['["31.12.2025 13:05", "d.m.Y H:i"]', '1767186300'],
    ['["31.12.2025 13:05", "d.m.Y H:i", "Europe/Prague"]', '1767182700'],
    ['["Dec 5, 2025 01:02:03 PM", "M j, Y h:i:s A"]', '1764939723'],
    ['["5 december 2025 12 am", "j F Y h a"]', '1764892800'],
    ['["2025-02-30", "Y-m-d", null, null]', 'null'],
    ['["20250102T030405Z", "Ymd\\\\THisT"]', '1735787045'],
    ['["2025-01-02 03:04:05.678 +02:00", "Y-m-d H:i:s.v P"]', '1735779845'],
    ['["69-364", "y-z"]', '3155673600'],
    ['["1490000000", "U"]', '1490000000'],
    ['["", "Y"]', 'null'],
  ],
  date: [
    ['["c", 1767182700, "Europe/Prague"]', '"2025-12-31T13:05:00+01:00"'],
    [
      '["Y-m-d H:i T e I Z O", 1751328000, "Europe/Prague"]',
      '"2025-07-01 02:00 +02:00 Europe/Prague 1 7200 +0200"',
    ],
    ['["Y-m-d H:i P", 0, "-03:30"]', '"1969-12-31 20:30 -03:30"'],
  ],
};

describe('functions of the library', () => {
  const cases = Object.entries(CASES).flatMap(([name, each]) => each.map((one) => [name, ...one] as const));
  test.each(cases)('%s%s is %s', (name, args, gives) => {
    const list = parseExact(args);
    expect(encodeExact(evaluate({ function: name, args: list }, {}, 'here'))).toBe(gives);
  });

  test.each([
    ['add', ['a', 1], 'an argument is not a number'],
    ['add', ['1e9999', 1], 'too large'],
    ['round', [1, 5000], 'at most 100 places'],
    ['number', ['12 apples'], 'the text says no number'],
    ['split', ['a', ''], 'the delimiter is empty'],
    ['match', ['a', '(a'], 'the regular expression “(a” cannot be read'],
    ['map', [1, 'x'], 'neither an object nor a list of pairs'],
    ['map', [1, [1]], 'an item of the table is no pair'],
    ['keys', [[1]], 'an object is needed'],
    ['json_decode', ['{'], 'the text is no JSON'],
    ['parse_date', ['yesterday', 'Y-m-d'], 'a text is no date in the format “Y-m-d”'],
    ['parse_date', ['1', 'q'], '“q” in the format of a date is not known'],
    ['date', ['Y', 0, 'Mars/Olympus'], 'the time zone is not known'],
    ['is', [1, 'atleast', 2], 'Did you mean “atLeast”?'],
    ['is', [1, 'atLeast', 2, 'words'], 'Values cannot be compared like that'],
  ] as const)('%s(%j) says what is wrong: %s', (name, args, message) => {
    expect(failure(name, ...args)).toContain(message);
  });
});

describe('numbers are exact', () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), fc.integer({ min: 0, max: 12 }))
    .map(([digits, scale]) => ({ digits, scale, json: parseExact(textOf(digits, scale)) }));

  test('sums and products are those of whole numbers, scaled', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const scale = Math.max(a.scale, b.scale);
        const sum = a.digits * 10n ** BigInt(scale - a.scale) + b.digits * 10n ** BigInt(scale - b.scale);
        expect(plain(call('add', a.json, b.json))).toBe(trimmed(textOf(sum, scale)));
        expect(plain(call('multiply', a.json, b.json))).toBe(
          trimmed(textOf(a.digits * b.digits, a.scale + b.scale)),
        );
        expect(plain(call('subtract', call('add', a.json, b.json), b.json))).toBe(
          trimmed(textOf(a.digits, a.scale)),
        );
      }),
    );
  });

  test('a product divided gives what it was made of, and a remainder what is left', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        fc.pre(b.digits !== 0n);
        expect(plain(call('divide', call('multiply', a.json, b.json), b.json))).toBe(
          trimmed(textOf(a.digits, a.scale)),
        );
        const rest = call('mod', a.json, b.json);
        const whole = call('divide', call('subtract', a.json, rest), b.json);
        expect(plain(whole)).toMatch(/^-?\d+$/);
      }),
    );
  });
});

test('a date by a format is read back from it', () => {
  const moment = fc.integer({ min: 0, max: 4_000_000_000 });
  const zone = fc.constantFrom(
    'UTC',
    'Europe/Prague',
    'America/New_York',
    'Asia/Kolkata',
    '+05:45',
    '-03:30',
  );
  const format = fc.constantFrom(
    'Y-m-d H:i:s P',
    'D, d M Y h:i:s A O',
    'U',
    'l j F Y G:i:s P',
    'Y z H.i.s O',
  );
  fc.assert(
    fc.property(moment, zone, format, (seconds, name, written) => {
      const text = call('date', written, seconds, name);
      expect(call('parse_date', text, written)).toBe(seconds);
    }),
  );
});

function textOf(digits: bigint, scale: number): string {
  const size = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  const text = scale === 0 ? size : `${size.slice(0, -scale)}.${size.slice(-scale)}`;
  return digits < 0n ? `-${text}` : text;
}

function trimmed(text: string): string {
  const bare = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return bare === '-0' ? '0' : bare;
}

function plain(value: Json): string {
  return typeof value === 'number' || typeof value === 'object' ? encodeExact(value) : toText(value);
}
