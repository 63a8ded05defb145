import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { CsvError } from '../../../src/lib/csv/csv-error.ts';
import { createDialect } from '../../../src/lib/csv/dialect.ts';
import { parseRows, readRows } from '../../../src/lib/csv/read-csv.ts';
import { CsvScanner } from '../../../src/lib/csv/scan.ts';
import type { DialectOptions } from '../../../src/lib/csv/dialect.ts';
import { times } from '../../support/sample.ts';

const parse = (text: string | Uint8Array, options: DialectOptions = {}): string[][] =>
  parseRows(typeof text === 'string' ? Buffer.from(text) : text, createDialect(options));

function problemOf(
  text: string | Uint8Array,
  options: DialectOptions = {},
): { problem: string; line: number | undefined } {
  try {
    parse(text, options);
  } catch (error) {
    if (error instanceof CsvError) return { problem: error.problem, line: error.line };
    throw error;
  }
  throw new Error('The text was accepted.');
}

describe('accepted', () => {
  test.each<[string, string, string[][]]>([
    [
      'LF, with an end',
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'CRLF, without an end',
      'a,b\r\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['both line ends', 'a\r\nb\nc', [['a'], ['b'], ['c']]],
    ['line ends, delimiters and quotes in quotes', '"a\n,""\r\nb\r","c"', [['a\n,"\r\nb\r', 'c']]],
    [
      'empty cells, bare and quoted',
      ',""\n"",',
      [
        ['', ''],
        ['', ''],
      ],
    ],
    ['a BOM at the start only', '\ufeff"a",\ufeffb', [['a', '\ufeffb']]],
    ['spaces as they are', ' a , b ', [[' a ', ' b ']]],
    ['blank lines of one column', 'a\n\n\r\nb\n', [['a'], [''], [''], ['b']]],
    ['nothing', '', []],
    ['a BOM and nothing', '\ufeff', []],
  ])('%s', (_name, text, rows) => {
    expect(parse(text)).toEqual(rows);
  });

  test('another delimiter and enclosure', () => {
    expect(parse("'a''b'\t\"c\"", { delimiter: '\\t', enclosure: "'" })).toEqual([["a'b", '"c"']]);
  });

  test('no enclosure: quotes are text', () => {
    expect(parse('"a,b"\n', { enclosure: '' })).toEqual([['"a', 'b"']]);
  });

  test('escapes: the character behind is text, a CRLF as one', () => {
    expect(parse('a\\,b,\\\\,c\\\r\nd,\\\ne\n', { escapedBy: '\\' })).toEqual([
      ['a,b', '\\', 'c\r\nd', '\ne'],
    ]);
  });
});

describe('refused, with the physical line', () => {
  test.each<[string, string | Uint8Array, string, number]>([
    ['too few columns', 'a,b\n"x\ny",1\n2\n', 'columns', 4],
    ['too many columns, on the line where the record starts', 'a,b\n1,2\n3,"x\ny",4\n', 'columns', 3],
    ['a blank line', 'a,b\n\n1,2\n', 'columns', 2],
    ['text behind a closing quote', 'a\n"x"y\n', 'quote', 2],
    ['a space behind a closing quote', 'a\n"x" \n', 'quote', 2],
    ['a quote in an unquoted cell', 'a\nx"y\n', 'quote', 2],
    ['a space before a quote', 'a, "b"\n', 'quote', 1],
    ['a quote that never ends, where it starts', 'a\nb\n"x\ny\nz', 'unterminated', 3],
    ['CR alone', 'a\rb\n', 'lineEnd', 1],
    ['CR at the very end', 'a\n"b"\r', 'lineEnd', 2],
    ['NUL, bare', 'a\nb\0\n', 'nul', 2],
    ['NUL, quoted', 'a\n"\n\0"\n', 'nul', 3],
    ['Latin-1', Buffer.from('a\nb\xe9\n', 'latin1'), 'encoding', 2],
    ['a cut character at the end', Buffer.from([0x61, 0x0a, 0xe2, 0x82]), 'encoding', 2],
    ['UTF-16', Buffer.from('\ufeffa\n', 'utf16le'), 'encoding', 1],
  ])('%s', (_name, text, problem, line) => {
    expect(problemOf(text)).toEqual({ problem, line });
  });

  test('the earlier of two mistakes is told', () => {
    expect(problemOf(Buffer.from('a\nx"\n\xe9\n', 'latin1'))).toEqual({ problem: 'quote', line: 2 });
  });

  test('an escape character at the very end', () => {
    expect(problemOf('a\\', { escapedBy: '\\' }).problem).toBe('unterminated');
  });

  test('the message names line, record and what was expected', () => {
    expect(() => parse('a,b\n1\n')).toThrow(
      'Line 2 (record 2): there is 1 column, but 2 columns were expected.',
    );
  });

  test.each<[DialectOptions]>([
    [{ delimiter: '' }],
    [{ delimiter: ',,' }],
    [{ delimiter: '€' }],
    [{ delimiter: '\n' }],
    [{ delimiter: '"' }],
    [{ enclosure: '""' }],
    [{ enclosure: '"', escapedBy: '\\' }],
  ])('the dialect %j', (options) => {
    expect(() => createDialect(options)).toThrow(CsvError);
  });
});

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

describe('in chunks', () => {
  const cell = fc.string({
    unit: fc.constantFrom('a', 'é', '€', '😀', '"', ',', '\n', '\r', ' ', '\ufeff'),
    maxLength: 6,
  });
  const table = fc
    .integer({ min: 1, max: 4 })
    .chain((columns) =>
      fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 6 }),
    );
  test('what was quoted is read back, wherever the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 7 }),
        async (rows, lineEnd, size) => {
          const bytes = Buffer.from(rows.map((row) => row.map(quote).join(',') + lineEnd).join(''));
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
            bytes.subarray(i * size, (i + 1) * size),
          );
          const read: string[][] = [];
          for await (const row of readRows(chunks, createDialect())) read.push(row);
          expect(read).toEqual(rows);
          expect(parseRows(bytes, createDialect())).toEqual(rows);
        },
      ),
      { numRuns: times(300) },
    );
  });

  test('a scanner counts records, columns and lines, and knows the line ends', () => {
    const scanner = new CsvScanner({ dialect: createDialect() });
    for (const byte of Buffer.from('a,b\r\n"1\n2",3\n4,5')) scanner.push(Uint8Array.of(byte));
    scanner.end();
    expect(scanner).toMatchObject({
      records: 3,
      columns: 2,
      line: 4,
      longestRecord: 8,
      hasLfEnds: true,
      hasCrlfEnds: true,
      hasQuotedLineEnds: true,
    });
  });
});
