import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDialect } from '../../../src/lib/csv/dialect.ts';
import { cellsIn } from '../../../src/engine/formats/csv-rows.ts';
import { csvRows } from '../../../src/engine/formats/csv.ts';
import { DEFAULT_FORMAT } from '../../../src/engine/formats/index.ts';
import type { Json } from '../../../src/lib/json/index.ts';
import { bodyOf, take } from './support.ts';

const { csv } = DEFAULT_FORMAT;

function rowsOf(
  text: string | Uint8Array,
  settings: Partial<typeof csv> = {},
  piece?: number,
): readonly Json[] {
  return take(
    csvRows(bodyOf(text, piece), { settings: { ...csv, ...settings }, format: 'csv', charset: undefined }),
  );
}

describe('cells of records that were checked', () => {
  const dialect = createDialect();
  test('are those that were written, quoted where they must be or at will', () => {
    const cell = fc.tuple(
      fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', '\r\n', ' ') }),
      fc.boolean(),
    );
    const records = fc
      .integer({ min: 1, max: 4 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }));
    fc.assert(
      fc.property(records, fc.constantFrom('\n', '\r\n'), fc.boolean(), (given, lineEnd, isEnded) => {
        const text = given
          .map((record) =>
            record
              .map(([value, isQuoted]) => written(value, isQuoted || (value === '' && record.length === 1)))
              .join(','),
          )
          .join(lineEnd);
        const bytes = Buffer.from(isEnded ? text + lineEnd : text);
        if (bytes.length === 0) return;
        expect(cellsIn(bytes, dialect)).toEqual(given.flat().map(([value]) => value));
      }),
    );
  });
});

function written(text: string, isQuoted: boolean): string {
  return isQuoted || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

describe('rows of CSV', () => {
  test('are the same, however the body comes', () => {
    const text = 'id,näme\r\n1,"a ""b"""\r\n2,"two\nlines"\r\n3,\r\n';
    const rows = [
      { id: '1', näme: 'a "b"' },
      { id: '2', näme: 'two\nlines' },
      { id: '3', näme: '' },
    ];
    for (let piece = 1; piece < 12; piece++) expect(rowsOf(text, {}, piece)).toEqual(rows);
  });

  test('keep the order of names that are numbers, and a name that objects have', () => {
    const [row] = rowsOf('b,10,__proto__\n1,2,3\n');
    expect([...(row as Map<string, string>)]).toEqual([
      ['b', '1'],
      ['10', '2'],
      ['__proto__', '3'],
    ]);
  });

  test('a byte order mark is no part of the first name; one of UTF-16 says the encoding', () => {
    expect(rowsOf('\ufeffid\n1\n')).toEqual([{ id: '1' }]);
    expect(rowsOf(Buffer.from('\ufeffid\né\n', 'utf16le'))).toEqual([{ id: 'é' }]);
  });

  test('a column without a name is called by its place', () => {
    expect(rowsOf('id,\n1,x\n')).toEqual([{ id: '1', column_2: 'x' }]);
  });

  test('without quotes, a quote is a character', () => {
    expect(rowsOf('id,size\n1,5"\n', { quote: '' })).toEqual([{ id: '1', size: '5"' }]);
  });

  test('nothing, and a header alone, are no rows', () => {
    expect(rowsOf('')).toEqual([]);
    expect(rowsOf('id,name\n')).toEqual([]);
    expect(rowsOf('id,name')).toEqual([]);
  });

  test.each([
    ['id,id\n1,2\n', 'two columns that are called “id”'],
    ['id,name\n1\n', 'Line 2 (record 2): there is 1 column, but 2 columns were expected'],
    ['id,name\n1,"a"b\n', 'Line 2 (record 2): there is text after the closing quote'],
    ['id,name\n1,a\n\n2,b\n', 'Line 3 (record 3): the line is blank'],
    ['id|name\n1|a\n', 'has “|” in it'],
  ])('%j is an error that says where', (text, message) => {
    expect(() => rowsOf(text)).toThrow(message);
  });

  test('what is in another encoding is an error that names the line', () => {
    const bytes = Buffer.from('id\nx\nn\xfcll\n', 'latin1');
    expect(() => rowsOf(bytes)).toThrow('Line 3 (record 3): the text is not UTF-8');
    expect(rowsOf(bytes, { encoding: 'iso-8859-1' })).toEqual([{ id: 'x' }, { id: 'nüll' }]);
    expect(() => rowsOf(bytes, { encoding: 'shift_jis' })).toThrow('is not shift_jis');
  });

  test('lines in front are left out, and counted', () => {
    expect(rowsOf('Report "of\nall\nid\n1\n', { skip: 2 })).toEqual([{ id: '1' }]);
    expect(() => rowsOf('x\nid\n1,2\n', { skip: 1 })).toThrow('Line 3');
  });
});
