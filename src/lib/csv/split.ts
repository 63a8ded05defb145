import { CR, LF } from './dialect.ts';
import type { CsvDialect } from './dialect.ts';

/** Returns the cells of one record that a scanner has accepted, with or without its line end. */
export function splitRecord(record: Uint8Array, dialect: CsvDialect): string[] {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  const cells: string[] = [];
  let start = 0;
  for (;;) {
    const end =
      bytes[start] === dialect.enclosure
        ? quotedEnd(bytes, start + 1, dialect)
        : plainEnd(bytes, start, dialect);
    cells.push(cellText(bytes, start, end, dialect));
    if (bytes[end] !== dialect.delimiter) return cells;
    start = end + 1;
  }
}

/** Returns the offset behind the closing quote. */
function quotedEnd(bytes: Buffer, from: number, { enclosure }: CsvDialect): number {
  let i = from;
  while (i < bytes.length) {
    if (bytes[i] !== enclosure) i++;
    else if (bytes[i + 1] === enclosure) i += 2;
    else return i + 1;
  }
  return i;
}

/** Returns the offset of the delimiter or line end behind an unquoted cell. */
function plainEnd(bytes: Buffer, from: number, { delimiter, escape }: CsvDialect): number {
  let i = from;
  while (i < bytes.length) {
    const byte = bytes[i];
    if (byte === delimiter || byte === LF || byte === CR) return i;
    const isEscapedCrlf = byte === escape && bytes[i + 1] === CR && bytes[i + 2] === LF;
    i += byte === escape ? (isEscapedCrlf ? 3 : 2) : 1;
  }
  return i;
}

function cellText(bytes: Buffer, start: number, end: number, { enclosure, escape }: CsvDialect): string {
  if (enclosure !== undefined && bytes[start] === enclosure) {
    const quote = String.fromCharCode(enclosure);
    return bytes.toString('utf8', start + 1, end - 1).replaceAll(quote + quote, quote);
  }
  const text = bytes.toString('utf8', start, end);
  if (escape === undefined) return text;
  const mark = String.fromCharCode(escape);
  let plain = '';
  for (let i = 0; i < text.length; i++) plain += text[i] === mark ? (text[++i] ?? '') : text[i];
  return plain;
}
