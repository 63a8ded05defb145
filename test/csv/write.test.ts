import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLine, quoteCell } from '../../src/csv/write.ts';

describe('CSV lines', () => {
  test('every cell is quoted, quotes are doubled, other bytes stay', () => {
    expect(quoteCell('say "hi"')).toBe('"say ""hi"""');
    expect(csvLine(['a', '', 'b,c', 'd\ne'])).toBe('"a","","b,c","d\ne"\n');
  });

  test('are what csv-stringify writes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (cells) => {
        expect(csvLine(cells)).toBe(stringify([cells], { quoted: true, quoted_empty: true }));
      }),
    );
  });
});
