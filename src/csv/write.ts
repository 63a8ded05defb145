/** One cell of a CSV line: always quoted, inner quotes doubled (spec extractor 5.7, RFC 4180). */
export function quoteCell(text: string): string {
  return text.indexOf('"') < 0 ? `"${text}"` : `"${text.replaceAll('"', '""')}"`;
}

/** One CSV line with its line end. */
export function csvLine(cells: readonly string[]): string {
  let line = '';
  for (let i = 0; i < cells.length; i++) line += (i === 0 ? '' : ',') + quoteCell(cells[i] ?? '');
  return `${line}\n`;
}
