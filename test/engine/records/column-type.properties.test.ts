import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kindNames, kindsFrom, typeOf, VALUE } from '../../../src/engine/records/types/column-type.ts';
import { SeenValues } from '../../../src/engine/records/types/seen-values.ts';
import { kindOfNumber, kindOfRaw, kindOfValue } from '../../../src/engine/records/types/value-kind.ts';
import { parseExact } from '../../../src/lib/json/index.ts';

const literals = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '"x"', '""', '"12"', '[1]', '{"a":1}'),
  fc.constantFrom('"2024-02-29"', '"2023-02-29"', '"2024-01-01T00:00:00Z"', '"2024-01-01 00:00:00"'),
  fc.bigInt({ min: -(10n ** 32n), max: 10n ** 32n }).map(String),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 9999 })).map(([a, b]) => `${a}.${b}`),
  fc.integer().map((n) => `"${n}"`),
  // Any sign of a text may be written as an escape.
  fc
    .tuple(
      fc.constantFrom(
        '2024-02-29',
        '2024-02-29T10:00:00.123456+01:00',
        '2024-02-30',
        '2024-02-29T10:00:00Z!',
      ),
      fc.infiniteStream(fc.boolean()),
    )
    .map(
      ([text, isEscaped]) =>
        `"${text.replaceAll(/./g, (sign) => (isEscaped.next().value ? escaped(sign) : sign))}"`,
    ),
);

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function seenIn(values: readonly string[]): SeenValues {
  const seen = new SeenValues();
  for (const text of values) seen.see(kindOfValue(parseExact(text)), () => text, undefined);
  return seen;
}

function kindOf(text: string): number {
  return kindOfValue(parseExact(text));
}

describe('the type of a column', () => {
  const columns = fc.array(literals, { maxLength: 12 });

  test('is the same in any order of the values, and however often they come', () => {
    fc.assert(
      fc.property(
        columns.chain((values) =>
          fc.tuple(
            fc.constant(values),
            fc.shuffledSubarray([...values, ...values], { minLength: 2 * values.length }),
          ),
        ),
        ([values, shuffled]) => {
          expect(seenIn(shuffled).kinds).toBe(seenIn(values).kinds);
        },
      ),
    );
  });

  test('is the join of the types of its parts, by whatever way they are joined', () => {
    fc.assert(
      fc.property(columns, columns, columns, (a, b, c) => {
        const joined = (...parts: (readonly string[])[]): number => {
          const all = new SeenValues();
          for (const part of parts) all.know(seenIn(part).kinds);
          return all.kinds;
        };
        const whole = seenIn([...a, ...b, ...c]).kinds;
        expect(joined(a, b, c)).toBe(whole);
        expect(joined(c, a, b)).toBe(whole);
        expect(joined(a, a, b, c, c)).toBe(whole);
        const inner = new SeenValues();
        inner.know(joined(b, c));
        inner.know(seenIn(a).kinds);
        expect(inner.kinds).toBe(whole);
      }),
    );
  });

  test('never becomes narrower: it holds what it held', () => {
    fc.assert(
      fc.property(columns, literals, (values, more) => {
        const before = seenIn(values).type;
        const after = seenIn([...values, more]).type;
        if (before === 'text') expect(after).toBe('text');
        if (before !== undefined) expect(after).not.toBeUndefined();
        if (before === 'decimal(38,9)') expect(['decimal(38,9)', 'text']).toContain(after);
        if (before === 'json') expect(['json', 'text']).toContain(after);
        if (after === 'json') expect(['json', undefined]).toContain(before);
      }),
    );
  });

  test('comes through the state', () => {
    fc.assert(
      fc.property(columns, (values) => {
        const { kinds } = seenIn(values);
        expect(kindsFrom(kindNames(kinds))).toBe(kinds);
      }),
    );
    expect(typeOf(kindsFrom(['integer', 'of a later version']))).toBe('text');
  });

  test.each([
    [['null'], undefined],
    [['true', 'null', 'false'], 'boolean'],
    [['1', '-9223372036854775808'], 'bigint'],
    [['9223372036854775808'], 'decimal(38,9)'],
    [['123456789012345678901234567890'], 'text'],
    [['1', '0.5', '1.0', '1e3'], 'double'],
    [['9007199254740992', '0.5'], 'double'],
    [['9007199254740993', '0.5'], 'decimal(38,9)'],
    [['1.2345678901234567'], 'text'],
    [['12345678901.123456789'], 'decimal(38,9)'],
    [['1e-12', '5'], 'double'],
    [['1e-12', '9007199254740993'], 'text'],
    [['1e300'], 'double'],
    [['1e999'], 'text'],
    [['1', '"1"'], 'text'],
    [['1', 'true'], 'text'],
    [['""'], 'text'],
    [['"007"'], 'text'],
    [['"2024-02-29"'], 'date'],
    [['"2023-02-29"'], 'text'],
    [['"0000-00-00"'], 'text'],
    [['"2024-02-29"', '"2024-02-29T10:00:00.123456"'], 'timestamp'],
    [['"2024-02-29T10:00:00.1234567"'], 'text'],
    [['"2024-02-29T10:00:00Z"', '"2024-02-29 10:00:00+0100"'], 'timestamptz'],
    [['"2024-02-29T10:00:00Z"', '"2024-02-29T10:00:00"'], 'text'],
    [['"2024-02-29T10:00:00Z"', '"2024-02-29"'], 'text'],
    [['"2024-02-29T23:59:60Z"'], 'text'],
    [['{"a":1}', '[1]', 'null'], 'json'],
    [['1', '[1]'], 'text'],
  ] satisfies [string[], string | undefined][])('of %j is %s', (values, type) => {
    expect(seenIn(values).type).toBe(type);
  });
});

test('bytes have the kind of the value that they are', () => {
  fc.assert(
    fc.property(literals, (text) => {
      if (text.startsWith('[') || text.startsWith('{')) return;
      const bytes = Buffer.from(`,${text},`);
      expect(kindOfRaw(bytes, 1, bytes.length - 1)).toBe(kindOf(text));
    }),
  );
});

/** Returns the digits of a number behind “0.”, and its power of ten. */
function digitsOf(text: string): { readonly digits: string; readonly top: number } {
  const [, whole = '', behind = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const all = whole + behind;
  const leading = all.length - all.replace(/^0+/, '').length;
  const digits = all.slice(leading).replace(/0+$/, '');
  return { digits, top: digits === '' ? 0 : whole.length - leading + Number(power) };
}

test('a double or a decimal gives back every number of its kind', () => {
  fc.assert(
    fc.property(literals, (text) => {
      if (!/^-?\d/.test(text)) return;
      const kind = kindOfNumber(text);
      if (kind === VALUE.integer) expect(BigInt(Number(text))).toBe(BigInt(text));
      if (kind === VALUE.fraction || kind === VALUE.float)
        expect(digitsOf(Number(text).toPrecision(15))).toEqual(digitsOf(text));
      if (kind !== VALUE.huge && kind !== VALUE.fraction && kind !== VALUE.precise) return;
      const { digits, top } = digitsOf(text);
      expect(top).toBeLessThanOrEqual(29);
      expect(digits.length - top).toBeLessThanOrEqual(9);
    }),
  );
});
