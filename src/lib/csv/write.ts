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
