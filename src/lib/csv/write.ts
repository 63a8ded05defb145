import { stringify } from 'csv-stringify/sync';

/**
 * CSV text: every cell quoted, inner quotes doubled, lines ended by LF (RFC 4180). For headers,
 * previews and whatever is small; rows in great numbers are written by {@link rowLine} and `ByteWriter.cell`, which a
 * property test holds to the same bytes.
 */
export function csvText(rows: readonly (readonly string[])[]): string {
  return stringify(rows as string[][], { quoted: true, quoted_empty: true }); // it does not change them
}

/** One cell of a row, for the hot loop. */
export function quoteCell(text: string): string {
  return text.indexOf('"') < 0 ? `"${text}"` : `"${text.replaceAll('"', '""')}"`;
}

/** One row with its line end, for the hot loop. */
export function rowLine(cells: readonly string[]): string {
  let line = '';
  for (let i = 0; i < cells.length; i++) line += (i === 0 ? '' : ',') + quoteCell(cells[i] ?? '');
  return `${line}\n`;
}
