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
  const isQuoted = enclosure !== undefined && bytes[start] === enclosure;
  const text = isQuoted ? bytes.subarray(start + 1, end - 1) : bytes.subarray(start, end);
  const mark = isQuoted ? enclosure : escape;
  return (mark === undefined || !text.includes(mark) ? text : withoutMarks(text, mark)).toString('utf8');
}

/** Leaves out each mark and keeps the byte behind it. On bytes: of a text of many megabytes it would take seconds. */
function withoutMarks(bytes: Buffer, mark: number): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === mark) i++;
    if (i < bytes.length) kept[length++] = bytes[i] as number; // below its length
  }
  return kept.subarray(0, length);
}
