import { setImmediate as nextTurn } from 'node:timers/promises';
import { stringify } from 'csv-stringify/sync';

/**
 * Writes CSV text: every cell quoted, inner quotes doubled, lines ended by LF (RFC 4180). For headers, previews and
 * other small texts. Large numbers of rows are written by {@link rowLine} and `ByteWriter.cell`; a property test
 * ensures the same bytes.
 */
export function csvText(rows: readonly (readonly string[])[]): string {
  return stringify(rows as string[][], { quoted: true, quoted_empty: true }); // it does not change them
}

/** Quotes one cell of a row, for the hot loop. */
export function quoteCell(text: string): string {
  return text.indexOf('"') < 0 ? `"${text}"` : `"${text.replaceAll('"', '""')}"`;
}

/** Writes one row with its line end, for the hot loop. */
export function rowLine(cells: readonly string[]): string {
  let line = '';
  for (let i = 0; i < cells.length; i++) line += (i === 0 ? '' : ',') + quoteCell(cells[i] ?? '');
  return `${line}\n`;
}

/** Characters of a part: some milliseconds, whatever they are. */
const PART = 256 * 1024;

/** Writes the same as {@link csvText} part by part, and lets other work run in between: a cell may have many megabytes. */
export async function* csvParts(rows: readonly (readonly string[])[]): AsyncGenerator<Buffer> {
  let part = '';
  for (const row of rows) {
    for (const [i, cell] of row.entries()) {
      part += i === 0 ? '"' : ',"';
      for (let start = 0; start < cell.length;) {
        const end = endOfPart(cell, start);
        part += cell.slice(start, end).replaceAll('"', '""');
        start = end;
        if (part.length < PART) continue;
        yield Buffer.from(part);
        part = '';
        await nextTurn();
      }
      part += '"';
    }
    part += '\n';
  }
  if (part !== '') yield Buffer.from(part);
}

/** Never between the halves of a character. */
function endOfPart(text: string, start: number): number {
  const end = start + PART;
  return end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff
    ? end - 1
    : Math.min(end, text.length);
}
