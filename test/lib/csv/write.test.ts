import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteWriter } from '../../../src/lib/bytes.ts';
import { csvText, quoteCell, rowLine } from '../../../src/lib/csv/write.ts';

/** Cells of every length: short ones and long ones are written in different ways. */
const cell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', ',', 'a', 'é', '€', '😀', '\n', '\r'), maxLength: 200 }),
  fc.string({ unit: fc.constantFrom('"', 'x'), minLength: 60, maxLength: 5000 }),
);

function written(cells: readonly string[]): string {
  const writer = new ByteWriter(16);
  for (const [i, text] of cells.entries()) {
    if (i > 0) writer.comma();
    writer.cell(text);
  }
  writer.newline();
  return writer.view().toString('utf8');
}

describe('CSV lines', () => {
  test('every cell is quoted, quotes are doubled, other bytes stay', () => {
    expect(quoteCell('say "hi"')).toBe('"say ""hi"""');
    expect(
      csvText([
        ['a', '', 'b,c', 'd\ne'],
        ['=1', ' ', '"', ''],
      ]),
    ).toBe('"a","","b,c","d\ne"\n"=1"," ","""",""\n');
  });

  test('of the hot loops are what csv-stringify writes', () => {
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1 }), (cells) => {
        const expected = csvText([cells]);
        expect(rowLine(cells)).toBe(expected);
        expect(written(cells)).toBe(Buffer.from(expected).toString('utf8'));
      }),
      { numRuns: 300 },
    );
  });

  test.each([15, 16, 17, 63, 64, 65, 4096])('quotes in a cell of %i characters are doubled', (length) => {
    for (const text of [`"${'x'.repeat(length - 1)}`, `${'x'.repeat(length - 1)}"`, '"'.repeat(length)])
      expect(written([text, '"'])).toBe(`"${text.replaceAll('"', '""')}",""""\n`);
  });
});
