import { isAscii } from 'node:buffer';
import type { CsvDialect } from '../../lib/csv/dialect.ts';
import { isIntegerLike, objectOf, type Json } from '../../lib/json/index.ts';

/** Returns the cells of whole records that a scanner has accepted, one record after the other. */
export function cellsIn(block: Uint8Array, { delimiter, enclosure }: CsvDialect): string[] {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  const text = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  const mark = String.fromCharCode(delimiter);
  const quote = enclosure === undefined ? undefined : String.fromCharCode(enclosure);
  const cells: string[] = [];
  const { length } = text;
  let at = 0;
  let nextMark = found(text.indexOf(mark), length);
  let nextLine = found(text.indexOf('\n'), length);
  for (let isOpen = length > 0; isOpen;) {
    let end: number;
    if (quote !== undefined && text[at] === quote) {
      end = closing(text, quote, at + 1);
      const inner = text.slice(at + 1, end);
      cells.push(inner.includes(quote) ? inner.replaceAll(quote + quote, quote) : inner);
      end++;
      if (text[end] === '\r') end++;
      if (nextMark < end) nextMark = found(text.indexOf(mark, end), length);
      if (nextLine < end) nextLine = found(text.indexOf('\n', end), length);
    } else {
      end = Math.min(nextMark, nextLine);
      const isReturn = end === nextLine && text[end - 1] === '\r' && end > at;
      cells.push(text.slice(at, isReturn ? end - 1 : end));
    }
    at = end + 1;
    isOpen = at < length || (end < length && end === nextMark);
    if (end === nextMark) nextMark = found(text.indexOf(mark, at), length);
    else if (end === nextLine) nextLine = found(text.indexOf('\n', at), length);
  }
  return cells;
}

function found(index: number, otherwise: number): number {
  return index < 0 ? otherwise : index;
}

function closing(text: string, quote: string, from: number): number {
  let at = text.indexOf(quote, from);
  while (at >= 0 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at < 0 ? text.length : at;
}

/** Builds rows from cells. */
export type RowMaker = (cells: readonly string[], records: number) => Json[];

/** Creates rows as objects with the same keys in the same order; all values are texts. */
export function rowMaker(names: readonly string[]): RowMaker {
  const width = names.length;
  if (names.some((name) => isIntegerLike(name) || name === '__proto__'))
    return (cells, records) =>
      Array.from({ length: records }, (_, row) =>
        objectOf(names.map((name, i) => [name, cells[row * width + i] ?? ''] as const)),
      );
  // a copy of an object has its hidden class; adding keys one by one would look the class up for each
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  return (cells, records) => {
    const rows: Json[] = [];
    for (let row = 0; row < records; row++) {
      const from = row * width;
      const object = { ...empty };
      for (let i = 0; i < width; i++) object[names[i] as string] = cells[from + i] as string; // both have `width` of them
      rows.push(object);
    }
    return rows;
  };
}
