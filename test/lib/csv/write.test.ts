import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteWriter } from '../../../src/lib/bytes.ts';
import { csvParts, csvText, quoteCell, rowLine } from '../../../src/lib/csv/write.ts';
import { times } from '../../support/sample.ts';

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

test('a writer that is used again and has grown shows what was written last', () => {
  const writer = new ByteWriter(4);
  for (const text of ['ab', 'cd', 'a longer text', 'ef', 'ab']) {
    writer.length = 0;
    writer.text(text);
    expect(writer.view().toString('utf8')).toBe(text);
    expect(writer.view(1).toString('utf8')).toBe(text.slice(1));
  }
});

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
      { numRuns: times(300) },
    );
  });

  test('part by part are the same, also where a part ends within a character', async () => {
    const rows = fc.array(fc.array(cell, { minLength: 1 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const text = csvText(given.map((row) => row.map((each) => each.toWellFormed())));
        expect(Buffer.concat(await partsOf(given)).toString()).toBe(text);
      }),
      { numRuns: 100 },
    );
    for (const start of ['', 'x', 'xx']) {
      const long = [[start + '😀'.repeat(400_000), '"'.repeat(300_000)], ['end']];
      expect(Buffer.concat(await partsOf(long)).equals(Buffer.from(csvText(long)))).toBe(true);
    }
  });

  test('of many megabytes let others have their turn', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    for await (const part of csvParts([['"'.repeat(16 << 20)]])) expect(part.length).toBeLessThan(2 << 20);
    isOver = true;
    expect(turns).toBeGreaterThan(30);
  });

  test.each([15, 16, 17, 63, 64, 65, 4096])('quotes in a cell of %i characters are doubled', (length) => {
    for (const text of [`"${'x'.repeat(length - 1)}`, `${'x'.repeat(length - 1)}"`, '"'.repeat(length)])
      expect(written([text, '"'])).toBe(`"${text.replaceAll('"', '""')}",""""\n`);
  });
});

async function partsOf(rows: readonly (readonly string[])[]): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for await (const part of csvParts(rows)) parts.push(part);
  return parts;
}
