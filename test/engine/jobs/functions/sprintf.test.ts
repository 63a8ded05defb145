import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sprintf } from '../../../../src/engine/jobs/functions/sprintf.ts';
import { isList, numberFrom, toText } from '../../../../src/lib/json/index.ts';
import { casesOf } from './vectors.ts';

test('every recorded format gives the recorded text', () => {
  const results = casesOf('sprintf').map(([format, values, wanted]) => {
    if (!isList(values)) throw new Error('arguments are no list');
    return { format, text: sprintf(toText(format), values), wanted };
  });
  expect(results.filter(({ text, wanted }) => text !== wanted)).toEqual([]);
});

describe('simple models', () => {
  const integer = fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 });
  const width = fc.integer({ min: 1, max: 30 });

  test('%d is the number, padded by the width', () => {
    fc.assert(
      fc.property(integer, width, (value, columns) => {
        const text = String(value);
        expect(sprintf('%d', [value])).toBe(text);
        expect(sprintf(`%${columns}d`, [value])).toBe(text.padStart(columns));
        expect(sprintf(`%-${columns}d`, [value])).toBe(text.padEnd(columns));
        expect(Number(sprintf(`%0${columns}d`, [value]))).toBe(value);
        expect(sprintf(`%0${columns}d`, [value])).toHaveLength(Math.max(columns, text.length));
      }),
    );
  });

  test('%s is the text, and a percent sign in it is no directive', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (first, second) => {
        expect(sprintf('%s|%s', [first, second])).toBe(`${first}|${second}`);
        expect(sprintf('%2$s|%1$s', [first, second])).toBe(`${second}|${first}`);
      }),
    );
  });

  test('%x, %o and %b are the digits of the number', () => {
    fc.assert(
      fc.property(fc.nat(), (value) => {
        expect([sprintf('%x', [value]), sprintf('%o', [value]), sprintf('%b', [value])]).toEqual([
          value.toString(16),
          value.toString(8),
          value.toString(2),
        ]);
      }),
    );
  });

  test('%.17e reads back to the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(sprintf('%.17e', [value]))).toBe(value + 0);
      }),
    );
  });
});

test.each([
  ["%'.05d", [3], '00003'],
  ["%0'.5d", [3], '....3'],
  ['%+05d', [5], '+0005'],
  ['%+5d', [5], '   +5'],
  ['%-08.2f|', [3.14], '3.140000|'],
  ['%.2f', [-0.001], '-0.00'],
  ['%.f', [1.5], '2'],
  ['%.30f', [0.1], '0.100000000000000005551115123126'],
  ['%.1f', [1e25], '10000000000000000905969664.0'],
  ['%.0e', [2.5], '2e+0'],
  ['%.0e', [3.5], '4e+0'],
  ['%g', [0.0001], '0.0001'],
  ['%g', [0], '0'],
  ['%g', [1_234_565], '1.23456e+6'],
  ['%.3s|', ['čau'], 'ča|'],
  ['%.1s|', ['čau'], '|'],
  ['%.s|', ['abc'], 'abc|'],
  ['%ld', [5], '5'],
  ['%5%', [], '%'],
  ['%x', ['0x1A'], '0'],
  ['%d', [' 12 apples'], '12'],
  ['%d', ['99999999999999999999'], '9223372036854775807'],
  ['%f', ['1.5kg'], '1.500000'],
  ['%f', [true], '1.000000'],
])('%s with %j is “%s”', (format, values, wanted) => {
  expect(sprintf(format, values)).toBe(wanted);
});

test('large integers keep their digits', () => {
  expect(sprintf('%s %d', [numberFrom('9223372036854775807'), numberFrom('9223372036854775807')])).toBe(
    '9223372036854775807 9223372036854775807',
  );
  expect(sprintf('%s', [numberFrom('12345678901234567890')])).toBe('12345678901234567890');
  expect(sprintf('%f', [numberFrom('1e999')])).toBe('Inf');
});

test.each([
  ['%s %s', ['a'], 'the format asks for 2 values, but 1 are given'],
  ['%3$s', ['a'], 'the format asks for 3 values, but 1 are given'],
  ['%0$s', ['a'], 'the arguments of a format count from 1, as in %1$s'],
  ['%q', ['a'], 'the format has an unknown directive %q'],
  ['50%', ['a'], 'the format ends inside a directive'],
  ['%c', [300], '%c takes a code from 0 to 127'],
  ['%s', [['a']], 'an argument is a list, but text is needed'],
  ['%999999s', ['a'], 'a width in the format is above 100000'],
])('%s with %j fails', (format, values, message) => {
  expect(() => sprintf(format, values)).toThrow(message);
});
