import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  CHUNK_BYTES,
  compilePath,
  encodeExact,
  MAX_DEPTH,
  parseExact,
  scanLarge,
  scanPage,
  type DocumentBytes,
  type Json,
  type Path,
} from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createAutomaticParser } from '../../../src/engine/records/automatic.ts';
import { readPage, type Page } from '../../../src/engine/records/page.ts';
import { Sink } from '../../../src/engine/sink/sink.ts';
import { decimalOf, Documents, withDecimals } from './documents.ts';
import { times } from '../../support/sample.ts';

const ROWS = compilePath('rows');
const ALL = compilePath('.');

function pageOf(text: string, dataField: Path | undefined): Page {
  return readPage(Buffer.from(text), {
    dataField,
    endpoint: 'test',
    describeUrl: () => 'http://test',
    redact: (shown) => shown,
  });
}

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const valueOf = (text: string): string => decimalOf(text).replace(/^[if]/, '').replace(/^-0$/, '0');

/** All rows of a page and what is around them. */
function read(text: string, dataField: Path | undefined = ROWS): { rows: readonly Json[]; envelope: Json } {
  const page = pageOf(text, dataField);
  const rows = page.pieces.flatMap((piece) => piece.decode());
  expect(rows).toHaveLength(page.rows);
  return { rows, envelope: page.envelope };
}

describe('the scan', () => {
  test('finds every direct list of the root, or the one at a path', () => {
    const bytes = Buffer.from('{"a":[1,2],"b":{"c":[3]},"d":"[]","e":[]}');
    expect([...scanPage(bytes, undefined).lists].map(([key, list]) => [key, list.rows])).toEqual([
      ['a', 2],
      ['e', 0],
    ]);
    expect([...scanPage(bytes, ['b', 'c']).lists].map(([key, list]) => [key, list.rows])).toEqual([
      ['b.c', 1],
    ]);
    expect(scanPage(Buffer.from('[{"x":[[1],[2,3]]}]'), ['0', 'x', '1']).lists.get('0.x.1')?.rows).toBe(2);
  });

  test.each([
    ['[{"a":12.5,"b":"text","c":null,"10 apples":[true]}]', true],
    ['[9007199254740993]', false],
    ['[1234567890.123456]', false],
    ['[1.0]', false],
    ['[1e3]', false],
    ['[-0]', false],
    ['[{"10":1}]', false],
    ['["10"]', true],
    [String.raw`["\ud800"]`, false],
  ])('says whether JSON.parse may read %s: %s', (text, plain) => {
    expect(
      scanPage(Buffer.from(text), [])
        .lists.get('')
        ?.chunks.map((chunk) => chunk.plain),
    ).toEqual([plain]);
  });

  test('refuses more levels than the exact parser', () => {
    expect(read(deep(MAX_DEPTH), ALL).rows).toHaveLength(1);
    expect(() => read(deep(MAX_DEPTH + 1), ALL)).toThrow('levels of nesting');
    const rows = (levels: number): string => `{"rows":[${deep(levels)}]}`;
    expect(() => parseExact(rows(MAX_DEPTH - 1))).toThrow('levels of nesting');
    expect(() => read(rows(MAX_DEPTH - 1))).toThrow('levels of nesting');
    expect(read(rows(MAX_DEPTH - 2)).rows).toHaveLength(1);
  });

  test('chunk borders change nothing', () => {
    const documents = new Documents(3);
    const wide = JSON.stringify('wide'.padEnd(CHUNK_BYTES / 7, '.'));
    const rows = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? wide : documents.object()));
    const text = `{"before":{"1":1.0},"rows": [ ${rows.join(' ,\n ')} ] ,"after":[1e3]}`;
    const page = pageOf(text, ROWS);
    expect(page.pieces.length).toBeGreaterThan(1);
    const got = read(text);
    expect(withDecimals(encodeExact(got.rows))).toBe(withDecimals(`[${rows.join(',')}]`));
    expect(encodeExact(got.envelope)).toBe('{"before":{"1":1.0},"rows":[],"after":[1e3]}');
    expect(encodeExact(page.response())).toBe(encodeExact(parseExact(text)));
  });
});

const PAGES = times(5_000);

test('documents go through scan and decoding with every literal, key and order kept', () => {
  const documents = new Documents(4);
  for (let page = 0; page < PAGES; page++) {
    const rows = Array.from({ length: 20 }, () => documents.value());
    const around = documents.object().replaceAll('"rows":', '"others":').slice(1, -1);
    const text = documents.spaced(`{"rows":[${rows.join(',')}]${around === '' ? '' : `,${around}`}}`);
    const got = read(text);
    const again = withDecimals(encodeExact(got.rows));
    if (again !== withDecimals(`[${rows.join(',')}]`))
      expect(again).toBe(withDecimals(`[${rows.join(',')}]`));
    const rest = withDecimals(encodeExact(got.envelope));
    if (rest !== withDecimals(`{"rows":[]${around === '' ? '' : `,${around}`}}`)) expect(rest).toBe(around);
  }
});

test('a document is scanned part by part as it is as a whole', () => {
  const documents = new Documents(7);
  let scanned = 0;
  for (let i = 0; i < times(8_000); i++) {
    const rows = Array.from({ length: i % 9 }, () => documents.value());
    const around = [`"before":${documents.value()},`, `,"rows2":${documents.list()}`, ''];
    const whole = documents.spaced(
      i % 4 === 0
        ? `[${rows.join(',')}]`
        : `{${around[(i % 4) - 1] ?? ''}"rows":[${rows.join(',')}]${around[i % 3] ?? ''}}`,
    );
    const text = i % 5 === 0 ? documents.broken(whole) : whole;
    const bytes = Buffer.from(text);
    const path = i % 4 === 0 ? [] : i % 7 === 0 ? undefined : ['rows'];
    const document: DocumentBytes = {
      bytes: bytes.length,
      read(at, length, into) {
        const part = bytes.subarray(at, at + length);
        const memory = into.of(part.length);
        memory.set(part);
        return memory;
      },
    };
    const got = scanLarge(document, path, { first: 1 + (i % 31), most: 256 + (i % 999) });
    if (got === undefined) continue;
    scanned++;
    expect({ text, got }).toEqual({ text, got: scanPage(bytes, path) });
  }
  expect(scanned).toBeGreaterThan(times(2_000));
});

test('a document is refused when and only when JSON.parse refuses it', () => {
  const documents = new Documents(5);
  let refused = 0;
  for (let i = 0; i < times(30_000); i++) {
    const text = documents.broken(
      `{"rows":[${documents.value()},${documents.value()}],"next":${documents.value()}}`,
    );
    if (text === '') continue; // an empty body is no document, and no error
    const valid = isValid(() => JSON.parse(text));
    if (!valid) refused++;
    if (isValid(() => read(text)) !== valid) expect({ text, valid: !valid }).toEqual({ text, valid });
  }
  expect(refused).toBeGreaterThan(times(10_000));
});

function isValid(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

test('the cells of a run hold the decimals of the response', { timeout: 120_000 }, async () => {
  const documents = new Documents(6);
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-cells-'));
  const sink = new Sink(path.join(folder, 'work'));
  const parser = createAutomaticParser({ log: silentLog });
  const literals: string[][] = [];
  for (let page = 0; page < 50; page++) {
    const numbers = Array.from({ length: 100 }, () => Array.from({ length: 8 }, () => documents.number()));
    literals.push(...numbers);
    const { rows } = read(
      `{"rows":[${numbers.map((row) => `{${row.map((literal, i) => `"n${i}":${literal}`).join(',')}}`).join(',')}]}`,
    );
    parser.take({ dataType: 'numbers', extra: {}, count: rows.length, chunks: () => [rows] }, sink);
  }
  const [table] = await sink.close();
  const [, ...lines] = readFileSync(table?.file ?? '', 'utf8')
    .trimEnd()
    .split('\n');
  rmSync(folder, { recursive: true });
  const got = lines.map((line) => line.slice(1, -1).split('","').map(valueOf));
  expect(got).toEqual(literals.map((row) => row.map(valueOf)));
});
