import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  readLargePage,
  readPage,
  type Page,
  type PageReadOptions,
} from '../../../src/engine/records/page.ts';
import type { LargeBody } from '../../../src/engine/shared/message.ts';
import { compilePath, encodeExact } from '../../../src/lib/json/index.ts';
import { Documents } from '../../lib/json/documents.ts';

/** Bytes from which a body goes to a file. */
const LARGE_BYTES = 2 ** 24;

function optionsOf(dataField: string | undefined): PageReadOptions {
  return {
    dataField: dataField === undefined ? undefined : compilePath(dataField),
    endpoint: 'books',
    describeUrl: () => 'https://api.example.com/books',
    redact: (text) => text,
  };
}

/** A body in a file: each part is read into other memory, or over the part before. */
function fileOf(bytes: Buffer, asked: number[] = []): LargeBody {
  return {
    bytes: bytes.length,
    sha1: '',
    read(at, length, into) {
      const part = bytes.subarray(at, at + length);
      asked.push(part.length);
      if (into === undefined) return Buffer.from(part);
      const memory = into.of(part.length);
      memory.set(part);
      return memory;
    },
  };
}

/** Returns all that is to be seen of a page, or its error. */
function seenOf(read: () => Page): object {
  try {
    const { envelope, pieces, rows, rowsAt, digest, rowsDigest, warning, text } = read();
    const decoded = pieces.map((piece) => {
      const raw = piece.raw?.open();
      return hash(
        'sha1',
        `${piece.rows} ${piece.single} ${encodeExact(piece.decode())} ${
          raw === undefined ? '' : Buffer.from(raw.bytes.subarray(raw.start, raw.end)).toString('latin1')
        }`,
      );
    });
    return { envelope: encodeExact(envelope), decoded, rows, rowsAt, digest, rowsDigest, warning, text };
  } catch (error) {
    return { error: String(error), where: (error as { where?: unknown }).where };
  }
}

const documents = new Documents(11);
const rows: string[] = [];
for (let bytes = 0; bytes < LARGE_BYTES + 2 ** 20;) {
  const wide = JSON.stringify({ id: rows.length, text: 'č'.padEnd(4000, '.') });
  const row = rows.length % 3 === 0 ? documents.object() : wide;
  rows.push(row);
  bytes += row.length + 1;
}
const list = `[${rows.join(' ,\n')}]`;
const large = `{"before":{"1":1.0},"items": ${list}, "next": 17}`;

test.each<[string, Buffer, string | undefined]>([
  ['rows at a key', Buffer.from(large), 'items'],
  ['the only list', Buffer.from(large), undefined],
  ['a list by itself', Buffer.from(list), undefined],
  ['a byte order mark', Buffer.from(`\uFEFF${large}`), 'items'],
  ['rows at a JSONPath', Buffer.from(large), '$.items[*]'],
  ['no rows there', Buffer.from(large), 'others'],
  ['two lists', Buffer.from(large.replace('"next": 17', '"next":[1]')), undefined],
  ['an end that is missing', Buffer.from(large.slice(0, -12)), 'items'],
  ['text behind the end', Buffer.from(`${large} x`), 'items'],
  ['a row that is no JSON', Buffer.from(large.replace(/"next": 17/, '"next": 17x')), 'items'],
  ['a broken row in the middle', Buffer.from(`${large.slice(0, 2 ** 23)}}${large.slice(2 ** 23)}`), 'items'],
  [
    'an unknown word among the rows',
    Buffer.from(large.replace(/\]\s*, "next"/, ',nothing], "next"')),
    'items',
  ],
  ['a comma before the end', Buffer.from(large.replace(/\]\s*, "next"/, ',], "next"')), 'items'],
  [
    'bytes that are no UTF-8',
    Buffer.concat([Buffer.from(large.slice(0, -2)), Buffer.from([0xff]), Buffer.from('7}')]),
    'items',
  ],
])('a body in a file is read as one in memory: %s', (_, bytes, dataField) => {
  const options = optionsOf(dataField);
  expect(seenOf(() => readLargePage(fileOf(bytes), options))).toEqual(seenOf(() => readPage(bytes, options)));
});

test('rows of a body in a file are read in small parts', () => {
  const asked: number[] = [];
  const page = readLargePage(fileOf(Buffer.from(large), asked), optionsOf('items'));
  let count = 0;
  for (const piece of page.pieces) count += piece.decode().length;
  expect(count).toBe(rows.length);
  expect(Math.max(...asked)).toBeLessThanOrEqual(2 ** 20);
});
