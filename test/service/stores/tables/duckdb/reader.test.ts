import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDialect } from '../../../../../src/lib/csv/dialect.ts';
import { parseRows } from '../../../../../src/lib/csv/read-csv.ts';
import { createDuckDbEngine } from '../../../../../src/service/stores/tables/duckdb/engine.ts';
import { bytesOf } from '../slices.ts';
import type { CsvLayout, TableEngine } from '../../../../../src/service/stores/tables/engine.ts';
import { times } from '../../../../support/sample.ts';

/* The database has a CSV reader of its own: what our scanner accepts must arrive as our scanner reads it. */

const TABLE = { bucket: 'in.c-reader', table: 'rows' };
let folder: string;
let engine: TableEngine;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reader-'));
  engine = createDuckDbEngine({ folder });
  await engine.open();
});
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

async function load(source: Iterable<Buffer>, columns: number, format: CsvLayout = {}): Promise<number> {
  const slices = (async function* () {
    yield await Promise.resolve(Readable.from(source));
  })();
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  const request = { importedAt: new Date(0), columns: names, create: { primaryKey: [] }, ...format };
  return (await engine.import(TABLE, request, slices)).importedRows;
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const FORMATS: CsvLayout[] = [
  {},
  { delimiter: '\t' },
  { delimiter: ';', enclosure: "'" },
  { delimiter: ' ' },
  { delimiter: 'a' },
  { delimiter: '1', enclosure: 'x' },
  { delimiter: '\u0001' },
  { delimiter: '\\' },
  { delimiter: '#' },
  { enclosure: '\\' },
  { enclosure: '' },
  { escapedBy: '\\' },
];

const FILES = times(150);

test('generated files in many dialects arrive cell by cell', async () => {
  let state = 1;
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
  const pick = <T>(list: readonly T[], fallback: T): T => list[next(list.length)] ?? fallback;
  for (let i = 0; i < FILES; i++) {
    const format = pick(FORMATS, {});
    const dialect = createDialect(format);
    const delimiter = String.fromCharCode(dialect.delimiter);
    const enclosure = dialect.enclosure === undefined ? '' : String.fromCharCode(dialect.enclosure);
    const pieces = [
      'a',
      ' ',
      '\t',
      '1',
      'é',
      '#',
      '\u00a0',
      "'",
      '\\',
      '"',
      '\ufeff',
      'NULL',
      ',',
      ';',
      '\\N',
      '😀',
      delimiter,
      '\n',
      '\r\n',
    ];
    const lineEnds = next(8) === 0 ? ['\n', '\r\n'] : [pick(['\n', '\r\n'], '\n')];
    const columns = 1 + next(4);
    const cell = (): string => {
      const text = Array.from({ length: next(4) }, () => pick(pieces, '')).join('');
      if (enclosure !== '' && next(2) === 0)
        return enclosure + text.split(enclosure).join(enclosure + enclosure) + enclosure;
      const bare = text
        .replaceAll(/[\r\n]/g, '')
        .split(delimiter)
        .join('');
      if (format.escapedBy !== undefined) return text.replaceAll(/[,\\\n]/g, '\\$&').replaceAll('\r', '');
      return enclosure === '' ? bare : bare.split(enclosure).join('');
    };
    const body = Array.from(
      { length: next(6) },
      () => Array.from({ length: columns }, cell).join(delimiter) + pick(lineEnds, '\n'),
    ).join('');
    const bytes = Buffer.from(next(2) === 0 ? body : body.replace(/\r?\n$/, ''));
    const expected = parseRows(bytes, dialect);
    await load([bytes], columns, format);
    expect((await engine.preview(TABLE, {})).rows, JSON.stringify({ body, format })).toEqual(expected);
  }
}, 120_000);

describe('files larger than what the reader takes at a time', { tags: 'thorough' }, () => {
  test.each<[string, number, (row: number) => string[], string]>([
    ['line ends in quotes', 60_000, (row) => ['l\n"\n,\n'.repeat(row % 60), `é\r\n${row}`], '\n'],
    ['the same with CRLF', 60_000, (row) => ['l\n"\n,\n'.repeat(row % 60), `é\r\n${row}`], '\r\n'],
    ['many blank lines', 1_500_000, (row) => [row % 3 === 0 ? 'x'.repeat(row % 40) : ''], '\n'],
    ['a cell of 5 MB', 3, (row) => [String(row), 'y'.repeat(row === 1 ? 5_000_000 : 5)], '\n'],
  ])(
    '%s',
    async (_name, rows, cells, lineEnd) => {
      const sent = createHash('sha1');
      const columns = cells(0).length;
      function* chunks(): Generator<Buffer> {
        let lines: string[] = [];
        for (let row = 0; row < rows; row++) {
          const values = cells(row);
          sent.update(`${values.map(quote).join(',')}\n`);
          lines.push(
            values.map((value) => (/[",\n\r]/.test(value) ? quote(value) : value)).join(',') + lineEnd,
          );
          if (lines.length < 1000) continue;
          yield Buffer.from(lines.join(''));
          lines = [];
        }
        yield Buffer.from(lines.join(''));
      }
      expect(await load(chunks(), columns)).toBe(rows);
      const received = createHash('sha1');
      await engine.export(TABLE, {}, { gzip: false, targetBytes: 10e6 }, async (slice) => {
        received.update(await bytesOf(slice));
      });
      expect(received.digest('hex')).toBe(sent.digest('hex'));
    },
    30_000,
  );

  test('space of rows that are gone is given back', async () => {
    const line = `${createHash('sha512').update('x').digest('hex')}\n`;
    const noise = randomBytes(48e6)
      .toString('base64')
      .replaceAll(/.{2000}/g, '$&\n');
    await load([Buffer.from(noise)], 1);
    const file = join(folder, 'tables.duckdb');
    // Rows may still be in the log beside the file; this brings them over.
    await engine.compact();
    const full = (await stat(file)).size;
    await load([Buffer.from(line)], 1);
    await engine.compact();
    expect((await stat(file)).size).toBeLessThan(full / 4);
    expect((await engine.preview(TABLE, {})).rows).toEqual([[line.trim()]]);
  }, 120_000);
});
